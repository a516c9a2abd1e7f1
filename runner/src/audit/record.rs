//! From what was seen to what is committed.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::seen::{Outcomes, Seen, SeenFault, by_case};
use crate::corpus::Trial;
use crate::corpus::matrix::{AuditRecord, Catch, FaultRecord};
use crate::verdict::Verdict;

/// The record of what was seen.
pub fn record(seen: &Seen<'_>) -> AuditRecord {
    let cases = by_case(seen.trials);
    let mut record = AuditRecord {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..AuditRecord::default()
    };
    for (id, trials) in &cases {
        let digest = trials.first().map(|trial| trial.digest.clone());
        record
            .cases
            .insert((*id).to_owned(), digest.unwrap_or_default());
        if let Some(verdict) = not_judged(trials, &seen.reference) {
            record.not_judged.insert((*id).to_owned(), verdict);
        }
    }
    for fault in &seen.faults {
        record
            .faults
            .insert(fault.fault.name.clone(), of_fault(fault, seen, &cases));
    }
    record
}

/// The verdict by which a case can catch nothing: in none of its trials does the right
/// launcher conform.
fn not_judged(trials: &[&Trial], reference: &Outcomes) -> Option<Verdict> {
    let verdicts = trials
        .iter()
        .map(|trial| {
            reference
                .get(&trial.name)
                .map_or(Verdict::Error, |cell| cell.verdict)
        })
        .collect::<BTreeSet<Verdict>>();
    if verdicts.contains(&Verdict::Conforms) {
        return None;
    }
    verdicts.first().copied()
}

fn of_fault(
    fault: &SeenFault<'_>,
    seen: &Seen<'_>,
    cases: &BTreeMap<&str, Vec<&Trial>>,
) -> FaultRecord {
    let mut record = FaultRecord {
        digest: fault.digest.to_owned(),
        not_run: fault.not_run.clone(),
        extreme: fault.extreme(seen),
        caught_by: BTreeMap::new(),
    };
    if record.extreme.is_some() || record.not_run.is_some() {
        return record;
    }
    for (id, trials) in cases {
        if let Some(catch) = catch(trials, fault, &seen.reference) {
            record.caught_by.insert((*id).to_owned(), catch);
        }
    }
    record
}

/// How a case catches a fault, if it does.
pub(super) fn catch(
    trials: &[&Trial],
    fault: &SeenFault<'_>,
    reference: &Outcomes,
) -> Option<Catch> {
    // What the right launcher does not get right says nothing of the wrong one.
    let right = |trial: &&&Trial| {
        let right = reference.get(&trial.name);
        right.is_some_and(|cell| cell.verdict == Verdict::Conforms)
    };
    let mut judged: Vec<&Trial> = trials.iter().filter(right).copied().collect();
    let possible = judged.len();
    judged.retain(|trial| fault.outcomes.contains_key(&trial.name));
    let sometimes = |trial: &&Trial| fault.sometimes.contains(&trial.name);
    let fails = |trial: &&&Trial| {
        let cell = fault.outcomes.get(&trial.name);
        cell.is_some_and(|cell| cell.fails()) || sometimes(trial)
    };
    let all: Vec<&Trial> = judged.iter().filter(fails).copied().collect();
    let certain: Vec<&Trial> = all
        .iter()
        .filter(|trial| !sometimes(trial))
        .copied()
        .collect();
    // Where some trials are sure, the others say nothing.
    let (catching, sometimes) = if certain.is_empty() {
        (all, true)
    } else {
        (certain, false)
    };
    let verdict = catching
        .iter()
        .filter_map(|trial| fault.outcomes.get(&trial.name))
        .filter(|cell| cell.fails())
        .map(|cell| cell.verdict)
        .min();
    if catching.is_empty() {
        return None;
    }
    let mut catch = Catch {
        verdict: verdict.unwrap_or(Verdict::Deviates),
        at: IndexMap::new(),
        trials: None,
        sometimes,
    };
    if catching.len() < judged.len() && judged.len() == possible && !sometimes {
        match values(&judged, &catching) {
            Some(values) => catch.at = values,
            None => catch.trials = Some(catching.len()),
        }
    }
    Some(catch)
}

/// The values of axes that tell these trials from the others, if any do: they are then
/// all the combinations of those values.
fn values(judged: &[&Trial], chosen: &[&Trial]) -> Option<IndexMap<String, Vec<String>>> {
    let of = |trials: &[&Trial]| {
        let mut axes: IndexMap<String, Vec<String>> = IndexMap::new();
        for (axis, value) in trials.iter().flat_map(|trial| &trial.axes) {
            let values = axes.entry(axis.clone()).or_default();
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        axes
    };
    let all = of(judged);
    let mut axes = of(chosen);
    axes.retain(|axis, values| all.get(axis).is_some_and(|all| all.len() != values.len()));
    let fits = |trial: &&&Trial| {
        axes.iter().all(|(axis, values)| {
            trial
                .axes
                .get(axis)
                .is_some_and(|value| values.contains(value))
        })
    };
    (judged.iter().filter(fits).count() == chosen.len()).then_some(axes)
}

/// What is known once a run's record is added to what was known before: a case counts as
/// tried if every fault was run against it, a fault if it was against every case.
/// `every_fault` and `every_case` say what the run was of; `corpus` names the cases and
/// faults that there are, for what is gone goes from the record too.
pub fn merge(
    known: Option<&AuditRecord>,
    fresh: AuditRecord,
    every_case: bool,
    every_fault: bool,
    corpus: &Present,
) -> AuditRecord {
    let Some(known) = known.filter(|_| !(every_case && every_fault)) else {
        return fresh;
    };
    let mut merged = known.clone();
    merged.version.clone_from(&fresh.version);
    merged.quick |= fresh.quick;
    for (id, digest) in &fresh.cases {
        let changed = merged.cases.get(id) != Some(digest);
        // A case that is new to some faults cannot be called tried.
        if changed && !every_fault {
            continue;
        }
        merged.cases.insert(id.clone(), digest.clone());
        merged.not_judged.remove(id);
        if let Some(verdict) = fresh.not_judged.get(id) {
            merged.not_judged.insert(id.clone(), *verdict);
        }
    }
    for (name, fault) in fresh.faults {
        let entry = merged.faults.entry(name).or_default();
        if every_case {
            entry.digest = fault.digest;
            entry.extreme = fault.extreme;
        } else if entry.digest != fault.digest {
            continue;
        }
        entry.not_run = fault.not_run;
        entry
            .caught_by
            .retain(|id, _| !fresh.cases.contains_key(id));
        if entry.extreme.is_none() {
            entry.caught_by.extend(fault.caught_by);
        }
    }
    merged.cases.retain(|id, _| corpus.cases.contains(id));
    merged.not_judged.retain(|id, _| corpus.cases.contains(id));
    merged.faults.retain(|name, fault| {
        fault.caught_by.retain(|id, _| corpus.cases.contains(id));
        corpus.faults.contains(name) && !fault.digest.is_empty()
    });
    merged
}

/// The cases and faults that a corpus has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Present {
    /// The ids of its cases.
    pub cases: BTreeSet<String>,
    /// The names of its faults.
    pub faults: BTreeSet<String>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#[path = "record_tests.rs"]
mod tests;
