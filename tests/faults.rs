//! The wrong launchers: that each is described, and that nothing but the program that is
//! made for it can be one. Most of this needs `--features faults`.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use predicates::str::contains;
use rstest::rstest;
use support::{Place, perimeter};

#[rstest]
#[case::before(&["--mistake", "none", "exec", "--", "true"], 2)]
#[case::after(&["exec", "--mistake", "none", "--", "true"], 125)]
fn the_launcher_itself_can_be_told_no_mistake(#[case] words: &[&str], #[case] status: i32) {
    perimeter(words)
        .assert()
        .code(status)
        .stderr(contains("--mistake"));
}

#[test]
fn the_launcher_itself_holds_whatever_it_was_built_with() {
    // With the feature the mistakes are in the library, and none is made.
    let place = Place::new();
    let outside = place.text("planted");
    place
        .exec(&[], &format!("echo planted > {outside}"))
        .assert()
        .failure();
    assert!(!place.path("planted").exists());
}

#[cfg(feature = "faults")]
mod with_the_feature {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use assert_cmd::Command;
    use perimeter::faults::Mistake;
    use predicates::str::contains;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::support::{Place, perimeter};

    const FAULTY: &str = env!("CARGO_BIN_EXE_perimeter-faulty");

    fn corpus() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/conformance"))
    }

    fn json(path: &Path) -> Value {
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn every_mistake_but_the_control_is_described_and_every_description_is_of_one() {
        let made: BTreeSet<String> = Mistake::ALL
            .iter()
            .filter(|mistake| **mistake != Mistake::None)
            .map(ToString::to_string)
            .collect();
        assert_eq!(made.len(), Mistake::ALL.len() - 1);
        let described: BTreeSet<String> = fs::read_dir(corpus().join("faults"))
            .unwrap()
            .map(|entry| json(&entry.unwrap().path()))
            .filter_map(|fault| Some(fault.get("mistake")?.as_str()?.to_owned()))
            .collect();
        assert_eq!(made, described);
    }

    /// The reference launcher's own file, with a mistake made.
    fn wrong(place: &Place, mistake: &str) -> String {
        let mut launcher = json(&corpus().join("launchers/reference.json"));
        launcher["name"] = json!(mistake);
        launcher.as_object_mut().unwrap().remove("version");
        let arguments = launcher["arguments"].as_array_mut().unwrap();
        assert_eq!(arguments[0], "{perimeter}");
        let words = [FAULTY, "--mistake", mistake].map(|word| json!(word));
        arguments.splice(0..1, words);
        place.file("wrong.json", &launcher.to_string());
        place.text("wrong.json")
    }

    /// Of each area one case that a launcher can get wrong in a way of its own.
    const SAMPLE: [&str; 6] = [
        "descriptors.inherited.read",
        "files.write.create-outside",
        "lifecycle.status.ordinary",
        "reads.hidden.file",
        "policy.document.unknown-field",
        "environment.strict.cleared",
    ];

    fn check(launcher: &str, cases: &[&str]) -> assert_cmd::assert::Assert {
        let words = ["check", "--launcher", launcher];
        perimeter(&[&words[..], cases].concat()).assert()
    }

    #[test]
    fn the_control_conforms() {
        let place = Place::new();
        check(&wrong(&place, "none"), &SAMPLE).code(0);
    }

    #[rstest]
    #[case("descriptors-kept", 0)]
    #[case("workspace-parent-writable", 1)]
    #[case("failure-is-one", 2)]
    #[case("hidden-files-skipped", 3)]
    #[case("unknown-fields-passed-over", 4)]
    #[case("environment-kept", 5)]
    fn a_mistake_fails_its_case_and_no_other(#[case] mistake: &str, #[case] own: usize) {
        let place = Place::new();
        let launcher = wrong(&place, mistake);
        check(&launcher, &[SAMPLE[own]]).code(1);
        let others: Vec<&str> = SAMPLE
            .into_iter()
            .enumerate()
            .filter_map(|(index, case)| (index != own).then_some(case))
            .collect();
        check(&launcher, &others).code(0);
    }

    #[rstest]
    #[case::nothing(&[])]
    #[case::no_name(&["--mistake"])]
    #[case::an_unknown_name(&["--mistake", "no-such", "exec", "--", "true"])]
    #[case::another_command(&["--mistake", "none", "check"])]
    #[case::no_mistake(&["exec", "--", "true"])]
    fn a_wrong_command_line_says_what_there_is(#[case] words: &[&str]) {
        Command::new(FAULTY)
            .args(words)
            .assert()
            .code(125)
            .stdout("")
            .stderr(contains("workspace-parent-writable"));
    }
}
