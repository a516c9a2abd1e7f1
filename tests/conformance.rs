//! The conformance corpus as tests of cargo: one trial is one test, so filters,
//! `--list`, `--exact` and cargo-nextest's partitions work.
//!
//! PERIMETER_LAUNCHER names the launcher under test: one that the corpus has, or
//! a launcher file by its path. Without it, it is `reference`.
//!
//! PERIMETER_WITHOUT lists, with commas, facts that this host is known to lack
//! (`git,python3`): trials that need them are ignored. Without it, a required
//! trial that cannot be measured fails, as it does in `perimeter check`.

use std::env;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::thread;

use libtest_mimic::Arguments;
use perimeter_runner::corpus::vocabulary::Fact;
use perimeter_runner::corpus::{Corpus, Source, Trial};
use perimeter_runner::exit::ExitCode as RunCode;
use perimeter_runner::facts;
use perimeter_runner::harness::{self, HarnessTrial, TrialOutcome};
use perimeter_runner::launcher::file::{LauncherFile, read_launcher};
use perimeter_runner::pipeline::gate;
use perimeter_runner::report::results::Contract;
use perimeter_runner::report::summary::Standing;
use perimeter_runner::session::{Session, Settings, levels};
use perimeter_runner::verdict::Verdict;
use perimeter_runner::worker::{Interrupts, Scratch};

/// Begun by the first trial that runs, so that a list costs nothing.
static SESSION: OnceLock<Result<Session, String>> = OnceLock::new();

fn main() -> ExitCode {
    perimeter_runner::entry();
    let mut arguments = Arguments::from_args();
    // Trials wait more than they reckon; it is what a session would choose.
    let jobs = *arguments.test_threads.get_or_insert_with(|| {
        2 * thread::available_parallelism().map_or(1, std::num::NonZero::get)
    });
    match Run::prepare(jobs) {
        Ok(run) => run.go(&arguments),
        Err(error) => {
            eprintln!("perimeter: {error}");
            RunCode::Usage.into()
        }
    }
}

/// What the trials are run with.
struct Run {
    corpus: Corpus,
    launcher: LauncherFile,
    contract: Contract,
    jobs: usize,
}

impl Run {
    fn prepare(jobs: usize) -> Result<Run, String> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
        let corpus = Corpus::load(&Source::Directory(directory)).map_err(text)?;
        let launcher = launcher(&corpus)?;
        let contract = Contract {
            levels: levels(&launcher, None),
            absent_facts: absent_facts()?,
            ..Contract::default()
        };
        Ok(Run {
            corpus,
            launcher,
            contract,
            jobs,
        })
    }

    fn go(self, arguments: &Arguments) -> ExitCode {
        let interrupts = Interrupts::watch(|status| {
            end();
            std::process::exit(status);
        });
        if let Err(error) = interrupts {
            eprintln!("perimeter: signals cannot be waited for: {error}");
            return RunCode::Harness.into();
        }
        let trials = self.trials();
        let run = Arc::new(self);
        let execute = move |name: &str| run.execute(name);
        let code = harness::run(trials, execute, arguments);
        end();
        code.into()
    }

    /// The trials, each with the reason for which it is known not to run.
    fn trials(&self) -> Vec<HarnessTrial> {
        let facts = facts::of_this_host();
        let ignored = |trial: &Trial| match gate(trial, &self.launcher, &facts) {
            Some(gate) if gate.verdict == Verdict::Unmeasured => {
                self.contract.declares(&gate.missing).then_some(gate.reason)
            }
            Some(gate) => Some(gate.reason),
            None => None,
        };
        let optional = |trial: &Trial| {
            let required = self
                .contract
                .requires(trial.case.level, trial.case.strength);
            (!required).then(|| "nothing that the launcher claims requires it".to_owned())
        };
        self.corpus
            .trials
            .iter()
            .map(|trial| HarnessTrial {
                name: trial.name.clone(),
                ignored: ignored(trial).or_else(|| optional(trial)),
            })
            .collect()
    }

    fn execute(&self, name: &str) -> TrialOutcome {
        let trial = self.corpus.trials.iter().find(|trial| trial.name == name);
        match (trial, SESSION.get_or_init(|| self.session())) {
            (Some(trial), Ok(session)) => {
                let result = session.run(trial);
                // An interrupted run is about to exit, and says nothing of trials.
                while Interrupts::exit_status().is_some() {
                    thread::park();
                }
                TrialOutcome::of(&result, &self.contract)
            }
            (None, _) => error(format!("the corpus has no trial {name}")),
            (_, Err(reason)) => error(reason.clone()),
        }
    }

    fn session(&self) -> Result<Session, String> {
        let settings = Settings {
            launcher: self.launcher.clone(),
            contract: self.contract.clone(),
            scratch: None,
            jobs: Some(self.jobs),
            perimeter: PathBuf::from(env!("CARGO_BIN_EXE_perimeter")),
            faulty: None,
        };
        Session::start(&self.corpus, settings).map_err(text)
    }
}

/// Ends the session, whose value outlives `main`, and removes what it has made.
fn end() {
    if let Some(Ok(session)) = SESSION.get() {
        session.cancel();
    }
    Scratch::remove_all();
}

fn launcher(corpus: &Corpus) -> Result<LauncherFile, String> {
    let name = env::var("PERIMETER_LAUNCHER").unwrap_or_else(|_| "reference".to_owned());
    match corpus.launcher(&name) {
        Some(launcher) => Ok(launcher.clone()),
        None => read_launcher(Path::new(&name))
            .map_err(|error| format!("PERIMETER_LAUNCHER={name}: {error}")),
    }
}

fn absent_facts() -> Result<Vec<Fact>, String> {
    let list = env::var("PERIMETER_WITHOUT").unwrap_or_default();
    list.split(',')
        .filter(|word| !word.is_empty())
        .map(|word| {
            serde_json::from_value(serde_json::Value::from(word))
                .map_err(|error| format!("PERIMETER_WITHOUT={list}: {error}"))
        })
        .collect()
}

/// The outcome of a trial that the harness could not run.
fn error(reason: String) -> TrialOutcome {
    TrialOutcome {
        verdict: Verdict::Error,
        standing: Standing::Error,
        required: true,
        reason,
        evidence: Vec::new(),
    }
}

fn text(error: impl Display) -> String {
    error.to_string()
}
