//! Small corpora, made for a test.

use std::fs;
use std::path::Path;

use super::Place;

/// A corpus of one topic with one case that conforms under any launcher that runs
/// commands; the lines are counted on by tests.
pub const TOPIC: &str = r#"{
  "topic": "Trying",
  "about": "A case of the tests.",
  "cases": [
    {
      "id": "trying.one.says",
      "rev": 1,
      "title": "A command says something",
      "why": "It is a test.",
      "covers": ["T-1"],
      "level": "launch",
      "strength": "must",
      "run": "echo something",
      "expect": { "outcome": "allowed", "effect": { "output": "something\n", "exit": 0 } }
    }
  ]
}
"#;

/// Makes a corpus with this topic, and returns its path.
pub fn corpus(place: &Place, topic: &str) -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/launchers");
    for name in ["reference.json", "open.json", "dead.json"] {
        let launcher = fs::read_to_string(own.join(name)).unwrap();
        place.file(&format!("corpus/launchers/{name}"), &launcher);
    }
    place.file(
        "corpus/corpus.json",
        r#"{ "name": "trying", "version": "1" }"#,
    );
    place.file("corpus/trying/one.json", topic);
    place.text("corpus")
}

/// A topic whose one case, in two trials, writes a line to each of two pipes that
/// are given by their directory, and then waits for ever.
pub fn waiting(directory: &str, marker: &str) -> String {
    let line = format!(
        "echo begun > {directory}/{{axis.posture}}; \
         sh -c 'while :; do sleep 1000; done' {marker}; echo never"
    );
    let topic: serde_json::Value = serde_json::json!({
        "topic": "Waiting",
        "about": "A case of the tests.",
        "policy": { "read_write": [directory] },
        "cases": [{
            "id": "trying.one.waits",
            "rev": 1,
            "title": "A command waits",
            "why": "It is a test.",
            "covers": ["T-1"],
            "level": "launch",
            "strength": "must",
            "axes": { "posture": ["strict", "host-readable"] },
            "run": line,
            "expect": { "outcome": "allowed", "effect": { "output": "never\n" } },
            "timeout": 60,
        }],
    });
    topic.to_string()
}
