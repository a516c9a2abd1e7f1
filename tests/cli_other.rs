//! The other commands: help, `list`, `explain`, `plan`, `policy`, `doctor` and
//! `completions`, and what becomes of their output.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};

use predicates::prelude::*;
use predicates::str::{contains, starts_with};
use rstest::rstest;
use serde_json::Value;
use support::corpus::{TOPIC, corpus};
use support::{PROGRAM, Place, one_paragraph, perimeter};

#[rstest]
#[case::program(&[])]
#[case::exec(&["exec"])]
#[case::check(&["check"])]
#[case::list(&["list"])]
#[case::explain(&["explain"])]
#[case::lint(&["lint"])]
#[case::plan(&["plan"])]
#[case::policy(&["policy"])]
#[case::policy_check(&["policy", "check"])]
#[case::doctor(&["doctor"])]
#[case::completions(&["completions"])]
fn help_has_examples(#[case] command: &[&str], #[values("--help", "-h")] flag: &str) {
    let mut words = command.to_vec();
    words.push(flag);
    let example = format!("  perimeter {}", command.join(" "));
    perimeter(&words)
        .assert()
        .code(0)
        .stdout(
            contains("Usage: perimeter")
                .and(contains("\nExample"))
                .and(contains(example.trim_end())),
        )
        .stderr("");
}

#[test]
fn every_command_is_in_the_help_and_in_the_table_above() {
    let assert = perimeter(&["--help"]).assert().code(0);
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let commands = text.split("Commands:\n").nth(1).unwrap();
    let commands = commands.split("\n\n").next().unwrap();
    let names: Vec<_> = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty())
        .collect();
    let known = [
        "exec",
        "check",
        "audit",
        "compare",
        "launchers",
        "list",
        "explain",
        "lint",
        "explore",
        "repro",
        "plan",
        "policy",
        "doctor",
        "completions",
        "help",
    ];
    assert_eq!(names, known);
}

#[test]
fn the_version_is_the_packages() {
    let version = format!("perimeter {}\n", env!("CARGO_PKG_VERSION"));
    perimeter(&["--version"]).assert().code(0).stdout(version);
}

#[rstest]
#[case::nothing(&[], "Usage: perimeter")]
#[case::an_unknown_command(&["chek"], "check")]
#[case::an_unknown_flag(&["--nope"], "--nope")]
#[case::no_policy_command(&["policy"], "Usage: perimeter policy")]
#[case::no_policy_file(&["policy", "check"], "<FILE>")]
#[case::an_unknown_shell(&["completions", "nosh"], "zsh")]
#[case::no_shell(&["completions"], "<SHELL>")]
fn a_wrong_command_line_has_status_2_and_says_what_is_right(
    #[case] words: &[&str],
    #[case] said: &str,
) {
    perimeter(words)
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains(said).and(contains("panicked").not()));
}

#[test]
fn a_list_is_by_topic_with_titles_and_ends_with_counts() {
    let place = Place::new();
    let corpus = corpus(&place, TOPIC);
    perimeter(&["list", "--corpus", &corpus])
        .assert()
        .code(0)
        .stdout(
            starts_with("Trying  (trying/one.json)\n  trying.one.says\n")
                .and(contains("A command says something"))
                .and(predicate::str::ends_with("1 cases, 1 trials\n")),
        )
        .stderr("");
}

#[test]
fn a_list_in_json_is_a_trial_a_line_and_filters_narrow_it() {
    let trials = |filters: &[&str]| -> BTreeSet<String> {
        let mut words = vec!["list", "--json"];
        words.extend(filters);
        let assert = perimeter(&words).assert().code(0);
        let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
        let lines = text.lines().map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            for field in [
                "id", "rev", "digest", "file", "title", "level", "strength", "covers",
            ] {
                assert!(!value[field].is_null(), "{field} in {line}");
            }
            value["trial"].as_str().unwrap().to_owned()
        });
        lines.collect()
    };
    let all = trials(&[]);
    let some = trials(&["lifecycle.status"]);
    assert!(all.len() > some.len() && some.len() > 4 && some.is_subset(&all));
    assert!(
        some.iter()
            .all(|name| name.starts_with("lifecycle.status."))
    );
    let more = trials(&["lifecycle.status", "files/write.json"]);
    assert!(more.len() > some.len() && some.is_subset(&more));
}

#[test]
fn a_filter_that_selects_nothing_has_status_4() {
    for words in [&["list", "no.such"][..], &["explain", "no.such"]] {
        perimeter(words).assert().code(4).stdout("").stderr(
            one_paragraph()
                .and(contains("no.such"))
                .and(contains("perimeter list")),
        );
    }
}

#[test]
fn an_explanation_has_the_reason_the_command_and_the_requirements() {
    perimeter(&["explain", "files.write.create-outside"])
        .assert()
        .code(0)
        .stdout(
            contains("files.write.create-outside")
                .and(contains("files/write.json"))
                .and(contains("files.write.create-inside")),
        )
        .stderr("");
}

/// The arguments of a plan, as its two forms give them.
fn plan(place: &Place, flags: &[&str], line: &str) -> Vec<OsString> {
    let words = |end: &[&str]| {
        let mut words = vec!["plan"];
        words.extend(flags);
        words.extend(end);
        words.extend(["--", "/bin/sh", "-c", line]);
        let assert = place.perimeter(&words).assert().code(0).stderr("");
        assert.get_output().stdout.clone()
    };
    let separate = |bytes: Vec<u8>, end: u8| -> Vec<OsString> {
        let text = bytes.strip_suffix(&[end]).unwrap().to_vec();
        text.split(|byte| *byte == end)
            .map(|part| OsString::from_vec(part.to_vec()))
            .collect()
    };
    let arguments = separate(words(&["-0"]), b'\0');
    assert_eq!(arguments, separate(words(&["--null"]), b'\0'));
    if !line.contains('\n') {
        assert_eq!(arguments, separate(words(&[]), b'\n'));
    }
    arguments
}

#[rstest]
fn a_plan_is_what_bubblewrap_runs(
    #[values("strict", "host-readable")] posture: &str,
    #[values("none", "host")] network: &str,
) {
    let place = Place::new();
    place.file("outside/notes", "host's own\n");
    let line = "pwd\necho text > made; readlink /proc/self/ns/net; \
                echo changed 2>/dev/null > ../outside/notes";
    let flags = ["--posture", posture, "--network", network];
    let arguments = plan(&place, &flags, line);
    assert!(
        !place.path("workspace/made").exists(),
        "a plan runs nothing"
    );
    let output = Command::new("bwrap")
        .args(&arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.starts_with(&format!("{}\n", place.text("workspace"))),
        "{text}{error}"
    );
    let own = std::fs::read_link("/proc/self/ns/net").unwrap();
    assert_eq!(text.contains(own.to_str().unwrap()), network == "host");
    assert_eq!(
        std::fs::read_to_string(place.path("workspace/made")).unwrap(),
        "text\n"
    );
    let notes = std::fs::read_to_string(place.path("outside/notes")).unwrap();
    assert_eq!(notes, "host's own\n");
}

#[test]
fn a_plan_shows_what_differs_and_refuses_what_a_launch_would() {
    let place = Place::new();
    let has = |flags: &[&str], word: &str| {
        plan(&place, flags, "true")
            .iter()
            .any(|argument| argument == word)
    };
    assert!(has(&["--network", "none"], "--unshare-net"));
    assert!(!has(&["--network", "host"], "--unshare-net"));
    assert!(has(&[], "--new-session"));
    place
        .perimeter(&["plan", "--workspace", "/"])
        .assert()
        .code(125)
        .stdout("")
        .stderr(one_paragraph().and(contains("workspace /")));
    place
        .perimeter(&["plan"])
        .env("PATH", place.directory("bin"))
        .assert()
        .code(125)
        .stdout("")
        .stderr(one_paragraph().and(contains("install the package `bubblewrap`")));
    // Without a command it is the plan of `true`.
    place
        .perimeter(&["plan"])
        .assert()
        .code(0)
        .stdout(contains("--cap-drop\nALL\n").and(predicate::str::ends_with("true\n")));
}

#[test]
fn a_good_policy_is_shown_with_all_that_it_means() {
    let place = Place::new();
    let policy = place.file("policy.json", r#"{ "version": 1, "read_only": ["/opt"] }"#);
    let assert = perimeter(&["policy", "check", policy.to_str().unwrap()])
        .assert()
        .code(0)
        .stderr("");
    let shown: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(shown["posture"], "strict");
    assert_eq!(shown["read_only"][0], "/opt");
    // What is shown is a policy of the same meaning.
    let again = place.file("again.json", &shown.to_string());
    let assert = perimeter(&["policy", "check", again.to_str().unwrap()])
        .assert()
        .code(0);
    let twice: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(shown, twice);
}

#[rstest]
#[case::bad("{ \"version\": 1,\n  \"netwrok\": 1 }", "policy.json:2:3: ")]
#[case::broken("{", "policy.json:1:1: ")]
#[case::relative("{ \"version\": 1, \"hidden\": [\"data\"] }", "hidden[0]: ")]
fn a_bad_policy_is_told_with_its_place(#[case] text: &str, #[case] words: &str) {
    let place = Place::new();
    let policy = place.file("policy.json", text);
    perimeter(&["policy", "check", policy.to_str().unwrap()])
        .assert()
        .code(2)
        .stdout("")
        .stderr(one_paragraph().and(contains(words)));
}

#[test]
fn a_policy_that_is_asked_about_and_absent_is_no_policy() {
    let place = Place::new();
    let absent = place.text("absent.json");
    perimeter(&["policy", "check", &absent])
        .assert()
        .code(2)
        .stdout("")
        .stderr(one_paragraph().and(contains(&absent)));
    let directory = place.text("");
    perimeter(&["policy", "check", &directory])
        .assert()
        .code(2)
        .stdout("")
        .stderr(one_paragraph().and(contains("directory")));
}

#[test]
fn the_doctor_says_what_works() {
    perimeter(&["doctor"])
        .assert()
        .code(0)
        .stdout(
            contains("works   bubblewrap: ")
                .and(contains("posture strict, network none"))
                .and(contains("posture host-readable, network host"))
                .and(contains("\ncommands can be confined here\n")),
        )
        .stderr("");
    let assert = perimeter(&["doctor", "--json"]).assert().code(0);
    let report: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(report["works"], true);
    assert!(
        report["findings"].as_array().unwrap().len() >= 5,
        "{report}"
    );
}

#[test]
fn the_doctor_says_what_is_missing_and_how_to_mend_it() {
    let place = Place::new();
    perimeter(&["doctor"])
        .env("PATH", place.directory("bin"))
        .assert()
        .code(1)
        .stdout(
            contains("fails   bubblewrap: ")
                .and(contains("install the package `bubblewrap`"))
                .and(contains("commands cannot be confined here")),
        );
    let assert = perimeter(&["doctor", "--json"])
        .env("PATH", place.directory("bin"))
        .assert()
        .code(1);
    let report: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(report["works"], false);
    let findings = report["findings"].as_array().unwrap();
    let missing = findings
        .iter()
        .find(|finding| finding["subject"] == "bubblewrap")
        .unwrap();
    assert_eq!(missing["state"], "fails");
    assert!(
        missing["remedy"].as_str().unwrap().contains("install"),
        "{missing}"
    );
}

#[rstest]
#[case::bash("bash", "complete -F")]
#[case::zsh("zsh", "#compdef perimeter")]
#[case::fish("fish", "complete -c perimeter")]
fn completions_are_a_script_of_the_shell_that_knows_every_command(
    #[case] shell: &str,
    #[case] sign: &str,
) {
    let assert = perimeter(&["completions", shell])
        .assert()
        .code(0)
        .stdout(
            contains(sign)
                .and(contains("check"))
                .and(contains("doctor"))
                .and(contains("launcher"))
                .and(contains("scratch")),
        )
        .stderr("");
    if shell == "bash" {
        assert_cmd::Command::new("bash")
            .arg("-n")
            .write_stdin(assert.get_output().stdout.clone())
            .assert()
            .code(0)
            .stderr("");
    }
}

/// Commands that print, in a workspace.
const PRINTING: [&str; 8] = [
    "list",
    "list --json",
    "explain files.write.create-outside",
    "plan",
    "doctor",
    "completions bash",
    "--help",
    "--version",
];

fn redirected(place: &Place, line: &str, redirection: &str) -> assert_cmd::assert::Assert {
    assert_cmd::Command::new("/bin/sh")
        .args(["-c", &format!("exec '{PROGRAM}' {line} {redirection}")])
        .env_remove("PERIMETER_ENFORCEMENT")
        .current_dir(place.workspace())
        .assert()
}

#[test]
fn an_output_without_room_is_told() {
    let place = Place::new();
    for line in PRINTING {
        redirected(&place, line, ">/dev/full").code(74).stderr(
            one_paragraph()
                .and(contains("standard output"))
                .and(contains("make room")),
        );
    }
}

#[test]
fn an_output_that_is_closed_is_told() {
    let place = Place::new();
    for line in PRINTING {
        redirected(&place, line, ">&-").code(74).stderr(
            one_paragraph()
                .and(contains("standard output"))
                .and(contains("/dev/null")),
        );
    }
    // A run whose report would be lost is not begun.
    redirected(&place, "check lifecycle.status.one", ">&-")
        .code(2)
        .stderr(one_paragraph().and(contains("standard output is closed")));
    // The output is the command's own under `exec`, and only it can tell.
    redirected(&place, "exec -- sh -c 'exit 7'", ">&-")
        .code(7)
        .stderr("");
    redirected(&place, "doctor", "<&- 2>&-").code(0);
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let place = Place::new();
    for line in PRINTING {
        let (reader, writer) = nix::unistd::pipe().unwrap();
        drop(reader);
        let output = Command::new(PROGRAM)
            .args(line.split(' '))
            .current_dir(place.workspace())
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), error.as_str()),
            (Some(0), ""),
            "{line}"
        );
    }
}
