//! Wrong profiles of macOS: the reference launcher's, with one mistake each, and the case
//! of the corpus that the model says finds it out. Nothing runs on a Mac here.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use rstest::rstest;
use serde_json::{Value, json};

/// The launcher file of the reference on macOS.
const REFERENCE: &str = include_str!("../conformance/launchers/reference-macos.json");

/// The workspace of a modelled launch.
const WORKSPACE: &str = "/Users/tester/Library/Caches/perimeter/run/1/workspace";

/// What the model says of the trials of a case, under the reference's profile as this
/// script of sed(1) changes it.
fn modelled(script: &str, case: &str) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let mut file: Value = serde_json::from_str(REFERENCE).unwrap();
    let mut profile = vec![
        json!("/bin/sh"),
        json!("-c"),
        json!("script=$1; shift; \"$@\" | sed -e \"$script\""),
        json!("sh"),
        json!(script.replace('{', "{{").replace('}', "}}")),
    ];
    profile.extend(file["profile"].as_array().unwrap().iter().cloned());
    file["profile"] = Value::Array(profile);
    let launcher = directory.path().join("wrong.json");
    fs::write(&launcher, file.to_string()).unwrap();
    let results = directory.path().join("results.jsonl");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let _ = assert_cmd::Command::cargo_bin("perimeter")
        .unwrap()
        .args(["check", "--platform", "macos", "--modelled", "--corpus"])
        .arg(corpus)
        .arg("--launcher")
        .arg(&launcher)
        .arg("--results")
        .arg(&results)
        .arg(case)
        .assert();
    let text = fs::read_to_string(results).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .filter(|line: &Value| line["id"] == case)
        .map(|line| line["modelled"].as_str().unwrap().to_owned())
        .collect()
}

#[rstest]
#[case::root_literal_dropped(
    r#"/^(allow file-read\* file-test-existence (literal "\/"))$/d"#,
    "devices.null.writable",
    "overblocks"
)]
#[case::whole_disk_subpath(
    r#"s/^(allow file-read\* file-test-existence (literal "\/"))$/(allow file-read* file-test-existence (subpath "\/"))/"#,
    "grants.read-only.one-file-alone",
    "escapes"
)]
#[case::temporary_directories_by_their_links(
    "s#/private/tmp#/tmp#; s#/private/var/folders#/var/folders#",
    "macos.path.private-written",
    "overblocks"
)]
#[case::denied_before_it_is_allowed(
    &format!("$a(allow file-read* file-read-data file-read-metadata (subpath \"{WORKSPACE}\"))"),
    "reads.hidden.file",
    "escapes"
)]
#[case::a_child_is_allowed_that_the_parent_denies(
    r"s/^(deny file-read\* file-read-data .*$/(deny file-read* file-write*/",
    "reads.hidden.file",
    "escapes"
)]
#[case::hard_links_left_open("/^(deny file-link)$/d", "files.links.hard-link-outside", "escapes")]
#[case::arguments_of_processes_left_open(
    "/^(deny process-info\\*)$/d; /^(deny sysctl-read$/,/kern.proc.all/d",
    "macos.service.arguments",
    "escapes"
)]
#[case::signals_to_others(
    "s/(target same-sandbox)/(target others)/",
    "macos.service.signalled",
    "escapes"
)]
#[case::every_service("$a(allow mach-lookup)", "macos.service.keychain", "escapes")]
fn a_wrong_profile_is_found_out(#[case] script: &str, #[case] case: &str, #[case] says: &str) {
    let right = modelled("", case);
    assert!(!right.is_empty());
    assert!(
        right.iter().all(|verdict| verdict == "conforms"),
        "{right:?}"
    );
    let wrong = modelled(script, case);
    assert!(wrong.iter().any(|verdict| verdict == says), "{wrong:?}");
}
