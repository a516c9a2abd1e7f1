//! A small corpus that audits without a finding, and ways to spoil it.

use std::fs;

use serde_json::{Value, json};

use super::Place;
use super::corpus::corpus;

/// Four cases, each caught by one of four faults.
pub struct Audited {
    pub place: Place,
    pub cases: Vec<Value>,
}

impl Audited {
    pub fn new() -> Audited {
        let place = Place::new();
        corpus(&place, "{}");
        let audited = Audited {
            place,
            cases: vec![
                permission(
                    "trying.one.says",
                    "echo said",
                    json!({ "output": "said\n" }),
                ),
                permission(
                    "trying.one.keeps",
                    "echo kept > {workspace}/file",
                    json!({ "host": [{ "path": "{workspace}/file", "is": "file" }] }),
                ),
                denial(
                    "trying.one.plants",
                    "echo planted > {outside}/file",
                    json!({ "host": [{ "path": "{outside}/file", "is": "file" }] }),
                ),
                denial(
                    "trying.one.reads",
                    "cat {hidden}/key",
                    json!({ "reveals": ["key"] }),
                ),
            ],
        };
        audited.write_cases();
        audited.fault("mute", &changes("said", "SAID"));
        audited.fault(
            "elsewhere",
            &launcher("exec {perimeter} exec \"$@\"", "{root}/outside", "{}"),
        );
        let granted = |list: &str, name: &str| {
            let policy = format!("{{\"version\": 1, \"{list}\": [\"{{root}}/{name}\"]}}");
            launcher("exec {perimeter} exec \"$@\"", "{workspace}", &policy)
        };
        audited.fault("outside-granted", &granted("read_write", "outside"));
        audited.fault("hidden-granted", &granted("read_only", "hidden"));
        audited
    }

    pub fn write_cases(&self) {
        let topic = json!({
            "topic": "Trying",
            "about": "Cases of the tests.",
            "fixture": { "files": { "{hidden}/key": { "secret": "key" } } },
            "cases": self.cases,
        });
        self.place
            .file("corpus/trying/one.json", &topic.to_string());
    }

    /// Writes a fault with these fields beside its prose.
    pub fn fault(&self, name: &str, fields: &Value) {
        let mut fault =
            json!({ "name": name, "title": format!("It is {name}."), "why": "A test." });
        let added = fields.as_object().unwrap().clone();
        fault.as_object_mut().unwrap().extend(added);
        let file = format!("corpus/faults/{name}.json");
        self.place.file(&file, &fault.to_string());
    }

    pub fn remove_fault(&self, name: &str) {
        fs::remove_file(self.place.path(format!("corpus/faults/{name}.json"))).unwrap();
    }

    /// `perimeter audit` of this corpus.
    pub fn audit(&self, arguments: &[&str]) -> assert_cmd::Command {
        self.audit_in("results", arguments)
    }

    /// The same with another directory for results.
    pub fn audit_in(&self, results: &str, arguments: &[&str]) -> assert_cmd::Command {
        let mut command = super::perimeter(&["audit", "--quiet", "--corpus"]);
        command
            .arg(self.place.path("corpus"))
            .arg("--scratch")
            .arg(self.place.path("scratch"))
            .env_remove("PERIMETER_FAULTY")
            .arg("--results")
            .arg(self.place.path(results))
            .args(arguments);
        command
    }
}

/// A wrong launcher that changes a word of what the command says.
pub fn changes(word: &str, to: &str) -> Value {
    let line = format!("{{perimeter}} exec \"$@\" | sed s/{word}/{to}/");
    launcher(&line, "{workspace}", "{}")
}

pub fn permission(id: &str, run: &str, effect: Value) -> Value {
    case(id, run, json!({ "outcome": "allowed", "effect": effect }))
}

pub fn denial(id: &str, run: &str, effect: Value) -> Value {
    let mut case = case(id, run, json!({ "outcome": "denied", "effect": effect }));
    case["sibling"] = json!("trying.one.says");
    case
}

fn case(id: &str, run: &str, expect: Value) -> Value {
    json!({
        "id": id, "rev": 1, "title": format!("{id} holds"), "why": "It is a test.",
        "covers": ["T-1"], "level": "launch", "strength": "must", "run": run, "expect": expect,
    })
}

/// A wrong launcher: a line of shell around the right one, with another workspace or
/// another policy.
pub fn launcher(line: &str, workspace: &str, policy: &str) -> Value {
    json!({ "launcher": {
        "name": "wrong", "about": "A test.", "levels": ["launch"],
        "features": ["posture-strict", "network-host", "environment", "working-directory"],
        "files": { "{state}/wrong.json": policy.replace("{}", "{\"version\": 1}") },
        "arguments": [
            "/bin/sh", "-c", line, "sh", "--policy", "{state}/wrong.json",
            "--workspace", workspace, "--", { "command": true }
        ],
        "started_in": "root", "refusal_status": 125,
    } })
}
