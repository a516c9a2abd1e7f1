//! Runs that are modelled: what is said of a launcher by its profile alone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use perimeter_runner::corpus::expect::Outcome;
use perimeter_runner::corpus::vocabulary::{Level, Platform};
use perimeter_runner::corpus::{Corpus, Source, Trial};
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
    corpus
        .trials
        .iter()
        .filter(|trial| trial.case.platforms.contains(&Platform::Macos) && is_told(trial))
        .map(|trial| modeller.decide(trial))
        .map(|result| (result.trial.clone(), result))
        .collect()
}

/// Whether the model is told what a trial's command amounts to.
fn is_told(trial: &Trial) -> bool {
    let mut launches = trial.steps().into_iter().filter_map(|step| step.launch);
    launches.any(|launch| trial.modelled(&launch).is_some())
}

/// What no profile can allow: programs with the set-user-ID bit start in no sandbox.
const NEVER: [&str; 2] = [
    "work.process.list/strict",
    "work.process.list/host-readable",
];

#[test]
fn each_trial_of_macos_is_told_to_the_model_or_says_why_not() {
    let silent: Vec<&str> = corpus()
        .trials
        .iter()
        .filter(|trial| {
            trial.case.platforms.contains(&Platform::Macos)
                && trial.case.expect.outcome != Outcome::Refused
                && !is_told(trial)
                && trial.unmodelled.is_none()
        })
        .map(|trial| trial.name.as_str())
        .collect();
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn what_an_axis_decides_is_said_by_its_values() {
    for trial in &corpus().trials {
        for launch in trial.steps().into_iter().filter_map(|step| step.launch) {
            for (axis, values) in &launch.modelled_by {
                let own = trial.axes.get(axis);
                let known = own.is_some_and(|value| values.contains_key(value))
                    && values
                        .keys()
                        .all(|value| trial.case.axes[axis].contains(value));
                assert!(known, "{}: {axis}", trial.name);
            }
        }
    }
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
    assert!(found.len() > 600, "{} trials", found.len());
    for result in found.values() {
        if NEVER.contains(&result.trial.as_str()) {
            assert_eq!(result.modelled, Decision::Overblocks, "{}", result.trial);
            continue;
        }
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
        // Where the program is looked for on PATH, its start is the case's own action.
        assert!(
            result.reason == "the command would not start"
                || result.id == "lifecycle.program.dashed",
            "{}: {}",
            result.trial,
            result.reason
        );
    }
}

/// What is said of a case that has to be refused, under a launcher whose profiles this
/// shell command prints.
fn refusals(case: &str, command: &str) -> Vec<ModelledResult> {
    let corpus = corpus();
    let open = corpus.launcher("open").unwrap();
    let launcher: LauncherFile = serde_json::from_value(json!({
        "name": "of-a-command",
        "about": "Prints or refuses as the policy's document says.",
        "platforms": ["macos"],
        "features": open.features,
        "refusal_status": 99,
        "arguments": [{ "command": true }],
        "profile": ["sh", "-c", command, "sh", "{policy}"],
    }))
    .unwrap();
    let program = PathBuf::from("/nonexistent");
    let contract = Contract::default();
    let mut modeller = Modeller::new(&source(), &launcher, contract, program, None).unwrap();
    let trials = corpus.trials.iter().filter(|trial| trial.case.id == case);
    trials.map(|trial| modeller.decide(trial)).collect()
}

#[rstest]
#[case::refuses_what_it_should(
    "grep -q '\"netwrok\\|readOnly\\|\"deny\\|Network\\|\"\"\\|comment' \"$1\" && { echo no such field >&2; exit 99; }; echo '(version 1)(allow default)'",
    Decision::Conforms
)]
#[case::refuses_everything("echo never >&2; exit 99", Decision::Overblocks)]
#[case::refuses_nothing("echo '(version 1)(allow default)'", Decision::Undecided)]
#[case::fails_without_refusing("exit 1", Decision::Undecided)]
fn a_refusal_counts_where_it_is_seen_and_the_mended_launch_starts(
    #[case] command: &str,
    #[case] wanted: Decision,
) {
    let results = refusals("policy.document.unknown-field", command);
    assert_eq!(results.len(), 6);
    for result in results {
        assert_eq!(
            result.modelled, wanted,
            "{}: {}",
            result.trial, result.reason
        );
        if wanted == Decision::Conforms {
            assert!(
                result.reason.contains("as it did here"),
                "{}",
                result.reason
            );
            assert!(result.reason.contains("no such field"), "{}", result.reason);
        }
    }
}

#[test]
fn a_refusal_that_hangs_on_where_a_policy_lies_is_not_told_from_here() {
    for result in refusals("policy.document.no-file", "exit 99") {
        assert_eq!(result.modelled, Decision::Undecided, "{}", result.reason);
    }
}

#[test]
fn links_that_one_launch_makes_are_there_for_the_next() {
    let writable = CONFINED.replace(
        "(deny file-link)",
        "(allow file-read* file-write* (subpath \"{root}/writable\"))",
    );
    // The link leads outside, where the profile allows nothing.
    let found = decisions(&writable);
    let moved = &found["grants.changed.above/strict/../outside"];
    assert_eq!(moved.modelled, Decision::Conforms, "{}", moved.reason);
    assert!(
        moved.evidence[0].contains("/outside/deep/new"),
        "{:?}",
        moved.evidence
    );
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
