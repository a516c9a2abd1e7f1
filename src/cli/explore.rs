//! `perimeter explore`.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use perimeter_runner::corpus::Corpus;
use perimeter_runner::exit::ExitCode as RunCode;
use perimeter_runner::explore::{
    Claims, Exploration, Limits, Line, closing, difference, duration, explore, random_seed, reduce,
    save,
};
use perimeter_runner::launcher::file::LauncherFile;
use perimeter_runner::report::console::{PrintError, print};
use perimeter_runner::report::results::Contract;
use perimeter_runner::session::{Session, Settings};
use perimeter_runner::worker::{Interrupts, PoolError, Scratch};

use super::failure::{Failure, USAGE};
use super::print::require_open;

/// Try random policies and file operations, and compare with what they mean.
///
/// Each seed gives files, a policy and a list of operations. What must come of each
/// is predicted from the meaning of the policy alone, and held against what happened
/// on the host. What differs is made small, and printed as a file of cases.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status:
  0   nothing differs
  1   something differs
  2   the command line or the launcher file is wrong
  4   nothing was tried
  70  the harness itself failed

Examples:
  perimeter explore
  perimeter explore --launcher bubblewrap-004 --seed 1 --save found
  perimeter check --corpus found --launcher bubblewrap-004
  perimeter explore --seed 7 --count 1000 --scratch /tmp/here")]
pub struct Explore {
    /// The launcher under test: a name that the corpus has, or a launcher file
    #[arg(long, value_name = "NAME|FILE", default_value = "reference")]
    pub launcher: String,
    /// The first seed; each policy takes the next [default: a random one]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How long new policies are begun, such as 60s, 5m or 1h [default: 60s, or no
    /// limit with --count]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// How many policies are tried at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// After how many differences it is enough
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..))]
    pub differences: u16,
    /// Where fixtures are made; on the user's own file system, not under /tmp,
    /// unless said [default: the user's cache directory]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// How many policies are tried at once [default: twice the processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// Write what differs as cases into this directory, as a corpus of its own
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
}

/// Explores, and tells what was found.
pub fn run(arguments: &Explore) -> Result<ExitCode, Failure> {
    require_open(USAGE)?;
    let corpus = super::corpus::load(None)?;
    let launcher = super::corpus::launcher(&corpus, &arguments.launcher)?;
    if !Claims::of(&launcher).can_launch() {
        return Err(Failure::new(
            RunCode::Nothing.code(),
            format_args!(
                "launcher {} claims no posture or no network, so no policy can be asked of it; \
                 add to its features",
                launcher.name
            ),
        ));
    }
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => random_seed().map_err(harness)?,
    };
    let session = Arc::new(session(&corpus, &launcher, arguments)?);
    // The waiting thread lives as long as the program; the session must not.
    let on_signal = Arc::downgrade(&session);
    let cancel = move |_| {
        if let Some(session) = on_signal.upgrade() {
            session.cancel();
        }
    };
    Interrupts::watch(cancel)
        .map_err(|error| harness(format_args!("signals cannot be waited for: {error}")))?;
    let limits = Limits {
        seed,
        count: arguments.count,
        time: match (arguments.time, arguments.count) {
            (Some(time), _) => time,
            (None, Some(_)) => Duration::MAX,
            (None, None) => Duration::from_secs(60),
        },
        differences: arguments.differences.into(),
    };
    out(&format!(
        "perimeter {} explores {} from seed {seed}\n\n",
        env!("CARGO_PKG_VERSION"),
        launcher.name
    ))?;
    let start = Instant::now();
    let mut line = Line::stderr();
    let explored = explore(&session, &launcher, limits, |so_far| line.ended(so_far));
    let time = start.elapsed();
    line.finish();
    let exploration = explored.map_err(harness)?;
    tell(&session, &corpus, &launcher, &exploration, arguments)?;
    let interrupted = Interrupts::exit_status();
    out(&closing(&exploration, time, interrupted.is_some()))?;
    if let Some(status) = interrupted {
        Scratch::remove_all();
        return Ok(ExitCode::from(u8::try_from(status).unwrap_or(130)));
    }
    Ok(match (exploration.policies, exploration.found.len()) {
        (0, _) => RunCode::Nothing,
        (_, 0) => RunCode::Conforms,
        _ => RunCode::Failure,
    }
    .into())
}

/// Makes what was found small, and tells it.
fn tell(
    session: &Session,
    corpus: &Corpus,
    launcher: &LauncherFile,
    exploration: &Exploration,
    arguments: &Explore,
) -> Result<(), Failure> {
    for found in &exploration.found {
        let seed = found.scenario.seed;
        let mut line = Line::stderr();
        line.says(&format!("making what differs at seed {seed} small"));
        let reduced = reduce(session, launcher, found);
        line.finish();
        let reduced = match reduced {
            Ok(reduced) => reduced,
            Err(PoolError::Cancelled) => {
                let words = found.comparison.differences.first().map(|it| &it.words);
                let words = words.map_or("", String::as_str);
                out(&format!("Difference at seed {seed}\n  {words}\n\n"))?;
                continue;
            }
            Err(error) => return Err(harness(format_args!("seed {seed}: {error}"))),
        };
        out(&difference(&reduced, &arguments.launcher))?;
        if let Some(directory) = &arguments.save {
            let path = save(directory, corpus, &reduced).map_err(|error| {
                harness(format_args!(
                    "{}: {error}; the case is lost from there: it is printed above",
                    directory.display()
                ))
            })?;
            out(&format!("saved as {}\n\n", path.display()))?;
        }
    }
    Ok(())
}

fn session(
    corpus: &Corpus,
    launcher: &LauncherFile,
    arguments: &Explore,
) -> Result<Session, Failure> {
    let perimeter = std::env::current_exe()
        .map_err(|error| harness(format_args!("cannot find this program's own file: {error}")))?;
    let settings = Settings {
        launcher: launcher.clone(),
        contract: Contract {
            levels: Vec::new(),
            required_facts: Vec::new(),
            absent_facts: Vec::new(),
            filters: Vec::new(),
            partition: None,
        },
        scratch: arguments.scratch.clone(),
        jobs: arguments.jobs.map(usize::from),
        perimeter,
        faulty: None,
    };
    Session::start(corpus, settings).map_err(|error| Failure::new(USAGE, error))
}

fn harness(message: impl std::fmt::Display) -> Failure {
    Failure::new(RunCode::Harness.code(), message)
}

/// Prints; a reader that has gone away is no failure.
fn out(text: &str) -> Result<(), Failure> {
    match print(&mut io::stdout().lock(), text) {
        Ok(()) | Err(PrintError::Closed) => Ok(()),
        Err(error) => Err(harness(error)),
    }
}
