//! The libtest harness: one trial of the corpus is one test, for `cargo test`
//! and cargo-nextest.
//!
//! No trial can pass without a verdict. Only `conforms` is a pass; what cannot
//! become one is ignored before it runs, with its reason, so that nextest skips
//! it instead of taking the exit code 0 of a test that ignored itself for a
//! pass. And a run in which nothing passed never exits with 0.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use libtest_mimic::{Arguments, Completion, Failed, FormatSetting, Trial};

use crate::exit::ExitCode;
use crate::report::results::{Contract, TrialResult};
use crate::report::summary::Standing;
use crate::report::{counted, harmless};
use crate::verdict::{Class, Verdict};

/// A trial that can be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HarnessTrial {
    /// Its name, which filters match against.
    pub name: String,
    /// Why it is not to run unless asked for: the launcher does not claim the
    /// feature, the case is for another platform, the run does not require it,
    /// it is known to fail, or the run declared that the host lacks what it needs.
    pub ignored: Option<String>,
}

/// What came of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialOutcome {
    /// What the judge says.
    pub verdict: Verdict,
    /// How that counts in this run.
    pub standing: Standing,
    /// Whether the run requires that it conforms.
    pub required: bool,
    /// Why the verdict is what it is.
    pub reason: String,
    /// What was seen, a line each.
    pub evidence: Vec<String>,
}

impl TrialOutcome {
    /// The outcome of a trial under the run's contract.
    pub fn of(trial: &TrialResult, contract: &Contract) -> TrialOutcome {
        TrialOutcome {
            verdict: trial.verdict,
            standing: Standing::of(trial, contract),
            required: trial.required,
            reason: match &trial.excuse {
                Some(excuse) => format!("{} (expected: {})", trial.reason, excuse.text()),
                None => trial.reason.clone(),
            },
            evidence: trial.evidence.clone(),
        }
    }

    /// The verdict, the reason and what was seen.
    fn message(&self) -> String {
        let optional = if self.required { "" } else { " (not required)" };
        let mut message = format!("{}{optional}: {}", self.verdict, harmless(&self.reason));
        for line in &self.evidence {
            message += &format!("\n  | {}", harmless(line));
        }
        message
    }

    /// What libtest is told. A trial that is asked for and is no pass fails,
    /// required or not; only what the run excuses or cannot count is ignored.
    fn completion(&self) -> Result<Completion, Failed> {
        match self.standing {
            // The standing follows from the verdict; a caller that says otherwise
            // gets no pass for it.
            Standing::Conforms if self.verdict.class() == Class::Pass => Ok(Completion::Completed),
            Standing::Excused | Standing::Declared | Standing::Uncounted => {
                let reason = format!("{}: {}", self.verdict, harmless(&self.reason));
                Ok(Completion::ignored_with(reason))
            }
            Standing::Conforms | Standing::Failed | Standing::Error | Standing::Unproven => {
                Err(Failed::from(self.message()))
            }
        }
    }

    /// What this trial alone makes of the run.
    fn exit_code(&self) -> ExitCode {
        match (self.standing, &self.completion()) {
            (Standing::Error, _) => ExitCode::Harness,
            (Standing::Unproven, _) => ExitCode::Unproven,
            (_, Err(_)) => ExitCode::Failure,
            (_, Ok(_)) => ExitCode::Conforms,
        }
    }
}

/// Runs what the arguments select of the trials, and says how it went.
///
/// `execute` is called on several threads, once for each selected trial that is
/// not ignored, with its name.
pub fn run<E>(trials: Vec<HarnessTrial>, execute: E, arguments: &Arguments) -> ExitCode
where
    E: Fn(&str) -> TrialOutcome + Send + Sync + 'static,
{
    if let Some(name) = repeated(&trials) {
        complain(&format!(
            "two trials are named {name}; rename one of the cases"
        ));
        return ExitCode::Usage;
    }
    let total = trials.len();
    let notes = Notes::of(&trials, arguments);
    let outcomes = Arc::new(Outcomes::default());
    let execute = Arc::new(execute);
    let trials: Vec<_> = trials
        .into_iter()
        .map(|trial| libtest_trial(trial, arguments, &execute, &outcomes))
        .collect();
    let selected: Vec<_> = trials
        .into_iter()
        .filter(|trial| !arguments.is_filtered_out(trial))
        .collect();
    if selected.is_empty() && !may_list_nothing(arguments, total) {
        complain(&nothing_selected(arguments, total));
        return ExitCode::Nothing;
    }
    let conclusion = libtest_mimic::run(arguments, selected);
    if arguments.list {
        return ExitCode::Conforms;
    }
    notes.print();
    let code = outcomes.exit_code(conclusion.num_failed);
    if code == ExitCode::Conforms && conclusion.num_passed == 0 {
        complain("no trial ran to a verdict, so nothing was proven");
        return ExitCode::Unproven;
    }
    code
}

/// The trial as libtest-mimic has it.
fn libtest_trial<E>(
    trial: HarnessTrial,
    arguments: &Arguments,
    execute: &Arc<E>,
    outcomes: &Arc<Outcomes>,
) -> Trial
where
    E: Fn(&str) -> TrialOutcome + Send + Sync + 'static,
{
    let HarnessTrial { name, ignored } = trial;
    // libtest-mimic shows no reason for a trial with the ignored flag. Where the
    // flag changes neither the list nor the selection, the trial is made to
    // ignore itself, for then the reason is shown.
    let by_flag = arguments.list || arguments.ignored || arguments.include_ignored;
    if let Some(reason) = ignored.clone().filter(|_| !by_flag) {
        let reason = harmless(&reason).into_owned();
        return Trial::ignorable_test(name, move || Ok(Completion::ignored_with(reason)));
    }
    let (execute, outcomes) = (Arc::clone(execute), Arc::clone(outcomes));
    let own_name = name.clone();
    Trial::ignorable_test(name, move || {
        let outcome = execute(&own_name);
        outcomes.add(outcome.exit_code());
        outcome.completion()
    })
    .with_ignored_flag(ignored.is_some())
}

/// The name that two of the trials have.
fn repeated(trials: &[HarnessTrial]) -> Option<&str> {
    let mut names: Vec<_> = trials.iter().map(|trial| trial.name.as_str()).collect();
    names.sort_unstable();
    let pair = names.windows(2).find(|pair| pair[0] == pair[1])?;
    pair.first().copied()
}

/// A list may be empty where it was not narrowed by name: nextest asks for the
/// ignored trials apart, and there may be none.
fn may_list_nothing(arguments: &Arguments, total: usize) -> bool {
    let by_name = arguments.filter.is_some() || !arguments.skip.is_empty();
    arguments.list && arguments.ignored && !by_name && total > 0
}

/// Why nothing is selected, and what to do.
fn nothing_selected(arguments: &Arguments, total: usize) -> String {
    if total == 0 {
        return String::from("the corpus holds no trial; name a corpus that does");
    }
    let mut narrowed = Vec::new();
    if let Some(filter) = &arguments.filter {
        let exact = if arguments.exact { " --exact" } else { "" };
        narrowed.push(format!("the filter `{}`{exact}", harmless(filter)));
    }
    for skip in &arguments.skip {
        narrowed.push(format!("--skip `{}`", harmless(skip)));
    }
    if arguments.ignored {
        narrowed.push(String::from("--ignored"));
    }
    format!(
        "{} selects none of {}; `--list` shows their names",
        narrowed.join(" with "),
        counted(total, "trial"),
    )
}

/// What has come of the trials so far.
#[derive(Debug, Default)]
struct Outcomes(Mutex<Collected>);

#[derive(Debug, Clone, Copy, Default)]
struct Collected {
    worst: Option<ExitCode>,
    failed: u64,
}

impl Outcomes {
    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, code: ExitCode) {
        let mut collected = self.lock();
        collected.worst = Some(collected.worst.map_or(code, |worst| worst.or(code)));
        if code != ExitCode::Conforms {
            collected.failed += 1;
        }
    }

    /// The code of the run, of which libtest counted `failed` failures. One that
    /// told no outcome is one whose execution panicked.
    fn exit_code(&self, failed: u64) -> ExitCode {
        let collected = *self.lock();
        if failed > collected.failed {
            return ExitCode::Harness;
        }
        collected.worst.unwrap_or(ExitCode::Conforms)
    }
}

/// Reasons of ignored trials that the chosen format does not show.
struct Notes(Vec<(String, usize)>);

impl Notes {
    fn of(trials: &[HarnessTrial], arguments: &Arguments) -> Notes {
        let shown =
            !arguments.quiet && matches!(arguments.format, None | Some(FormatSetting::Pretty));
        let mut reasons: Vec<(String, usize)> = Vec::new();
        if arguments.list || arguments.ignored || arguments.include_ignored || shown {
            return Notes(reasons);
        }
        for trial in trials {
            let probe = Trial::test(trial.name.clone(), || Ok(()));
            let Some(reason) = trial.ignored.as_ref() else {
                continue;
            };
            if arguments.is_filtered_out(&probe) {
                continue;
            }
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, count)) => *count += 1,
                None => reasons.push((reason.clone(), 1)),
            }
        }
        Notes(reasons)
    }

    fn print(&self) {
        for (reason, count) in &self.0 {
            complain(&format!("{count} ignored: {}", harmless(reason)));
        }
    }
}

/// Says something on the standard error; that nobody listens changes nothing.
fn complain(message: &str) {
    let _ = io::stderr().write_all(format!("perimeter: {message}\n").as_bytes());
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#[path = "harness_tests.rs"]
mod tests;
