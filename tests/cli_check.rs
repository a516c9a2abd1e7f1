//! `perimeter check`: what a run says, writes and leaves behind.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use predicates::prelude::*;
use predicates::str::contains;
use quick_xml::events::Event;
use rstest::rstest;
use serde_json::Value;
use support::corpus::{TOPIC, corpus};
use support::{PROGRAM, Place, perimeter};

/// A denial and its twin, of the corpus in the program: two trials each.
const DENIAL: &str = "files.write.create-outside";
const TWIN: &str = "files.write.create-inside";

/// `perimeter check` in a scratch directory of its own.
fn check(place: &Place, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = perimeter(&["check", "--scratch", &place.text("scratch")]);
    command.args(arguments);
    command
}

fn assert_scratch_is_empty(place: &Place) {
    let left: Vec<_> = fs::read_dir(place.path("scratch")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_reference_launcher_conforms() {
    let place = Place::new();
    check(&place, &[DENIAL, TWIN, "lifecycle.status"])
        .assert()
        .code(0)
        .stdout(
            contains("checked reference (perimeter ")
                .and(contains("required cases conform"))
                .and(contains("24 passed, 0 failed"))
                .and(contains("exit code 0"))
                .and(contains("\u{1b}").not()),
        )
        .stderr("");
    assert_scratch_is_empty(&place);
}

#[test]
fn without_a_sandbox_a_denial_is_escaped_and_its_twin_conforms() {
    let place = Place::new();
    check(&place, &[DENIAL, TWIN, "--launcher", "open"])
        .assert()
        .code(1)
        .stdout(
            contains(format!("escaped  {DENIAL}/strict"))
                .and(contains("2 passed, 2 failed"))
                .and(contains("exit code 1"))
                .and(contains(format!(
                    "perimeter explain --launcher open {DENIAL}"
                ))),
        )
        .stderr("");
    assert_scratch_is_empty(&place);
}

#[test]
fn under_a_launcher_that_runs_nothing_nothing_conforms() {
    let place = Place::new();
    check(&place, &[DENIAL, TWIN, "--launcher", "dead"])
        .assert()
        .code(1)
        .stdout(contains("0 passed, 4 failed").and(contains(format!("overblocked  {TWIN}/strict"))))
        .stderr("");
    assert_scratch_is_empty(&place);
}

#[test]
fn a_launcher_is_named_by_its_file_too() {
    let place = Place::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/launchers/open.json");
    let text = fs::read_to_string(own).unwrap();
    let file = place.file("mine.json", &text.replace("\"open\"", "\"mine\""));
    check(&place, &[TWIN, "--launcher", file.to_str().unwrap()])
        .assert()
        .code(0)
        .stdout(contains("checked mine"));
    // A bare name of a file that is here is a file as well.
    check(&place, &[TWIN, "--launcher", "mine.json"])
        .current_dir(place.path(""))
        .assert()
        .code(0);
}

#[test]
fn a_launcher_whose_program_is_missing_is_told() {
    let place = Place::new();
    let text = r#"{
      "name": "mine", "about": "A test.", "levels": ["launch"], "features": [],
      "programs": ["no-such-program"], "arguments": ["{program}", { "command": true }]
    }"#;
    let file = place.file("mine.json", text);
    check(&place, &[TWIN, "--launcher", file.to_str().unwrap()])
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains(
            "launcher mine: no-such-program is not on this host",
        ));
}

#[test]
fn the_command_to_look_further_names_the_launcher_as_it_was_named() {
    let place = Place::new();
    let text = fs::read_to_string("conformance/launchers/open.json").unwrap();
    let file = place.file("an open.json", &text).display().to_string();
    for (launcher, shown) in [("open", "open".to_owned()), (&file, format!("'{file}'"))] {
        let look = format!("perimeter explain --launcher {shown} {DENIAL}");
        let mut run = check(&place, &[DENIAL, "-q", "--launcher", launcher]);
        let output = run.assert().code(1).get_output().stdout.clone();
        let words = String::from_utf8(output).unwrap();
        let words: Vec<&str> = words.split_whitespace().collect();
        let words = words.join(" ");
        assert!(words.contains(&look), "{words}");
    }
}

#[test]
fn quiet_is_the_closing_paragraph_of_what_went_well_and_all_of_what_did_not() {
    let place = Place::new();
    check(&place, &[TWIN, "--quiet"]).assert().code(0).stdout(
        predicate::str::starts_with("2 of 2 required cases conform")
            .and(contains("\n\n").not())
            .and(contains("exit code 0")),
    );
    check(&place, &[DENIAL, "-q", "--launcher", "open"])
        .assert()
        .code(1)
        .stdout(
            predicate::str::starts_with("Failed: 2\n")
                .and(contains(format!("escaped  {DENIAL}/strict")))
                .and(contains("exit code 1"))
                .and(contains("level   ").not())
                .and(contains("  corpus  ").not()),
        );
}

#[rstest]
#[case::always("always", true)]
#[case::never("never", false)]
#[case::auto("auto", false)]
fn colour_is_for_those_who_ask(#[case] when: &str, #[case] colored: bool) {
    let place = Place::new();
    let assert = check(&place, &[TWIN, "--color", when]).assert().code(0);
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert_eq!(text.contains('\u{1b}'), colored, "{text}");
}

#[test]
fn a_level_that_is_asked_for_is_required_whatever_the_launcher_claims() {
    let place = Place::new();
    let corpus = corpus(&place, &TOPIC.replace("\"launch\"", "\"hardened\""));
    // Nothing that the reference launcher claims requires the only case.
    check(&place, &["--corpus", &corpus])
        .assert()
        .code(3)
        .stdout(contains("exit code 3"));
    check(&place, &["--corpus", &corpus, "--level", "hardened"])
        .assert()
        .code(0)
        .stdout(contains("1/1"));
}

/// The reports of one run: of the trials that conform and those that escape.
fn reports(place: &Place, launcher: &str, status: i32) -> [PathBuf; 3] {
    let paths = ["results.jsonl", "junit.xml", "summary.md"].map(|name| place.path(name));
    let text = paths.each_ref().map(|path| path.to_str().unwrap());
    check(place, &[DENIAL, TWIN, "--launcher", launcher])
        .args([
            "--results",
            text[0],
            "--junit",
            text[1],
            "--summary",
            text[2],
        ])
        .assert()
        .code(status)
        .stderr("");
    paths
}

#[rstest]
#[case::conforming("reference", 0, 0)]
#[case::escaping("open", 1, 2)]
fn the_junit_report_is_well_formed_and_counts_the_same(
    #[case] launcher: &str,
    #[case] status: i32,
    #[case] failures: usize,
) {
    let place = Place::new();
    let [_, junit, _] = reports(&place, launcher, status);
    let text = fs::read_to_string(junit).unwrap();
    let mut reader = quick_xml::Reader::from_str(&text);
    let (mut depth, mut cases, mut failed) = (0_usize, 0, 0);
    let mut stated = Vec::new();
    loop {
        let event = reader.read_event().unwrap();
        if let Event::Start(element) | Event::Empty(element) = &event {
            // Reading the attributes is what finds those that are malformed.
            let attributes: Vec<(String, String)> = element
                .attributes()
                .map(|attribute| {
                    let attribute = attribute.unwrap();
                    let name = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
                    (name, String::from_utf8_lossy(&attribute.value).into_owned())
                })
                .collect();
            match element.name().as_ref() {
                b"testsuites" => stated = attributes,
                b"testcase" => cases += 1,
                b"failure" => failed += 1,
                _ => {}
            }
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!((depth, cases, failed), (0, 4, failures), "{text}");
    for (name, count) in [("tests", 4), ("failures", failures), ("errors", 0)] {
        let expected = (name.to_owned(), count.to_string());
        assert!(stated.contains(&expected), "{stated:?}");
    }
}

/// What an object of the schema must have, and what it may.
fn check_object(schema: &Value, shape: &Value, value: &Value) {
    let object = value.as_object().unwrap();
    for name in shape["required"].as_array().unwrap() {
        assert!(
            object.contains_key(name.as_str().unwrap()),
            "{name} in {value}"
        );
    }
    let known = shape["properties"].as_object().unwrap();
    for (name, inner) in object {
        let property = known
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not known"));
        if let Some(reference) = property["$ref"].as_str() {
            let shape = definition(schema, reference);
            if shape["type"] == "object" && shape["properties"].is_object() {
                check_object(schema, shape, inner);
            }
        }
    }
}

fn definition<'a>(schema: &'a Value, reference: &str) -> &'a Value {
    let pointer = reference.strip_prefix('#').unwrap();
    schema.pointer(pointer).unwrap()
}

#[test]
fn the_results_file_is_lines_that_fit_the_schema() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/schema");
    let schema = fs::read_to_string(schema.join("results.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let place = Place::new();
    let [results, ..] = reports(&place, "open", 1);
    let text = fs::read_to_string(results).unwrap();
    assert!(text.ends_with('\n'));
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<_> = lines
        .iter()
        .map(|line| line["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["header", "trial", "trial", "trial", "trial", "footer"]
    );
    for line in &lines {
        let shape = schema["oneOf"]
            .as_array()
            .unwrap()
            .iter()
            .find(|shape| shape["properties"]["kind"]["const"] == line["kind"])
            .unwrap();
        let kind = shape["properties"]["kind"].clone();
        let mut whole = match shape["$ref"].as_str() {
            Some(reference) => definition(&schema, reference).clone(),
            None => shape.clone(),
        };
        whole["properties"]["kind"] = kind;
        check_object(&schema, &whole, line);
    }
    assert_eq!(lines[0]["launcher"]["name"], "open");
    assert_eq!(lines[0]["selected"], 4);
    let verdicts: BTreeSet<_> = lines[1..5]
        .iter()
        .map(|line| {
            (
                line["trial"].as_str().unwrap(),
                line["verdict"].as_str().unwrap(),
            )
        })
        .collect();
    let strict = format!("{DENIAL}/strict");
    assert!(
        verdicts.contains(&(strict.as_str(), "escaped")),
        "{verdicts:?}"
    );
    let strict = format!("{TWIN}/strict");
    assert!(
        verdicts.contains(&(strict.as_str(), "conforms")),
        "{verdicts:?}"
    );
    assert_eq!(lines[5]["exit_code"], 1);
}

#[test]
fn the_summary_is_added_to_what_is_there_and_the_other_reports_are_made_anew() {
    let place = Place::new();
    place.file("summary.md", "# Before\n\n");
    place.file("junit.xml", &"formerly ".repeat(10_000));
    place.file("results.jsonl", &"formerly\n".repeat(10_000));
    reports(&place, "open", 1);
    let [results, junit, summary] = reports(&place, "reference", 0);
    let text = fs::read_to_string(summary).unwrap();
    assert!(text.starts_with("# Before\n\n"), "{text}");
    let (open, reference) = (text.find("open").unwrap(), text.find("reference").unwrap());
    assert!(open < reference, "{text}");
    for path in [results, junit] {
        assert!(!fs::read_to_string(path).unwrap().contains("formerly"));
    }
}

#[test]
fn a_report_can_go_to_a_pipe() {
    let place = Place::new();
    let line = format!(
        "'{PROGRAM}' check {TWIN} --quiet --scratch '{}' --results /dev/stderr 2>&1 >/dev/null",
        place.text("scratch")
    );
    assert_cmd::Command::new("/bin/sh")
        .args(["-c", &line])
        .assert()
        .code(0)
        .stdout(contains("\"kind\":\"footer\""));
}

#[rstest]
#[case::conforming("reference", 0)]
#[case::escaping("open", 1)]
fn the_exit_status_speaks_where_nobody_reads_the_report(
    #[case] launcher: &str,
    #[case] status: i32,
) {
    let place = Place::new();
    let (reader, writer) = nix::unistd::pipe().unwrap();
    drop(reader);
    let output = Command::new(PROGRAM)
        .args(["check", DENIAL, "--launcher", launcher, "--scratch"])
        .arg(place.path("scratch"))
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), error.as_str()), (Some(status), ""));
    assert_scratch_is_empty(&place);
}

#[test]
fn results_are_the_same_however_many_run_at_once() {
    let place = Place::new();
    let verdicts = |jobs: &str| -> BTreeSet<String> {
        let results = place.path("results.jsonl");
        check(
            &place,
            &["lifecycle.arguments", "--jobs", jobs, "--results"],
        )
        .arg(&results)
        .assert()
        .code(0);
        fs::read_to_string(results)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|line| line["kind"] == "trial")
            .map(|line| format!("{} {}", line["trial"], line["verdict"]))
            .collect()
    };
    let alone = verdicts("1");
    assert!(alone.len() > 4);
    assert_eq!(alone, verdicts("8"));
}
