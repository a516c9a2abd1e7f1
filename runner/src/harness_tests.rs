//! The rules of the harness, each with trials that are made up.

use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::Conclusion;
use rstest::rstest;

use super::*;
use crate::report::sample;

/// Arguments as a person or nextest gives them. What libtest prints goes to a
/// file, which tests read back.
struct Called {
    arguments: Arguments,
    directory: tempfile::TempDir,
}

fn called(words: &str) -> Called {
    let directory = tempfile::tempdir().unwrap();
    let mut arguments =
        Arguments::from_iter(std::iter::once("conformance").chain(words.split_whitespace()));
    let log = directory.path().join("log");
    arguments.logfile = Some(log.to_str().unwrap().to_owned());
    Called {
        arguments,
        directory,
    }
}

impl Called {
    fn printed(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}

fn trials(names: &[&str]) -> Vec<HarnessTrial> {
    let of = |name: &&str| HarnessTrial {
        name: String::from(*name),
        ignored: name
            .ends_with(".ignored")
            .then(|| String::from("the launcher does not claim hidden-paths")),
    };
    names.iter().map(of).collect()
}

/// The verdict is the name's last part.
fn execute(name: &str) -> TrialOutcome {
    let last = name.rsplit('.').next().unwrap();
    assert_ne!(last, "panics", "the harness is broken");
    let verdict = match last {
        "ignored" => Verdict::Unsupported,
        _ => serde_json::from_value(serde_json::Value::from(last)).unwrap(),
    };
    let trial = sample::trial(name, verdict).because("it changed", &["seen \u{1b}[2J"]);
    TrialOutcome::of(&trial, &sample::contract())
}

fn ran(words: &str, names: &[&str]) -> (ExitCode, String) {
    let called = called(words);
    let code = run(trials(names), execute, &called.arguments);
    (code, called.printed())
}

#[rstest]
#[case("a.escaped", ExitCode::Failure)]
#[case("a.leaked", ExitCode::Failure)]
#[case("a.overblocked", ExitCode::Failure)]
#[case("a.deviates", ExitCode::Failure)]
#[case("a.timeout", ExitCode::Failure)]
#[case("a.error", ExitCode::Harness)]
#[case("a.panics", ExitCode::Harness)]
#[case("a.vacuous", ExitCode::Unproven)]
#[case("a.unmeasured", ExitCode::Unproven)]
#[case("a.unsupported", ExitCode::Conforms)]
#[case("a.not-applicable", ExitCode::Conforms)]
#[case("a.ignored", ExitCode::Conforms)]
#[case("a.conforms", ExitCode::Conforms)]
fn one_trial_among_conforming_ones_decides(#[case] name: &str, #[case] code: ExitCode) {
    for threads in ["--test-threads=1", "--test-threads=4"] {
        assert_eq!(ran(threads, &["b.conforms", name]).0, code);
    }
}

#[test]
fn a_failure_tells_its_verdict_reason_and_evidence_without_controls() {
    let (_, printed) = ran("", &["a.escaped"]);
    assert!(
        printed.contains("escaped: it changed\n  | seen \\x1b[2J"),
        "{printed}"
    );
}

#[test]
fn only_what_conforms_is_ever_ok() {
    for verdict in Verdict::ALL {
        let name = format!("a.{verdict}");
        let (code, printed) = ran("", &[&name]);
        let passed = printed.contains("1 passed");
        assert_eq!(passed, verdict == Verdict::Conforms, "{printed}");
        assert_eq!(code == ExitCode::Conforms, passed, "{printed}");
    }
}

#[test]
fn a_standing_that_belies_its_verdict_passes_nothing() {
    let outcome = TrialOutcome {
        standing: Standing::Conforms,
        ..execute("a.vacuous")
    };
    assert!(outcome.completion().is_err());
    assert_eq!(outcome.exit_code(), ExitCode::Failure);
}

#[test]
fn an_ignored_trial_shows_its_reason_and_is_not_run() {
    let called = called("");
    let runs = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&runs);
    let count = move |name: &str| {
        counting.fetch_add(1, Ordering::Relaxed);
        execute(name)
    };
    let names = trials(&["a.conforms", "b.ignored"]);
    assert_eq!(run(names, count, &called.arguments), ExitCode::Conforms);
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    let printed = called.printed();
    assert!(
        printed.contains("ignored (the launcher does not claim hidden-paths)"),
        "{printed}"
    );
    assert!(
        printed.contains("1 passed; 0 failed; 1 ignored"),
        "{printed}"
    );
}

#[rstest]
#[case::alone("")]
#[case::as_nextest_runs_it("--exact b.ignored --nocapture")]
#[case::when_asked_for("--exact b.ignored --nocapture --ignored")]
#[case::included("--include-ignored")]
fn a_run_of_nothing_but_ignored_trials_is_no_success(#[case] words: &str) {
    assert_eq!(ran(words, &["b.ignored"]).0, ExitCode::Unproven);
}

#[rstest]
#[case("--list --format terse", "a.conforms: test\nb.ignored: test\n")]
#[case("--list --format terse --ignored", "b.ignored: test\n")]
#[case("--list --format terse a.c", "a.conforms: test\n")]
fn nextest_gets_its_lists(#[case] words: &str, #[case] list: &str) {
    let (code, printed) = ran(words, &["a.conforms", "b.ignored"]);
    assert_eq!((code, printed.as_str()), (ExitCode::Conforms, list));
}

#[test]
fn nextest_may_find_that_no_trial_is_ignored() {
    let (code, printed) = ran("--list --format terse --ignored", &["a.conforms"]);
    assert_eq!((code, printed.as_str()), (ExitCode::Conforms, ""));
}

#[test]
fn an_exact_name_runs_that_trial_alone() {
    let names = ["a.conforms", "a.conforms.escaped"];
    let (code, printed) = ran("--exact a.conforms --nocapture", &names);
    assert_eq!(code, ExitCode::Conforms);
    assert!(printed.contains("running 1 test\n"), "{printed}");
    assert_eq!(ran("a.conforms", &names).0, ExitCode::Failure);
}

#[rstest]
#[case("nonsense")]
#[case("--exact a")]
#[case("--skip a")]
#[case("--ignored")]
#[case("--list nonsense")]
#[case("--list --skip a")]
fn what_selects_nothing_is_no_success(#[case] words: &str) {
    assert_eq!(ran(words, &["a.conforms"]).0, ExitCode::Nothing);
}

#[test]
fn the_message_names_the_filter() {
    let called = called("nonsense --exact --skip other");
    assert_eq!(
        nothing_selected(&called.arguments, 163),
        "the filter `nonsense` --exact with --skip `other` selects none of 163 trials; `--list` \
         shows their names",
    );
}

#[test]
fn an_empty_corpus_is_no_success_even_to_list() {
    assert_eq!(ran("", &[]).0, ExitCode::Nothing);
    assert_eq!(ran("--list", &[]).0, ExitCode::Nothing);
    assert_eq!(ran("--list --ignored", &[]).0, ExitCode::Nothing);
}

#[test]
fn two_trials_of_one_name_are_refused() {
    assert_eq!(ran("", &["a.conforms", "a.conforms"]).0, ExitCode::Usage);
}

#[test]
fn formats_without_reasons_get_them_beside() {
    let names = trials(&["a.conforms", "b.ignored", "c.ignored"]);
    for words in ["--format json", "--format terse", "--quiet"] {
        let notes = Notes::of(&names, &called(words).arguments);
        let reason = String::from("the launcher does not claim hidden-paths");
        assert_eq!(notes.0, [(reason, 2)]);
    }
    assert!(Notes::of(&names, &called("").arguments).0.is_empty());
    assert!(
        Notes::of(&names, &called("--quiet a.c").arguments)
            .0
            .is_empty()
    );
}

#[test]
fn a_trial_that_is_asked_for_and_not_required_still_needs_its_verdict() {
    let mut outcome = execute("a.escaped");
    outcome.required = false;
    let failed = outcome.completion().err().unwrap();
    assert!(
        failed
            .message()
            .unwrap()
            .starts_with("escaped (not required): ")
    );
}

/// What the fixes above guard against: libtest-mimic is content with nothing.
#[test]
fn libtest_mimic_still_passes_a_run_of_nothing() {
    let called = called("nonsense");
    let conclusion: Conclusion = libtest_mimic::run(&called.arguments, Vec::new());
    assert!(!conclusion.has_failed());
}
