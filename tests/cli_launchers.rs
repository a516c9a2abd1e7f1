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

/// What `launchers check` says of a file with these arguments, which is wrong.
fn said(arguments: &str) -> String {
    let place = Place::new();
    let file = file(&place, arguments);
    let output = perimeter(&["launchers", "check", &file])
        .args(["--scratch", &place.text("scratch")])
        .assert()
        .code(1)
        .get_output()
        .stdout
        .clone();
    String::from_utf8(output).unwrap()
}

#[test]
fn what_a_launcher_changes_is_shown_and_where_to_say_that_it_is_its_own() {
    let said = said(
        r#"["sh", "-c", ": > \"$1/mine\"; shift; exec \"$@\"", "sh", "{state}", { "command": true }]"#,
    );
    assert!(
        said.contains("something outside the writable grants changed"),
        "{said}"
    );
    assert!(said.contains("/mine: "), "{said}");
    let advice = "name the place in `writes`";
    assert_eq!(said.matches(advice).count(), 1, "{said}");
}

#[test]
fn one_cause_is_told_once() {
    let said = said(
        r#"["sh", "-c", "seq -f 'line %.0f' 30 >&2; exit 9", "{workspace}", { "command": true }]"#,
    );
    assert_eq!(
        said.matches("the command never started, and").count(),
        1,
        "{said}"
    );
    assert!(said.contains(": as lifecycle.streams.separate/"), "{said}");
    assert!(said.ends_with("\n\nmine: 1 thing is wrong\n"), "{said}");
    // Of many lines the last say what went wrong.
    assert!(said.contains("standard error: line 30\n"), "{said}");
    assert!(
        said.contains("standard error: … 22 more before\n"),
        "{said}"
    );
    assert!(!said.contains("standard error: line 22\n"), "{said}");
}

#[test]
fn what_the_file_alone_shows_is_told_before_anything_is_tried() {
    let said = said(r#"["sh", "-c", "exit 9", "{workspace}"]"#);
    assert!(said.contains("never place the command"), "{said}");
    assert!(!said.contains("lifecycle."), "{said}");
}

#[rstest]
#[case::input(
    r#"["sh", "-c", "cat > /dev/null; shift; exec \"$@\"", "sh", "{workspace}", { "command": true }]"#,
    "the standard input is the command's own"
)]
#[case::output(
    r#"["sh", "-c", "echo welcome; shift; exec \"$@\"", "sh", "{workspace}", { "command": true }]"#,
    "before the command: welcome"
)]
fn the_streams_are_the_commands_own(#[case] arguments: &str, #[case] says: &str) {
    let said = said(arguments);
    assert!(said.contains(says), "{said}");
}

#[test]
fn the_command_that_comes_next_names_the_file() {
    let place = Place::new();
    let text = fs::read_to_string("conformance/launchers/reference.json").unwrap();
    let file = place.file("a copy.json", &text).display().to_string();
    perimeter(&["launchers", "check", &file])
        .args(["--scratch", &place.text("scratch")])
        .assert()
        .code(0)
        .stdout(contains(format!(
            "next: perimeter check --launcher '{file}'\n"
        )));
}

/// What `check` and `launchers check` both say of a file before anything is run.
#[rstest]
#[case::item(
    r#"[{ "each": "environment", "arguments": ["--setenv", "{item}", "{value}"] }, { "command": true }]"#,
    "mine.json:3:79: arguments[0].arguments[1]: unknown placeholder {item}: here a launcher file may use {name}, {value}, "
)]
#[case::case_name(
    r#"["{outside}", { "command": true }]"#,
    "unknown placeholder {outside}"
)]
#[case::list(
    r#"[{ "each": "readonly", "arguments": [] }, { "command": true }]"#,
    "arguments[0].each: unknown variant `readonly`, expected one of `read-only`"
)]
#[case::twice(r#"[{ "command": true }, { "command": true }]"#, "a second time")]
fn a_file_that_no_request_could_be_put_into_is_refused_with_its_place(
    #[case] arguments: &str,
    #[case] says: &str,
) {
    let place = Place::new();
    let file = file(&place, arguments);
    for words in [
        vec!["launchers", "check", &file],
        vec!["check", "environment.", "--launcher", &file],
    ] {
        perimeter(&words)
            .args(["--scratch", &place.text("scratch")])
            .assert()
            .code(2)
            .stdout("")
            .stderr(contains(says));
    }
}

#[test]
fn a_file_of_the_launcher_is_not_written_outside_of_its_state() {
    let place = Place::new();
    let kept = place.text("kept");
    let text = format!(
        r#"{{ "name": "mine", "about": "Mine.", "features": [], "files": {{ "{kept}": "x" }},
             "arguments": [{{ "command": true }}] }}"#
    );
    let file = place.file("mine.json", &text).display().to_string();
    perimeter(&["launchers", "check", &file])
        .assert()
        .code(2)
        .stderr(contains("below its own state"));
    assert!(!std::path::Path::new(&kept).exists());
}

#[test]
fn a_program_beside_the_file_and_one_that_may_not_be_run_are_said_to_be_so() {
    let place = Place::new();
    let beside = place.file("minibox-of-mine", "#!/bin/sh\nexec \"$@\"\n");
    let write = |program: &str| {
        let text = format!(
            r#"{{ "name": "mine", "about": "Mine.", "features": [], "programs": ["{program}"],
                 "arguments": ["{{program}}", {{ "command": true }}] }}"#
        );
        place.file("mine.json", &text).display().to_string()
    };
    let file = write("minibox-of-mine");
    perimeter(&["launchers", "check", &file])
        .assert()
        .code(2)
        .stderr(contains("mine.json:1:").and(contains("write \"./minibox-of-mine\"")));
    fs::set_permissions(&beside, fs::Permissions::from_mode(0o644)).unwrap();
    let file = write("./minibox-of-mine");
    perimeter(&["launchers", "check", &file])
        .args(["--scratch", &place.text("scratch")])
        .assert()
        .code(2)
        .stderr(
            contains("minibox-of-mine is not executable").and(contains("not on this host").not()),
        );
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
