//! `perimeter check --modelled`, as it is typed.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};
use tempfile::TempDir;

fn perimeter(directory: &Path) -> Command {
    let mut command = Command::cargo_bin("perimeter").unwrap();
    command.current_dir(directory).env("NO_COLOR", "1");
    command
}

/// A launcher file whose profile is this text.
fn launcher(directory: &TempDir, profile: &str) -> PathBuf {
    let path = directory.path().join("mine.json");
    let file = json!({
        "name": "mine",
        "about": "Prints one profile for every launch.",
        "platforms": ["macos"],
        "levels": ["confined-writes"],
        "features": ["posture-strict", "posture-host-readable", "network-host", "network-none"],
        "files": { "{state}/profile.sb": profile },
        "arguments": [{ "command": true }],
        "profile": ["cat", "{state}/profile.sb"],
    });
    fs::write(&path, file.to_string()).unwrap();
    path
}

#[test]
fn an_escape_fails_and_nothing_is_called_a_pass() {
    let directory = tempfile::tempdir().unwrap();
    let launcher = launcher(&directory, "(version 1)(allow default)");
    perimeter(directory.path())
        .args(["check", "--platform", "macos", "--modelled", "--launcher"])
        .arg(&launcher)
        .args([
            "files.write.create",
            "--results",
            "r.jsonl",
            "--summary",
            "s.md",
        ])
        .assert()
        .code(1)
        .stdout(contains(
            "escapes (modelled)  files.write.create-outside/strict",
        ))
        .stdout(contains("allowed file-write-create"))
        .stdout(contains("Modelled, not run"))
        .stdout(contains("passed").not());
    let lines = fs::read_to_string(directory.path().join("r.jsonl")).unwrap();
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["kind"], "modelled-run");
    assert_eq!(lines[1]["kind"], "modelled");
    assert!(lines.iter().all(|line| line.get("verdict").is_none()));
    assert_eq!(lines.last().unwrap()["exit_code"], 1);
    let summary = fs::read_to_string(directory.path().join("s.md")).unwrap();
    assert!(summary.contains("modelled, not run"), "{summary}");
}

#[test]
fn a_profile_without_a_fault_leaves_the_cases_unproven() {
    let directory = tempfile::tempdir().unwrap();
    let profile = "(version 1)(deny default)(allow process*)\
        (allow file-read* (literal \"/\") (subpath \"/usr\") (subpath \"/bin\") (subpath \"/System\"))\
        (allow file-read* file-write* (subpath \"{workspace}\"))";
    let launcher = launcher(&directory, profile);
    perimeter(directory.path())
        .args(["check", "--platform", "macos", "--modelled", "--launcher"])
        .arg(&launcher)
        .arg("files.write.create")
        .assert()
        .code(3)
        .stdout(contains("None of them is a pass"));
}

#[test]
fn results_of_a_model_are_no_results_of_a_run() {
    let directory = tempfile::tempdir().unwrap();
    let launcher = launcher(&directory, "(version 1)(allow default)");
    perimeter(directory.path())
        .args(["check", "--platform", "macos", "--modelled", "--launcher"])
        .arg(&launcher)
        .args(["files.write.create", "--results", "r.jsonl"])
        .assert()
        .code(1);
    perimeter(directory.path())
        .args(["compare", "r.jsonl"])
        .assert()
        .failure()
        .stderr(contains("decisions of a model, and nothing was run"));
}

/// What the model says of cases, under the reference launcher's profile.
fn of_the_reference(directory: &TempDir, cases: &[&str]) -> Vec<Value> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let _ = perimeter(directory.path())
        .args(["check", "--platform", "macos", "--modelled", "--corpus"])
        .arg(corpus)
        .args(["--results", "of.jsonl"])
        .args(cases)
        .assert();
    let text = fs::read_to_string(directory.path().join("of.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .filter(|line: &Value| line["kind"] == "modelled" && line["modelled"] != "unsupported")
        .collect()
}

#[test]
fn documents_are_refused_for_a_mac_as_they_are_here() {
    let directory = tempfile::tempdir().unwrap();
    let cases = [
        "policy.document.unknown-field",
        "policy.document.version",
        "policy.document.value",
        "policy.document.syntax",
        "policy.document.twice",
        "policy.document.overlap",
        "policy.ownership.wide-workspace",
        "environment.variables.document",
        "environment.variables.reference-unlisted",
        "environment.variables.reference-missing",
    ];
    let results = of_the_reference(&directory, &cases);
    assert!(results.len() > 60, "{} trials", results.len());
    for result in results {
        assert_eq!(result["modelled"], "conforms", "{result}");
        let reason = result["reason"].as_str().unwrap();
        assert!(reason.contains("as it did here"), "{reason}");
    }
}

/// What a hidden path, a workspace or a grant leads to through links of the Mac that is
/// thought of.
#[test]
fn links_of_the_fixture_are_those_of_the_mac() {
    let directory = tempfile::tempdir().unwrap();
    let cases = [
        "reads.hidden.link",
        "reads.hidden.workspace-alias",
        "reads.hidden.alias-of-a-grant",
        "reads.repointed",
        "files.workspace.alias",
        "files.workspace.directory-through-link",
        "grants.changed",
    ];
    let results = of_the_reference(&directory, &cases);
    assert!(results.len() > 50, "{} trials", results.len());
    for result in results {
        assert_eq!(result["modelled"], "conforms", "{result}");
    }
}

#[test]
fn what_cannot_be_modelled_is_said_before_anything_is_done() {
    let directory = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], message: &str| {
        perimeter(directory.path())
            .arg("check")
            .args(arguments)
            .assert()
            .code(2)
            .stderr(contains(message));
    };
    refused(&["--modelled"], "--platform");
    refused(
        &["--modelled", "--platform", "linux"],
        "only macOS is modelled",
    );
    // Reports of a run have no place for what was not run.
    for report in [
        "--junit",
        "--sarif",
        "--tap",
        "--report",
        "--expectations",
        "--write-expectations",
    ] {
        refused(
            &["--modelled", "--platform", "macos", report, "file"],
            "cannot be used with",
        );
        assert!(!directory.path().join("file").exists(), "{report}");
    }
    refused(
        &["--modelled", "--platform", "macos", "--launcher", "open"],
        "launcher open yields no profile",
    );
    if cfg!(target_os = "linux") {
        refused(&["--platform", "macos"], "add --modelled");
    }
}
