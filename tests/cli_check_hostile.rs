//! `perimeter check` and `ci/peers` with launchers that hang, or never stop talking.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use predicates::prelude::*;
use predicates::str::contains;
use rstest::rstest;
use serde_json::Value;
use support::corpus::{TOPIC, corpus};
use support::{PROGRAM, Place, perimeter};

/// A launcher of this shell line, which has the command as its words.
fn launcher_file(place: &Place, line: &str) -> PathBuf {
    let file = serde_json::json!({
        "name": "mine", "about": "Mine.", "levels": ["launch"],
        "features": ["posture-strict", "network-host"],
        "arguments": ["sh", "-c", line, "sh", { "command": true }],
    });
    place.file("mine.json", &file.to_string())
}

/// Three launchers that never end, and one that ends after a gigabyte.
#[rstest]
#[case::hangs("while :; do sleep 1000; done", "timeout")]
#[case::hangs_and_ignores_signals("trap '' TERM INT HUP; while :; do sleep 1000; done", "timeout")]
#[case::floods("\"$@\"; exec yes flood", "timeout")]
#[case::floods_the_errors("\"$@\"; exec yes flood >&2", "timeout")]
#[case::floods_without_an_end_of_line("\"$@\"; exec tr '\\0' x < /dev/zero", "timeout")]
#[case::floods_and_ends("\"$@\"; head -c 1000000000 /dev/zero", "overblocked")]
fn one_that_hangs_or_floods_is_a_verdict_and_no_end(#[case] line: &str, #[case] verdict: &str) {
    let place = Place::new();
    // A corpus of two cases: the run goes on after the first.
    let second = TOPIC.replace("trying.one.says", "trying.one.says-too");
    let mut topic: Value = serde_json::from_str(TOPIC).unwrap();
    let more: Value = serde_json::from_str(&second).unwrap();
    let cases = topic["cases"].as_array_mut().unwrap();
    cases.push(more["cases"][0].clone());
    for case in cases {
        case["timeout"] = 5.into();
    }
    let corpus = corpus(&place, &topic.to_string());
    let launcher = launcher_file(&place, line);
    let results = place.path("results.jsonl");
    let begun = Instant::now();
    perimeter(&["check", "--corpus", &corpus, "--jobs", "1"])
        .args(["--scratch", &place.text("scratch")])
        .args(["--launcher", launcher.to_str().unwrap()])
        .args(["--results", results.to_str().unwrap()])
        .assert()
        .code(1)
        .stdout(contains(verdict));
    assert!(begun.elapsed() < Duration::from_secs(60));
    let text = fs::read_to_string(&results).unwrap();
    let verdicts: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["kind"] == "trial")
        .map(|line| line["verdict"].clone())
        .collect();
    assert_eq!(verdicts, [verdict, verdict]);
    // Of a flood a mebibyte is kept for each launch, in which a NUL takes six bytes.
    assert!(text.len() < 16 << 20, "{}", text.len());
}

/// A launcher may send signals to what started it. One that stops the runner's worker is
/// judged by what came of its command, as any other.
#[test]
fn one_that_stops_the_runner_s_worker_is_judged_all_the_same() {
    let place = Place::new();
    let corpus = corpus(&place, TOPIC);
    let launcher = launcher_file(&place, "kill -STOP $PPID; exec \"$@\"");
    perimeter(&["check", "--corpus", &corpus, "--jobs", "1"])
        .args(["--scratch", &place.text("scratch")])
        .args(["--launcher", launcher.to_str().unwrap()])
        .timeout(Duration::from_secs(60))
        .assert()
        .code(0)
        .stdout(contains("1 passed"));
}

/// What is named as a launcher file may be anything. None of it is waited for.
#[rstest]
#[case::a_pipe_without_a_writer("pipe", "EOF")]
#[case::a_device_without_an_end("/dev/zero", "larger than 64 MiB")]
fn a_launcher_file_that_never_ends_is_refused(#[case] name: &str, #[case] word: &str) {
    let place = Place::new();
    let corpus = corpus(&place, TOPIC);
    let path = place.path(name);
    if !path.exists() {
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    perimeter(&["check", "--corpus", &corpus, "--launcher"])
        .arg(&path)
        .timeout(Duration::from_secs(60))
        .assert()
        .code(2)
        .stderr(contains(word));
}

/// What the host does beside the command waits for the command's own doing. A launcher
/// under which that never comes has not ended in time; the harness has not failed.
#[test]
fn a_step_of_the_host_that_waits_in_vain_is_a_timeout() {
    let place = Place::new();
    let mut topic: Value = serde_json::from_str(TOPIC).unwrap();
    let case = &mut topic["cases"][0];
    case["timeout"] = 3.into();
    case["fixture"] = serde_json::json!({ "files": { "{workspace}/pipe": { "fifo": true } } });
    case.as_object_mut().unwrap().remove("run");
    case["steps"] = serde_json::json!([{ "launch": {
        "run": "echo ready; read -r word < {workspace}/pipe; echo \"$word\"",
        "during": [{ "after": "ready", "host": "echo something > {workspace}/pipe" }],
    } }]);
    case["expect"]["effect"] = serde_json::json!({ "output": "ready\nsomething\n" });
    let corpus = corpus(&place, &topic.to_string());
    let run = |launcher: &str, code: i32, verdict: &str| {
        let launcher = launcher_file(&place, launcher);
        perimeter(&["check", "--corpus", &corpus, "--launcher"])
            .arg(launcher)
            .args(["--scratch", &place.text("scratch")])
            .assert()
            .code(code)
            .stdout(contains(verdict));
    };
    run("exec \"$@\"", 0, "1 passed");
    // It says what the command would say, and never opens the pipe.
    run("\"$1\" \"$2\" \"${3%read*}\"", 1, "timeout");
}

/// The host cannot go on because of what a launcher left: that is the launcher's failure
/// where something was to be allowed. A denial would be believed, and stays an error.
#[rstest]
#[case::allowed("allowed", 1, "overblocked")]
#[case::denied("denied", 70, "error")]
fn a_step_of_the_host_that_trips_over_what_a_launcher_left(
    #[case] outcome: &str,
    #[case] code: i32,
    #[case] verdict: &str,
) {
    let place = Place::new();
    let mut topic: Value = serde_json::from_str(TOPIC).unwrap();
    let mut case = topic["cases"][0].clone();
    case.as_object_mut().unwrap().remove("run");
    case["id"] = "trying.one.trips".into();
    case["expect"]["outcome"] = outcome.into();
    if outcome == "denied" {
        case["sibling"] = "trying.one.says".into();
    }
    case["steps"] = serde_json::json!([
        { "launch": { "run": "echo something" } },
        { "host": "if [ -e {record}/left ]; then echo stumbled; false; fi" },
    ]);
    topic["cases"].as_array_mut().unwrap().push(case);
    let corpus = corpus(&place, &topic.to_string());
    let launcher = launcher_file(&place, ": > ../record/left; exec \"$@\"");
    perimeter(&["check", "--corpus", &corpus])
        .args(["--scratch", &place.text("scratch")])
        .args(["--launcher", launcher.to_str().unwrap()])
        .assert()
        .code(code)
        .stdout(contains(format!("{verdict}  trying.one.trips")))
        .stdout(contains("stumbled"));
}

/// A program that hangs with one launcher, floods with another, and else does what
/// `perimeter` does.
const HOSTILE: &str = r#"#!/bin/sh
case "$*" in
*"check"*"--launcher unshare"*) trap '' TERM; while :; do sleep 1000; done ;;
*"check"*"--launcher bubblewrap "*) exec yes flood ;;
*"check"*) exec "$PROGRAM" "$@" lifecycle.status.one ;;
esac
exec "$PROGRAM" "$@"
"#;

#[test]
fn a_launcher_that_hangs_or_floods_does_not_keep_the_others_from_their_run() {
    let place = Place::new();
    let program = place.file("hostile", HOSTILE);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    let peers = || {
        let mut command = assert_cmd::Command::new("ci/peers");
        command
            .env("PROGRAM", PROGRAM)
            .env("PERIMETER", &program)
            .env("PERIMETER_PEERS", place.path("peers"))
            .env("PERIMETER_PEER_SECONDS", "6")
            .env("PERIMETER_PEER_GRACE", "1");
        command
    };
    let names = ["unshare", "bubblewrap", "open"];
    peers()
        .arg("run")
        .args(names)
        .assert()
        .code(1)
        .stderr(contains("unshare: ended with status 137"))
        .stderr(contains("bubblewrap: ended with status 141"))
        .stderr(contains("open: running").and(contains("open: ended").not()));
    let mut kept: Vec<String> = fs::read_dir(place.path("peers/results"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".jsonl"))
        .collect();
    kept.sort();
    let user = if nix::unistd::geteuid().is_root() {
        "root"
    } else {
        "user"
    };
    assert_eq!(kept, [format!("open-{user}.jsonl")]);
    // What is there is not run again, and can be compared.
    peers()
        .args(["run", "open"])
        .assert()
        .code(0)
        .stderr(contains("done already"));
    peers().arg("compare").assert().code(0);
    let page = fs::read_to_string(place.path("peers/launchers.html")).unwrap();
    assert!(page.contains("lifecycle.status.one"));
}

/// A command that opens a closed directory makes a secret of the fixture show there. It
/// is where it was, and the command has not read it; a copy elsewhere is a leak.
#[rstest]
#[case::shown("chmod 0700 {workspace}/closed", 0, "1 passed")]
#[case::copied(
    "chmod 0700 {workspace}/closed; cp {workspace}/closed/key {workspace}/copy",
    1,
    "escaped"
)]
#[case::moved(
    "chmod 0700 {workspace}/closed; mv {workspace}/closed/key {workspace}/key",
    1,
    "escaped"
)]
fn a_secret_that_only_shows_where_the_fixture_put_it_is_no_leak(
    #[case] line: &str,
    #[case] code: i32,
    #[case] said: &str,
) {
    let place = Place::new();
    let mut topic: Value = serde_json::from_str(TOPIC).unwrap();
    let case = &mut topic["cases"][0];
    case["fixture"] = serde_json::json!({ "files": {
        "{workspace}/closed": { "directory": true, "mode": "0000" },
        "{workspace}/closed/key": { "secret": "key" },
    } });
    case["run"] = format!("{line}; echo something").into();
    let corpus = corpus(&place, &topic.to_string());
    perimeter(&["check", "--corpus", &corpus, "--launcher", "open"])
        .args(["--scratch", &place.text("scratch")])
        .assert()
        .code(code)
        .stdout(contains(said));
}

/// A program that runs nothing, and writes what a run would.
const QUICK: &str = r#"#!/bin/sh
case "$1" in
launchers) echo '{"name":"open","here":true}' ;;
check) while [ $# -gt 1 ]; do [ "$1" = --results ] && echo results > "$2"; shift; done ;;
esac
"#;

#[rstest]
#[case::why(
    "files/write.json",
    "\"why\": \"",
    "\"why\": \"Said otherwise. ",
    "open: done already"
)]
#[case::meaning("revisions.json", "\"rev\": 1,", "\"rev\": 2,", "open: running")]
#[case::version("corpus.json", "\"version\": \"", "\"version\": \"1", "open: running")]
#[case::launcher(
    "launchers/open.json",
    "\"about\": \"",
    "\"about\": \"Not ",
    "open: running"
)]
#[case::another(
    "launchers/srt.json",
    "\"about\": \"",
    "\"about\": \"Not ",
    "open: done already"
)]
fn results_are_of_what_cases_mean_and_of_the_launchers_file(
    #[case] file: &str,
    #[case] from: &str,
    #[case] to: &str,
    #[case] said: &'static str,
) {
    let place = Place::new();
    let program = place.file("quick", QUICK);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    let copied = std::process::Command::new("cp")
        .args(["-r", "ci", "conformance"])
        .arg(place.path(""))
        .status();
    assert!(copied.unwrap().success());
    let run = |said: &'static str| {
        assert_cmd::Command::new(place.path("ci/peers"))
            .env("PERIMETER", &program)
            .env("PERIMETER_PEERS", place.path("peers"))
            .args(["run", "open"])
            .assert()
            .code(0)
            .stderr(contains(said));
    };
    run("open: running");
    run("open: done already");
    let changed = place.path("conformance").join(file);
    let text = fs::read_to_string(&changed).unwrap();
    let other = text.replacen(from, to, 1);
    assert_ne!(text, other, "{from} does not stand in {file}");
    fs::write(&changed, other).unwrap();
    run(said);
}
