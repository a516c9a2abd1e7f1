//! Runs that are modelled: what is said of a launcher by its profile alone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use perimeter_runner::corpus::expect::Outcome;
use perimeter_runner::corpus::vocabulary::{Level, Platform};
use perimeter_runner::corpus::{Corpus, Source};
use perimeter_runner::exit::ExitCode;
use perimeter_runner::launcher::file::LauncherFile;
use perimeter_runner::modelled::{Decision, ModelledResult, Modeller, exit_code};
use perimeter_runner::report::results::Contract;
use rstest::rstest;
use serde_json::json;

/// The corpus, read once.
fn corpus() -> &'static Corpus {
    static CORPUS: OnceLock<Corpus> = OnceLock::new();
    CORPUS.get_or_init(|| Corpus::load(&source()).unwrap())
}

fn source() -> Source {
    Source::Directory(Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance"))
}

/// A launcher whose profile is this text.
fn launcher(corpus: &Corpus, profile: &str) -> LauncherFile {
    let open = corpus.launcher("open").unwrap();
    serde_json::from_value(json!({
        "name": "of-a-text",
        "about": "Prints one profile for every launch.",
        "platforms": ["macos"],
        "features": open.features,
        "files": { "{state}/profile.sb": profile },
        "arguments": [{ "command": true }],
        "profile": ["cat", "{state}/profile.sb"],
    }))
    .unwrap()
}

/// What the model says of every trial of macOS that it is told something about.
fn decisions(profile: &str) -> BTreeMap<String, ModelledResult> {
    let corpus = corpus();
    let contract = Contract {
        levels: vec![Level::ConfinedReads],
        ..Contract::default()
    };
    let launcher = launcher(corpus, profile);
    let program = PathBuf::from("/nonexistent");
    let mut modeller = Modeller::new(&source(), &launcher, contract, program, None).unwrap();
    let silent = "the case does not say what its command amounts to";
    corpus
        .trials
        .iter()
        .filter(|trial| trial.case.platforms.contains(&Platform::Macos))
        .map(|trial| modeller.decide(trial))
        .filter(|result| result.reason != silent && result.outcome != Outcome::Refused)
        .map(|result| (result.trial.clone(), result))
        .collect()
}

const CONFINED: &str = r#"(version 1)
(deny default)
(allow process*)
(allow signal (target same-sandbox))
(allow file-read* (literal "/") (subpath "/usr") (subpath "/bin") (subpath "/System"))
(allow file-read* file-write* (subpath "{workspace}"))
(deny file-link)
"#;

#[test]
fn a_profile_that_allows_all_lets_each_forbidden_effect_through() {
    let found = decisions("(version 1)(allow default)");
    assert!(found.len() > 150, "{} trials", found.len());
    for result in found.values() {
        let wanted = match result.outcome {
            Outcome::Allowed => Decision::Conforms,
            _ => Decision::Escapes,
        };
        assert_eq!(
            result.modelled, wanted,
            "{}: {}",
            result.trial, result.reason
        );
    }
}

#[test]
fn a_profile_that_allows_nothing_starts_nothing_and_conforms_to_nothing() {
    for result in decisions("(version 1)(deny default)").values() {
        assert_eq!(result.modelled, Decision::Overblocks, "{}", result.trial);
        assert_eq!(result.reason, "the command would not start");
    }
}

#[rstest]
#[case("files.write.create-inside/strict", Decision::Conforms)]
#[case("files.write.create-outside/strict", Decision::Conforms)]
#[case("files.links.hard-link-outside/strict", Decision::Conforms)]
#[case("files.links.hard-link-inside/strict", Decision::Overblocks)]
#[case("files.links.directory/strict/../outside", Decision::Conforms)]
#[case("reads.system.programs/strict", Decision::Overblocks)]
#[case("network.none.tcp/strict", Decision::Conforms)]
#[case("network.host.tcp/strict", Decision::Overblocks)]
#[case("macos.service.keychain", Decision::Conforms)]
#[case("macos.path.above/strict", Decision::Overblocks)]
fn a_decision_follows_from_the_profile(#[case] trial: &str, #[case] wanted: Decision) {
    let found = &decisions(CONFINED)[trial];
    assert_eq!(found.modelled, wanted, "{}", found.reason);
    assert!(wanted != Decision::Overblocks || !found.evidence.is_empty());
}

#[test]
fn a_protection_that_is_taken_away_is_seen() {
    let open = CONFINED.replace("(deny file-link)\n", "");
    let found = decisions(&open);
    let escaped = &found["files.links.hard-link-outside/strict"];
    assert_eq!(escaped.modelled, Decision::Escapes);
    assert!(
        escaped.evidence[0].starts_with("allowed file-link"),
        "{escaped:?}"
    );
}

#[test]
fn a_profile_that_a_mac_refuses_starts_nothing_and_one_unread_is_undecided() {
    let refused = decisions("(version 1)(allow file-read* (subpath 7))");
    let result = &refused["files.write.create-outside/strict"];
    assert_eq!(result.modelled, Decision::Overblocks);
    assert!(
        result
            .reason
            .contains("1:39: invalid data type of path filter"),
        "{}",
        result.reason
    );
    let unread = decisions("(version 1)(trace \"/tmp/t\")");
    let result = &unread["files.write.create-outside/strict"];
    assert_eq!(result.modelled, Decision::Undecided);
}

#[test]
fn no_modelled_run_ends_with_success() {
    let of = |profile: &str| {
        let results: Vec<_> = decisions(profile).into_values().collect();
        exit_code(&results)
    };
    assert_eq!(of("(version 1)(allow default)"), ExitCode::Failure);
    let conforming: Vec<_> = decisions(CONFINED)
        .into_values()
        .filter(|result| result.modelled == Decision::Conforms)
        .collect();
    assert!(!conforming.is_empty());
    assert_eq!(exit_code(&conforming), ExitCode::Unproven);
    assert_eq!(exit_code(&[]), ExitCode::Nothing);
}
