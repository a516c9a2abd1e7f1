//! `perimeter repro`: a case as a shell script that says what a run says.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use rstest::rstest;
use serde_json::json;
use support::corpus::corpus;
use support::processes::{marker, with_argument};
use support::repro::{command, differences, is_measured, left_in, reading, verdicts, written};
use support::{PROGRAM, Place, one_paragraph, perimeter};

const DENIAL: &str = "files.write.create-outside";

/// The first trial of every case of Linux, by id.
fn first_trials() -> Vec<(String, String)> {
    let output = perimeter(&["list", "--json"]).output().unwrap();
    let mut first: Vec<(String, String)> = Vec::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| record[name].as_str().unwrap().to_owned();
        let linux = record["platforms"]
            .as_array()
            .unwrap()
            .contains(&json!("linux"));
        if linux && first.last().is_none_or(|(id, _)| *id != text("id")) {
            first.push((text("id"), text("trial")));
        }
    }
    first
}

/// Two cases of each area: those at a third and at two thirds of its list.
fn sample() -> Vec<(String, String)> {
    let mut areas: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (id, trial) in first_trials() {
        let area = id.split('.').next().unwrap().to_owned();
        areas.entry(area).or_default().push((id, trial));
    }
    let mut sample = Vec::new();
    for cases in areas.values() {
        for place in [cases.len() / 3, cases.len() * 2 / 3] {
            if sample.last() != Some(&cases[place]) {
                sample.push(cases[place].clone());
            }
        }
    }
    assert!(sample.len() >= 25, "{sample:?}");
    sample
}

/// The differences between the scripts of these cases and a run of them.
fn compare(launcher: &str, cases: &[(String, String)]) -> (usize, Vec<String>) {
    let place = Place::new();
    let ids: Vec<&str> = cases.iter().map(|(id, _)| id.as_str()).collect();
    let verdicts = verdicts(&place, launcher, &ids);
    let trials: Vec<(String, String)> = cases
        .iter()
        .filter_map(|(_, trial)| Some((trial.clone(), verdicts.get(trial)?.clone())))
        // Who wins a race is another matter each time.
        .filter(|(trial, _)| !trial.starts_with("races."))
        .filter(|(_, verdict)| is_measured(verdict))
        .collect();
    let differences = differences(&place, launcher, &trials);
    assert_eq!(
        left_in(&place.path("run")),
        Vec::<std::path::PathBuf>::new()
    );
    (trials.len(), differences)
}

#[rstest]
#[case::reference("reference", 20)]
#[case::open("open", 20)]
fn a_sample_of_scripts_reads_as_a_run_does(#[case] launcher: &str, #[case] least: usize) {
    let (compared, differences) = compare(launcher, &sample());
    assert!(compared >= least, "{compared} compared");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// For who changes what scripts are written from.
#[test]
#[ignore = "runs every case by hand under three launchers, which takes minutes"]
fn every_script_reads_as_a_run_does() {
    let mut all = Vec::new();
    for launcher in ["reference", "open", "bubblewrap-004"] {
        let (compared, differences) = compare(launcher, &first_trials());
        println!(
            "{launcher}: {compared} compared, {} differ",
            differences.len()
        );
        all.extend(
            differences
                .into_iter()
                .map(|line| format!("{launcher}: {line}")),
        );
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[rstest]
fn a_script_shows_the_effect_without_a_sandbox_and_not_with_it(
    #[values("dash", "bash")] shell: &str,
) {
    let place = Place::new();
    let script = written(&place, DENIAL, &[]);
    let output = command(shell, &script, &place.path("run"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let (without, with) = text.split_once("== Under reference").unwrap();
    assert!(without.contains("effect: yes"), "{text}");
    assert!(with.contains("effect: no") && with.contains("reading: conforms"));
    assert!(left_in(&place.path("run")).is_empty());
}

#[test]
fn without_the_launcher_its_recorded_plan_is_run() {
    let place = Place::new();
    let script = written(&place, DENIAL, &[]);
    let text = fs::read_to_string(&script).unwrap();
    assert!(text.contains("--bind \"$root/workspace\" \"$root/workspace\""));
    let mut command = command("dash", &script, &place.path("run"));
    let output = command.env_remove("PERIMETER").output().unwrap();
    assert_eq!(reading(&output), "conforms");
}

#[test]
fn a_launcher_that_lets_it_through_is_found_out() {
    let place = Place::new();
    let script = written(&place, DENIAL, &["--launcher", "open"]);
    let output = command("dash", &script, &place.path("run"))
        .output()
        .unwrap();
    assert_eq!(reading(&output), "escaped");
    assert_eq!(output.status.code(), Some(1));
}

/// A launcher without a sandbox, that wants its settings in a directory of their own.
const SETTLED: &str = r#"{
  "name": "settled",
  "about": "A launcher of the tests.",
  "levels": ["launch"],
  "features": ["posture-strict", "posture-host-readable", "network-host"],
  "files": { "{state}/own/deep/settings": ["one"] },
  "arguments": [
    "sh", "-c", "grep -qx one \"$1\" && shift && exec \"$@\"", "sh", "{state}/own/deep/settings",
    { "command": true }
  ]
}"#;

#[test]
fn what_a_launcher_keeps_in_a_directory_of_its_own_is_written_there() {
    let place = Place::new();
    let launcher = place.file("settled.json", SETTLED).display().to_string();
    let allowed = "files.write.create-inside";
    let script = written(&place, allowed, &["--launcher", &launcher]);
    let output = command("dash", &script, &place.path("run"))
        .output()
        .unwrap();
    assert_eq!(reading(&output), "conforms");
}

#[test]
fn the_same_case_gives_the_same_text() {
    let text = || perimeter(&["repro", DENIAL]).output().unwrap().stdout;
    let first = text();
    assert!(!first.is_empty());
    assert_eq!(first, text());
    let text = String::from_utf8(first).unwrap();
    // Nothing of the directory that the plan was made in.
    assert!(!text.contains(".cache/perimeter/"), "{text}");
}

/// A case whose command waits for ever, and says so.
fn waiting(place: &Place, marker: &str) -> String {
    let topic = json!({
        "topic": "Trying",
        "about": "A case of the tests.",
        "cases": [{
            "id": "trying.one.waits",
            "rev": 1,
            "title": "A command waits",
            "why": "It is a test.",
            "covers": ["T-1"],
            "level": "launch",
            "strength": "must",
            "run": format!("echo $$ > started; exec -a {marker} sleep 1000"),
            "expect": { "outcome": "allowed", "effect": { "output": "never\n" } },
            "timeout": 60,
        }],
    });
    corpus(place, &topic.to_string())
}

#[rstest]
#[case::terminated("TERM", 143)]
#[case::interrupted("INT", 130)]
fn an_interrupted_script_leaves_nothing(#[case] signal: &str, #[case] status: i32) {
    let place = Place::new();
    let marker = marker();
    let corpus = waiting(&place, &marker);
    let more = ["--corpus", &corpus, "--launcher", "open"];
    let script = written(&place, "trying.one.waits", &more);
    let directory = place.directory("run");
    let mut child = command("dash", &script, &directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines
        .find(|line| line.as_ref().unwrap().contains("launch 1"))
        .unwrap()
        .unwrap();
    // The command is there when it has said so in its workspace.
    let started = || {
        let made = left_in(&directory).into_iter().next()?;
        fs::read_to_string(made.join("baseline/workspace/started"))
            .ok()
            .filter(|it| it.ends_with('\n'))
    };
    while started().is_none() {
        std::thread::yield_now();
    }
    let number = child.id().to_string();
    let sent = Command::new("kill")
        .args(["-s", signal, &number])
        .status()
        .unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(status));
    assert!(left_in(&directory).is_empty());
    assert!(with_argument(&marker).is_empty());
}

/// Names and contents that a shell would take apart, byte for byte.
#[rstest]
fn odd_names_and_contents_arrive_as_they_are(
    #[values("reference", "open")] launcher: &str,
    #[values("dash", "bash")] shell: &str,
) {
    let place = Place::new();
    let names = [
        "two  words",
        "it's",
        "a \"quote\"",
        "-n",
        "--",
        "$HOME",
        "`id`",
        "a\\b",
        "*",
        "[a]",
        "line\nbreak",
        "tab\there",
        "!",
        "~",
        "é ü",
        "\u{202e}back",
        "#",
        "&;|<>",
    ];
    let mut files = serde_json::Map::new();
    let mut facts = Vec::new();
    for name in names {
        files.insert(format!("{{workspace}}/{name}"), json!(format!("{name}\n")));
        files.insert(format!("{{workspace}}/directory {name}/in"), json!(name));
        facts.push(
            json!({ "path": format!("{{workspace}}/{name}"), "content": format!("{name}\n") }),
        );
        facts
            .push(json!({ "path": format!("{{workspace}}/directory {name}/in"), "content": name }));
    }
    let topic = json!({
        "topic": "Trying",
        "about": "A case of the tests.",
        "fixture": { "files": files, "environment": { "ODD": "$(id) 'x' \"y\"\n" } },
        "cases": [{
            "id": "trying.one.odd",
            "rev": 1,
            "title": "Names arrive as they are: `id` $HOME 'x'",
            "why": "It is a \"test\"\u{202e}.",
            "covers": ["T-1"],
            "level": "launch",
            "strength": "must",
            "run": ["printf", "<%s>", "two  words", "", "-n", "it's", "$HOME", "`id`", "a\nb", "\u{1b}[1m", "\\n"],
            "expect": {
                "outcome": "allowed",
                "effect": {
                    "output": "<two  words><><-n><it's><$HOME><`id`><a\nb><\u{1b}[1m><\\n>",
                    "host": facts,
                },
            },
        }],
    });
    let corpus = corpus(&place, &topic.to_string());
    let script = written(
        &place,
        "trying.one.odd",
        &["--corpus", &corpus, "--launcher", launcher],
    );
    let text = fs::read_to_string(&script).unwrap();
    assert!(!text.contains('\u{202e}') && !text.contains('\u{1b}'));
    let output = command(shell, &script, &place.path("run"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(reading(&output), "conforms", "{said}");
    assert_eq!(
        said.matches("effect: yes").count(),
        2 * (facts.len() + 1),
        "{said}"
    );
}

#[test]
fn a_trial_is_named_in_full_or_by_its_values() {
    for name in ["host-readable", "files.write.create-outside/host-readable"] {
        perimeter(&["repro", DENIAL, "--trial", name])
            .assert()
            .code(0)
            .stdout(contains("\"posture\": \"host-readable\""));
    }
    perimeter(&["repro", DENIAL, "--trial", "no-such"])
        .assert()
        .code(4)
        .stdout("")
        .stderr(one_paragraph().and(contains("files.write.create-outside/strict")));
}

#[test]
fn what_no_script_can_do_is_refused_by_its_reason() {
    let place = Place::new();
    let topic = |case: serde_json::Value| {
        let mut whole = json!({
            "id": "trying.one.cannot", "rev": 1, "title": "A title", "why": "It is a test.",
            "covers": ["T-1"], "level": "launch", "strength": "must", "run": "true",
            "expect": { "outcome": "allowed", "effect": { "output": "" } },
        });
        for (name, value) in case.as_object().unwrap() {
            whole[name] = value.clone();
        }
        json!({ "topic": "Trying", "about": "A test.", "cases": [whole] }).to_string()
    };
    for (case, reason) in [
        (json!({ "platforms": ["macos"] }), "about macos"),
        (json!({ "run": "{probe} signals" }), "signals"),
    ] {
        let corpus = corpus(&place, &topic(case));
        perimeter(&["repro", "trying.one.cannot", "--corpus", &corpus])
            .assert()
            .code(2)
            .stdout("")
            .stderr(one_paragraph().and(contains(reason)));
    }
}

#[test]
fn a_script_that_is_written_to_a_file_can_be_executed() {
    let place = Place::new();
    let script = written(&place, DENIAL, &[]);
    let output = Command::new(&script)
        .arg(place.path("run"))
        .env("PERIMETER", PROGRAM)
        .output()
        .unwrap();
    assert_eq!(reading(&output), "conforms");
    let missing = place.text("absent/script.sh");
    perimeter(&["repro", DENIAL, "--output", &missing])
        .assert()
        .code(2)
        .stderr(one_paragraph().and(contains(&missing)));
}
