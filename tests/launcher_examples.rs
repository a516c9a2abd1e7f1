//! The launchers in `runner/examples/launchers`, which are driven by programs of their own that
//! read the request.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use perimeter_runner::launcher::consistency::problems;
use perimeter_runner::launcher::file::read_launcher;
use predicates::prelude::*;
use predicates::str::contains;
use rstest::rstest;
use support::{Place, perimeter};

fn example(name: &str) -> String {
    format!(
        "{}/runner/examples/launchers/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    )
}

#[rstest]
fn an_example_is_right(#[values("shell", "python")] name: &str) {
    let place = Place::new();
    let file = read_launcher(example(name).as_ref()).unwrap();
    assert!(problems(&file).is_empty());
    perimeter(&["launchers", "check", &example(name)])
        .args(["--scratch", &place.text("scratch")])
        .assert()
        .code(0)
        .stdout(contains("right so far").and(contains("wrong").not()));
}

/// What goes wrong most easily between a request and a command line.
#[rstest]
fn an_example_keeps_what_the_request_says(#[values("shell", "python")] name: &str) {
    let place = Place::new();
    perimeter(&["check", "--quiet", "--launcher", &example(name)])
        .args(["--scratch", &place.text("scratch")])
        .args(["lifecycle.arguments", "lifecycle.status.ordinary"])
        .args([
            "lifecycle.directory.asked",
            "files.write",
            "network.none.tcp",
        ])
        .args(["grants.read-only.change", "environment.variables.lines"])
        .assert()
        .code(0);
}

/// Without its program, the script says so, and the command does not run.
#[rstest]
#[case::shell("shell", &["sh", "jq"])]
#[case::python("python", &["python3"])]
fn an_example_that_cannot_confine_starts_nothing(#[case] name: &str, #[case] has: &[&str]) {
    let place = Place::new();
    for program in has.iter().chain(&["env", "cat"]) {
        let found = which::which(program).unwrap();
        fs::create_dir_all(place.path("few")).unwrap();
        std::os::unix::fs::symlink(found, place.path("few").join(program)).unwrap();
    }
    let marker = place.path("ran");
    let request = place.file(
        "request.json",
        &serde_json::json!({
            "policy": { "posture": "strict", "network": "none" },
            "workspace": place.path("workspace"),
            "cwd": place.path("workspace"),
            "environment": null,
            "command": ["/bin/sh", "-c", format!("touch {}", marker.display())],
        })
        .to_string(),
    );
    let program = read_launcher(example(name).as_ref()).unwrap().programs[0].clone();
    let mode = fs::metadata(&program).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111, "{program} is not executable");
    for request in [request.display().to_string(), place.text("absent.json")] {
        assert_cmd::Command::new(&program)
            .arg(request)
            .env("PATH", place.path("few"))
            .assert()
            .failure()
            .stdout("")
            .stderr(predicate::str::is_empty().not());
    }
    assert!(!marker.exists());
}
