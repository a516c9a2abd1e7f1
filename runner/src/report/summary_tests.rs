//! The rules of counting, each with the smallest run that shows it.

use rstest::rstest;

use super::*;
use crate::corpus::vocabulary::Fact;
use crate::report::results::Excuse;
use crate::report::sample;

fn summary(trials: &[TrialResult]) -> Summary {
    Summary::of(trials, &sample::contract())
}

fn conforms() -> TrialResult {
    sample::trial("a.b.conforms", Verdict::Conforms)
}

fn excused(verdict: Verdict) -> TrialResult {
    let mut trial = sample::trial("a.b.excused", verdict);
    trial.excuse = Some(Excuse {
        reason: String::from("known"),
        issue: None,
        expires: None,
    });
    trial
}

#[rstest]
#[case(Verdict::Escaped, ExitCode::Failure)]
#[case(Verdict::Leaked, ExitCode::Failure)]
#[case(Verdict::Overblocked, ExitCode::Failure)]
#[case(Verdict::Deviates, ExitCode::Failure)]
#[case(Verdict::Timeout, ExitCode::Failure)]
#[case(Verdict::Error, ExitCode::Harness)]
#[case(Verdict::Vacuous, ExitCode::Unproven)]
#[case(Verdict::Unmeasured, ExitCode::Unproven)]
#[case(Verdict::Unsupported, ExitCode::Conforms)]
#[case(Verdict::NotApplicable, ExitCode::Conforms)]
#[case(Verdict::Conforms, ExitCode::Conforms)]
fn one_required_trial_among_conforming_ones_decides(
    #[case] verdict: Verdict,
    #[case] code: ExitCode,
) {
    let trials = [conforms(), sample::trial("a.b.c", verdict)];
    assert_eq!(summary(&trials).exit_code(), code);
}

#[rstest]
#[case(Verdict::Escaped, ExitCode::Conforms)]
#[case(Verdict::Vacuous, ExitCode::Conforms)]
#[case(Verdict::Error, ExitCode::Harness)]
fn a_trial_that_is_not_required_fails_nothing_but_a_harness_error_does(
    #[case] verdict: Verdict,
    #[case] code: ExitCode,
) {
    let trial = sample::trial("a.b.c", verdict).at(Level::Launch, Strength::Should);
    assert!(!trial.required);
    assert_eq!(summary(&[conforms(), trial]).exit_code(), code);
}

#[test]
fn a_failure_is_not_masked_by_what_was_not_proven() {
    let trials = [
        sample::trial("a.b.vacuous", Verdict::Vacuous),
        sample::trial("a.b.escaped", Verdict::Escaped),
    ];
    assert_eq!(summary(&trials).exit_code(), ExitCode::Failure);
}

#[test]
fn nothing_selected_is_no_success() {
    assert_eq!(summary(&[]).exit_code(), ExitCode::Nothing);
}

#[test]
fn a_run_in_which_nothing_required_was_proven_is_no_success() {
    let uncounted = sample::trial("a.b.c", Verdict::Unsupported);
    let optional = conforms().at(Level::Launch, Strength::May);
    assert_eq!(
        summary(&[uncounted, optional]).exit_code(),
        ExitCode::Unproven
    );
}

#[test]
fn what_lacks_a_declared_fact_may_stay_unmeasured() {
    let unmeasured = sample::trial("a.b.c", Verdict::Unmeasured);
    let declared = unmeasured.clone().lacking(&[Fact::Ipv6Loopback]);
    let half = unmeasured.clone().lacking(&[Fact::Ipv6Loopback, Fact::Git]);
    assert_eq!(
        summary(&[conforms(), declared]).exit_code(),
        ExitCode::Conforms
    );
    assert_eq!(summary(&[conforms(), half]).exit_code(), ExitCode::Unproven);
    assert_eq!(
        summary(&[conforms(), unmeasured]).exit_code(),
        ExitCode::Unproven
    );
}

#[test]
fn no_declaration_excuses_a_vacuous_case() {
    let vacuous = sample::trial("a.b.c", Verdict::Vacuous).lacking(&[Fact::Ipv6Loopback]);
    assert_eq!(
        summary(&[conforms(), vacuous]).exit_code(),
        ExitCode::Unproven
    );
}

#[test]
fn an_expectation_excuses_a_failure_and_the_level_still_fails() {
    let summary = summary(&[conforms(), excused(Verdict::Escaped)]);
    assert_eq!(summary.exit_code(), ExitCode::Conforms);
    assert_eq!(summary.required.failed, 0);
    assert_eq!(summary.highest_level(), None);
}

#[test]
fn no_expectation_excuses_the_harness() {
    let summary = summary(&[conforms(), excused(Verdict::Error)]);
    assert_eq!(summary.exit_code(), ExitCode::Harness);
}

#[test]
fn a_wrong_expectation_fails_the_run() {
    let problem = vec![String::from("the expectation of a.b.c is stale")];
    let sound = summary(&[conforms()]).with_expectation_problems(problem.clone());
    assert_eq!(sound.exit_code(), ExitCode::Expectations);
    let trials = [sample::trial("a.b.c", Verdict::Escaped)];
    let failed = summary(&trials).with_expectation_problems(problem);
    assert_eq!(failed.exit_code(), ExitCode::Failure);
}

#[test]
fn an_interrupted_run_is_no_success_and_says_nothing_of_levels() {
    let interrupted = summary(&[conforms()]).interrupted();
    assert_eq!(interrupted.exit_code(), ExitCode::Unproven);
    assert_eq!(interrupted.highest_level(), None);
    assert_eq!(summary(&[]).interrupted().exit_code(), ExitCode::Unproven);
}

#[test]
fn a_narrowed_run_says_nothing_of_levels() {
    let mut contract = sample::contract();
    contract.filters = vec![String::from("launch")];
    let summary = Summary::of(&[conforms()], &contract);
    assert_eq!(summary.exit_code(), ExitCode::Conforms);
    assert_eq!(summary.highest_level(), None);
    assert_eq!(summary.levels[0].hold, Hold::Unjudged);
}

#[test]
fn a_level_holds_when_its_must_cases_and_those_below_conform() {
    let of = |level, verdict| sample::trial("a.b.c", verdict).at(level, Strength::Must);
    let mut trials = vec![
        of(Level::Launch, Verdict::Conforms),
        of(Level::ConfinedWrites, Verdict::Conforms),
        of(Level::ConfinedWrites, Verdict::Unsupported),
        of(Level::Isolated, Verdict::Vacuous),
        of(Level::Offline, Verdict::Conforms),
        of(Level::ConfinedReads, Verdict::Unsupported),
        of(Level::Protected, Verdict::Escaped),
    ];
    let holds: Vec<_> = summary(&trials).levels.iter().map(|row| row.hold).collect();
    assert_eq!(
        holds,
        [
            Hold::Holds,
            Hold::Holds,
            Hold::Unproven,
            Hold::Below,
            Hold::Unmeasured,
            Hold::Fails,
            Hold::Unmeasured,
        ],
    );
    assert_eq!(
        summary(&trials).highest_level(),
        Some(Level::ConfinedWrites)
    );
    trials[0].verdict = Verdict::Overblocked;
    assert_eq!(summary(&trials).highest_level(), None);
}

#[test]
fn a_should_case_takes_no_level_away() {
    let should = sample::trial("a.b.c", Verdict::Escaped).at(Level::Launch, Strength::Should);
    assert_eq!(
        summary(&[conforms(), should]).highest_level(),
        Some(Level::Launch),
    );
}

#[test]
fn a_denial_counts_as_shown_only_with_its_baseline() {
    let mut bare = conforms();
    bare.baseline = None;
    let mut allowed = conforms();
    allowed.outcome = Outcome::Allowed;
    let summary = summary(&[conforms(), bare, allowed]);
    assert_eq!((summary.denials, summary.shown_denials), (2, 1));
}

#[test]
fn every_trial_is_counted_once() {
    let trials = sample::trials();
    let summary = summary(&trials);
    assert_eq!(summary.all.total(), trials.len());
    assert_eq!(summary.verdicts.values().sum::<usize>(), trials.len());
    let by_level: usize = summary.levels.iter().map(|row| row.all.total()).sum();
    assert_eq!(by_level, trials.len());
    assert_eq!(summary.footer(1).exit_code, ExitCode::Failure);
}

#[test]
fn the_summary_of_a_file_is_that_of_the_run() {
    let trials = sample::trials();
    let summary = summary(&trials)
        .interrupted()
        .with_expectation_problems(vec![String::from("stale")]);
    let again = Summary::of_run(&trials, &sample::contract(), &summary.footer(5));
    assert_eq!(again, summary);
}
