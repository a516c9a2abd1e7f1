//! `perimeter launchers`: what is known of launchers here, and whether a new launcher
//! file is right before hundreds of cases are run with it.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use perimeter_runner::corpus::expect::Outcome;
use perimeter_runner::corpus::vocabulary::Platform;
use perimeter_runner::corpus::{Corpus, Trial};
use perimeter_runner::exit::ExitCode as RunCode;
use perimeter_runner::launcher::consistency;
use perimeter_runner::launcher::file::LauncherFile;
use perimeter_runner::launcher::program;
use perimeter_runner::launcher::version::version;
use perimeter_runner::observe::observation::Ending;
use perimeter_runner::report::results::{Contract, TrialResult};
use perimeter_runner::session::{Session, Settings};
use perimeter_runner::verdict::{Class, Verdict};
use serde_json::json;

use super::corpus::{launcher, load};
use super::failure::{Failure, USAGE};
use super::print::print;

/// List the launchers that are known, and their state on this host.
///
/// A launcher's program is searched on PATH, or where the variable of its name leads
/// (PERIMETER_NSJAIL for nsjail).
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  perimeter launchers
  perimeter launchers check mine.json"
)]
pub struct Launchers {
    #[command(subcommand)]
    command: Option<LaunchersCommand>,
    /// Another corpus than the one inside this program
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum LaunchersCommand {
    /// Try a launcher file: something allowed works, something forbidden is stopped,
    /// and streams and exit status are the command's own
    #[command(after_help = "\
Exit status: 0 if the file is right, 1 if not, 2 if it cannot be read.

Example:
  perimeter launchers check mine.json")]
    Check {
        /// A launcher file, or the name of a launcher
        file: String,
        /// Where fixtures are made
        #[arg(long, value_name = "DIR")]
        scratch: Option<PathBuf>,
    },
}

/// Lists the launchers, or tries one.
pub fn run(launchers: &Launchers) -> Result<ExitCode, Failure> {
    let corpus = load(launchers.corpus.as_deref())?;
    match &launchers.command {
        None => list(&corpus, launchers.json),
        Some(LaunchersCommand::Check { file, scratch }) => {
            let launcher = launcher(&corpus, file)?;
            check(&corpus, file, launcher, scratch.clone())
        }
    }
}

fn list(corpus: &Corpus, as_json: bool) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    let mut launchers: Vec<&LauncherFile> = corpus.launchers.iter().collect();
    launchers.sort_by(|one, other| one.name.cmp(&other.name));
    let width = launchers
        .iter()
        .map(|file| file.name.len())
        .max()
        .unwrap_or(0);
    for file in launchers {
        let state = State::of(file);
        if as_json {
            let line = json!({
                "name": file.name,
                "about": file.about,
                "here": state.missing.is_none(),
                "missing": state.missing,
                "version": state.version,
                "levels": file.levels,
                "platforms": file.platforms,
            });
            let _ = writeln!(text, "{line}");
        } else {
            let shown = match (&state.missing, &state.version) {
                (Some(missing), _) => missing.clone(),
                (None, Some(version)) => version.clone(),
                (None, None) => "here".to_owned(),
            };
            let _ = writeln!(text, "{:width$}  {shown}", file.name);
            let _ = writeln!(text, "{:width$}  {}", "", file.about);
        }
    }
    print(text.as_bytes())
}

/// What a launcher's state on this host is.
struct State {
    /// Why it cannot be run here.
    missing: Option<String>,
    /// What it says of its version.
    version: Option<String>,
}

impl State {
    fn of(file: &LauncherFile) -> State {
        if !file.platforms.contains(&Platform::HOST) {
            let missing = Some("not for this system".to_owned());
            return State {
                missing,
                version: None,
            };
        }
        let absence = file.programs.iter().find_map(|name| program::absence(name));
        if let Some(absence) = absence {
            return State {
                missing: Some(format!("absent: {absence}")),
                version: None,
            };
        }
        State {
            missing: None,
            version: std::env::current_exe()
                .ok()
                .and_then(|own| version(file, &own)),
        }
    }
}

/// What is tried, and what a launcher is told if it fails: cases of the corpus inside
/// this program.
const TRIED: [(&str, &str); 7] = [
    (
        "lifecycle.streams.separate",
        "the command's output and errors are its own: the launcher must add nothing to them and keep them apart",
    ),
    (
        "lifecycle.streams.input",
        "the standard input is the command's own: the launcher must neither read nor close it",
    ),
    (
        "lifecycle.status.ordinary",
        "the exit status is the command's own",
    ),
    (
        "lifecycle.arguments.exact",
        "each argument arrives as it is: place { \"command\": true } after whatever ends the launcher's own options, and build no shell line",
    ),
    (
        "lifecycle.directory.default",
        "the command starts in the workspace: see `started_in`, or pass {cwd}",
    ),
    (
        "files.write.create-inside",
        "the workspace can be written: pass {workspace} as a writable path",
    ),
    (
        "files.write.create-outside",
        "what is outside of the workspace and of the grants cannot be written",
    ),
];

fn check(
    corpus: &Corpus,
    typed: &str,
    launcher: LauncherFile,
    scratch: Option<PathBuf>,
) -> Result<ExitCode, Failure> {
    let name = launcher.name.clone();
    let mut found = Found::default();
    for problem in consistency::problems(&launcher) {
        found.wrong(&problem);
    }
    // What each trial would trip over is said once, and not by all of them.
    if found.wrong == 0 {
        try_out(corpus, launcher, scratch, &mut found)?;
    }
    let Found {
        mut text, wrong, ..
    } = found;
    let end = match wrong {
        0 => {
            let typed = perimeter_runner::shell::word(typed);
            format!("the file is right so far; next: perimeter check --launcher {typed}")
        }
        1 => "1 thing is wrong".to_owned(),
        _ => format!("{wrong} things are wrong"),
    };
    let _ = writeln!(text, "\n{name}: {end}");
    super::print::written(io::Write::write_all(
        &mut io::stdout().lock(),
        text.as_bytes(),
    ))?;
    Ok(if wrong == 0 {
        RunCode::Conforms.into()
    } else {
        RunCode::Failure.into()
    })
}

/// What was found of a launcher file.
#[derive(Default)]
struct Found {
    text: String,
    wrong: usize,
    /// The causes that were told, and the trial under which each stands.
    told: Vec<(Cause, String)>,
}

/// What tells one cause from another.
#[derive(PartialEq)]
enum Cause {
    /// The command never started, and the launcher ended so.
    NeverStarted(Ending),
    /// Something changed: the names, and how.
    Changed(Vec<String>),
    /// A rule was broken so.
    Broken(&'static str, String),
    /// The launcher prints of its own.
    Prints,
}

impl Found {
    fn wrong(&mut self, problem: &str) {
        self.wrong += 1;
        let _ = writeln!(self.text, "wrong   {problem}");
    }

    /// Whether a cause is new; if not, the trial is added to where it was told.
    fn is_new(&mut self, cause: Cause, trial: &str) -> bool {
        if let Some((_, first)) = self.told.iter().find(|(told, _)| *told == cause) {
            let _ = writeln!(self.text, "wrong   {trial}: as {first}");
            return false;
        }
        self.told.push((cause, trial.to_owned()));
        true
    }
}

/// Runs the trials.
fn try_out(
    corpus: &Corpus,
    launcher: LauncherFile,
    scratch: Option<PathBuf>,
    found: &mut Found,
) -> Result<(), Failure> {
    let session = Session::start(
        corpus,
        Settings {
            launcher,
            contract: Contract::default(),
            scratch,
            jobs: None,
            perimeter: std::env::current_exe().map_err(|error| {
                Failure::new(
                    RunCode::Harness.code(),
                    format_args!("cannot find this program's own file: {error}"),
                )
            })?,
            faulty: None,
        },
    )
    .map_err(|error| Failure::new(USAGE, error))?;
    let mut tried = false;
    for (id, rule) in TRIED {
        for trial in corpus.trials.iter().filter(|trial| trial.case.id == id) {
            let result = session.run(trial);
            match result.verdict.class() {
                Class::Uncounted => continue,
                Class::Pass if printed(&result).is_none() => {
                    let _ = writeln!(found.text, "right   {}", trial.name);
                }
                _ => explain(found, trial, &result, rule),
            }
            tried = true;
        }
    }
    if !tried {
        found.wrong(
            "nothing could be tried: claim posture-strict or posture-host-readable, and network-host or network-none, in `features`",
        );
    }
    Ok(())
}

/// What a launcher printed on the command's standard output, where the command started.
fn printed(result: &TrialResult) -> Option<&str> {
    let launch = result.observed.as_ref()?.last()?;
    let own = launch.preamble.as_str();
    (launch.started && !own.is_empty()).then_some(own)
}

/// What changed outside of the writable grants where the command does nothing there: the
/// last name of each path, which is the same in every trial, and how.
fn changed(result: &TrialResult) -> Vec<String> {
    let seen = result.observed.as_ref();
    let seen = seen.filter(|_| result.outcome == Outcome::Allowed);
    let changes = seen.map(|seen| seen.changes.as_slice()).unwrap_or_default();
    changes
        .iter()
        .map(|change| {
            let name = change.path.rsplit('/').next().unwrap_or_default();
            format!("{name}: {}", change.what)
        })
        .collect()
}

/// What was tried, what it came to, and where in the launcher file to look.
fn explain(found: &mut Found, trial: &Trial, result: &TrialResult, rule: &'static str) {
    let launch = result.observed.as_ref().and_then(|seen| seen.last());
    let unstarted = launch.filter(|launch| !launch.started && launch.proves_start);
    let passes = result.verdict.class() == Class::Pass;
    let changed = changed(result);
    let cause = match unstarted {
        _ if !changed.is_empty() => Cause::Changed(changed.clone()),
        Some(launch) => Cause::NeverStarted(launch.ending),
        None if passes => Cause::Prints,
        None => Cause::Broken(rule, result.reason.clone()),
    };
    if !found.is_new(cause, &trial.name) {
        return;
    }
    let (reason, rule) = match passes {
        false if !changed.is_empty() => (
            result.reason.as_str(),
            "if the launcher itself writes there, name the place in `writes`",
        ),
        false => (result.reason.as_str(), rule),
        true => (
            "the launcher prints on the command's standard output",
            "the streams are the command's own: let the launcher be silent, or write to a file",
        ),
    };
    found.wrong(&format!("{}: {reason}", trial.name));
    let text = &mut found.text;
    let _ = writeln!(text, "        {rule}");
    if result.verdict == Verdict::Escaped {
        for line in result.evidence.iter().take(LINES) {
            let _ = writeln!(text, "        seen: {}", line.escape_debug());
        }
    }
    let Some(launch) = launch else {
        return;
    };
    if unstarted.is_some() {
        let _ = writeln!(
            text,
            "        the command never started, and the launcher ended with {}",
            launch.ending.shell_status().map_or_else(
                || "no status".to_owned(),
                |status| format!("status {status}")
            )
        );
    }
    let _ = writeln!(text, "        `arguments` became:");
    for word in &launch.command_line {
        let _ = writeln!(text, "          {word:?}");
    }
    for (stream, said) in [
        ("before the command", &launch.preamble),
        ("standard error", &launch.error_output),
    ] {
        let lines: Vec<&str> = said.lines().collect();
        // What went wrong stands at the end.
        let left = lines.len().saturating_sub(LINES);
        if left > 0 {
            let _ = writeln!(text, "        {stream}: … {left} more before");
        }
        for line in &lines[left..] {
            let _ = writeln!(text, "        {stream}: {}", line.escape_debug());
        }
    }
}

/// As many lines as are shown of anything.
const LINES: usize = 8;
