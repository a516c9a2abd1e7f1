//! The corpus as a test target of cargo: one trial is one test, so filters, `--list`,
//! `--exact` and cargo-nextest's partitions work.
//!
//! The authors of a launcher in Rust add this crate, with its feature `corpus`, to their
//! development dependencies, and a target to their `Cargo.toml`:
//!
//! ```toml
//! [[test]]
//! name = "conformance"
//! harness = false
//! ```
//!
//! whose `tests/conformance.rs` is
//!
//! ```ignore
//! fn main() -> std::process::ExitCode {
//!     perimeter_runner::target::Target::of(concat!(env!("CARGO_MANIFEST_DIR"), "/launcher.json"))
//!         .program("mine", env!("CARGO_BIN_EXE_mine"))
//!         .main()
//! }
//! ```
//!
//! `launcher.json` is the launcher file of their own program, and the `mine` in its
//! `programs` is the one that cargo has built.
//!
//! PERIMETER_LAUNCHER names another launcher under test than the target's own: one
//! that the corpus has, or a launcher file by its path.
//!
//! PERIMETER_WITHOUT lists, with commas, facts that this host is known to lack
//! (`git,python3`): trials that need them are ignored. Without it, a required
//! trial that cannot be measured fails, as it does in a run of the command.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use libtest_mimic::Arguments;

use crate::corpus::vocabulary::Fact;
use crate::corpus::{Corpus, Source, Trial};
use crate::exit::ExitCode as RunCode;
use crate::expectations::{Circumstances, Expectations};
use crate::facts;
use crate::harness::{self, HarnessTrial, TrialOutcome};
use crate::launcher::file::{LauncherFile, read_launcher};
use crate::pipeline::gate;
use crate::report::results::{Contract, TrialResult};
use crate::report::summary::Standing;
use crate::session::{Session, Settings, levels};
use crate::verdict::Verdict;
use crate::worker::{Interrupts, Scratch};

/// The variable that names another launcher.
const LAUNCHER: &str = "PERIMETER_LAUNCHER";

/// Begun by the first trial that runs, so that a list costs nothing.
static SESSION: OnceLock<Result<Session, String>> = OnceLock::new();

/// A test target: what is tested, and with which cases.
#[derive(Debug, Clone)]
pub struct Target {
    /// The cases.
    pub corpus: Source,
    /// The launcher under test: a name that the corpus has, or the path of a
    /// launcher file.
    pub launcher: String,
    /// The program that `{perimeter}` stands for in launcher files.
    pub perimeter: PathBuf,
    /// Where programs lie that the launcher file names, by their names there; others
    /// are looked for on this host.
    pub programs: Vec<(String, PathBuf)>,
    /// The file of the target's own launcher's known failures.
    pub expectations: Option<PathBuf>,
}

impl Target {
    /// The corpus that comes with this library, against the launcher of this file, or of
    /// this name in the corpus. It needs the feature `corpus`.
    #[cfg(feature = "corpus")]
    #[must_use]
    pub fn of(launcher: impl Into<String>) -> Target {
        Target {
            corpus: Source::embedded(),
            launcher: launcher.into(),
            perimeter: PathBuf::from("perimeter"),
            programs: Vec::new(),
            expectations: None,
        }
    }

    /// The same, with the launcher's known failures, as `perimeter check
    /// --write-expectations` begins such a file. A trial that fails as it says is ignored
    /// with the reason, and fails nothing; an entry that is not so fails the target.
    ///
    /// cargo-nextest skips those trials, since it would take one for passed that it ran.
    #[must_use]
    pub fn expectations(mut self, file: impl Into<PathBuf>) -> Target {
        self.expectations = Some(file.into());
        self
    }

    /// The same, where a program that the launcher file names lies at this path: what
    /// cargo has built is on no PATH.
    #[must_use]
    pub fn program(mut self, name: impl Into<String>, path: impl Into<PathBuf>) -> Target {
        self.programs.push((name.into(), path.into()));
        self
    }

    /// Does what the command line of a test target asks for. The whole `main` of a
    /// target with `harness = false`: it also serves the processes of the run, which
    /// are this executable started again.
    #[must_use]
    pub fn main(self) -> ExitCode {
        crate::entry();
        let mut arguments = Arguments::from_args();
        // Trials wait more than they reckon; it is what a session would choose.
        let jobs = *arguments.test_threads.get_or_insert_with(|| {
            2 * thread::available_parallelism().map_or(1, std::num::NonZero::get)
        });
        match Run::prepare(&self, jobs) {
            Ok(run) => run.go(&arguments),
            Err(error) => {
                eprintln!("perimeter: {error}");
                RunCode::Usage.into()
            }
        }
    }
}

/// Why a test target ignores a trial: the launcher cannot be measured by it, the
/// run has declared so, or nothing that the launcher claims requires it.
pub fn ignored(
    trial: &Trial,
    launcher: &LauncherFile,
    contract: &Contract,
    facts: &BTreeSet<Fact>,
) -> Option<String> {
    let gated = match gate(trial, launcher, facts) {
        Some(gate) if gate.verdict == Verdict::Unmeasured => {
            contract.declares(&gate.missing).then_some(gate.reason)
        }
        Some(gate) => Some(gate.reason),
        None => None,
    };
    gated.or_else(|| {
        let required = contract.requires(trial.case.level, trial.case.strength);
        (!required).then(|| "nothing that the launcher claims requires it".to_owned())
    })
}

/// What the trials are run with.
struct Run {
    corpus: Corpus,
    launcher: LauncherFile,
    contract: Contract,
    jobs: usize,
    perimeter: PathBuf,
    known: Option<(Expectations, Circumstances)>,
    results: Mutex<Vec<TrialResult>>,
}

impl Run {
    fn prepare(target: &Target, jobs: usize) -> Result<Run, String> {
        let corpus = Corpus::load(&target.corpus).map_err(text)?;
        let mut launcher = launcher(&corpus, &target.launcher)?;
        for program in &mut launcher.programs {
            let built = target.programs.iter().find(|(name, _)| name == program);
            if let Some((_, path)) = built {
                *program = path.display().to_string();
            }
        }
        let contract = Contract {
            levels: levels(&launcher, None),
            absent_facts: absent_facts()?,
            ..Contract::default()
        };
        let known = match &target.expectations {
            // They are those of the target's own launcher.
            Some(file) if env::var_os(LAUNCHER).is_none() => {
                let list = Expectations::read(file, &launcher.name).map_err(text)?;
                let here = Circumstances::now(facts::of_this_host())
                    .ok_or("the clock says no day of the calendar; set it")?;
                Some((list, here))
            }
            _ => None,
        };
        Ok(Run {
            corpus,
            launcher,
            contract,
            jobs,
            perimeter: target.perimeter.clone(),
            known,
            results: Mutex::default(),
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
        let trials = self.trials(arguments);
        let run = Arc::new(self);
        let own = Arc::clone(&run);
        let execute = move |name: &str| own.execute(name);
        let mut code = harness::run(trials, execute, arguments);
        end();
        if !arguments.list {
            for problem in run.problems() {
                eprintln!("perimeter: {problem}");
                code = code.or(RunCode::Expectations);
            }
        }
        code.into()
    }

    /// What is wrong with the list of known failures.
    fn problems(&self) -> Vec<String> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.known.as_ref();
        known.map_or_else(Vec::new, |(list, here)| {
            list.problems(&self.corpus, &results, here)
        })
    }

    /// The trials, each with the reason for which it is known not to run.
    fn trials(&self, arguments: &Arguments) -> Vec<HarnessTrial> {
        let facts = facts::of_this_host();
        // cargo-nextest lists first, and then runs each that is not ignored. Here they run,
        // so that those which are mended are found.
        let skips = arguments.list || arguments.ignored || arguments.include_ignored;
        let known = self.known.as_ref().filter(|_| skips);
        let known = |trial: &Trial| {
            let (list, here) = known?;
            let reason = list.reason(trial, here)?;
            Some(format!("it is known to fail: {reason}"))
        };
        self.corpus
            .trials
            .iter()
            .map(|trial| HarnessTrial {
                name: trial.name.clone(),
                ignored: ignored(trial, &self.launcher, &self.contract, &facts)
                    .or_else(|| known(trial)),
            })
            .collect()
    }

    fn execute(&self, name: &str) -> TrialOutcome {
        let trial = self.corpus.trials.iter().find(|trial| trial.name == name);
        match (trial, SESSION.get_or_init(|| self.session())) {
            (Some(trial), Ok(session)) => {
                let mut result = session.run(trial);
                if let Some((list, here)) = &self.known {
                    result.excuse = list.excuse(&result, here);
                    let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.push(result.clone());
                }
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
            perimeter: self.perimeter.clone(),
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

fn launcher(corpus: &Corpus, own: &str) -> Result<LauncherFile, String> {
    let (name, place) = match env::var(LAUNCHER) {
        Ok(name) => (name.clone(), format!("{LAUNCHER}={name}")),
        Err(_) => (own.to_owned(), format!("the target's launcher {own}")),
    };
    match corpus.launcher(&name) {
        Some(launcher) => Ok(launcher.clone()),
        None => read_launcher(Path::new(&name)).map_err(|error| format!("{place}: {error}")),
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
