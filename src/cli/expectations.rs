//! The known failures of the launcher under test, as `perimeter check` was told them,
//! and the file that it is to propose.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use perimeter_runner::corpus::Corpus;
use perimeter_runner::corpus::vocabulary::Fact;
use perimeter_runner::expectations::{Circumstances, Expectations, Proposal};
use perimeter_runner::launcher::file::LauncherFile;
use perimeter_runner::report::results::{Excuse, Header, TrialResult};
use perimeter_runner::worker::Interrupts;

use super::arguments::Check;
use super::check::{harness, unwritten};
use super::failure::{Failure, USAGE};

/// What was read before the run.
pub struct Read {
    list: Option<Expectations>,
    output: Option<(PathBuf, Option<Expectations>)>,
}

/// What a run goes by.
pub struct Known {
    read: Read,
    here: Circumstances,
}

impl Known {
    /// Reads what there is, and refuses before the run what could not be used after it.
    pub fn read(check: &Check, launcher: &LauncherFile) -> Result<Read, Failure> {
        let wrong = |error| Failure::new(USAGE, error);
        let list = match &check.expectations {
            Some(path) => Some(Expectations::read(path, &launcher.name).map_err(wrong)?),
            None => None,
        };
        let output = match &check.write_expectations {
            Some(path) => {
                let base = if has_content(path) {
                    Some(Expectations::draft(path, &launcher.name).map_err(wrong)?)
                } else {
                    super::check::writable(path)?;
                    list.clone()
                };
                Some((path.clone(), base))
            }
            None => None,
        };
        Ok(Read { list, output })
    }

    /// What excuses this failure, if anything does.
    pub fn excuse(&self, trial: &TrialResult) -> Option<Excuse> {
        self.read.list.as_ref()?.excuse(trial, &self.here)
    }

    /// What is wrong with the list.
    pub fn problems(&self, corpus: &Corpus, results: &[TrialResult]) -> Vec<String> {
        let list = self.read.list.as_ref();
        list.map_or_else(Vec::new, |list| list.problems(corpus, results, &self.here))
    }

    /// Writes what failed as expectations, where that was asked for, and says so.
    pub fn write(
        &self,
        corpus: &Corpus,
        header: &Header,
        results: &[TrialResult],
    ) -> Result<(), Failure> {
        let Some((path, base)) = &self.read.output else {
            return Ok(());
        };
        let shown = path.display();
        if Interrupts::exit_status().is_some() {
            eprintln!("perimeter: {shown} is not written: the run was interrupted");
            return Ok(());
        }
        let proposal = Proposal::of(
            base.as_ref(),
            &header.launcher.name,
            corpus,
            results,
            &self.here,
        );
        // A file that stays as it is keeps its form.
        if proposal.added == 0 && has_content(path) {
            eprintln!("perimeter: {shown} is left as it is: nothing failed that it does not have");
            return Ok(());
        }
        fs::write(path, proposal.text()).map_err(|error| unwritten(path, &error))?;
        let (added, kept) = (proposal.added, proposal.kept);
        if added == 0 {
            eprintln!("perimeter: {shown} is written: nothing new failed, {kept} kept");
        } else {
            eprintln!(
                "perimeter: {shown} is written: {added} new, {kept} kept; it is refused until each reason that begins with TODO is written"
            );
        }
        Ok(())
    }
}

impl Read {
    /// What the run goes by, on a host that offers these facts.
    pub fn on(self, facts: &BTreeSet<Fact>) -> Result<Known, Failure> {
        let here = Circumstances::now(facts.clone())
            .ok_or_else(|| harness("the clock says no day of the calendar; set it"))?;
        Ok(Known { read: self, here })
    }
}

/// Whether something stands in the file already.
fn has_content(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.len() > 0)
}
