//! The data that the model rests on: each entry is needed by a known outcome, so that
//! none is changed or lost unseen.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use perimeter_runner::corpus::Source;
use perimeter_runner::seatbelt::{Facts, Semantics, Tables};
use serde_json::{Value, json};
use tempfile::TempDir;

fn macos() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/macos")
}

fn data(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(macos().join(name)).unwrap()).unwrap()
}

/// A corpus that holds the model's data, of which a file may be changed.
struct Changed {
    directory: TempDir,
    facts: Facts,
}

impl Changed {
    fn new() -> Changed {
        let directory = TempDir::new().unwrap();
        fs::create_dir(directory.path().join("macos")).unwrap();
        for name in ["operations.json", "world.json", "imports.json"] {
            let to = directory.path().join("macos").join(name);
            fs::copy(macos().join(name), to).unwrap();
        }
        let facts = Facts::load(&Source::Directory(macos().join(".."))).unwrap();
        Changed { directory, facts }
    }

    /// Whether a known outcome, or the reading itself, notices that a file says this.
    fn noticed(&self, name: &str, content: &Value) -> bool {
        let path = self.directory.path().join("macos").join(name);
        fs::write(&path, content.to_string()).unwrap();
        let tables = Tables::load(&Source::Directory(self.directory.path().to_owned()));
        let noticed = tables.map_or(true, |tables| {
            let mut facts = self.facts.facts.iter();
            facts.any(|fact| !fact.disagreements(&tables, Semantics::default()).is_empty())
        });
        fs::copy(macos().join(name), &path).unwrap();
        noticed
    }

    /// The entries of a list which can be lost without that being noticed.
    fn idle(&self, name: &str, list: &str) -> Vec<Value> {
        let whole = data(name);
        let entries = whole.pointer(list).unwrap().as_array().unwrap();
        let mut idle = Vec::new();
        for place in 0..entries.len() {
            let mut changed = whole.clone();
            let list = changed.pointer_mut(list).unwrap().as_array_mut().unwrap();
            let lost = list.remove(place);
            if !self.noticed(name, &changed) {
                idle.push(lost);
            }
        }
        idle
    }
}

#[test]
fn the_data_as_it_stands_is_not_noticed() {
    let changed = Changed::new();
    for name in ["operations.json", "world.json", "imports.json"] {
        assert!(!changed.noticed(name, &data(name)), "{name}");
    }
}

/// Where no rule matches: another answer, another operation to fall back to, or a
/// certainty that there is not.
#[test]
fn what_each_operation_ends_in_is_needed_by_a_known_outcome() {
    let changed = Changed::new();
    let whole = data("operations.json");
    let operations = whole["operations"].as_array().unwrap();
    let mut idle = Vec::new();
    for (place, operation) in operations.iter().enumerate() {
        if operation["name"] == "default" {
            continue;
        }
        let mut others = Vec::new();
        let mut other = |change: &dyn Fn(&mut Value)| {
            let mut operation = operation.clone();
            change(&mut operation);
            others.push(operation);
        };
        if operation["assumed"] == true {
            other(&|one| one["assumed"] = json!(false));
        } else if let Some(terminal) = operation["terminal"].as_str() {
            let opposite = if terminal == "allow" { "deny" } else { "allow" };
            other(&|one| one["terminal"] = json!(opposite));
            other(&|one| {
                one.as_object_mut().unwrap().remove("terminal");
                one["fallback"] = json!("default");
            });
        } else {
            for terminal in ["allow", "deny"] {
                other(&|one| {
                    one.as_object_mut().unwrap().remove("fallback");
                    one["terminal"] = json!(terminal);
                });
            }
            if operation["fallback"] != "default" {
                other(&|one| one["fallback"] = json!("default"));
            }
        }
        for mutant in others {
            let mut changed_file = whole.clone();
            changed_file["operations"][place] = mutant.clone();
            if !changed.noticed("operations.json", &changed_file) {
                idle.push(mutant.to_string());
            }
        }
    }
    assert!(idle.is_empty(), "unnoticed:\n{}", idle.join("\n"));
}

#[test]
fn each_name_rule_and_filter_is_needed_by_a_known_outcome() {
    let changed = Changed::new();
    // The words for a path are the language's own; the table says which operations take one.
    let path = json!(["path"]);
    for list in ["/aliases", "/always", "/filters", "/constants"] {
        let mut idle = changed.idle("operations.json", list);
        idle.retain(|entry| entry["names"] != path);
        assert!(idle.is_empty(), "{list}: {idle:#?}");
    }
    // And each name of a filter, each family of operations that takes it, each word.
    let whole = data("operations.json");
    for (place, entry) in whole["filters"].as_array().unwrap().iter().enumerate() {
        for part in ["names", "operations"] {
            // Another word for a filter goes where that one goes.
            let another = part == "operations" && entry.get("same_as").is_some();
            if another || part == "names" && entry["names"] == path {
                continue;
            }
            let list = format!("/filters/{place}/{part}");
            let idle = changed.idle("operations.json", &list);
            assert!(idle.is_empty(), "{list} of {}: {idle:?}", entry["names"]);
        }
    }
    for (place, entry) in whole["constants"].as_array().unwrap().iter().enumerate() {
        for (word, number) in entry["names"].as_object().unwrap() {
            let mut changed_file = whole.clone();
            let other = number.as_i64().unwrap() + 1_000_000;
            changed_file["constants"][place]["names"][word] = json!(other);
            let noticed = changed.noticed("operations.json", &changed_file);
            let same = |one: &&Value| *one == number;
            let alone = entry["names"].as_object().unwrap().values().filter(same);
            assert!(noticed || alone.count() > 1, "{} {word}", entry["of"]);
        }
    }
}

#[test]
fn each_link_and_program_of_a_usual_mac_is_needed_by_a_known_outcome() {
    let changed = Changed::new();
    for list in ["/links", "/firmlinks", "/programs", "/start/loader"] {
        let idle = changed.idle("world.json", list);
        assert!(idle.is_empty(), "{list}: {idle:#?}");
    }
    let whole = data("world.json");
    for (field, other) in [
        ("/start/root", json!("/usr")),
        ("/terminals/multiplexer", json!("/dev/null")),
        ("/terminals/device", json!("/dev/null")),
        ("/name_service/socket", json!("/var/run/other")),
        ("/folds_case", json!(false)),
    ] {
        let mut file = whole.clone();
        *file.pointer_mut(field).unwrap() = other;
        assert!(changed.noticed("world.json", &file), "{field}");
    }
}

#[test]
fn what_is_known_of_each_import_is_needed_by_a_known_outcome() {
    let changed = Changed::new();
    let whole = data("imports.json");
    for (place, profile) in whole["profiles"].as_array().unwrap().iter().enumerate() {
        for part in ["imports", "knows", "may"] {
            if profile.get(part).is_none() {
                continue;
            }
            let list = format!("/profiles/{place}/{part}");
            let idle = changed.idle("imports.json", &list);
            assert!(idle.is_empty(), "{part} of {}: {idle:#?}", profile["name"]);
        }
    }
}
