//! What several tries of one pair come to, and which pairs are to be tried again.

use std::collections::BTreeMap;

use super::record::catch;
use super::seen::{Cell, Seen, SeenFault};
use super::subject::Role;
use crate::corpus::Trial;
use crate::corpus::matrix::AuditRecord;
use crate::verdict::Verdict;

/// One cell of several tries, and whether a fault was caught in some of them alone.
pub(super) fn settle(cells: &[Cell], role: Role, right: Option<&Cell>) -> (Option<Cell>, bool) {
    let answers: Vec<&Cell> = cells
        .iter()
        .filter(|cell| cell.verdict != Verdict::Error)
        .collect();
    let Some(first) = answers.first() else {
        return (cells.first().cloned(), false);
    };
    match role {
        Role::Fault(_) => {
            let failing: Vec<&&Cell> = answers.iter().filter(|cell| cell.fails()).collect();
            let worst = failing.iter().min_by_key(|cell| cell.verdict);
            let sometimes = !failing.is_empty() && failing.len() < answers.len();
            (
                Some((**worst.map_or(first, |worst| *worst)).clone()),
                sometimes,
            )
        }
        // It differs only if it differs every time.
        Role::Control => {
            let same = answers
                .iter()
                .find(|cell| right.is_some_and(|right| right.verdict == cell.verdict));
            (Some((**same.unwrap_or(first)).clone()), false)
        }
        Role::Open | Role::Reference | Role::Dead => (Some((*first).clone()), false),
    }
}

/// The trials of those cases that catch the fault in another manner than is known.
pub(super) fn cases_in_doubt<'a>(
    fault: &SeenFault<'_>,
    seen: &Seen<'_>,
    cases: &BTreeMap<&str, Vec<&'a Trial>>,
    known: Option<&AuditRecord>,
) -> Vec<&'a str> {
    let Some(record) = known else {
        return Vec::new();
    };
    let same = record.faults.get(&fault.fault.name);
    let Some(before) = same.filter(|before| before.digest == fault.digest) else {
        return Vec::new();
    };
    if before.extreme.is_some() || before.not_run.is_some() || fault.extreme(seen).is_some() {
        return Vec::new();
    }
    cases
        .iter()
        .filter(|(id, trials)| {
            let digest = trials.first().map(|trial| &trial.digest);
            if record.cases.get(**id) != digest {
                return false;
            }
            let before = before.caught_by.get(**id);
            if before.is_some_and(|catch| catch.sometimes) {
                return false;
            }
            catch(trials, fault, &seen.reference).as_ref() != before
        })
        .flat_map(|(_, trials)| trials.iter().map(|trial| trial.name.as_str()))
        .collect()
}

/// What was once seen to come out both ways stays so for as long as case and fault are
/// the same: another few tries would not settle it.
pub(super) fn keep_doubts(record: &mut AuditRecord, known: Option<&AuditRecord>) {
    let Some(known) = known else { return };
    for (name, fault) in &mut record.faults {
        let before = known.faults.get(name);
        let Some(before) = before.filter(|before| before.digest == fault.digest) else {
            continue;
        };
        if fault.extreme.is_some() || fault.not_run.is_some() {
            continue;
        }
        for (id, catch) in &before.caught_by {
            let same = known.cases.contains_key(id) && known.cases.get(id) == record.cases.get(id);
            if same && catch.sometimes {
                fault.caught_by.insert(id.clone(), catch.clone());
            }
        }
    }
}

#[cfg(test)]
#[path = "tries_tests.rs"]
mod tests;
