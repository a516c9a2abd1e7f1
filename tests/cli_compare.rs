//! `perimeter compare`: runs side by side.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::process::Command;

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use support::{Place, perimeter};

/// A denial and its twin, of the corpus in the program: two trials each.
const DENIAL: &str = "files.write.create-outside";
const TWIN: &str = "files.write.create-inside";

/// Runs both cases, and returns the path of the results.
fn results(place: &Place, launcher: &str, more: &[&str]) -> String {
    let file = place.text(format!(
        "{launcher}{}.jsonl",
        more.join("").replace('/', "-")
    ));
    perimeter(&["check", DENIAL, TWIN, "--quiet", "--launcher", launcher])
        .args(["--scratch", &place.text("scratch"), "--results", &file])
        .args(more)
        .assert()
        .code(predicate::in_iter([0, 1]));
    file
}

fn json(place: &Place, results: &[&str]) -> Value {
    let file = place.text("compared.json");
    perimeter(&["compare", "--json", &file])
        .args(results)
        .assert()
        .code(0)
        .stdout("");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn launchers_are_columns_and_cases_are_rows() {
    let place = Place::new();
    let reference = results(&place, "reference", &[]);
    let open = results(&place, "open", &[]);
    let compared = json(&place, &[&reference, &open]);
    let names: Vec<&Value> = compared["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| &column["name"])
        .collect();
    assert_eq!(names, ["reference", "open"]);
    let case = &compared["cases"][1];
    assert_eq!(case["id"], DENIAL);
    assert_eq!(case["cells"][0]["verdict"], "conforms");
    assert_eq!(case["cells"][1]["verdict"], "escaped");
    assert_eq!(case["cells"][1]["verdicts"]["escaped"], 2);
    let evidence = case["cells"][1]["told"][0]["evidence"][0].as_str().unwrap();
    assert!(evidence.contains("{root}/outside/new"), "{evidence}");
    // What only this host knows is in none of it.
    let scratch = place.text("scratch");
    assert!(!compared.to_string().contains(&scratch));
}

#[test]
fn the_parts_of_a_split_run_are_one_column() {
    let place = Place::new();
    let parts = ["1/2", "2/2"].map(|part| results(&place, "reference", &["--partition", part]));
    let compared = json(&place, &[&parts[0], &parts[1]]);
    assert_eq!(compared["columns"].as_array().unwrap().len(), 1);
    assert_eq!(compared["cases"].as_array().unwrap().len(), 2);
    assert_eq!(compared["cases"][1]["cells"][0]["verdicts"]["conforms"], 2);
    // Two cases are not the corpus: nothing is said of levels.
    assert_eq!(compared["columns"][0]["complete"], false);
    assert_eq!(compared["columns"][0]["levels"][0]["hold"], "not judged");
}

#[test]
fn a_level_in_which_a_trial_fails_does_not_hold_whatever_is_left_out() {
    let place = Place::new();
    let open = results(&place, "open", &["--partition", "1/2"]);
    let compared = json(&place, &[&open]);
    let column = &compared["columns"][0];
    assert_eq!(column["complete"], false);
    let level = column["levels"].as_array().unwrap().iter();
    let holds: Vec<&Value> = level
        .filter(|level| level["level"] == "confined-writes")
        .map(|level| &level["hold"])
        .collect();
    assert_eq!(holds, ["no"]);
    perimeter(&["compare", &results(&place, "open", &[])])
        .assert()
        .code(0)
        .stdout(contains("✗").and(contains(
            "1 case that conforms wherever it counts is left out",
        )));
}

#[test]
fn markdown_is_printed_where_no_file_is_named() {
    let place = Place::new();
    let open = results(&place, "open", &[]);
    perimeter(&["compare", &open])
        .assert()
        .code(0)
        .stdout(contains("| open |").or(contains("| open ")))
        .stdout(contains(format!("| `{DENIAL}` | escaped |")))
        .stdout(contains(TWIN).not());
}

#[test]
fn a_case_whose_text_differs_is_marked() {
    let place = Place::new();
    let reference = results(&place, "reference", &[]);
    let open = results(&place, "open", &[]);
    let other: String = fs::read_to_string(&open)
        .unwrap()
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            if line["id"] == TWIN {
                line["digest"] = "0123456789abcdef".into();
            }
            format!("{line}\n")
        })
        .collect();
    fs::write(&open, other).unwrap();
    let compared = json(&place, &[&reference, &open]);
    assert_eq!(compared["cases"][0]["differs"], true);
    assert_eq!(compared["cases"][1]["differs"], false);
}

#[test]
fn the_same_trial_twice_is_refused() {
    let place = Place::new();
    let open = results(&place, "open", &[]);
    let copy = place.text("copy.jsonl");
    fs::copy(&open, &copy).unwrap();
    perimeter(&["compare", &open, &copy])
        .assert()
        .code(2)
        .stderr(contains(&copy).and(contains("leave one of the two files out")));
}

#[test]
fn a_run_that_was_cut_short_is_refused() {
    let place = Place::new();
    let open = results(&place, "open", &[]);
    let text = fs::read_to_string(&open).unwrap();
    let cut: String = text
        .lines()
        .take(2)
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(&open, cut).unwrap();
    perimeter(&["compare", &open])
        .assert()
        .code(2)
        .stderr(contains(&open).and(contains("incomplete")));
}

/// The page as a browser has it after its script has run.
fn shown(page: &str, fragment: &str, place: &Place) -> String {
    let profile = format!("--user-data-dir={}", place.text("profile"));
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
        ])
        .args([
            "--disable-sync",
            "--no-first-run",
            "--disable-quic",
            &profile,
        ])
        .arg(format!("file://{page}#{fragment}"))
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "needs a browser: install the package `chromium`, and run with --ignored"]
fn a_browser_opens_filters_and_links_the_page() {
    let place = Place::new();
    let reference = results(&place, "reference", &[]);
    let open = results(&place, "open", &[]);
    let page = place.text("page.html");
    perimeter(&["compare", &reference, &open, "--html", &page])
        .assert()
        .code(0);
    let all = shown(&page, "", &place);
    assert!(all.contains(">2 of 2 cases<"), "{all}");
    assert!(all.contains("✗") && all.contains("escaped: open"), "{all}");
    let filtered = shown(&page, "verdict=escaped&launcher=open", &place);
    assert!(filtered.contains(">1 of 2 cases<"), "{filtered}");
    let none = shown(&page, "verdict=escaped&launcher=reference", &place);
    assert!(none.contains(">0 of 2 cases<"), "{none}");
    let linked = shown(&page, &format!("case={DENIAL}"), &place);
    assert!(
        linked.contains(&format!("id=\"case-{DENIAL}\" open")),
        "{linked}"
    );
    for part in [
        "{root}/outside/new",
        &format!("perimeter repro {DENIAL}"),
        "2 escaped",
    ] {
        assert!(linked.contains(part), "{part}: {linked}");
    }
    assert!(
        !all.contains(&format!("perimeter repro {DENIAL}")),
        "a case is closed until it is opened"
    );
}
