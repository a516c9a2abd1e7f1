//! Each rule, by what was seen: `aass` are the permission strict and host-readable, and
//! the denial in both.

use rstest::rstest;

use super::*;
use crate::audit::proof::{Scope, of_records};
use crate::audit::record::record;
use crate::audit::sample::{fault, outcomes, trials};
use crate::corpus::Fault;
use crate::corpus::matrix::AuditUser;
use crate::corpus::vocabulary::Level;
use crate::report::results::Contract;

/// What is seen where all is well, but for one subject.
struct Case {
    open: &'static str,
    dead: &'static str,
    reference: &'static str,
    control: &'static str,
    fault: &'static str,
    starts: bool,
    confines: bool,
    narrowed: bool,
    level: Level,
    sometimes: bool,
}

const WELL: Case = Case {
    open: "ccee",
    dead: "oooo",
    reference: "cccc",
    control: "cccc",
    fault: "ccdd",
    starts: true,
    confines: true,
    narrowed: false,
    level: Level::Launch,
    sometimes: false,
};

fn kinds(case: &Case) -> Vec<Kind> {
    let trials = trials();
    let mut faults: [Fault; 2] = [fault("wrong", case.starts), fault("another", true)];
    faults[0].confines = case.confines;
    let contract = Contract {
        levels: vec![case.level],
        ..Contract::default()
    };
    let of = |fault, letters, sometimes: &[&str]| SeenFault {
        fault,
        digest: "f",
        not_run: None,
        outcomes: outcomes(letters),
        sometimes: sometimes.iter().map(|name| (*name).to_owned()).collect(),
    };
    let doubtful: &[&str] = if case.sometimes {
        &["a.b.denies/strict"]
    } else {
        &[]
    };
    let seen = Seen {
        trials: &trials,
        contract: &contract,
        reference: outcomes(case.reference),
        open: outcomes(case.open),
        dead: outcomes(case.dead),
        control: Some(outcomes(case.control)),
        // The permission catches another fault, so that it catches something.
        faults: vec![
            of(&faults[0], case.fault, doubtful),
            of(&faults[1], "occc", &[]),
        ],
        narrowed: case.narrowed,
    };
    let mut findings = of_trials(&seen);
    findings.extend(of_records(
        &[(AuditUser::Root, &record(&seen))],
        Scope {
            faults: &[&faults[0], &faults[1]],
            trials: &trials,
            contract: &contract,
        },
    ));
    Finding::sort(&mut findings);
    findings.iter().map(|finding| finding.kind).collect()
}

#[test]
fn nothing_is_wrong_where_all_is_well() {
    assert_eq!(kinds(&WELL), []);
    assert_eq!(exit_code(&[]), ExitCode::Conforms);
}

#[rstest]
// What the launcher that is right comes to.
#[case::reference_fails(Case { reference: "ccoc", control: "ccoc", ..WELL }, &[Kind::ReferenceFails])]
#[case::reference_escapes(Case { reference: "ccec", control: "ccec", ..WELL }, &[Kind::ReferenceFails])]
#[case::not_measured(Case { reference: "cccu", control: "cccu", ..WELL }, &[Kind::NotProven])]
#[case::not_claimed(Case { reference: "cccs", control: "cccs", ..WELL }, &[])]
// The two extremes.
#[case::denial_holds_without_a_sandbox(Case { open: "ccec", ..WELL }, &[Kind::NotEscaped])]
#[case::denial_is_vacuous(Case { open: "ccev", ..WELL }, &[Kind::NotEscaped])]
#[case::denial_is_for_another_user(Case { open: "ccen", ..WELL }, &[])]
#[case::permission_fails_without_a_sandbox(Case { open: "coee", ..WELL }, &[])]
#[case::permission_holds_where_nothing_runs(Case { dead: "ocoo", ..WELL }, &[Kind::NotDead])]
#[case::permission_is_vacuous_where_nothing_runs(Case { dead: "ovoo", ..WELL }, &[Kind::NotDead])]
#[case::permission_is_vacuous_anyway(
    Case { dead: "ovoo", reference: "cvcc", control: "cvcc", ..WELL },
    // One permission is left, and the other fault breaks it.
    &[Kind::RunsNothing, Kind::CatchesNothing, Kind::NotProven]
)]
#[case::permission_deviates_where_nothing_runs(Case { dead: "odoo", ..WELL }, &[])]
#[case::denial_holds_where_nothing_runs(Case { dead: "ooco", ..WELL }, &[Kind::NotDead])]
// The control.
#[case::control_is_another(Case { control: "cdcc", ..WELL }, &[Kind::ControlDiffers])]
#[case::control_could_not_be_run(Case { control: "c!cc", ..WELL }, &[Kind::Harness])]
// Faults.
#[case::not_caught(Case { fault: "cccc", ..WELL }, &[Kind::Survives, Kind::CatchesNothing])]
#[case::vacuous_is_no_catch(Case { fault: "ccvv", ..WELL }, &[Kind::Survives, Kind::CatchesNothing])]
#[case::unmeasured_is_no_catch(Case { fault: "ccuu", ..WELL }, &[Kind::Survives, Kind::CatchesNothing])]
#[case::unsupported_is_no_catch(Case { fault: "ccss", ..WELL }, &[Kind::Survives, Kind::CatchesNothing])]
#[case::an_error_is_no_catch(
    Case { fault: "cc!c", ..WELL },
    &[Kind::Harness, Kind::Survives, Kind::CatchesNothing]
)]
#[case::a_timeout_is_a_catch(Case { fault: "cctc", ..WELL }, &[])]
#[case::a_deviation_is_a_catch(Case { fault: "cccd", ..WELL }, &[])]
#[case::what_fails_anyway_is_no_catch(
    Case { reference: "ccsc", control: "ccsc", fault: "ccec", ..WELL },
    &[Kind::Survives, Kind::CatchesNothing]
)]
#[case::a_catch_now_and_then_is_none(Case { fault: "ccdc", sometimes: true, ..WELL }, &[Kind::Survives, Kind::CatchesNothing])]
#[case::void(Case { fault: "oooo", ..WELL }, &[Kind::RunsNothing, Kind::CatchesNothing])]
#[case::void_proves_nothing_of_cases(Case { fault: "oooo", starts: false, ..WELL }, &[Kind::CatchesNothing])]
#[case::starts_after_all(
    Case { starts: false, ..WELL },
    &[Kind::BetterThanSaid, Kind::CatchesNothing]
)]
#[case::open(Case { fault: "ccee", ..WELL }, &[Kind::ConfinesNothing, Kind::CatchesNothing])]
#[case::open_proves_nothing_of_cases(
    Case { fault: "ccee", confines: false, ..WELL },
    &[Kind::CatchesNothing]
)]
#[case::confines_after_all(
    Case { confines: false, ..WELL },
    &[Kind::BetterThanSaid, Kind::CatchesNothing]
)]
#[case::of_a_part_it_is_not_known(Case { starts: false, narrowed: true, ..WELL }, &[Kind::CatchesNothing])]
#[case::of_a_part_a_start_tells(Case { fault: "ttee", narrowed: true, ..WELL }, &[])]
// What the reference does not claim is not required.
#[case::a_level_below(Case { fault: "ccec", level: Level::Hardened, ..WELL }, &[])]
fn each_rule_finds_what_it_is_for(#[case] case: Case, #[case] expected: &[Kind]) {
    assert_eq!(kinds(&case), expected);
}

#[rstest]
#[case(&[Kind::Harness, Kind::Survives], ExitCode::Harness)]
#[case(&[Kind::Survives, Kind::NotProven], ExitCode::Failure)]
#[case(&[Kind::NotProven], ExitCode::Unproven)]
fn the_worst_finding_decides(#[case] kinds: &[Kind], #[case] code: ExitCode) {
    let finding = |kind: &Kind| Finding {
        kind: *kind,
        about: String::new(),
        detail: String::new(),
    };
    assert_eq!(
        exit_code(&kinds.iter().map(finding).collect::<Vec<_>>()),
        code
    );
}

#[test]
fn a_finding_says_what_was_seen_and_in_how_many_trials() {
    let trials = trials();
    let contract = Contract {
        levels: vec![Level::Launch],
        ..Contract::default()
    };
    let seen = Seen {
        trials: &trials,
        contract: &contract,
        reference: outcomes("cdee"),
        open: outcomes("ccee"),
        dead: outcomes("oooo"),
        control: None,
        faults: Vec::new(),
        narrowed: false,
    };
    let said: Vec<String> = of_trials(&seen)
        .into_iter()
        .map(|finding| format!("{}: {}", finding.about, finding.detail))
        .collect();
    assert_eq!(
        said,
        [
            "a.b.allows: deviates in host-readable, not conforms: said d",
            "a.b.denies: escaped in 2 trials, as strict, not conforms: said e",
        ]
    );
}
