//! Each way to a verdict, on observations made by hand.

use rstest::rstest;

use super::*;
use crate::corpus::expect::{Effect, TextMatch};
use crate::observe::observation::{Change, Leak, Leftover, Part, Tries};

fn launch(started: bool, ending: Ending) -> LaunchObservation {
    LaunchObservation {
        started,
        proves_start: true,
        ending,
        error_output: "some words".to_owned(),
        ..LaunchObservation::default()
    }
}

fn run(started: bool, effect: bool) -> Observation {
    Observation {
        launches: vec![launch(started, Ending::Exited(u8::from(!started)))],
        effect: vec![Part {
            what: "a file".to_owned(),
            holds: effect,
            seen: String::new(),
        }],
        ..Observation::default()
    }
}

fn expect(outcome: Outcome) -> Expect {
    Expect {
        outcome,
        effect: Effect::default(),
        claim: None,
        absorbed: Absorbed::default(),
        refusal: Refusal::default(),
        control: None,
        reveals: Vec::new(),
        changes: Vec::new(),
        exit: None,
        output: None,
        error_output: None,
    }
}

fn verdict(expect: &Expect, baseline: Option<&Observation>, observed: &Observation) -> Verdict {
    judge(expect, LauncherTraits::default(), baseline, observed).verdict
}

#[rstest]
#[case::it_holds(
    Outcome::Denied,
    Some(run(true, true)),
    run(true, false),
    Verdict::Conforms
)]
#[case::it_shows(
    Outcome::Denied,
    Some(run(true, true)),
    run(true, true),
    Verdict::Escaped
)]
#[case::an_escape_needs_no_baseline(Outcome::Denied, None, run(true, true), Verdict::Escaped)]
#[case::no_baseline(Outcome::Denied, None, run(true, false), Verdict::Vacuous)]
#[case::impossible_here(
    Outcome::Denied,
    Some(run(true, false)),
    run(true, false),
    Verdict::Vacuous
)]
#[case::baseline_did_not_start(
    Outcome::Denied,
    Some(run(false, false)),
    run(true, false),
    Verdict::Vacuous
)]
#[case::never_started(
    Outcome::Denied,
    Some(run(true, true)),
    run(false, false),
    Verdict::Overblocked
)]
#[case::permission(Outcome::Allowed, None, run(true, true), Verdict::Conforms)]
#[case::permission_missing(
    Outcome::Allowed,
    Some(run(true, true)),
    run(true, false),
    Verdict::Overblocked
)]
#[case::permission_impossible(
    Outcome::Allowed,
    Some(run(true, false)),
    run(true, false),
    Verdict::Vacuous
)]
#[case::permission_never_started(
    Outcome::Allowed,
    Some(run(true, true)),
    run(false, false),
    Verdict::Overblocked
)]
fn outcomes_are_judged(
    #[case] outcome: Outcome,
    #[case] baseline: Option<Observation>,
    #[case] observed: Observation,
    #[case] expected: Verdict,
) {
    assert_eq!(
        verdict(&expect(outcome), baseline.as_ref(), &observed),
        expected
    );
}

#[test]
fn a_leak_is_an_escape_even_where_the_effect_is_allowed() {
    let mut observed = run(true, true);
    observed.leaks.push(Leak {
        secret: "key".to_owned(),
        place: "stdout".to_owned(),
    });
    assert_eq!(
        verdict(&expect(Outcome::Allowed), None, &observed),
        Verdict::Escaped
    );
}

#[test]
fn a_change_outside_the_grants_is_an_escape() {
    let mut observed = run(true, true);
    observed.changes.push(Change {
        path: "/outside/a".to_owned(),
        what: "created".to_owned(),
    });
    assert_eq!(
        verdict(&expect(Outcome::Allowed), None, &observed),
        Verdict::Escaped
    );
}

#[test]
fn a_process_left_behind_is_leaked() {
    let mut observed = run(true, true);
    observed.leftovers.push(Leftover {
        pid: 7,
        command_line: "sleep".to_owned(),
    });
    assert_eq!(
        verdict(&expect(Outcome::Allowed), None, &observed),
        Verdict::Leaked
    );
}

#[test]
fn a_deadline_that_passes_is_no_denial() {
    let mut observed = run(true, false);
    observed.launches[0].ending = Ending::TimedOut;
    let baseline = run(true, true);
    assert_eq!(
        verdict(&expect(Outcome::Denied), Some(&baseline), &observed),
        Verdict::Timeout
    );
}

#[test]
fn the_right_effect_in_the_wrong_manner_deviates() {
    let mut expect = expect(Outcome::Allowed);
    expect.exit = Some(3);
    assert_eq!(verdict(&expect, None, &run(true, true)), Verdict::Deviates);
}

#[test]
fn a_lost_write_deviates_where_the_case_says_so() {
    let mut expect = expect(Outcome::Denied);
    expect.claim = Some(TextMatch::Equals("WROTE".to_owned()));
    let mut observed = run(true, false);
    observed.launches[0].output = "WROTE\n".to_owned();
    let baseline = run(true, true);
    assert_eq!(
        verdict(&expect, Some(&baseline), &observed),
        Verdict::Conforms
    );
    expect.absorbed = Absorbed::Rejected;
    assert_eq!(
        verdict(&expect, Some(&baseline), &observed),
        Verdict::Deviates
    );
}

#[test]
fn what_is_vacuous_shows_how_the_command_ended_without_a_sandbox_and_its_last_words() {
    let mut baseline = run(true, false);
    baseline.launches[0].ending = Ending::Exited(7);
    baseline.launches[0].error_output = "one\ntwo\nthree\n\nfour\n".to_owned();
    let judgement = judge(
        &expect(Outcome::Denied),
        LauncherTraits::default(),
        Some(&baseline),
        &run(true, false),
    );
    assert_eq!(
        judgement.evidence,
        [
            "without a sandbox: launcher ended with 7",
            "without a sandbox: stderr: two",
            "without a sandbox: stderr: three",
            "without a sandbox: stderr: four",
            "without a sandbox: does not show: a file",
        ]
    );
}

/// A refusal: whether the launch, and the mended launch, started.
#[rstest]
#[case::refused(false, Some(true), Ending::Exited(125), Verdict::Conforms)]
#[case::started(true, Some(true), Ending::Exited(0), Verdict::Escaped)]
#[case::nothing_ever_starts(false, Some(false), Ending::Exited(125), Verdict::Overblocked)]
#[case::no_control(false, None, Ending::Exited(125), Verdict::Vacuous)]
#[case::success_without_a_start(false, Some(true), Ending::Exited(0), Verdict::Deviates)]
#[case::another_status(false, Some(true), Ending::Exited(1), Verdict::Deviates)]
fn refusals_are_judged(
    #[case] started: bool,
    #[case] control: Option<bool>,
    #[case] ending: Ending,
    #[case] expected: Verdict,
) {
    let observed = Observation {
        launches: vec![launch(started, ending)],
        control: control.map(|started| launch(started, Ending::Exited(0))),
        ..Observation::default()
    };
    let baseline = run(true, false);
    let launcher = LauncherTraits {
        refusal_status: Some(125),
    };
    let judgement = judge(
        &expect(Outcome::Refused),
        launcher,
        Some(&baseline),
        &observed,
    );
    assert_eq!(judgement.verdict, expected);
}

#[test]
fn a_refusal_instead_of_a_denial_counts_only_beside_a_launch_that_started() {
    let mut expect = expect(Outcome::Denied);
    expect.refusal = Refusal::Accepted;
    let baseline = run(true, true);
    let mut observed = run(false, false);
    assert_eq!(
        verdict(&expect, Some(&baseline), &observed),
        Verdict::Overblocked
    );
    observed.launches.insert(0, launch(true, Ending::Exited(0)));
    assert_eq!(
        verdict(&expect, Some(&baseline), &observed),
        Verdict::Conforms
    );
}

#[test]
fn the_tries_of_a_race_are_told() {
    let mut observed = run(true, false);
    observed.launches[0].tries = Some(Tries {
        made: 20,
        started: 11,
    });
    let mut baseline = run(true, true);
    baseline.launches[0].tries = Some(Tries {
        made: 3,
        started: 3,
    });
    let expect = expect(Outcome::Denied);
    let judgement = judge(
        &expect,
        LauncherTraits::default(),
        Some(&baseline),
        &observed,
    );
    assert_eq!(judgement.verdict, Verdict::Conforms);
    let told = judgement.evidence.join("; ");
    assert!(
        told.contains("launched 20 times, 11 of them started"),
        "{told}"
    );
    assert!(
        told.contains("without a sandbox: launched 3 times"),
        "{told}"
    );
}
