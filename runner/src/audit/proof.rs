//! What fails an audit, of which case catches which fault. It needs no launch: the
//! committed record is judged by the same rules.

use std::collections::BTreeMap;

use super::findings::{Finding, Kind};
use crate::corpus::matrix::{AuditRecord, AuditUser, Extreme, FaultRecord};
use crate::corpus::{Fault, Trial};
use crate::report::results::Contract;

/// What the records are asked about.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The faults that each must be caught.
    pub faults: &'a [&'a Fault],
    /// The trials of whose cases each required one must catch something.
    pub trials: &'a [Trial],
    /// What is required.
    pub contract: &'a Contract,
}

/// Faults that nothing catches, and required cases that catch nothing, as any of these
/// users. What none of them could run, or judge, is no finding here.
pub fn of_records(records: &[(AuditUser, &AuditRecord)], scope: Scope<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = scope
        .faults
        .iter()
        .filter_map(|fault| extreme(fault, records).or_else(|| survives(&fault.name, records)))
        .collect();
    let required: BTreeMap<&str, &Trial> = scope
        .trials
        .iter()
        .filter(|trial| {
            scope
                .contract
                .requires(trial.case.level, trial.case.strength)
        })
        .map(|trial| (trial.case.id.as_str(), trial))
        .collect();
    findings.extend(
        required
            .into_iter()
            .filter_map(|(id, trial)| catches_nothing(id, &trial.case.title, records)),
    );
    findings
}

/// How many cases catch a fault every time.
pub(super) fn failing(fault: &FaultRecord) -> usize {
    let certain = fault.caught_by.values().filter(|catch| !catch.sometimes);
    certain.count()
}

/// A fault that is no better than no launcher, though its file does not say so.
fn extreme(fault: &Fault, records: &[(AuditUser, &AuditRecord)]) -> Option<Finding> {
    records.iter().find_map(|(user, record)| {
        let kind = match record.faults.get(&fault.name)?.extreme? {
            Extreme::RunsNothing if fault.starts => Kind::RunsNothing,
            Extreme::ConfinesNothing if fault.confines => Kind::ConfinesNothing,
            _ => return None,
        };
        Some(Finding {
            kind,
            about: fault.name.clone(),
            detail: format!("run as {}", user.as_str()),
        })
    })
}

fn survives(name: &str, records: &[(AuditUser, &AuditRecord)]) -> Option<Finding> {
    let run: Vec<(AuditUser, &FaultRecord)> = records
        .iter()
        .filter_map(|(user, record)| Some((*user, record.faults.get(name)?)))
        .filter(|(_, fault)| fault.not_run.is_none())
        .collect();
    let caught = |fault: &FaultRecord| fault.extreme.is_some() || failing(fault) > 0;
    if run.is_empty() || run.iter().any(|(_, fault)| caught(fault)) {
        return None;
    }
    let sometimes: Vec<&str> = run
        .iter()
        .flat_map(|(_, fault)| fault.caught_by.keys().map(String::as_str))
        .collect();
    let users: Vec<&str> = run.iter().map(|(user, _)| user.as_str()).collect();
    Some(Finding {
        kind: Kind::Survives,
        about: name.to_owned(),
        detail: match sometimes.as_slice() {
            [] => format!("run as {}", users.join(" and ")),
            cases => format!(
                "caught now and then by {}, which proves nothing",
                cases.join(", ")
            ),
        },
    })
}

fn catches_nothing(
    id: &str,
    title: &str,
    records: &[(AuditUser, &AuditRecord)],
) -> Option<Finding> {
    let judged: Vec<_> = records
        .iter()
        .filter(|(_, record)| record.cases.contains_key(id) && !record.not_judged.contains_key(id))
        .collect();
    let catches = |record: &AuditRecord| {
        let mut caught = record
            .faults
            .values()
            .filter_map(|fault| fault.caught_by.get(id));
        caught.any(|catch| !catch.sometimes)
    };
    if judged.is_empty() || judged.iter().any(|(_, record)| catches(record)) {
        return None;
    }
    Some(Finding {
        kind: Kind::CatchesNothing,
        about: id.to_owned(),
        detail: title.to_owned(),
    })
}
