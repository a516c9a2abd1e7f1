//! Known failures of a launcher: what they excuse, what is said when they are not so,
//! and how a list of them is begun. The launcher of these tests does fail: it confines
//! under one posture and not under the other.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/sarif.rs"]
mod sarif;
mod support;

use std::fs;

use predicates::prelude::*;
use predicates::str::{contains, is_match};
use rstest::rstest;
use serde_json::{Value, json};
use support::corpus::corpus;
use support::{Place, perimeter};

const DENIAL: &str = "trying.one.outside";

/// A denial and its twin, two trials each; a third case has a fixture that cannot be made.
fn topic(broken: bool) -> String {
    let case = |id: &str, outcome: &str, place: &str| {
        json!({
            "id": id, "rev": 3, "title": format!("A command writes at {place}"),
            "why": "It is a test.", "covers": ["T-1"], "level": "confined-writes", "strength": "must",
            "axes": { "posture": ["strict", "host-readable"] },
            "run": format!("echo written > {place}/new"),
            "expect": { "outcome": outcome, "effect": { "host": [{ "path": format!("{place}/new"), "is": "file" }] } },
        })
    };
    let mut denial = case(DENIAL, "denied", "{outside}");
    denial["sibling"] = "trying.one.inside".into();
    if broken {
        denial["fixture"] = json!({ "setup": ["echo not made >&2; exit 1"] });
    }
    let cases = json!([denial, case("trying.one.inside", "allowed", "{workspace}")]);
    json!({ "topic": "Trying", "about": "It is a test.", "cases": cases }).to_string()
}

/// A place with the corpus, and with a launcher that confines under these postures.
fn place(postures: &[&str], broken: bool) -> Place {
    let place = Place::new();
    corpus(&place, &topic(broken));
    let confining = postures.iter().map(|posture| {
        json!({
            "when": [format!("posture-{posture}")],
            "arguments": [
                "{program}", "--ro-bind", "/", "/", "--bind", "{workspace}", "{workspace}",
                "--dev", "/dev", "--die-with-parent", "--",
            ],
        })
    });
    let mut arguments: Vec<Value> = confining.collect();
    arguments.push(json!({ "command": true }));
    let launcher = json!({
        "name": "mine", "about": "It is a test.", "levels": ["launch", "confined-writes"],
        "features": ["posture-strict", "posture-host-readable", "network-host"],
        "programs": ["bwrap"], "arguments": arguments, "started_in": "working-directory",
    });
    place.file("mine.json", &launcher.to_string());
    place
}

/// A launcher that fails under `strict`.
fn failing() -> Place {
    place(&["host-readable"], false)
}

fn check(place: &Place, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = perimeter(&["check", "--scratch", &place.text("scratch")]);
    command
        .args(["--corpus", &place.text("corpus")])
        .args(["--launcher", &place.text("mine.json")])
        .args(arguments);
    command
}

/// An entry that is so: with these fields on top.
fn entry(more: Value) -> Value {
    let mut entry = json!({
        "case": DENIAL, "rev": 3, "verdict": "escaped",
        "when": { "axes": { "posture": ["strict"] } },
        "reason": "There is no namespace yet.", "issue": "me/mine#7", "expires": "2999-12-31",
    });
    for (name, value) in more.as_object().unwrap() {
        entry[name] = value.clone();
    }
    entry
}

/// A file of expectations; its path.
fn list(place: &Place, entries: &[Value]) -> String {
    let list = json!({ "launcher": "mine", "expectations": entries });
    let file = place.file("list.json", &format!("{list:#}\n"));
    file.display().to_string()
}

#[test]
fn a_known_failure_is_counted_apart_and_does_not_fail_the_run() {
    let place = failing();
    check(&place, &[]).assert().code(1);
    let list = list(&place, &[entry(json!({}))]);
    check(&place, &["--expectations", &list])
        .assert()
        .code(0)
        .stdout(
            contains("Failed as expected: 1")
                .and(contains(
                    "There is no namespace yet. (me/mine#7); until 2999-12-31",
                ))
                .and(contains(
                    "3 of 4 required cases conform, 1 failed as expected",
                ))
                .and(contains("3 passed, 0 failed, 1 expected to fail"))
                .and(contains(
                    "exit code 0: every required case conforms, or fails as expected",
                ))
                // The level does not hold: the launcher does fail there.
                .and(is_match(r"confined-writes .* no\n").unwrap()),
        );
}

#[test]
fn every_report_tells_the_failure_and_its_reason() {
    let place = failing();
    let list = list(&place, &[entry(json!({}))]);
    let report = |name: &str| place.text(name);
    check(&place, &["--expectations", &list])
        .args(["--junit", &report("junit"), "--sarif", &report("sarif")])
        .args(["--tap", &report("tap"), "--summary", &report("summary")])
        .args(["--results", &report("results")])
        .assert()
        .code(0);
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    let reason = "There is no namespace yet. (me/mine#7); until 2999-12-31";

    let junit = read("junit");
    assert!(
        junit.contains(r#"tests="4" skipped="1" failures="0" errors="0""#),
        "{junit}"
    );
    let skipped = format!("<skipped message=\"escaped (expected: {reason}): ");
    assert!(junit.contains(&skipped), "{junit}");

    let tap = read("tap");
    let reason_of_tap = reason.replace('#', "\\#");
    assert!(
        tap.contains(&format!("# TODO expected: {reason_of_tap}")),
        "{tap}"
    );

    let summary = read("summary");
    let reason_of_page = reason.replace('#', "&#35;");
    assert!(summary.starts_with("## ✅"), "{summary}");
    assert!(
        summary.contains(&format!("Expected: {reason_of_page}")),
        "{summary}"
    );

    let report: Value = serde_json::from_str(&read("sarif")).unwrap();
    sarif::assert_valid(&report);
    let results = report["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{report:#}");
    assert_eq!(results[0]["suppressions"][0]["status"], "accepted");
    assert_eq!(results[0]["suppressions"][0]["justification"], reason);

    let excuses: Vec<Value> = read("results")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| !line["excuse"].is_null())
        .map(|line| json!([line["trial"], line["verdict"], line["excuse"]["reason"]]))
        .collect();
    let trial = format!("{DENIAL}/strict");
    let expected = json!([trial, "escaped", "There is no namespace yet."]);
    assert_eq!(excuses, [expected]);
}

#[rstest]
#[case::wide(json!({ "when": {} }), 5, ":5:7: trying.one.outside: stale: 1 of its 2 trials conform now")]
#[case::expired(json!({ "expires": "2020-01-01" }), 1, "expired: it excused nothing after 2020-01-01")]
#[case::another_revision(json!({ "rev": 2 }), 1, "unmatched: the case has revision 3 now")]
#[case::another_verdict(json!({ "verdict": "overblocked" }), 1, "unmatched: it fails otherwise now, as escaped")]
#[case::another_axis(json!({ "when": { "axes": { "kind": ["a"] } } }), 1, "unmatched: the case has no axis kind")]
#[case::another_value(json!({ "when": { "axes": { "posture": ["lax"] } } }), 1, "the axis posture has no value \"lax\"; write one of strict, host-readable")]
#[case::no_case(json!({ "case": "trying.one.gone" }), 1, "list.json:5:7: trying.one.gone: unmatched: the corpus has no such case")]
fn an_entry_that_is_not_so_fails_the_run(
    #[case] more: Value,
    #[case] code: i32,
    #[case] said: &str,
) {
    let place = failing();
    let list = list(&place, &[entry(more)]);
    let junit = place.text("junit");
    let assert = check(&place, &["--expectations", &list, "--junit", &junit])
        .assert()
        .code(code);
    let shown = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let text = words(&shown);
    assert!(text.contains("Expectations to mend: 1"), "{shown}");
    let report = fs::read_to_string(junit).unwrap();
    assert!(report.contains("<failure message=\"/"), "{report}");
    assert!(text.contains(said) || report.contains(said), "{shown}");
}

#[test]
fn a_launcher_that_was_mended_makes_its_list_stale() {
    let place = place(&["strict", "host-readable"], false);
    let list = list(&place, &[entry(json!({}))]);
    let assert = check(&place, &["--expectations", &list]).assert().code(5);
    let shown = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let text = words(&shown);
    for said in [
        "list.json:5:7: trying.one.outside: stale: the case conforms now; remove the entry",
        "exit code 5: an expectation is stale",
        "4 passed, 0 failed",
    ] {
        assert!(text.contains(said), "{said:?}:\n{shown}");
    }
}

/// What a report says, however wide it is.
fn words(shown: &str) -> String {
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_was_not_selected_is_not_spoken_of() {
    let place = failing();
    let list = list(&place, &[entry(json!({ "rev": 2 }))]);
    check(&place, &["--expectations", &list, "trying.one.inside"])
        .assert()
        .code(0);
    let list = self::list(&place, &[entry(json!({}))]);
    for part in ["1/4", "2/4", "3/4", "4/4"] {
        check(&place, &["--expectations", &list, "--partition", part])
            .assert()
            .code(0);
    }
}

#[test]
fn the_harness_is_never_excused() {
    let place = place(&["host-readable"], true);
    let whole = entry(json!({ "when": {} }));
    let list = list(&place, &[whole]);
    check(&place, &["--expectations", &list])
        .assert()
        .code(70)
        .stdout(contains("harness errors").and(contains("expected to fail").not()));
}

#[test]
fn a_list_is_proposed_and_refused_until_its_reasons_are_written() {
    let place = failing();
    let file = place.text("proposed.json");
    check(&place, &["--write-expectations", &file])
        .assert()
        .code(1)
        .stderr(contains("proposed.json is written: 1 new, 0 kept"));
    let text = fs::read_to_string(&file).unwrap();
    let mut proposed: Value = serde_json::from_str(&text).unwrap();
    let mut expected = entry(json!({}));
    let object = expected.as_object_mut().unwrap();
    object.remove("issue");
    object.remove("expires");
    object["reason"] = proposed["expectations"][0]["reason"].clone();
    assert_eq!(
        proposed,
        json!({ "launcher": "mine", "expectations": [expected] })
    );

    let line = 1 + text.lines().position(|line| line.contains("TODO")).unwrap();
    check(&place, &["--expectations", &file])
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains(format!(
            "{file}:{line}:7: expectations[0].reason: nobody has written yet why {DENIAL} fails"
        )));

    proposed["expectations"][0]["reason"] = "There is no namespace yet.".into();
    fs::write(&file, proposed.to_string()).unwrap();
    let before = fs::read(&file).unwrap();
    check(
        &place,
        &["--expectations", &file, "--write-expectations", &file],
    )
    .assert()
    .code(0)
    .stderr(contains("proposed.json is left as it is"));
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_list_that_is_there_is_added_to() {
    let place = place(&[], false);
    let file = list(&place, &[entry(json!({}))]);
    check(&place, &["--write-expectations", &file])
        .assert()
        .code(1)
        .stderr(contains("list.json is written: 1 new, 1 kept"));
    let text = fs::read_to_string(&file).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["expectations"][0], entry(json!({})));
    let new = &written["expectations"][1];
    assert_eq!(
        new["when"],
        json!({ "axes": { "posture": ["host-readable"] } })
    );
    assert!(new["reason"].as_str().unwrap().starts_with("TODO"));
}

#[test]
fn what_cannot_be_used_is_refused_before_anything_is_run() {
    let place = failing();
    let other = place.file(
        "other.json",
        r#"{ "launcher": "other", "expectations": [] }"#,
    );
    let broken = place.file("broken.json", "{ \"launcher\": \"mine\" }");
    let (other, broken) = (other.display().to_string(), broken.display().to_string());
    let missing = place.text("missing.json");
    let nowhere = place.text("missing/list.json");
    for (flag, file, said) in [
        (
            "--expectations",
            &other,
            "other.json:1:3: launcher: these are the failures of other, and the run is of mine",
        ),
        (
            "--write-expectations",
            &other,
            "these are the failures of other",
        ),
        (
            "--expectations",
            &broken,
            "broken.json:1:22: missing field `expectations`",
        ),
        (
            "--write-expectations",
            &broken,
            "missing field `expectations`",
        ),
        (
            "--expectations",
            &missing,
            "name a file of expectations that this user can read",
        ),
        (
            "--write-expectations",
            &nowhere,
            "name a file that can be written",
        ),
    ] {
        check(&place, &[flag, file])
            .assert()
            .code(2)
            .stdout("")
            .stderr(contains(said));
    }
    assert!(!place.path("scratch").exists());
}
