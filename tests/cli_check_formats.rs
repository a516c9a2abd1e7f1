//! The reports of `perimeter check` for other programs, and the split of a run.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/sarif.rs"]
mod schema;
mod support;

use std::collections::BTreeSet;
use std::fs;

use predicates::str::contains;
use rstest::rstest;
use serde_json::Value;
use support::corpus::{TOPIC, corpus};
use support::{Place, perimeter};

/// A denial and its twin, of the corpus in the program: two trials each.
const DENIAL: &str = "files.write.create-outside";
const TWIN: &str = "files.write.create-inside";

fn check(place: &Place, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = perimeter(&["check", "--scratch", &place.text("scratch")]);
    command.args(arguments);
    command
}

/// The SARIF report of a run, which is valid by the standard's own schema.
fn sarif(place: &Place, arguments: &[&str], code: i32) -> Value {
    let file = place.text("report.sarif");
    check(place, arguments)
        .args(["--sarif", &file])
        .assert()
        .code(code);
    let report: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    schema::assert_valid(&report);
    report
}

#[test]
fn the_schema_refuses_what_is_no_report() {
    assert!(!schema::published().is_valid(&serde_json::json!({ "version": "2.1.0" })));
}

#[test]
fn a_run_that_conforms_has_rules_and_no_results() {
    let place = Place::new();
    let report = sarif(&place, &[DENIAL, TWIN], 0);
    let run = &report["runs"][0];
    assert_eq!(run["results"], serde_json::json!([]));
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: Vec<&str> = rules
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, [TWIN, DENIAL]);
}

#[test]
fn an_escape_is_an_error_at_the_line_of_its_case() {
    let place = Place::new();
    let report = sarif(&place, &[DENIAL, TWIN, "--launcher", "open"], 1);
    let run = &report["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(result["ruleId"], DENIAL);
        assert_eq!(result["level"], "error");
        let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], DENIAL);
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        let line = usize::try_from(place["region"]["startLine"].as_u64().unwrap()).unwrap();
        let text = fs::read_to_string(uri).unwrap();
        assert!(
            text.lines().nth(line - 1).unwrap().contains(DENIAL),
            "{uri}:{line}"
        );
    }
    let print = |index: usize| &results[index]["partialFingerprints"]["trial/v1"];
    assert_ne!(print(0), print(1));
}

#[test]
fn another_corpus_is_named_by_its_own_path() {
    let place = Place::new();
    let directory = corpus(&place, TOPIC);
    let report = sarif(&place, &["--corpus", &directory, "--launcher", "dead"], 1);
    let result = &report["runs"][0]["results"][0];
    let at = &result["locations"][0]["physicalLocation"];
    assert_eq!(
        at["artifactLocation"]["uri"],
        format!("file://{directory}/trying/one.json")
    );
    assert_eq!(at["region"]["startLine"], 6);
}

#[test]
fn tap_has_a_point_for_each_trial() {
    let place = Place::new();
    let file = place.text("report.tap");
    check(
        &place,
        &[DENIAL, TWIN, "--launcher", "open", "--tap", &file],
    )
    .assert()
    .code(1);
    let text = fs::read_to_string(file).unwrap();
    let starting = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert!(text.starts_with("TAP version 14\n1..4\n"), "{text}");
    assert_eq!((starting("ok "), starting("not ok ")), (2, 2), "{text}");
    assert_eq!(starting("  verdict: escaped"), 2, "{text}");
}

#[test]
fn the_parts_are_the_whole_and_share_nothing() {
    let place = Place::new();
    let part = |part: &str| -> BTreeSet<String> {
        let file = place.text(format!("results-{}", part.replace('/', "-")));
        check(
            &place,
            &[DENIAL, TWIN, "lifecycle.status", "--results", &file],
        )
        .args(["--partition", part])
        .assert()
        .code(0)
        .stdout(contains("Levels are not judged"));
        let text = fs::read_to_string(file).unwrap();
        text.lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|line| line["kind"] == "trial")
            .map(|line| line["trial"].as_str().unwrap().to_owned())
            .collect()
    };
    let whole = part("1/1");
    let parts = ["1/3", "2/3", "3/3"].map(part);
    assert_eq!(parts.iter().map(BTreeSet::len).sum::<usize>(), whole.len());
    let union: BTreeSet<String> = parts.into_iter().flatten().collect();
    assert_eq!(union, whole);
}

#[rstest]
#[case::none("0/3", 2, "between 1 and 3")]
#[case::no_part("half", 2, "write 1/3")]
#[case::empty("9/9", 4, "ask for fewer parts")]
fn a_part_that_is_none_is_refused(#[case] part: &str, #[case] code: i32, #[case] says: &str) {
    let place = Place::new();
    check(&place, &[DENIAL, "--partition", part])
        .assert()
        .code(code)
        .stderr(contains(says));
}
