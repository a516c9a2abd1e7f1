//! `perimeter explore`: what it finds, what it says, what it leaves.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use predicates::prelude::*;
use rstest::rstest;
use support::{Place, perimeter, plain};

/// The operations of the first case in a saved file, as many as there are.
fn operations(file: &Path) -> usize {
    let topic: serde_json::Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let words = topic["cases"][0]["run"].as_array().unwrap();
    1 + words.iter().filter(|word| *word == ";").count()
}

fn saved(directory: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(directory.join("explore")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// A wrong launcher is found out within few policies, by a small case that fails under
/// it and holds under the reference.
#[rstest]
#[case("open", 10)]
#[case("bubblewrap-004", 20)]
#[case("bubblewrap-000", 20)]
fn a_wrong_launcher_is_found_out(#[case] launcher: &str, #[case] policies: u32) {
    let place = Place::new();
    let found = place.path("found");
    let found = found.to_str().unwrap();
    let (scratch, count) = (place.path("scratch"), policies.to_string());
    let scratch = scratch.to_str().unwrap();
    perimeter(&[
        "explore",
        "--launcher",
        launcher,
        "--seed",
        "1",
        "--differences",
        "1",
    ])
    .args([
        "--count",
        &count,
        "--jobs",
        "2",
        "--scratch",
        scratch,
        "--save",
        found,
    ])
    .assert()
    .code(1)
    .stdout(predicate::str::contains("the case below shows it"))
    .stdout(predicate::str::contains("1 difference"));
    let files = saved(Path::new(found));
    assert_eq!(files.len(), 1);
    assert!(
        operations(&files[0]) <= 3,
        "{}",
        fs::read_to_string(&files[0]).unwrap()
    );
    let check = |name: &str| {
        let mut check = perimeter(&["check", "--corpus", found, "--jobs", "2"]);
        check.args(["--launcher", name, "--scratch", scratch]);
        check
    };
    check(launcher).assert().code(1);
    check("reference").assert().code(0);
}

/// Two runs from one seed say the same.
#[test]
fn a_seed_says_the_same_each_time() {
    let place = Place::new();
    let scratch = place.path("scratch");
    let run = || {
        let output = perimeter(&[
            "explore",
            "--launcher",
            "open",
            "--seed",
            "5",
            "--count",
            "6",
        ])
        .args(["--differences", "1", "--jobs", "2", "--scratch"])
        .arg(&scratch)
        .output()
        .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        // All but the closing lines, which tell how long it took.
        text.split("\n}\n").next().unwrap().to_owned()
    };
    let first = run();
    assert!(first.contains("Difference at seed"), "{first}");
    assert_eq!(first, run());
}

#[test]
fn the_reference_differs_nowhere() {
    let place = Place::new();
    let temporary = tempfile::tempdir_in("/tmp").unwrap();
    for scratch in [place.path("scratch"), temporary.path().to_owned()] {
        perimeter(&[
            "explore",
            "--seed",
            "1000",
            "--count",
            "40",
            "--jobs",
            "2",
            "--scratch",
        ])
        .arg(&scratch)
        .assert()
        .code(0)
        .stdout(predicate::str::contains("40 policies"))
        .stdout(predicate::str::contains("no difference"));
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    }
}

#[rstest]
#[case::seed(&["--seed", "x"], "invalid value 'x'", 2)]
#[case::time(&["--time", "soon"], "write such as 60s", 2)]
#[case::count(&["--count", "0"], "0 is not in 1..", 2)]
#[case::launcher(&["--launcher", "nobody"], "no launcher is named", 2)]
fn a_wrong_word_is_refused(#[case] words: &[&str], #[case] says: &str, #[case] code: i32) {
    perimeter(&["explore"])
        .args(words)
        .assert()
        .code(code)
        .stderr(predicate::str::contains(says));
}

#[test]
fn where_nothing_is_tried_nothing_is_proven() {
    let place = Place::new();
    perimeter(&["explore", "--time", "0s", "--scratch"])
        .arg(place.path("scratch"))
        .assert()
        .code(4)
        .stdout(predicate::str::contains("0 policies"));
    let launcher = place.path("mute.json");
    let text =
        r#"{ "name": "mute", "about": "Claims nothing.", "features": [], "arguments": ["true"] }"#;
    fs::write(&launcher, text).unwrap();
    perimeter(&["explore", "--launcher", launcher.to_str().unwrap()])
        .assert()
        .code(4)
        .stderr(predicate::str::contains("claims no posture"));
}

#[test]
fn an_interrupted_run_says_what_it_tried_and_leaves_nothing() {
    let place = Place::new();
    let scratch = place.path("scratch");
    let mut child = plain(&[
        "explore",
        "--seed",
        "1",
        "--time",
        "10m",
        "--jobs",
        "2",
        "--scratch",
    ])
    .arg(&scratch)
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains("from seed 1"), "{first}");
    let pid = i32::try_from(child.id()).unwrap();
    kill(Pid::from_raw(pid), Signal::SIGINT).unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(
        rest.iter().any(|line| line.contains("interrupted")),
        "{rest:?}"
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
}
