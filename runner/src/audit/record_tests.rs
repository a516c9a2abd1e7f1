use rstest::rstest;

use super::*;
use crate::audit::sample::{fault, matrix, outcomes, trials};
use crate::corpus::matrix::AuditUser;
use crate::report::results::Contract;

/// What the denial's trials come to, of a fault and the right launcher.
fn caught(letters: &str, reference: &str, sometimes: &[&str]) -> Option<Catch> {
    let fault = fault("wrong", true);
    let trials = trials();
    let seen = SeenFault {
        fault: &fault,
        digest: "f",
        not_run: None,
        outcomes: outcomes(letters),
        sometimes: sometimes.iter().map(|name| (*name).to_owned()).collect(),
    };
    let denial: Vec<&Trial> = trials.iter().skip(2).collect();
    catch(&denial, &seen, &outcomes(reference))
}

#[rstest]
#[case::all("ccee", "cccc", &[], r#"{"verdict":"escaped"}"#)]
#[case::the_worst("ccte", "cccc", &[], r#"{"verdict":"escaped"}"#)]
#[case::one_posture("ccce", "cccc", &[], r#"{"verdict":"escaped","where":{"posture":["host-readable"]}}"#)]
#[case::all_that_are_judged("ccev", "cccs", &[], r#"{"verdict":"escaped"}"#)]
#[case::sure_in_one("ccee", "cccc", &["a.b.denies/strict"], r#"{"verdict":"escaped","where":{"posture":["host-readable"]}}"#)]
#[case::sure_in_none("ccec", "cccc", &["a.b.denies/strict"], r#"{"verdict":"escaped","sometimes":true}"#)]
fn a_catch_says_where(
    #[case] fault: &str,
    #[case] reference: &str,
    #[case] sometimes: &[&str],
    #[case] expected: &str,
) {
    let catch = caught(fault, reference, sometimes);
    assert_eq!(serde_json::to_string(&catch).unwrap(), expected);
}

#[rstest]
#[case::holds("cccc", "cccc")]
#[case::proves_nothing("ccv!", "cccc")]
#[case::fails_anyway("ccee", "ccee")]
#[case::not_run("cc..", "cccc")]
fn what_is_no_catch(#[case] fault: &str, #[case] reference: &str) {
    assert_eq!(caught(fault, reference, &[]), None);
}

#[test]
fn where_no_values_tell_the_trials_apart_they_are_counted() {
    let mut trials = trials();
    for (trial, (posture, kind)) in
        trials
            .iter_mut()
            .zip([("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")])
    {
        trial.axes = [("posture", posture), ("kind", kind)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
    }
    let all: Vec<&Trial> = trials.iter().collect();
    let diagonal = [all[0], all[3]];
    assert_eq!(values(&all, &diagonal), None);
    let row = values(&all, &[all[2], all[3]]).unwrap();
    assert_eq!(row.keys().collect::<Vec<_>>(), ["posture"]);
    let one = values(&all, &[all[1]]).unwrap();
    assert_eq!(one.keys().collect::<Vec<_>>(), ["posture", "kind"]);
}

#[test]
fn a_record_lists_every_case_and_why_some_are_not_judged() {
    let (trials, contract) = (trials(), Contract::default());
    let seen = Seen {
        trials: &trials,
        contract: &contract,
        reference: outcomes("ccsn"),
        open: outcomes("ccee"),
        dead: outcomes("oooo"),
        control: None,
        faults: Vec::new(),
        narrowed: false,
    };
    let record = record(&seen);
    assert_eq!(record.cases.len(), 2);
    assert_eq!(
        record.not_judged.into_iter().collect::<Vec<_>>(),
        [("a.b.denies".to_owned(), Verdict::Unsupported)]
    );
}

/// What is left of a known record when a run of some cases and faults is added.
struct Merging {
    case: &'static str,
    digest: &'static str,
    fault: (&'static str, &'static str),
    every_case: bool,
    every_fault: bool,
}

fn merged(run: &Merging) -> AuditRecord {
    let mut known = matrix().runs.remove(&AuditUser::Root).unwrap();
    known.cases.insert("a.b.gone".to_owned(), "c9".to_owned());
    let catch = Catch {
        verdict: Verdict::Leaked,
        at: IndexMap::new(),
        trials: None,
        sometimes: false,
    };
    let (name, digest) = run.fault;
    let fresh = AuditRecord {
        quick: false,
        version: "2.0.0".to_owned(),
        cases: BTreeMap::from([(run.case.to_owned(), run.digest.to_owned())]),
        not_judged: BTreeMap::new(),
        faults: BTreeMap::from([(
            name.to_owned(),
            FaultRecord {
                digest: digest.to_owned(),
                caught_by: BTreeMap::from([(run.case.to_owned(), catch)]),
                ..FaultRecord::default()
            },
        )]),
    };
    let present = Present {
        cases: ["a.b.allows", "a.b.denies"].map(str::to_owned).into(),
        faults: ["silent", "writes", "new"].map(str::to_owned).into(),
    };
    merge(
        Some(&known),
        fresh,
        run.every_case,
        run.every_fault,
        &present,
    )
}

#[test]
fn a_case_that_every_fault_was_run_against_is_known() {
    let record = merged(&Merging {
        case: "a.b.allows",
        digest: "changed",
        fault: ("writes", "f1"),
        every_case: false,
        every_fault: true,
    });
    assert_eq!(record.version, "2.0.0");
    assert_eq!(record.cases["a.b.allows"], "changed");
    assert!(record.not_judged.is_empty());
    let caught: Vec<&String> = record.faults["writes"].caught_by.keys().collect();
    assert_eq!(caught, ["a.b.allows", "a.b.denies"]);
    assert!(!record.cases.contains_key("a.b.gone"));
}

#[test]
fn a_changed_case_that_some_faults_were_run_against_stays_stale() {
    let record = merged(&Merging {
        case: "a.b.denies",
        digest: "changed",
        fault: ("writes", "f1"),
        every_case: false,
        every_fault: false,
    });
    assert_eq!(record.cases["a.b.denies"], "c2");
    assert_eq!(
        record.faults["writes"].caught_by["a.b.denies"].verdict,
        Verdict::Leaked
    );
}

#[rstest]
#[case::against_every_case(true, Some("f7"))]
#[case::against_some(false, None)]
fn a_new_fault_is_known_once_it_was_run_against_every_case(
    #[case] every_case: bool,
    #[case] digest: Option<&str>,
) {
    let record = merged(&Merging {
        case: "a.b.denies",
        digest: "c2",
        fault: ("new", "f7"),
        every_case,
        every_fault: false,
    });
    let known = record.faults.get("new").map(|fault| fault.digest.as_str());
    assert_eq!(known, digest);
}
