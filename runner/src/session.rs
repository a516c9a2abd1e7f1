//! A session: one launcher, the directories of a run, and the workers that run
//! its trials. The command line and the test harness both run through it.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use crate::corpus::vocabulary::{Fact, Level};
use crate::corpus::{Corpus, Trial};
use crate::explore::sighting::Sighting;
use crate::facts;
use crate::launcher::file::LauncherFile;
use crate::launcher::program;
use crate::launcher::version::version;
use crate::observe::observation::Observation;
use crate::pipeline::item::{RunPlaces, WorkItem, WorkResult};
use crate::probe;
use crate::report::results::{
    Contract, CorpusRecord, FORMAT, Header, HostRecord, LauncherRecord, SuiteRecord, TrialResult,
    timestamp,
};
use crate::verdict::Verdict;
use crate::worker::{Pool, PoolError, Scratch, ScratchError};

/// The launcher that is no sandbox, by the name that every corpus has it under.
pub const OPEN: &str = "open";

/// What a session is started with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The program under test.
    pub launcher: LauncherFile,
    /// What the run asks for.
    pub contract: Contract,
    /// Where fixtures are made; the user's cache directory when absent.
    pub scratch: Option<PathBuf>,
    /// How many trials run at once; twice the processors when absent, which is
    /// where launches a second are most.
    pub jobs: Option<usize>,
    /// The program that is the reference launcher and the command line.
    pub perimeter: PathBuf,
    /// The reference launcher that makes mistakes on request, where there is one.
    pub faulty: Option<PathBuf>,
}

/// Why a session could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The scratch directory cannot be used.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// The scratch directory's path has characters that a shell takes apart.
    #[error(
        "{path}: commands of cases write this path without quotes, so it may hold letters, digits and /._-+@ alone; name another directory with --scratch",
        path = path.display()
    )]
    OddScratch {
        /// The path.
        path: PathBuf,
    },
    /// The probe cannot be put into the scratch directory.
    #[error("{path}: {error}; the probe is kept here, so give --scratch a directory with some megabytes of room", path = path.display())]
    Probe {
        /// Where it was to be put.
        path: PathBuf,
        /// The system's reason.
        error: std::io::Error,
    },
    /// The corpus has no launcher that is no sandbox, so there is no baseline.
    #[error("the corpus has no launcher file named {OPEN}; every denial needs it as its baseline")]
    NoBaseline,
    /// This program does not know where it is.
    #[error("cannot find this program's own file: {0}")]
    Program(std::io::Error),
    /// A program that the launcher needs is not here.
    #[error("launcher {launcher}: {absence}")]
    Missing {
        /// The launcher.
        launcher: String,
        /// Why the program cannot be run, and what to do.
        absence: String,
    },
}

/// One trial to run, and under which launcher.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The trial.
    pub trial: &'a Trial,
    /// The launcher.
    pub launcher: &'a LauncherFile,
    /// What the trial did without a sandbox, where that was seen in this run.
    pub baseline: Option<&'a Observation>,
}

/// A run under way.
#[derive(Debug)]
pub struct Session {
    pool: Pool<WorkItem, WorkResult>,
    launcher: LauncherFile,
    open: LauncherFile,
    contract: Contract,
    facts: BTreeSet<Fact>,
    places: RunPlaces,
    next: AtomicUsize,
    // After the pool, whose workers must have ended when these are removed.
    scratch: Scratch,
    _host_temporary: Scratch,
}

impl Session {
    /// Prepares the directories and the pool. No worker is started yet.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn start(corpus: &Corpus, settings: Settings) -> Result<Session, SessionError> {
        let open = corpus
            .launcher(OPEN)
            .ok_or(SessionError::NoBaseline)?
            .clone();
        let programs = &settings.launcher.programs;
        let missing = programs.iter().find_map(|name| program::absence(name));
        if let Some(absence) = missing {
            return Err(SessionError::Missing {
                launcher: settings.launcher.name.clone(),
                absence,
            });
        }
        let scratch = match &settings.scratch {
            Some(directory) => Scratch::create(directory)?,
            None => Scratch::create_default()?,
        };
        let path = scratch.path();
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+@".contains(byte);
        if !path.as_os_str().as_bytes().iter().all(plain) {
            return Err(SessionError::OddScratch {
                path: path.to_owned(),
            });
        }
        let host_temporary = Scratch::create(Path::new("/tmp"))?;
        let probe = probe::install(scratch.path()).map_err(|error| SessionError::Probe {
            path: scratch.path().to_owned(),
            error,
        })?;
        let own = std::env::current_exe().map_err(SessionError::Program)?;
        let jobs = settings.jobs.unwrap_or_else(|| {
            2 * std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
        });
        Ok(Session {
            pool: Pool::new(own, jobs),
            launcher: settings.launcher,
            open,
            contract: settings.contract,
            facts: facts::of_this_host(),
            places: RunPlaces {
                scratch: scratch.path().to_owned(),
                host_temporary: host_temporary.path().to_owned(),
                perimeter: settings.perimeter,
                faulty: settings.faulty,
                probe,
            },
            next: AtomicUsize::new(0),
            scratch,
            _host_temporary: host_temporary,
        })
    }

    /// What the host offers.
    pub fn facts(&self) -> &BTreeSet<Fact> {
        &self.facts
    }

    /// Where the run keeps its things, and finds its programs.
    pub fn places(&self) -> &RunPlaces {
        &self.places
    }

    /// What the run asks for.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// Runs one trial. May be called from many threads.
    pub fn run(&self, trial: &Trial) -> TrialResult {
        let item = self.item(&self.own(trial));
        let answer = self.pool.run(&item);
        self.result(trial, answer)
    }

    /// Runs one trial under the launcher alone, judges nothing, and says what was
    /// seen. May be called from many threads.
    ///
    /// # Errors
    /// The harness's own failure, or [`PoolError::Cancelled`].
    pub fn look(&self, trial: &Trial) -> Result<Sighting, PoolError> {
        let mut item = self.item(&self.own(trial));
        item.look = true;
        let answer = self.pool.run(&item)?;
        answer.sighting.ok_or(PoolError::Failed(answer.reason))
    }

    /// The run's own directory.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// How many trials run at once.
    pub fn jobs(&self) -> usize {
        self.pool.jobs()
    }

    /// Runs trials, as many at once as there are workers, and hands each result
    /// over as it comes. Nothing is handed over for trials that a cancellation
    /// kept from ending.
    pub fn run_all(&self, trials: &[Trial], mut ended: impl FnMut(TrialResult)) {
        let task = |place: usize| self.own(&trials[place]);
        self.run_tasks(trials.len(), task, |_, result| ended(result));
    }

    /// The same of tasks, of which each may be about another launcher; with each
    /// result comes its task's place.
    pub fn run_tasks<'a>(
        &self,
        total: usize,
        task: impl Fn(usize) -> Task<'a> + Sync,
        mut ended: impl FnMut(usize, TrialResult),
    ) {
        let item = |place: usize| self.item(&task(place));
        self.pool.map(total, item, |place, answer| {
            if !matches!(answer, Err(PoolError::Cancelled)) {
                ended(place, self.result(task(place).trial, answer));
            }
        });
    }

    /// Stops: what runs is ended, and nothing more is begun.
    pub fn cancel(&self) {
        self.pool.cancel();
    }

    /// The first record of the run.
    pub fn header(&self, corpus: &Corpus, directory: Option<&Path>, selected: usize) -> Header {
        Header {
            format: FORMAT,
            suite: SuiteRecord {
                name: "perimeter".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            corpus: CorpusRecord {
                digest: corpus.digest.clone(),
                directory: directory.map(|path| path.display().to_string()),
                trials: corpus.trials.len(),
            },
            launcher: LauncherRecord {
                name: self.launcher.name.clone(),
                version: version(&self.launcher, &self.places.perimeter),
                levels: self.launcher.levels.clone(),
            },
            host: host(&self.facts, self.scratch.path()),
            started: timestamp(SystemTime::now()),
            contract: self.contract.clone(),
            selected,
        }
    }

    /// A trial of the launcher under test.
    fn own<'a>(&'a self, trial: &'a Trial) -> Task<'a> {
        Task {
            trial,
            launcher: &self.launcher,
            baseline: None,
        }
    }

    fn item(&self, task: &Task<'_>) -> WorkItem {
        WorkItem {
            trial: task.trial.clone(),
            launcher: task.launcher.clone(),
            open: self.open.clone(),
            baseline: task.baseline.cloned(),
            facts: self.facts.iter().copied().collect(),
            places: self.places.clone(),
            number: self.next.fetch_add(1, Ordering::Relaxed),
            look: false,
        }
    }

    fn result(&self, trial: &Trial, answer: Result<WorkResult, PoolError>) -> TrialResult {
        let answer = answer.unwrap_or_else(|error| WorkResult::error(error.to_string()));
        let case = &trial.case;
        TrialResult {
            id: case.id.clone(),
            trial: trial.name.clone(),
            rev: case.rev,
            digest: trial.digest.clone(),
            title: case.title.clone(),
            topic: trial.topic.clone(),
            level: case.level,
            strength: case.strength,
            outcome: case.expect.outcome,
            covers: case.covers.clone(),
            axes: trial.axes.clone(),
            verdict: answer.verdict,
            // What cannot be measured by this user, or is not for this system,
            // is not asked of the launcher.
            required: self.contract.requires(case.level, case.strength)
                && answer.verdict != Verdict::NotApplicable,
            reason: answer.reason,
            evidence: answer.evidence,
            missing: answer.missing,
            excuse: None,
            baseline: answer.baseline,
            observed: answer.observed,
            milliseconds: answer.milliseconds,
        }
    }
}

/// The levels that a run holds a launcher to: up to the one asked for, or those
/// that its authors claim, or all below `protected` where nothing is said.
pub fn levels(launcher: &LauncherFile, asked: Option<Level>) -> Vec<Level> {
    let highest = asked
        .or_else(|| launcher.levels.iter().copied().max())
        .unwrap_or(Level::ConfinedReads);
    Level::ALL
        .into_iter()
        .filter(|level| *level <= highest)
        .collect()
}

fn host(facts: &BTreeSet<Fact>, scratch: &Path) -> HostRecord {
    let kernel = nix::sys::utsname::uname()
        .map(|name| name.release().to_string_lossy().into_owned())
        .unwrap_or_default();
    HostRecord {
        os: std::env::consts::OS.to_owned(),
        kernel,
        architecture: std::env::consts::ARCH.to_owned(),
        uid: nix::unistd::getuid().as_raw(),
        facts: facts.iter().copied().collect(),
        scratch_file_system: file_system(scratch),
    }
}

/// The type of the file system that a path is on, from mountinfo
/// (proc_pid_mountinfo(5)): that of the longest mount point above it.
#[cfg(target_os = "linux")]
fn file_system(path: &Path) -> String {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    table
        .lines()
        .filter_map(|line| {
            let (place, kind) = line.split_once(" - ")?;
            let mount_point = place.split(' ').nth(4)?;
            path.starts_with(mount_point).then(|| {
                (
                    mount_point.len(),
                    kind.split(' ').next().unwrap_or_default(),
                )
            })
        })
        .max_by_key(|(length, _)| *length)
        .map_or_else(|| "unknown".to_owned(), |(_, kind)| kind.to_owned())
}

#[cfg(not(target_os = "linux"))]
fn file_system(path: &Path) -> String {
    nix::sys::statfs::statfs(path)
        .map(|found| found.filesystem_type_name().to_owned())
        .unwrap_or_else(|_| "unknown".to_owned())
}
