//! What fails an audit, of what was seen trial by trial.

use std::collections::BTreeMap;

use super::seen::{Cell, Outcomes, Seen, SeenFault};
use crate::corpus::Trial;
use crate::corpus::expect::Outcome;
use crate::exit::ExitCode;
use crate::verdict::{Class, Verdict};

/// What is wrong, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The harness itself failed.
    Harness,
    /// The right launcher fails what it claims.
    ReferenceFails,
    /// A denial or refusal is not `escaped` without a sandbox.
    NotEscaped,
    /// Something conforms, or a permission fails in no way that it should, where
    /// nothing is run.
    NotDead,
    /// The program that makes mistakes is another launcher than the right one even
    /// when it makes none.
    ControlDiffers,
    /// Not one permission conforms under a fault, and its file does not say so.
    RunsNothing,
    /// Every denial escapes under a fault, and its file does not say so.
    ConfinesNothing,
    /// A fault's file says one of the two, and it is not so.
    BetterThanSaid,
    /// No case catches a fault.
    Survives,
    /// A required case catches no fault.
    CatchesNothing,
    /// A required case was not measured, or proves nothing here.
    NotProven,
}

impl Kind {
    /// What is wrong, in words.
    pub fn meaning(self) -> &'static str {
        match self {
            Kind::Harness => "the harness failed",
            Kind::ReferenceFails => "the launcher fails what it claims",
            Kind::NotEscaped => "a denial is not escaped without a sandbox",
            Kind::NotDead => "a case does not fail where nothing is run",
            Kind::ControlDiffers => "the control differs from the reference launcher",
            Kind::RunsNothing => "nothing works under the fault, so it proves nothing of cases",
            Kind::ConfinesNothing => {
                "every denial escapes under the fault, so it proves nothing of cases"
            }
            Kind::BetterThanSaid => "the fault's file says that it is extreme, and it is not",
            Kind::Survives => "no case catches the fault",
            Kind::CatchesNothing => "a required case catches no fault",
            Kind::NotProven => "a required case was not measured, or proves nothing here",
        }
    }

    fn code(self) -> ExitCode {
        match self {
            Kind::Harness => ExitCode::Harness,
            Kind::NotProven => ExitCode::Unproven,
            _ => ExitCode::Failure,
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind.
    pub kind: Kind,
    /// The fault or case that it is about.
    pub about: String,
    /// What was seen.
    pub detail: String,
}

impl Finding {
    /// Worst first, and each once: what several rules find, the first has told best.
    pub fn sort(findings: &mut Vec<Finding>) {
        let order = |finding: &Finding| (finding.kind, finding.about.clone());
        findings.sort_by_key(order);
        findings.dedup_by(|next, kept| {
            let same = (next.kind, &next.about) == (kept.kind, &kept.about);
            same && matches!(kept.kind, Kind::RunsNothing | Kind::ConfinesNothing)
        });
    }
}

/// The exit code of an audit with these findings.
pub fn exit_code(findings: &[Finding]) -> ExitCode {
    let codes = findings.iter().map(|finding| finding.kind.code());
    codes.fold(ExitCode::Conforms, ExitCode::or)
}

/// Everything that is wrong trial by trial, worst first.
pub fn of_trials(seen: &Seen<'_>) -> Vec<Finding> {
    let mut findings = harness(seen);
    findings.extend(reference(seen));
    findings.extend(extremes(seen));
    if let Some(control) = &seen.control {
        findings.extend(grouped(seen, Kind::ControlDiffers, |trial| {
            let (right, cell) = (seen.reference.get(&trial.name)?, control.get(&trial.name)?);
            let error = [right, cell]
                .iter()
                .any(|cell| cell.verdict == Verdict::Error);
            (right.verdict != cell.verdict && !error).then(|| Wrong {
                expected: right.verdict.as_str(),
                cell,
            })
        }));
    }
    findings.extend(seen.faults.iter().filter_map(|fault| extreme(fault, seen)));
    Finding::sort(&mut findings);
    findings
}

/// What a trial came to, and what it had to.
struct Wrong<'a> {
    expected: &'a str,
    cell: &'a Cell,
}

/// A finding a case, of those trials for which `wrong` tells something.
fn grouped<'a>(
    seen: &'a Seen<'_>,
    kind: Kind,
    wrong: impl Fn(&'a Trial) -> Option<Wrong<'a>>,
) -> Vec<Finding> {
    let mut cases: BTreeMap<&str, Vec<(&Trial, Wrong<'_>)>> = BTreeMap::new();
    for trial in seen.trials {
        if let Some(wrong) = wrong(trial) {
            cases
                .entry(&trial.case.id)
                .or_default()
                .push((trial, wrong));
        }
    }
    cases
        .into_iter()
        .filter_map(|(id, wrong)| {
            let (trial, first) = wrong.first()?;
            let values: Vec<&str> = trial.axes.values().map(String::as_str).collect();
            let place = match (wrong.len(), values.is_empty()) {
                (1, true) => String::new(),
                (1, false) => format!(" in {}", values.join("/")),
                (count, _) => format!(" in {count} trials, as {}", values.join("/")),
            };
            Some(Finding {
                kind,
                about: id.to_owned(),
                detail: format!(
                    "{}{place}, not {}: {}",
                    first.cell.verdict, first.expected, first.cell.says
                ),
            })
        })
        .collect()
}

fn harness(seen: &Seen<'_>) -> Vec<Finding> {
    let mut subjects: Vec<(&str, &Outcomes)> = vec![
        ("open", &seen.open),
        ("the launcher", &seen.reference),
        ("dead", &seen.dead),
    ];
    subjects.extend(seen.control.iter().map(|control| ("the control", control)));
    let faults = seen.faults.iter();
    subjects.extend(faults.map(|fault| (fault.fault.name.as_str(), &fault.outcomes)));
    subjects
        .into_iter()
        .flat_map(|(name, outcomes)| {
            let errors = outcomes
                .iter()
                .filter(|(_, cell)| cell.verdict == Verdict::Error);
            errors.map(move |(trial, cell)| Finding {
                kind: Kind::Harness,
                about: name.to_owned(),
                detail: format!("{trial}: {}", cell.says),
            })
        })
        .collect()
}

fn reference(seen: &Seen<'_>) -> Vec<Finding> {
    let required = |trial: &&Trial| {
        seen.contract
            .requires(trial.case.level, trial.case.strength)
    };
    let of = |trial: &'_ Trial| seen.reference.get(&trial.name);
    let mut findings = grouped(seen, Kind::ReferenceFails, |trial| {
        let cell = of(trial).filter(|_| required(&trial))?;
        cell.fails().then_some(Wrong {
            expected: "conforms",
            cell,
        })
    });
    findings.extend(grouped(seen, Kind::NotProven, |trial| {
        let cell = of(trial).filter(|_| required(&trial))?;
        let unproven =
            cell.verdict.class() == Class::Unproven && !seen.contract.declares(&cell.missing);
        unproven.then_some(Wrong {
            expected: "conforms",
            cell,
        })
    }));
    findings
}

/// What the launchers that are no sandbox, and run nothing, must come to.
fn extremes(seen: &Seen<'_>) -> Vec<Finding> {
    // What the host or the user lacks says nothing of a case.
    let measured = |cell: &&Cell| {
        !matches!(
            cell.verdict,
            Verdict::NotApplicable | Verdict::Unmeasured | Verdict::Error
        )
    };
    let mut findings = grouped(seen, Kind::NotEscaped, |trial| {
        let cell = seen.open.get(&trial.name).filter(measured)?;
        let denial = trial.case.expect.outcome != Outcome::Allowed;
        (denial && cell.verdict != Verdict::Escaped).then_some(Wrong {
            expected: "escaped",
            cell,
        })
    });
    findings.extend(grouped(seen, Kind::NotDead, |trial| {
        let cell = seen.dead.get(&trial.name).filter(measured)?;
        let right = match trial.case.expect.outcome {
            Outcome::Allowed => {
                // What the host cannot do is told of the right launcher.
                let of_host = seen.reference.get(&trial.name).is_some_and(|right| {
                    (right.verdict, cell.verdict) == (Verdict::Vacuous, Verdict::Vacuous)
                });
                of_host || matches!(cell.verdict, Verdict::Overblocked | Verdict::Deviates)
            }
            Outcome::Denied | Outcome::Refused => cell.verdict != Verdict::Conforms,
        };
        (!right).then_some(Wrong {
            expected: match trial.case.expect.outcome {
                Outcome::Allowed => "overblocked",
                Outcome::Denied | Outcome::Refused => "a failure",
            },
            cell,
        })
    }));
    findings
}

/// Whether a fault is as extreme as its file says, and no more.
fn extreme(fault: &SeenFault<'_>, seen: &Seen<'_>) -> Option<Finding> {
    if fault.not_run.is_some() || fault.outcomes.is_empty() {
        return None;
    }
    let (runs_nothing, confines_nothing) = (fault.runs_nothing(seen), fault.confines_nothing(seen));
    let kind = match (fault.fault.starts, fault.fault.confines) {
        (true, _) if runs_nothing => Kind::RunsNothing,
        (_, true) if confines_nothing => Kind::ConfinesNothing,
        // A selection may have left out all that could tell.
        (false, _) if !runs_nothing && !seen.narrowed => Kind::BetterThanSaid,
        (_, false) if !confines_nothing && !seen.narrowed => Kind::BetterThanSaid,
        _ => return None,
    };
    let telling = seen.trials.iter().find_map(|trial| {
        let cell = fault.outcomes.get(&trial.name)?;
        let right = seen.reference.get(&trial.name)?.verdict == Verdict::Conforms;
        let told = match kind {
            Kind::BetterThanSaid => {
                let permission = trial.case.expect.outcome == Outcome::Allowed;
                permission != fault.fault.starts && cell.verdict == Verdict::Conforms
            }
            _ => cell.verdict != Verdict::Conforms,
        };
        (right && told).then(|| format!("{}: {}: {}", trial.name, cell.verdict, cell.says))
    });
    Some(Finding {
        kind,
        about: fault.fault.name.clone(),
        detail: telling.unwrap_or_default(),
    })
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
