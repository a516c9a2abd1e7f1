//! Fault files: what is refused, and which launcher comes of one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use perimeter_runner::corpus::{Corpus, Source};
use rstest::rstest;
use tempfile::TempDir;

const TOPIC: &str = r#"{ "topic": "Trying", "about": "A test.", "cases": [{
  "id": "trying.one.says", "rev": 1, "title": "A command speaks", "why": "A test.", "covers": ["T-1"],
  "level": "launch", "strength": "must", "run": "echo a",
  "expect": { "outcome": "allowed", "effect": { "output": "a\n" } } }] }"#;
const REFERENCE: &str = r#"{ "name": "reference", "about": "A test.", "features": [],
  "arguments": ["env", "{perimeter}", "exec", "--policy", "{policy}", "--", { "command": true }] }"#;
const BARE: &str =
    r#"{ "name": "bare", "about": "A test.", "features": [], "arguments": [{ "command": true }] }"#;

/// A corpus with one fault in it.
fn load(file: &str, fault: &str) -> Result<Corpus, String> {
    let place = TempDir::new().unwrap();
    for (name, text) in [
        ("trying/one.json", TOPIC),
        ("launchers/reference.json", REFERENCE),
        ("launchers/bare.json", BARE),
        (&format!("faults/{file}"), fault),
    ] {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        fs::write(path, text).unwrap();
    }
    let source = Source::Directory(place.path().to_owned());
    Corpus::load(&source).map_err(|error| error.to_string())
}

/// A fault file with these fields beside its prose.
fn fault(fields: &str) -> String {
    format!(r#"{{ "name": "kept", "title": "Keeps.", "why": "A test.", {fields} }}"#)
}

#[test]
fn a_mistake_is_made_in_the_reference_launcher() {
    let corpus = load("kept.json", &fault(r#""mistake": "keep-it""#)).unwrap();
    let launcher = corpus.faults[0].wrong_launcher(&corpus.launchers).unwrap();
    assert_eq!(launcher.name, "kept");
    assert_eq!(
        serde_json::to_value(&launcher.arguments).unwrap(),
        serde_json::json!([
            "env", "{faulty}", "--mistake", "keep-it", "exec", "--policy", "{policy}", "--",
            { "command": true, "absolute": false }
        ])
    );
}

#[rstest]
#[case::unknown_field("kept.json", &fault("\"mistake\": \"a\",\n \"sharp\": 1"), "faults/kept.json:2:8: sharp: unknown field")]
#[case::neither("kept.json", &fault(r#""platforms": ["linux"]"#), "state either mistake or launcher")]
#[case::both(
    "kept.json",
    &fault(&format!(r#""mistake": "a", "launcher": {BARE}"#)),
    "state either mistake or launcher"
)]
#[case::another_file("lost.json", &fault(r#""mistake": "a""#), "the file of this fault is kept.json")]
#[case::no_such_base("kept.json", &fault(r#""mistake": "a", "base": "none""#), "base none is no launcher")]
#[case::no_place("kept.json", &fault(r#""mistake": "a", "base": "bare""#), "no mistake can be made in it")]
#[case::base_of_nothing(
    "kept.json",
    &fault(&format!(r#""base": "bare", "launcher": {BARE}"#)),
    "there is none"
)]
#[case::no_reason("kept.json", &fault(r#""mistake": "a", "starts": false"#), "state in reason")]
#[case::open_for_no_reason("kept.json", &fault(r#""mistake": "a", "confines": false"#), "state in reason")]
#[case::reason_for_nothing("kept.json", &fault(r#""mistake": "a", "reason": "x""#), "this one does")]
#[case::name(
    "Kept.json",
    r#"{ "name": "Kept", "title": "a", "why": "a", "mistake": "a" }"#,
    "lower-case"
)]
#[case::prose(
    "kept.json",
    r#"{ "name": "kept", "title": " ", "why": "a", "mistake": "a" }"#,
    "never empty"
)]
#[case::matrix(
    "matrix.json",
    r#"{ "runs": { "nobody": {} } }"#,
    "faults/matrix.json:1"
)]
fn a_wrong_file_is_refused(#[case] file: &str, #[case] text: &str, #[case] says: &str) {
    let error = load(file, text).unwrap_err();
    assert!(error.contains(says), "{error}");
}
