//! What an audit has seen: a verdict for each subject and trial.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::corpus::expect::Outcome;
use crate::corpus::matrix::Extreme;
use crate::corpus::vocabulary::Fact;
use crate::corpus::{Fault, Trial};
use crate::report::results::{Contract, TrialResult};
use crate::verdict::{Class, Verdict};

/// What came of one trial under one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// What the judge says.
    pub verdict: Verdict,
    /// Whether a command of the trial started.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub started: bool,
    /// Why, and the most telling line of evidence; empty for what conforms.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub says: String,
    /// What the case needs and the host does not offer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Fact>,
}

impl Cell {
    /// What is kept of a result.
    pub fn of(result: &TrialResult) -> Cell {
        let launches = result
            .observed
            .iter()
            .flat_map(|observed| observed.launches.iter().chain(&observed.control));
        let says = if result.verdict == Verdict::Conforms {
            String::new()
        } else {
            said(result)
        };
        Cell {
            verdict: result.verdict,
            started: launches.into_iter().any(|launch| launch.started),
            says,
            missing: result.missing.clone(),
        }
    }

    /// Whether the wrong launcher failed.
    pub fn fails(&self) -> bool {
        self.verdict.class() == Class::Failure
    }
}

/// The reason, and what the launcher wrote or else the first thing seen.
fn said(result: &TrialResult) -> String {
    const LIMIT: usize = 240;
    let written = result
        .evidence
        .iter()
        .find(|line| line.starts_with("stderr: "))
        .or_else(|| result.evidence.first());
    let text = match written {
        Some(line) => format!("{}; {line}", result.reason),
        None => result.reason.clone(),
    };
    let flat = text.replace('\n', " ");
    match flat.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    }
}

/// What came of a subject's trials, by the trial's name.
pub type Outcomes = BTreeMap<String, Cell>;

/// Everything that an audit has seen.
#[derive(Debug)]
pub struct Seen<'a> {
    /// The trials that were selected.
    pub trials: &'a [Trial],
    /// What the right launcher claims, and what the run declares to be absent.
    pub contract: &'a Contract,
    /// Under the right launcher.
    pub reference: Outcomes,
    /// Under no sandbox.
    pub open: Outcomes,
    /// Under the launcher that runs nothing.
    pub dead: Outcomes,
    /// Under the program that makes mistakes, making none; absent where no fault
    /// needs it.
    pub control: Option<Outcomes>,
    /// Under each fault.
    pub faults: Vec<SeenFault<'a>>,
    /// Whether the selection leaves cases out.
    pub narrowed: bool,
}

/// What was seen of one fault.
#[derive(Debug)]
pub struct SeenFault<'a> {
    /// The fault.
    pub fault: &'a Fault,
    /// Its digest.
    pub digest: &'a str,
    /// Why it was not run.
    pub not_run: Option<String>,
    /// What came of it.
    pub outcomes: Outcomes,
    /// The trials in which it came out both ways, tried again and again.
    pub sometimes: Vec<String>,
}

impl SeenFault<'_> {
    /// How the fault is no better than no launcher at all: because its file says so, or
    /// by what was seen.
    pub fn extreme(&self, seen: &Seen<'_>) -> Option<Extreme> {
        if self.not_run.is_some() {
            return None;
        }
        if !self.fault.starts || self.runs_nothing(seen) {
            Some(Extreme::RunsNothing)
        } else if !self.fault.confines || self.confines_nothing(seen) {
            Some(Extreme::ConfinesNothing)
        } else {
            None
        }
    }

    /// Whether not one permission conforms, of those that do under the right launcher.
    /// Where cases were left out, those that are there may all be about this very
    /// fault: there, no command may have started.
    pub(super) fn runs_nothing(&self, seen: &Seen<'_>) -> bool {
        let cells = || self.cells(seen);
        if seen.narrowed && cells().any(|(_, cell)| cell.started) {
            return false;
        }
        all(cells()
            .filter(|(trial, _)| trial.case.expect.outcome == Outcome::Allowed)
            .map(|(_, cell)| cell.verdict != Verdict::Conforms))
    }

    /// Whether not one denial conforms, of those that do under the right launcher. A part
    /// of the cases cannot tell.
    pub(super) fn confines_nothing(&self, seen: &Seen<'_>) -> bool {
        !seen.narrowed
            && all(self
                .cells(seen)
                .filter(|(trial, _)| trial.case.expect.outcome == Outcome::Denied)
                .map(|(_, cell)| cell.verdict == Verdict::Escaped))
    }

    /// What came of the trials in which the right launcher conforms.
    fn cells<'s>(&'s self, seen: &'s Seen<'_>) -> impl Iterator<Item = (&'s Trial, &'s Cell)> {
        seen.trials.iter().filter_map(|trial| {
            let right = seen.reference.get(&trial.name)?;
            let cell = self.outcomes.get(&trial.name)?;
            (right.verdict == Verdict::Conforms).then_some((trial, cell))
        })
    }
}

/// Whether there is something, and all of it is so.
fn all(mut of: impl Iterator<Item = bool>) -> bool {
    of.next().is_some_and(|first| first && of.all(|next| next))
}

/// The selected trials by their case, in the order of the ids.
pub(super) fn by_case(trials: &[Trial]) -> BTreeMap<&str, Vec<&Trial>> {
    let mut cases: BTreeMap<&str, Vec<&Trial>> = BTreeMap::new();
    for trial in trials {
        cases.entry(&trial.case.id).or_default().push(trial);
    }
    cases
}
