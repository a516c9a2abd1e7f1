//! `perimeter launchers`: what is known here, and whether a launcher file is right.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use perimeter_runner::launcher::consistency::problems;
use perimeter_runner::launcher::file::read_launcher;
use predicates::prelude::*;
use predicates::str::contains;
use rstest::rstest;
use support::{Place, perimeter};

#[test]
fn each_launcher_has_its_state_on_this_host() {
    perimeter(&["launchers"])
        .assert()
        .code(0)
        .stdout(contains("reference").and(contains("perimeter ")))
        .stdout(contains("open"));
}

#[test]
fn an_absent_program_is_said_and_a_variable_names_its_place() {
    let place = Place::new();
    let program = place.file("odd/minijail-of-mine", "#!/bin/sh\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let state = |here: bool| {
        let mut command = perimeter(&["launchers", "--json"]);
        command.env("PATH", "/nonexistent");
        if here {
            command.env("PERIMETER_MINIJAIL0", &program);
        }
        let output = command.assert().code(0).get_output().stdout.clone();
        String::from_utf8(output)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .find(|line| line["name"] == "minijail")
            .unwrap()
    };
    let absent = state(false);
    assert_eq!(absent["here"], false);
    let missing = absent["missing"].as_str().unwrap().to_owned();
    assert!(missing.contains("PERIMETER_MINIJAIL0"), "{missing}");
    assert_eq!(state(true)["here"], true);
}

#[test]
fn every_launcher_that_comes_along_keeps_its_claims_in_its_template() {
    let mut seen = 0;
    for entry in fs::read_dir("conformance/launchers").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let file = read_launcher(&path).unwrap();
        // These two are wrong on purpose: they claim all and do nothing for it.
        let honest = !["open", "dead"].contains(&file.name.as_str());
        assert_eq!(problems(&file).is_empty(), honest, "{}", path.display());
        assert_eq!(path.file_stem().unwrap().to_str(), Some(file.name.as_str()));
        seen += 1;
    }
    assert!(seen >= 20, "{seen}");
}

/// A launcher file whose arguments are these.
fn file(place: &Place, arguments: &str) -> String {
    let text = format!(
        r#"{{ "name": "mine", "about": "Mine.", "levels": ["launch", "confined-writes"],
             "features": ["posture-host-readable", "network-host"],
             "arguments": {arguments} }}"#
    );
    place.file("mine.json", &text).display().to_string()
}

#[rstest]
#[case::no_sandbox(
    r#"["env", "--", { "command": true }]"#,
    "files.write.create-outside/host-readable: the forbidden effect showed"
)]
#[case::never_starts(
    r#"["sh", "-c", "echo no such option >&2; exit 9", "{workspace}", { "command": true }]"#,
    "the command never started, and the launcher ended with status 9"
)]
#[case::own_words(
    r#"["sh", "-c", "echo no such option >&2; exit 9", "{workspace}", { "command": true }]"#,
    "standard error: no such option"
)]
#[case::status(
    r#"["sh", "-c", "shift; \"$@\"; exit 0", "sh", "{workspace}", { "command": true }]"#,
    "the exit status is the command's own"
)]
#[case::shell_line(
    r#"["sh", "-c", "shift; eval \"$*\"", "sh", "{workspace}", { "command": true }]"#,
    "build no shell line"
)]
fn what_is_wrong_is_said_in_the_terms_of_the_file(#[case] arguments: &str, #[case] says: &str) {
    let place = Place::new();
    let file = file(&place, arguments);
    perimeter(&["launchers", "check", &file])
        .args(["--scratch", &place.text("scratch")])
        .assert()
        .code(1)
        .stdout(contains(says).and(contains("wrong\n").or(contains("are wrong\n"))));
}

#[test]
fn a_launcher_that_is_right_is_told_so() {
    let place = Place::new();
    perimeter(&["launchers", "check", "reference"])
        .args(["--scratch", &place.text("scratch")])
        .assert()
        .code(0)
        .stdout(contains("right so far").and(contains("wrong").not()));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    perimeter(&["launchers", "check", "./no-such-file.json"])
        .assert()
        .code(2)
        .stderr(contains("./no-such-file.json"));
}
