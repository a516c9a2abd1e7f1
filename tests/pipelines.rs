//! What `ci/` gives to pipelines: the scripts of the action and of the plug-in are run, and
//! what the recipes name is there.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use predicates::prelude::*;
use predicates::str::contains;
use support::{PROGRAM, Place};

const DENIAL: &str = "files.write.create-outside";
const TWIN: &str = "files.write.create-inside";

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A script of `ci/`, in a place of its own.
fn script(place: &Place, name: &str) -> assert_cmd::Command {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let mut command = assert_cmd::Command::new(path);
    command.current_dir(place.path(""));
    command
}

/// The action's last step, with inputs as the action hands them on.
fn action(place: &Place, inputs: &[(&str, &str)]) -> assert_cmd::Command {
    let mut command = script(place, "ci/action/check");
    command
        .env("PERIMETER_ACTION_PROGRAM", PROGRAM)
        .env("PERIMETER_ACTION_SCRATCH", place.path("scratch"))
        .env("GITHUB_STEP_SUMMARY", place.path("page.md"));
    for (name, value) in inputs {
        command.env(format!("PERIMETER_ACTION_{}", name.to_uppercase()), value);
    }
    command
}

#[test]
fn the_action_ends_as_the_run_does_and_writes_every_report() {
    let place = Place::new();
    place.file("page.md", "Before.\n");
    let filter = format!(" {DENIAL}\n{TWIN} ");
    for (launcher, code, mark) in [("reference", 0, "✅"), ("open", 1, "❌")] {
        action(&place, &[("launcher", launcher), ("filter", &filter)])
            .assert()
            .code(code)
            .stdout(contains(format!("checked {launcher}")).and(contains("4 of 1")));
        let page = fs::read_to_string(place.path("page.md")).unwrap();
        assert!(page.starts_with("Before.\n"), "{page}");
        let last = page.rfind("\n## ").unwrap();
        assert!(page[last..].starts_with(&format!("\n## {mark} ")), "{page}");
        for report in ["results.jsonl", "junit.xml", "results.sarif", "summary.md"] {
            let path = place.path("perimeter-results").join(report);
            assert!(fs::metadata(path).unwrap().len() > 0, "{report}");
        }
    }
    let page = fs::read_to_string(place.path("page.md")).unwrap();
    assert_eq!(page.matches("\n## ").count(), 2, "{page}");
}

#[test]
fn what_the_action_proposes_is_what_it_takes() {
    let place = Place::new();
    let inputs = [("launcher", "open"), ("filter", DENIAL)];
    action(&place, &inputs).assert().code(1);
    let proposed =
        fs::read_to_string(place.path("perimeter-results/expectations.proposed.json")).unwrap();
    let written = proposed.replace("TODO: say why", "It is no sandbox: that is why");
    let list = place.file("open.json", &written).display().to_string();
    action(&place, &inputs)
        .env("PERIMETER_ACTION_EXPECTATIONS", &list)
        .env("PERIMETER_ACTION_DIRECTORY", "again")
        .assert()
        .code(0)
        .stdout(contains("2 failed as expected"));
}

#[test]
fn an_input_is_never_read_as_a_command_or_a_pattern() {
    let place = Place::new();
    let evil = "$(touch${IFS}made) `touch\u{a0}made` ; * --corpus=/";
    action(&place, &[("filter", evil)])
        .assert()
        .code(4)
        .stderr(contains("\"$(touch${IFS}made)\" matches no case"));
    assert!(!place.path("made").exists());
    action(&place, &[("root", "yes")])
        .assert()
        .code(2)
        .stderr(contains("root is true or false, not yes"));
}

/// The names of the action's inputs, as its file lists them.
fn inputs(action: &str) -> Vec<&str> {
    let inputs = action.split("\ninputs:\n").nth(1).unwrap();
    let inputs = inputs.split("\nruns:\n").next().unwrap();
    inputs
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'))
        .filter(|name| !name.starts_with(' '))
        .collect()
}

#[test]
fn each_input_of_the_action_is_handed_on_and_read() {
    let file = text("ci/action/action.yml");
    let script = text("ci/action/check");
    let inputs = inputs(&file);
    assert_eq!(inputs.len(), 10, "{inputs:?}");
    for name in inputs {
        let variable = format!("PERIMETER_ACTION_{}", name.to_uppercase());
        let line = format!("        {variable}: ${{{{ inputs.{name} }}}}\n");
        assert!(file.contains(&line), "{line}");
        assert!(script.contains(&variable), "{variable}");
    }
    // Inputs stand in `env` alone: in `run` their text would be read as a command.
    let uses = file.lines().filter(|line| line.contains("inputs."));
    assert!(
        uses.clone()
            .all(|line| line.starts_with("        PERIMETER_ACTION_"))
    );
    assert_eq!(uses.count(), 10);
}

#[test]
fn the_key_of_the_build_is_that_of_the_sources() {
    let place = Place::new();
    let root = place.directory("copy");
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["ci/action/build", "Cargo.toml", "Cargo.lock", "src/lib.rs"] {
        let to = root.join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(own.join(name), to).unwrap();
    }
    for directory in ["runner", "conformance"] {
        fs::create_dir(root.join(directory)).unwrap();
    }
    let key = || {
        let output = Command::new(root.join("ci/action/build"))
            .arg("key")
            .env("PERIMETER_ACTION_BUILD", "/kept")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let before = key();
    assert!(
        before.starts_with("directory=/kept\nkey=perimeter-"),
        "{before}"
    );
    assert_eq!(key(), before);
    fs::write(root.join("conformance/new.json"), "{}").unwrap();
    assert_ne!(key(), before);
}

/// The plug-in's script, with what it has written for the worker beside it: the status
/// that it ends with, and the files of its archive.
fn plugin(place: &Place, arguments: &[&str], code: i32) -> Vec<(String, String)> {
    let results = place.directory("results");
    script(place, "ci/sonobuoy/check")
        .args(arguments)
        .args(["--scratch", &place.text("scratch")])
        .env("PERIMETER", PROGRAM)
        .env("PERIMETER_ENDS", "1")
        .env("SONOBUOY_RESULTS_DIR", &results)
        .assert()
        .code(code);
    let archive = fs::read_to_string(results.join("done")).unwrap();
    let files = place.directory("files");
    let status = Command::new("tar")
        .args(["-xzf", &archive, "-C"])
        .arg(&files)
        .status()
        .unwrap();
    assert!(status.success());
    let files = fs::read_dir(files).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let content = fs::read_to_string(entry.path()).unwrap();
        (entry.file_name().into_string().unwrap(), content)
    });
    files.collect()
}

#[test]
fn the_plug_in_hands_over_what_sonobuoy_waits_for() {
    for (launcher, code) in [("reference", 0), ("open", 1)] {
        let place = Place::new();
        let files = plugin(&place, &[DENIAL, "--launcher", launcher], code);
        let of = |wanted: &str| {
            let found = files.iter().find(|(name, _)| name == wanted);
            found
                .unwrap_or_else(|| panic!("{wanted}: {files:?}"))
                .1
                .as_str()
        };
        assert_eq!(of("exit-code"), format!("{code}\n"));
        assert_eq!(of("junit.xml").contains("<failure"), code == 1);
        assert!(of("report.txt").contains("exit code"));
        assert!(of("results.jsonl").lines().count() > 2);
    }
}

#[test]
fn a_plug_in_that_cannot_begin_is_red() {
    let place = Place::new();
    let files = plugin(&place, &["no-such-case"], 4);
    let junit = files.iter().find(|(name, _)| name == "junit.xml").unwrap();
    assert!(
        junit.1.contains("<error message=\"perimeter ended with 4"),
        "{junit:?}"
    );
    let report = files.iter().find(|(name, _)| name == "report.txt").unwrap();
    assert!(report.1.contains("matches no case"), "{report:?}");
}

/// The code of the recipes, by its language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    page.split(&fence)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_recipes_name_inputs_and_flags_that_there_are() {
    let page = text("ci/README.md");
    let action = text("ci/action/action.yml");
    let known = inputs(&action);
    let mut handed = 0;
    for block in blocks(&page, "yaml") {
        let uses = block.split("/perimeter/ci/action@").skip(1);
        for step in uses {
            let with = step.split("with:\n").nth(1).unwrap();
            let names = with
                .lines()
                .take_while(|line| line.starts_with("          "))
                .map(|line| line.trim().split(':').next().unwrap());
            for name in names {
                assert!(known.contains(&name), "the action has no input {name}");
                handed += 1;
            }
        }
    }
    assert!(handed >= 6, "{handed}");

    let mut flags = 0;
    for command in ["check", "audit", "compare"] {
        let help = Command::new(PROGRAM)
            .args([command, "--help"])
            .output()
            .unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let joined = page.replace("\\\n", " ");
        for line in joined.lines().filter(|line| !line.starts_with('|')) {
            let Some(call) = line.split(&format!("perimeter {command} ")).nth(1) else {
                continue;
            };
            let words = call.split([' ', '`', '&', '"']);
            for flag in words.filter(|word| word.starts_with("--")) {
                assert!(help.contains(flag), "perimeter {command} has no {flag}");
                flags += 1;
            }
        }
    }
    assert!(flags >= 10, "{flags}");
}

#[test]
fn the_example_of_a_list_is_one() {
    let page = text("ci/README.md");
    let examples = blocks(&page, "json");
    assert_eq!(examples.len(), 1);
    let list: serde_json::Value = serde_json::from_str(&examples[0]).unwrap();
    let schema = text("conformance/schema/expectations.schema.json");
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    assert!(schema.is_valid(&list));
    let mut unwritten = list;
    unwritten["expectations"][0]["reason"] = "TODO: say why".into();
    assert!(!schema.is_valid(&unwritten));
}

/// A directory with these programs alone, and a compiler of a version that nobody has.
fn few_programs(place: &Place, names: &[&str]) -> std::path::PathBuf {
    let bin = place.path("bin");
    fs::create_dir_all(&bin).unwrap();
    for name in names {
        std::os::unix::fs::symlink(which::which(name).unwrap(), bin.join(name)).unwrap();
    }
    place.script("bin/rustc", "#!/bin/sh\necho rustc 9.9.9\n");
    bin
}

#[test]
fn a_mac_that_cannot_be_checked_is_said_in_the_last_line() {
    let place = Place::new();
    let bin = few_programs(&place, &["bash", "awk", "dirname", "mkdir", "tail"]);
    script(&place, "ci/darwin")
        .env_clear()
        .env("PATH", &bin)
        .env("PERIMETER_DARWIN", place.path("darwin"))
        .assert()
        .code(77)
        .stdout(predicates::str::starts_with("macOS: NOT CHECKED").and(contains("Rust 9.9.9")))
        .stderr(contains("darwin: NOT CHECKED"));
    // The whole run goes on after that, and ends with the line.
    let run = text(".ci/run");
    assert!(run.contains("darwin=$(ci/darwin) || [ $? = 77 ]\n"));
    assert!(run.trim_end().ends_with("printf '\\n%s\\n' \"$darwin\""));
}
