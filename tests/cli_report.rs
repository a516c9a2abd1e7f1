//! The one file of a run that is sent to someone.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use serde_json::Value;
use support::Place;

#[test]
fn a_report_holds_results_and_doctor_and_nothing_of_who_ran_it() {
    let place = Place::new();
    let home = place.directory("home-of-somebody");
    let report = place.path("report.json");
    place
        .perimeter(&[
            "check",
            "lifecycle.arguments.exact",
            "--report",
            report.to_str().unwrap(),
        ])
        .env("HOME", &home)
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("MY_SERVICE_TOKEN", "sesame-open-sesame")
        .assert()
        .success();
    let text = fs::read_to_string(&report).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let results = value["results"].as_array().unwrap();
    assert!(!results.is_empty());
    assert!(results.iter().all(|result| result["verdict"].is_string()));
    assert_eq!(value["header"]["selected"], results.len());
    assert!(value["doctor"]["findings"].as_array().unwrap().len() > 2);
    assert!(value["perimeter"].is_string() && value["footer"].is_object());
    for word in ["home-of-somebody", "sesame"] {
        assert!(!text.contains(word), "{word} is in the report");
    }
}

#[test]
fn a_report_that_cannot_be_written_is_told_before_the_run() {
    let place = Place::new();
    place
        .perimeter(&[
            "check",
            "lifecycle.arguments.exact",
            "--report",
            "/nonexistent/report.json",
        ])
        .assert()
        .code(2)
        .stderr(predicates::str::contains("/nonexistent/report.json"));
}

#[test]
fn the_plan_for_a_mac_is_a_profile_and_says_that_it_is_not_run() {
    let place = Place::new();
    let policy = place.file(
        "policy.json",
        r#"{"version":1,"hidden":["/Users/me/project/.env"]}"#,
    );
    place
        .perimeter(&[
            "plan",
            "--platform",
            "macos",
            "--policy",
            policy.to_str().unwrap(),
            "--workspace",
            "/Users/me/project",
        ])
        .assert()
        .success()
        .stdout(predicates::str::starts_with("(version 1)\n"))
        .stdout(predicates::str::contains(
            "(subpath \"/Users/me/project/.env\")",
        ))
        .stderr(predicates::str::contains("it is not run here"));
    place
        .perimeter(&[
            "plan",
            "--platform",
            "macos",
            "--workspace",
            "/Users/me/a\"b",
        ])
        .assert()
        .code(125)
        .stdout("")
        .stderr(support::one_paragraph());
}
