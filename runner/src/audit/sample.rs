//! A small matrix and what it is made from, for tests.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::seen::{Cell, Outcomes};
use crate::corpus::case::TopicFile;
use crate::corpus::matrix::{AuditRecord, AuditUser, Catch, Extreme, FaultRecord, MatrixFile};
use crate::corpus::{Fault, Trial};
use crate::verdict::Verdict;

/// A denial and its twin, in two postures each.
pub(super) fn trials() -> Vec<Trial> {
    let topic: TopicFile = serde_json::from_value(serde_json::json!({
        "topic": "Trying", "about": "A test.",
        "cases": [case("a.b.allows", "allowed"), case("a.b.denies", "denied")],
    }))
    .unwrap_or_else(|error| panic!("{error}"));
    let of = |case: &crate::corpus::case::Case, digest| {
        Trial::of(&topic, "a/b.json", case, digest).unwrap_or_default()
    };
    let mut trials = of(&topic.cases[0], "c1");
    trials.extend(of(&topic.cases[1], "c2"));
    assert_eq!(trials.len(), 4);
    trials
}

fn case(id: &str, outcome: &str) -> serde_json::Value {
    serde_json::json!({
        "id": id, "rev": 1, "title": format!("{id} holds"), "why": "A test.", "covers": ["T-1"],
        "level": "launch", "strength": "must", "run": "true",
        "axes": { "posture": ["strict", "host-readable"] },
        "expect": { "outcome": outcome, "effect": { "output": "x" } },
    })
}

/// A fault of this name.
pub(super) fn fault(name: &str, starts: bool) -> Fault {
    Fault {
        schema: None,
        ignores: Vec::new(),
        name: name.to_owned(),
        title: format!("It {name}."),
        why: "A test.".to_owned(),
        references: Vec::new(),
        platforms: crate::corpus::vocabulary::Platform::unix(),
        needs: Vec::new(),
        mistake: Some(name.to_owned()),
        base: None,
        launcher: None,
        starts,
        confines: true,
        reason: (!starts).then(|| "A test.".to_owned()),
    }
}

/// Outcomes of the trials, in their order: `c` conforms, `e` escaped, `o` overblocked,
/// `d` deviates, `t` timeout, `v` vacuous, `u` unmeasured, `s` unsupported, `n`
/// not-applicable, `!` error; a dot leaves a trial out.
pub(super) fn outcomes(letters: &str) -> Outcomes {
    let trials = trials();
    assert_eq!(letters.len(), trials.len());
    let cells = trials.iter().zip(letters.chars());
    cells
        .filter_map(|(trial, letter)| {
            let verdict = match letter {
                'c' => Verdict::Conforms,
                'e' => Verdict::Escaped,
                'o' => Verdict::Overblocked,
                'd' => Verdict::Deviates,
                't' => Verdict::Timeout,
                'v' => Verdict::Vacuous,
                'u' => Verdict::Unmeasured,
                's' => Verdict::Unsupported,
                'n' => Verdict::NotApplicable,
                '!' => Verdict::Error,
                _ => return None,
            };
            let cell = Cell {
                verdict,
                started: verdict != Verdict::Overblocked,
                says: format!("said {letter}"),
                missing: Vec::new(),
            };
            Some((trial.name.clone(), cell))
        })
        .collect()
}

/// A record in which `writes` is caught by the denial, as root in one posture alone.
pub(super) fn matrix() -> MatrixFile {
    let catch = |at: IndexMap<String, Vec<String>>| Catch {
        verdict: Verdict::Escaped,
        at,
        trials: None,
        sometimes: false,
    };
    let strict = IndexMap::from([("posture".to_owned(), vec!["strict".to_owned()])]);
    let record = |catch: Catch| AuditRecord {
        quick: false,
        version: "1.0.0".to_owned(),
        cases: BTreeMap::from([
            ("a.b.allows".to_owned(), "c1".to_owned()),
            ("a.b.denies".to_owned(), "c2".to_owned()),
        ]),
        not_judged: BTreeMap::from([("a.b.allows".to_owned(), Verdict::Unmeasured)]),
        faults: BTreeMap::from([
            (
                "silent".to_owned(),
                FaultRecord {
                    digest: "f2".to_owned(),
                    extreme: Some(Extreme::RunsNothing),
                    ..FaultRecord::default()
                },
            ),
            (
                "writes".to_owned(),
                FaultRecord {
                    digest: "f1".to_owned(),
                    caught_by: BTreeMap::from([("a.b.denies".to_owned(), catch)]),
                    ..FaultRecord::default()
                },
            ),
        ]),
    };
    MatrixFile {
        schema: None,
        runs: BTreeMap::from([
            (AuditUser::Root, record(catch(strict))),
            (AuditUser::Unprivileged, record(catch(IndexMap::new()))),
        ]),
    }
}
