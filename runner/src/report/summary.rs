//! What a run comes to: counts, levels and the exit code. Pure.

use std::collections::BTreeMap;
use std::fmt;

use super::results::{Contract, Footer, TrialResult};
use crate::corpus::expect::Outcome;
use crate::corpus::vocabulary::{Level, Strength};
use crate::exit::ExitCode;
use crate::verdict::{Class, Verdict};

/// How one trial counts in its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// The launcher failed.
    Failed,
    /// The harness failed.
    Error,
    /// Nothing was proven.
    Unproven,
    /// The launcher failed or nothing was proven, and an expectation says so.
    Excused,
    /// It was not measured, for want of what the run declared to be absent.
    Declared,
    /// It does not count: unsupported or not applicable.
    Uncounted,
    /// It holds.
    Conforms,
}

impl Standing {
    /// How the trial counts under the contract.
    pub fn of(trial: &TrialResult, contract: &Contract) -> Standing {
        match trial.verdict.class() {
            Class::Pass => Standing::Conforms,
            Class::Harness => Standing::Error,
            Class::Uncounted => Standing::Uncounted,
            Class::Failure | Class::Unproven if trial.excuse.is_some() => Standing::Excused,
            Class::Failure => Standing::Failed,
            Class::Unproven
                if trial.verdict == Verdict::Unmeasured && contract.declares(&trial.missing) =>
            {
                Standing::Declared
            }
            Class::Unproven => Standing::Unproven,
        }
    }
}

/// How many trials count in which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// It holds.
    pub conform: usize,
    /// The launcher failed.
    pub failed: usize,
    /// The harness failed.
    pub errors: usize,
    /// Nothing was proven.
    pub unproven: usize,
    /// An expectation excuses it.
    pub excused: usize,
    /// Not measured, as the run declared.
    pub declared: usize,
    /// Unsupported or not applicable.
    pub uncounted: usize,
}

impl Tally {
    fn add(&mut self, standing: Standing) {
        let count = match standing {
            Standing::Conforms => &mut self.conform,
            Standing::Failed => &mut self.failed,
            Standing::Error => &mut self.errors,
            Standing::Unproven => &mut self.unproven,
            Standing::Excused => &mut self.excused,
            Standing::Declared => &mut self.declared,
            Standing::Uncounted => &mut self.uncounted,
        };
        *count += 1;
    }

    /// All trials.
    pub fn total(&self) -> usize {
        self.counted() + self.uncounted
    }

    /// All trials but those that do not count.
    pub fn counted(&self) -> usize {
        self.conform + self.failed + self.errors + self.unproven + self.excused + self.declared
    }
}

/// Whether a level holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Its MUST cases conform, and so do those of all levels below it.
    Holds,
    /// One of its MUST cases failed.
    Fails,
    /// One of its MUST cases was not proven.
    Unproven,
    /// None of its MUST cases was measured.
    Unmeasured,
    /// Its own MUST cases conform, and a level below it does not hold.
    Below,
    /// The run was narrowed or interrupted, and says nothing of levels.
    Unjudged,
}

impl fmt::Display for Hold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Hold::Holds => "yes",
            Hold::Fails => "no",
            Hold::Unproven => "not proven",
            Hold::Unmeasured => "not measured",
            Hold::Below => "not those below",
            Hold::Unjudged => "not judged",
        })
    }
}

/// What came of the cases of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelSummary {
    /// The level.
    pub level: Level,
    /// All its trials.
    pub all: Tally,
    /// Those of MUST cases, whether the run requires them or not.
    pub must: Tally,
    /// Those that the run requires.
    pub required: Tally,
    /// Whether it holds.
    pub hold: Hold,
}

/// What a run comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// All trials.
    pub all: Tally,
    /// Those that the contract requires.
    pub required: Tally,
    /// How many got each verdict.
    pub verdicts: BTreeMap<Verdict, usize>,
    /// How many of the required got each verdict.
    pub required_verdicts: BTreeMap<Verdict, usize>,
    /// Each level, lowest first.
    pub levels: Vec<LevelSummary>,
    /// The required denials that conform.
    pub denials: usize,
    /// Those of them whose baseline showed the forbidden effect.
    pub shown_denials: usize,
    /// Whether filters or a partition narrowed the run.
    pub narrowed: bool,
    /// Whether the run was stopped before every selected trial had ended.
    pub interrupted: bool,
    /// The exit status of the program where a signal decides it, and no longer the cases.
    pub signal_status: Option<i32>,
    /// What is wrong with the list of expectations.
    pub expectation_problems: Vec<String>,
}

impl Summary {
    /// Adds up the results of a run.
    pub fn of(trials: &[TrialResult], contract: &Contract) -> Summary {
        let narrowed = !contract.filters.is_empty() || contract.partition.is_some();
        let mut summary = Summary {
            all: Tally::default(),
            required: Tally::default(),
            verdicts: verdicts(trials),
            required_verdicts: verdicts(trials.iter().filter(|trial| trial.required)),
            levels: Level::ALL.map(LevelSummary::new).to_vec(),
            denials: 0,
            shown_denials: 0,
            narrowed,
            interrupted: false,
            signal_status: None,
            expectation_problems: Vec::new(),
        };
        for trial in trials {
            summary.add(trial, Standing::of(trial, contract));
        }
        hold(&mut summary.levels, narrowed);
        summary
    }

    fn add(&mut self, trial: &TrialResult, standing: Standing) {
        self.all.add(standing);
        if trial.required {
            self.required.add(standing);
            if standing == Standing::Conforms && trial.outcome == Outcome::Denied {
                let shown = trial.baseline.as_ref().is_some_and(|it| it.shows_effect());
                self.denials += 1;
                self.shown_denials += usize::from(shown);
            }
        }
        for row in &mut self.levels {
            if row.level == trial.level {
                row.all.add(standing);
                if trial.strength == Strength::Must {
                    row.must.add(standing);
                }
                if trial.required {
                    row.required.add(standing);
                }
            }
        }
    }

    /// The same, of a run that was stopped before its end.
    #[must_use]
    pub fn interrupted(mut self) -> Summary {
        self.interrupted = true;
        hold(&mut self.levels, true);
        self
    }

    /// The same, of a run whose program ends with the status of the signal that came.
    #[must_use]
    pub fn ending_with(mut self, status: i32) -> Summary {
        self.signal_status = Some(status);
        self
    }

    /// The same, with what is wrong with the list of expectations.
    #[must_use]
    pub fn with_expectation_problems(mut self, problems: Vec<String>) -> Summary {
        self.expectation_problems = problems;
        self
    }

    /// The summary of a run that was read from its file.
    #[must_use]
    pub fn of_run(trials: &[TrialResult], contract: &Contract, footer: &Footer) -> Summary {
        let summary = Summary::of(trials, contract)
            .with_expectation_problems(footer.expectation_problems.clone());
        if footer.interrupted {
            summary.interrupted()
        } else {
            summary
        }
    }

    /// The highest level that holds.
    pub fn highest_level(&self) -> Option<Level> {
        let holding = self.levels.iter().filter(|row| row.hold == Hold::Holds);
        holding.map(|row| row.level).max()
    }

    /// What the run says to the shell; [`ExitCode`] says which reason wins.
    pub fn exit_code(&self) -> ExitCode {
        let required = &self.required;
        let mut code = ExitCode::Conforms;
        if self.interrupted || required.unproven > 0 {
            code = code.or(ExitCode::Unproven);
        }
        if required.conform + required.excused + required.declared == 0 {
            code = code.or(ExitCode::Unproven);
        }
        if !self.expectation_problems.is_empty() {
            code = code.or(ExitCode::Expectations);
        }
        if required.failed > 0 {
            code = code.or(ExitCode::Failure);
        }
        if self.all.total() == 0 && !self.interrupted {
            code = code.or(ExitCode::Nothing);
        }
        if self.all.errors > 0 {
            code = code.or(ExitCode::Harness);
        }
        code
    }

    /// What the exit code means of this run. Where failures are excused, not all that
    /// was required conforms, and the words do not say so.
    pub fn meaning(&self) -> &'static str {
        match self.exit_code() {
            ExitCode::Conforms if self.required.excused > 0 => {
                "every required case conforms, or fails as expected"
            }
            code => code.meaning(),
        }
    }

    /// The last line of the results file.
    pub fn footer(&self, milliseconds: u64) -> Footer {
        Footer {
            verdicts: self.verdicts.clone(),
            required: self.required_verdicts.clone(),
            level: self.highest_level(),
            expectation_problems: self.expectation_problems.clone(),
            exit_code: self.exit_code(),
            milliseconds,
            interrupted: self.interrupted,
        }
    }
}

impl LevelSummary {
    fn new(level: Level) -> LevelSummary {
        LevelSummary {
            level,
            all: Tally::default(),
            must: Tally::default(),
            required: Tally::default(),
            hold: Hold::Unmeasured,
        }
    }

    /// Whether its own MUST cases conform. What the run declared to be
    /// unmeasurable does not stand against it; what an expectation excuses
    /// does, since the launcher is known to fail there.
    fn own(&self) -> Hold {
        if self.must.failed + self.must.errors + self.must.excused > 0 {
            Hold::Fails
        } else if self.must.unproven > 0 {
            Hold::Unproven
        } else if self.must.conform == 0 {
            Hold::Unmeasured
        } else {
            Hold::Holds
        }
    }
}

/// Says of each level whether it holds; `levels` are lowest first.
fn hold(levels: &mut [LevelSummary], unjudged: bool) {
    let mut below = true;
    for row in levels {
        row.hold = match row.own() {
            _ if unjudged => Hold::Unjudged,
            Hold::Holds if !below => Hold::Below,
            own => own,
        };
        below &= row.hold == Hold::Holds;
    }
}

/// How many trials got each verdict.
pub(crate) fn verdicts<'a>(
    trials: impl IntoIterator<Item = &'a TrialResult>,
) -> BTreeMap<Verdict, usize> {
    let mut verdicts = BTreeMap::new();
    for trial in trials {
        *verdicts.entry(trial.verdict).or_default() += 1;
    }
    verdicts
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
