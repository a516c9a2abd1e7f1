//! The known failures of a launcher, as a run goes by them: which failures they
//! excuse, what is wrong with the list, and what to add to it.
//!
//! A failure is excused only by an entry that names this very verdict of this very
//! revision of the case, on this host, and that has not expired. The list is held
//! against the results too: it may neither lag behind the launcher nor the corpus.

mod problems;
mod proposal;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use indexmap::IndexMap;

use crate::corpus::error::parse;
use crate::corpus::expectation::{Date, Expectation, ExpectationFile};
use crate::corpus::place::{self, At};
use crate::corpus::source::read_named;
use crate::corpus::vocabulary::{Fact, Platform};
use crate::corpus::{CorpusError, Trial};
use crate::report::results::{Excuse, TrialResult};
use crate::verdict::Class;

pub use proposal::Proposal;

/// What decides whether an entry is about this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circumstances {
    /// The system.
    pub platform: Platform,
    /// What the host offers.
    pub facts: BTreeSet<Fact>,
    /// The day, in UTC.
    pub today: Date,
}

impl Circumstances {
    /// Those of now, on a host that offers these facts. None where the clock is beyond
    /// the calendar.
    pub fn now(facts: BTreeSet<Fact>) -> Option<Circumstances> {
        Some(Circumstances {
            platform: Platform::HOST,
            facts,
            today: Date::of(SystemTime::now())?,
        })
    }
}

/// A file of expectations, and where in it things stand.
#[derive(Debug, Clone)]
pub struct Expectations {
    shown: String,
    text: String,
    content: ExpectationFile,
}

impl Expectations {
    /// Reads what excuses the failures of a launcher.
    ///
    /// # Errors
    /// A file that cannot be read, that does not fit the schema, that is about another
    /// launcher, or that has a reason which nobody has written yet.
    pub fn read(path: &Path, launcher: &str) -> Result<Expectations, CorpusError> {
        let list = Expectations::draft(path, launcher)?;
        for (index, entry) in list.content.expectations.iter().enumerate() {
            if entry.reason.is_unwritten() {
                return Err(list.malformed(
                    &entry_path(index, "reason"),
                    format!("expectations[{index}].reason: "),
                    format!(
                        "nobody has written yet why {} fails; write the reason, or remove the entry",
                        entry.case
                    ),
                ));
            }
        }
        Ok(list)
    }

    /// The same of a file that may have reasons which are still to be written.
    ///
    /// # Errors
    /// Those of [`Expectations::read`], save that one.
    pub fn draft(path: &Path, launcher: &str) -> Result<Expectations, CorpusError> {
        let bytes = read_named(path).map_err(|error| CorpusError::UnreadableExpectations {
            path: path.to_owned(),
            error,
        })?;
        let shown = path.display().to_string();
        let content: ExpectationFile = parse(&shown, &bytes)?;
        let list = Expectations {
            shown,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            content,
        };
        if list.content.launcher != launcher {
            let problem = format!(
                "these are the failures of {}, and the run is of {launcher}; name the file of {launcher}",
                list.content.launcher
            );
            return Err(list.malformed(&[At::Field("launcher")], "launcher: ".to_owned(), problem));
        }
        Ok(list)
    }

    /// What excuses this failure, if anything does.
    pub fn excuse(&self, trial: &TrialResult, here: &Circumstances) -> Option<Excuse> {
        if trial.verdict.class() != Class::Failure {
            return None;
        }
        let entry = self.content.expectations.iter().find(|entry| {
            entry.rev == trial.rev
                && entry.excuses(trial.verdict)
                && !has_expired(entry, here)
                && applies(entry, here)
                && is_about(entry, trial)
        })?;
        Some(Excuse {
            reason: entry.reason.as_str().to_owned(),
            issue: entry.issue.clone(),
            expires: entry.expires.map(|day| day.to_string()),
        })
    }

    /// Why a trial that has not run yet is known to fail, if it is.
    pub fn reason(&self, trial: &Trial, here: &Circumstances) -> Option<&str> {
        let entry = self.content.expectations.iter().find(|entry| {
            entry.rev == trial.case.rev
                && !has_expired(entry, here)
                && applies(entry, here)
                && names(entry, &trial.case.id, &trial.axes)
        })?;
        Some(entry.reason.as_str())
    }

    fn malformed(&self, path: &[At<'_>], field: String, problem: String) -> CorpusError {
        let at = place::of(&self.text, path);
        CorpusError::Malformed {
            file: self.shown.clone(),
            line: at.line,
            column: at.column,
            field,
            problem,
        }
    }
}

fn entry_path(index: usize, field: &str) -> [At<'_>; 3] {
    [At::Field("expectations"), At::Item(index), At::Field(field)]
}

/// Whether the entry is about this host.
fn applies(entry: &Expectation, here: &Circumstances) -> bool {
    let Some(when) = &entry.when else {
        return true;
    };
    (when.platforms.is_empty() || when.platforms.contains(&here.platform))
        && when.facts.iter().all(|fact| here.facts.contains(fact))
}

fn has_expired(entry: &Expectation, here: &Circumstances) -> bool {
    entry.expires.is_some_and(|last| last < here.today)
}

/// Whether the entry names this trial.
fn is_about(entry: &Expectation, trial: &TrialResult) -> bool {
    names(entry, &trial.id, &trial.axes)
}

fn names(entry: &Expectation, case: &str, own: &IndexMap<String, String>) -> bool {
    let axes = entry.when.iter().flat_map(|when| &when.axes);
    entry.case == case
        && axes.into_iter().all(|(axis, values)| {
            let value = own.get(axis);
            value.is_some_and(|value| values.contains(value))
        })
}
