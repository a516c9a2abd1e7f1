//! `perimeter check`.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use perimeter_runner::corpus::vocabulary::{Fact, Platform};
use perimeter_runner::corpus::{Corpus, Trial};
use perimeter_runner::exit::ExitCode as RunCode;
use perimeter_runner::facts;
use perimeter_runner::launcher::file::LauncherFile;
use perimeter_runner::report::console::{Asked, Color, Look, PrintError, print, render_asked};
use perimeter_runner::report::progress::Progress;
use perimeter_runner::report::results::{Contract, Header, TrialResult};
use perimeter_runner::report::summary::Summary;
use perimeter_runner::report::writer::ResultsWriter;
use perimeter_runner::report::{junit, markdown, sarif, tap};
use perimeter_runner::session::{Session, Settings, levels};
use perimeter_runner::target::ignored;
use perimeter_runner::worker::{Interrupts, Scratch};

use super::arguments::{Check, ColorFlag};
use super::corpus::{launcher, load, select};
use super::expectations::Known;
use super::failure::{Failure, USAGE};
use super::print::require_open;

/// Runs the selected trials against a launcher, and reports.
pub fn run(check: Check) -> Result<ExitCode, Failure> {
    require_open(USAGE)?;
    if check.modelled {
        return super::modelled::run(&check);
    }
    if check
        .platform
        .is_some_and(|platform| platform != Platform::HOST)
    {
        return Err(Failure::new(
            USAGE,
            "the cases of another system can only be modelled; add --modelled",
        ));
    }
    let corpus = load(check.selection.corpus.as_deref())?;
    let mut trials = select(&corpus, &check.selection.filters)?;
    let launcher = launcher(&corpus, check.launcher())?;
    let contract = Contract {
        levels: levels(&launcher, check.level),
        required_facts: check.require.clone(),
        absent_facts: check.without.clone(),
        filters: check.selection.filters.clone(),
        partition: check.partition.map(|part| part.to_string()),
    };
    if let Some(part) = check.partition {
        let facts = facts::of_this_host();
        part.keep(&mut trials, |trial| {
            ignored(trial, &launcher, &contract, &facts).is_some()
        });
        if trials.is_empty() {
            return Err(Failure::new(
                RunCode::Nothing.code(),
                format_args!("part {part} of the selection is empty; ask for fewer parts"),
            ));
        }
    }
    let outputs = [
        &check.results,
        &check.junit,
        &check.summary,
        &check.sarif,
        &check.tap,
        &check.report,
    ];
    for output in outputs.into_iter().flatten() {
        writable(output)?;
    }
    let known = Known::read(&check, &launcher)?;
    let session = session(&corpus, launcher, contract, &check)?;
    facts_hold(&session)?;
    let known = known.on(session.facts())?;
    let session = Arc::new(session);
    // The waiting thread lives as long as the program; the session must not.
    let on_signal = Arc::downgrade(&session);
    let cancel = move |_| {
        if let Some(session) = on_signal.upgrade() {
            session.cancel();
        }
    };
    Interrupts::watch(cancel)
        .map_err(|error| harness(format_args!("signals cannot be waited for: {error}")))?;
    let header = session.header(&corpus, check.selection.corpus.as_deref(), trials.len());
    let finished = measure(&session, &header, &corpus, &trials, &known, &check)?;
    let written = known.write(&corpus, &header, &finished.results);
    let code = report(&corpus, &header, &finished, &check)?;
    written.map(|()| code)
}

/// What a run came to.
struct Finished {
    results: Vec<TrialResult>,
    summary: Summary,
    milliseconds: u64,
}

/// Fails before anything is run if a report could not be written afterwards.
pub(super) fn writable(path: &Path) -> Result<(), Failure> {
    fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map(drop)
        .map_err(|error| unwritten(path, &error))
}

pub(super) fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::new(
        USAGE,
        format_args!(
            "{}: {error}; name a file that can be written",
            path.display()
        ),
    )
}

pub(super) fn harness(message: impl std::fmt::Display) -> Failure {
    Failure::new(RunCode::Harness.code(), message)
}

fn session(
    corpus: &Corpus,
    launcher: LauncherFile,
    contract: Contract,
    check: &Check,
) -> Result<Session, Failure> {
    let perimeter = std::env::current_exe()
        .map_err(|error| harness(format_args!("cannot find this program's own file: {error}")))?;
    let settings = Settings {
        launcher,
        contract,
        scratch: check.scratch.clone(),
        jobs: check.jobs.map(usize::from),
        perimeter,
        faulty: None,
    };
    Session::start(corpus, settings).map_err(|error| Failure::new(USAGE, error))
}

/// What the run says of the host must be so.
fn facts_hold(session: &Session) -> Result<(), Failure> {
    let facts: Vec<_> = session.facts().iter().copied().collect();
    let unmet = session.contract().unmet_facts(&facts);
    if !unmet.is_empty() {
        return Err(Failure::new(
            RunCode::Unproven.code(),
            format_args!(
                "this host does not offer {}, which --require asks for; `perimeter doctor` says how to mend it",
                words(&unmet)
            ),
        ));
    }
    let stale = session.contract().stale_facts(&facts);
    if !stale.is_empty() {
        return Err(Failure::new(
            USAGE,
            format_args!(
                "this host does offer {}; leave it out of --without",
                words(&stale)
            ),
        ));
    }
    Ok(())
}

/// Facts, as they are typed.
fn words(facts: &[Fact]) -> String {
    let word = |fact| serde_json::to_value(fact).ok()?.as_str().map(str::to_owned);
    facts.iter().filter_map(word).collect::<Vec<_>>().join(", ")
}

/// Runs the trials, and keeps each result as it comes.
fn measure(
    session: &Session,
    header: &Header,
    corpus: &Corpus,
    trials: &[Trial],
    known: &Known,
    check: &Check,
) -> Result<Finished, Failure> {
    let start = Instant::now();
    let mut file = match &check.results {
        Some(path) => {
            Some(ResultsWriter::create(path, header).map_err(|error| Failure::new(USAGE, error))?)
        }
        None => None,
    };
    let mut progress = Progress::stderr(trials.len());
    let mut results = Vec::with_capacity(trials.len());
    let mut lost = None;
    session.run_all(trials, |mut result| {
        result.excuse = known.excuse(&result);
        progress.ended(&result);
        if let (Some(writer), None) = (&mut file, &lost) {
            if let Err(error) = writer.trial(&result) {
                // Going on would spend minutes on results that nobody keeps.
                lost = Some(error);
                session.cancel();
            }
        }
        results.push(result);
    });
    progress.finish();
    if let Some(error) = lost {
        return Err(harness(error));
    }
    results.sort_by(|one, other| one.trial.cmp(&other.trial));
    let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut summary = Summary::of(&results, session.contract())
        .with_expectation_problems(known.problems(corpus, &results));
    if let Some(status) = Interrupts::exit_status() {
        summary = summary.interrupted().ending_with(status);
    }
    if let Some(writer) = file {
        writer
            .finish(&summary.footer(milliseconds))
            .map_err(harness)?;
    }
    Ok(Finished {
        results,
        summary,
        milliseconds,
    })
}

/// Writes the reports, and ends as the run does.
fn report(
    corpus: &Corpus,
    header: &Header,
    finished: &Finished,
    check: &Check,
) -> Result<ExitCode, Failure> {
    let Finished {
        results,
        summary,
        milliseconds,
    } = finished;
    let files = write_files(corpus, header, finished, check);
    let look = Look::stdout(match check.color {
        ColorFlag::Auto => Color::Auto,
        ColorFlag::Always => Color::Always,
        ColorFlag::Never => Color::Never,
    });
    let asked = Asked {
        launcher: check.launcher.as_deref(),
        quiet: check.quiet,
    };
    let text = render_asked(header, results, summary, *milliseconds, &look, asked);
    match print(&mut io::stdout().lock(), &text) {
        Ok(()) | Err(PrintError::Closed) => {}
        Err(error) => return Err(harness(error)),
    }
    // The report is out: a file that is lost takes no result with it.
    files?;
    match Interrupts::exit_status() {
        Some(status) => {
            // Results are safe; what is left of the run goes with the process.
            Scratch::remove_all();
            Ok(ExitCode::from(u8::try_from(status).unwrap_or(130)))
        }
        None => Ok(summary.exit_code().into()),
    }
}

/// Writes the reports that are files. Each was writable before the run.
fn write_files(
    corpus: &Corpus,
    header: &Header,
    finished: &Finished,
    check: &Check,
) -> Result<(), Failure> {
    let Finished {
        results,
        summary,
        milliseconds,
    } = finished;
    let lost = |path: &Path, error: &io::Error| {
        harness(format_args!(
            "{}: {error}; this report is lost: make room, or name another file, and run again",
            path.display()
        ))
    };
    if let Some(path) = &check.junit {
        let text = junit::render(header, results, summary, *milliseconds).map_err(harness)?;
        fs::write(path, text).map_err(|error| lost(path, &error))?;
    }
    if let Some(path) = &check.summary {
        let text = markdown::render(header, results, summary, *milliseconds);
        append(path, &text).map_err(|error| lost(path, &error))?;
    }
    if let Some(path) = &check.sarif {
        let text = sarif::render(header, results, summary, corpus);
        fs::write(path, text).map_err(|error| lost(path, &error))?;
    }
    if let Some(path) = &check.report {
        let footer = summary.footer(*milliseconds);
        let text = super::report::render(header, results, &footer);
        fs::write(path, text).map_err(|error| lost(path, &error))?;
    }
    if let Some(path) = &check.tap {
        let text = tap::render(header, results, summary);
        fs::write(path, text).map_err(|error| lost(path, &error))?;
    }
    Ok(())
}

/// Adds to a file: a pipeline's summary is shared by its steps.
pub(super) fn append(path: &Path, text: &str) -> io::Result<()> {
    use io::Write;
    fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)?
        .write_all(text.as_bytes())
}
