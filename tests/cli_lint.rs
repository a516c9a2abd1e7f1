//! `perimeter lint`: what it prints, and how it ends.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use rstest::rstest;
use serde_json::Value;
use support::corpus::{TOPIC, corpus};
use support::{Place, perimeter};

#[test]
fn the_corpus_inside_the_program_is_clean() {
    perimeter(&["lint"])
        .assert()
        .code(0)
        .stdout(starts_with("no findings in "))
        .stderr("");
}

#[test]
fn a_finding_has_its_place_and_what_to_write() {
    let place = Place::new();
    let topic = TOPIC
        .replace("something\",", "something.\",")
        .replace("T-1", "T-2");
    let corpus = corpus(&place, &topic);
    perimeter(&["lint", "--corpus", &corpus, "title-form", "why-form"])
        .assert()
        .code(1)
        .stdout(
            contains(format!(
                "{corpus}/trying/one.json:8:7: case trying.one.says: the title ends with a mark; \
                 write it without one, as the other titles are [title-form]\n"
            ))
            .and(contains(
                "one.json:9:7: case trying.one.says: why has 13 characters",
            ))
            .and(contains("2 rules\n")),
        )
        .stderr("");
}

#[test]
fn json_says_the_same() {
    let place = Place::new();
    let corpus = corpus(&place, TOPIC);
    let words = [
        "lint", "--corpus", &corpus, "--format", "json", "why-form", "timeout",
    ];
    let assert = perimeter(&words).assert().code(1).stderr("");
    let report: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(report["rules"], serde_json::json!(["why-form", "timeout"]));
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["rule"] == "why-form"));
    assert_eq!(findings[0]["line"], 3);
    assert_eq!(findings[1]["case"], "trying.one.says");
    assert_eq!(report["cases"], 1);
}

#[test]
fn several_files_that_cannot_be_read_are_told_at_once() {
    let place = Place::new();
    let corpus = corpus(&place, &TOPIC.replace("\"rev\"", "\"revision\""));
    place.file("corpus/trying/two.json", "{\n  \"topic\": }");
    perimeter(&["lint", "--corpus", &corpus])
        .assert()
        .code(1)
        .stdout(
            contains("one.json:7:16: cases[0].revision: unknown field `revision`")
                .and(contains("two.json:2:12: topic: expected value"))
                .and(contains(
                    "Not applied until every file can be read: id-unique",
                )),
        );
}

#[test]
fn writing_needs_a_clean_corpus_and_makes_the_two_files() {
    let place = Place::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    assert!(own.join("REQUIREMENTS.md").is_file());
    let corpus = corpus(&place, TOPIC);
    perimeter(&["lint", "--corpus", &corpus, "--write"])
        .assert()
        .code(1)
        .stdout(contains("Nothing was written: mend these first."));
    assert!(!place.path("corpus/revisions.json").exists());
    assert!(fs::read_dir(&corpus).unwrap().count() > 1);
}

#[rstest]
#[case::rule(&["lint", "title-from"], "title-form")]
#[case::no_directory(&["lint", "--write"], "--corpus")]
#[case::missing(&["lint", "--corpus", "/nonexistent"], "/nonexistent")]
#[case::format(&["lint", "--format", "xml"], "human")]
fn what_cannot_be_linted_has_status_2(#[case] words: &[&str], #[case] said: &str) {
    perimeter(words)
        .assert()
        .code(2)
        .stdout(is_empty())
        .stderr(contains(said));
}

#[test]
fn every_rule_is_explained() {
    let assert = perimeter(&["lint", "--rules"]).assert().code(0).stderr("");
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(text.lines().count() > 30);
    for line in text.lines() {
        let (name, about) = line.split_once(' ').unwrap();
        assert!(!name.is_empty() && about.trim().len() > 20, "{line}");
    }
    perimeter(&["lint", "--rules", "--format", "json"])
        .assert()
        .code(0)
        .stdout(contains("\"rule\": \"sibling-near\""));
}
