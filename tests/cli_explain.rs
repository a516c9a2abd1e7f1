//! `perimeter explain`: what is said of a case, for people and for programs.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use rstest::rstest;
use serde_json::Value;
use support::{one_paragraph, perimeter};

fn json(words: &[&str]) -> Value {
    let mut arguments = vec!["explain"];
    arguments.extend(words);
    arguments.push("--json");
    let assert = perimeter(&arguments).assert().code(0).stderr("");
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
}

fn texts(value: &Value) -> Vec<&str> {
    let items = value.as_array().unwrap().iter();
    items.map(|item| item.as_str().unwrap()).collect()
}

/// What a verdict means.
fn means<'a>(explanation: &'a Value, verdict: &str) -> Option<&'a str> {
    let verdicts = explanation["verdicts"].as_array().unwrap();
    let found = verdicts.iter().find(|it| it["verdict"] == verdict)?;
    found["means"].as_str()
}

#[test]
fn a_case_is_explained_from_its_reason_to_how_it_is_run() {
    let id = "files.write.create-outside";
    perimeter(&["explain", id])
        .assert()
        .code(0)
        .stderr("")
        .stdout(
            contains("A command cannot create a file beside its workspace")
                .and(contains("files/write.json"))
                .and(contains(
                    "A-FS-1     A strict command can write its workspace",
                ))
                .and(contains("files.write.create-inside"))
                .and(contains("posture: strict, host-readable"))
                .and(contains("/fixture/outside/notes: a file that holds"))
                .and(contains("\"posture\": \"strict\""))
                .and(contains("echo planted > /fixture/outside/new"))
                .and(contains(
                    "perimeter exec --policy /fixture/state/policy.json",
                ))
                .and(contains("escaped        /fixture/outside/new is a file"))
                .and(contains(format!("perimeter check {id}\n"))),
        );
}

#[cfg(target_os = "linux")]
#[test]
fn the_plan_is_the_one_that_a_launch_would_use() {
    let explanation = json(&["files.write.create-outside"]);
    let plan = &explanation["steps"][0]["launch"]["plan"]["bubblewrap"];
    let plan = texts(plan);
    let bound = ["--bind", "/fixture/workspace", "/fixture/workspace"];
    assert!(plan.windows(3).any(|words| words == bound), "{plan:?}");
    assert!(plan.contains(&"--unshare-user") && plan.last() == Some(&"--"));
    let named = |word: &&str| word.contains("outside") || word.contains("perimeter-");
    assert!(!plan.iter().any(named), "{plan:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_refusal_is_shown_with_its_words_and_the_mended_launch() {
    let explanation = json(&["policy.document.syntax"]);
    let refused = &explanation["steps"][0]["launch"]["plan"]["refused"];
    let said = refused.as_str().unwrap();
    assert!(said.starts_with("/fixture/state/policy.json:1:"), "{said}");
    assert!(explanation["control"]["plan"]["bubblewrap"].is_array());
    let conforms = means(&explanation, "conforms").unwrap();
    assert!(conforms.contains("the status 125"), "{conforms}");
}

#[test]
fn another_launcher_has_its_own_command_line_and_no_plan() {
    let explanation = json(&["files.write.create-outside", "--launcher", "bubblewrap-004"]);
    let launch = &explanation["steps"][0]["launch"];
    assert!(launch["plan"].is_null());
    let words = texts(&launch["command_line"]);
    assert_eq!(words[..2], ["env", "-u"]);
    assert!(words.contains(&"--die-with-parent"));
    let check = explanation["check"].as_str().unwrap();
    assert!(check.ends_with("--launcher bubblewrap-004"), "{check}");
}

/// The commands that are typed next name what this one named.
#[test]
fn the_commands_for_next_name_launcher_and_corpus_as_they_were_named() {
    let file = "./conformance/launchers/open.json";
    let given = ["--launcher", file, "--corpus", "./conformance"];
    let explanation = json(&[&["files.write.create-outside"], &given[..]].concat());
    let end = format!(" --launcher {file} --corpus ./conformance");
    for command in ["check", "repro"] {
        let command = explanation[command].as_str().unwrap();
        assert!(command.ends_with(&end), "{command}");
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        if words[0] == "repro" {
            perimeter(&words).assert().code(0);
        }
    }
}

/// Each verdict in the case's own terms, and only those that the case can have.
#[rstest]
#[case::denial(
    "files.write.create-outside",
    "escaped",
    "/fixture/outside/new is a file"
)]
#[case::denial_vacuous("files.write.create-outside", "vacuous", "new is a file")]
#[case::canary(
    "reads.ungranted.file",
    "escaped",
    "the canary of the secret `key` shows"
)]
#[case::status("lifecycle.streams.separate", "deviates", "standard error")]
#[case::survives("lifecycle.end.child-left", "escaped", "outlives the launcher")]
#[case::typed("terminal.caller.pushed-input", "escaped", "waits in the input")]
#[case::refusal("policy.document.version", "overblocked", "mended launch")]
#[case::refusal_accepted("lifecycle.directory.outside", "overblocked", "as good as a denial")]
#[case::facts("terminal.caller.pushed-input", "unmeasured", "terminal-injection")]
#[case::features("policy.document.version", "unsupported", "documents")]
#[case::grants("grants.read-write.create", "escaped", "/fixture/writable")]
fn a_verdict_means_something_of_this_case(
    #[case] id: &str,
    #[case] verdict: &str,
    #[case] words: &str,
) {
    let explanation = json(&[id]);
    let means = means(&explanation, verdict).unwrap_or_default();
    assert!(means.contains(words), "{id}, {verdict}: {means}");
}

#[rstest]
#[case::no_manner("files.write.create-outside", "deviates")]
#[case::it_is_the_effect("lifecycle.end.child-left", "leaked")]
#[case::no_facts("files.write.create-outside", "unmeasured")]
fn a_verdict_that_the_case_cannot_have_is_left_out(#[case] id: &str, #[case] verdict: &str) {
    assert_eq!(means(&json(&[id]), verdict), None);
}

#[test]
fn one_trial_can_be_named() {
    let name = "files.write.create-outside/host-readable";
    let explanation = json(&[name]);
    assert_eq!(explanation["trial"], name);
    assert_eq!(explanation["policy"]["posture"], "host-readable");
    assert_eq!(explanation["check"], format!("perimeter check {name}"));
}

#[test]
fn prose_is_wrapped_to_the_terminal_and_commands_are_not() {
    let output = perimeter(&["explain", "lifecycle.end.caller-killed"])
        .env("COLUMNS", "60")
        .assert()
        .code(0);
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let prose = text.lines().filter(|line| !line.starts_with("    "));
    for line in prose {
        assert!(line.chars().count() <= 60, "{line}");
    }
    assert!(text.contains("read -t 15 word <&3; echo \"$word\" > /fixture/workspace/survived"));
}

#[rstest]
#[case::misspelt("files.write.create-outsid", "files.write.create-outside")]
#[case::shortened("create-outside", "files.write.create-outside")]
#[case::reordered("write.files.create-inside", "files.write.create-inside")]
fn an_unknown_id_is_answered_with_what_is_near(#[case] id: &str, #[case] near: &str) {
    perimeter(&["explain", id])
        .assert()
        .code(4)
        .stdout("")
        .stderr(one_paragraph().and(contains(id)).and(contains(near)));
}

#[test]
fn an_unknown_launcher_is_a_usage_error() {
    perimeter(&[
        "explain",
        "files.write.create-outside",
        "--launcher",
        "no-such",
    ])
    .assert()
    .code(2)
    .stdout("")
    .stderr(one_paragraph().and(contains("reference")));
}
