//! `perimeter audit`.

mod arguments;
mod committed;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use perimeter_runner::audit::{
    self, Audited, Chosen, Finding, Report, Scope, Selection as Audit, Store, Watch,
};
use perimeter_runner::corpus::matrix::{AuditRecord, AuditUser, MatrixFile};
use perimeter_runner::corpus::vocabulary::Fact;
use perimeter_runner::corpus::{Corpus, Trial};
use perimeter_runner::exit::ExitCode as RunCode;
use perimeter_runner::launcher::file::LauncherFile;
use perimeter_runner::report::console::{Color, Look};
use perimeter_runner::report::results::Contract;
use perimeter_runner::session::{Session, Settings, levels};
use perimeter_runner::worker::{Interrupts, Scratch};

use super::arguments::ColorFlag;
use super::check::{append, harness, writable};
use super::corpus::{launcher, load, select};
use super::failure::{Failure, USAGE};
use super::print::{print, require_open};

pub use arguments::AuditArguments;
use committed::{case, check, new_matrix, write};

/// Runs, or looks at what was run.
pub fn run(arguments: &AuditArguments) -> Result<ExitCode, Failure> {
    require_open(USAGE)?;
    let corpus = load(arguments.selection.corpus.as_deref())?;
    let reference = launcher(&corpus, &arguments.launcher)?;
    let contract = Contract {
        levels: levels(&reference, None),
        absent_facts: arguments.without.clone(),
        filters: arguments.selection.filters.clone(),
        ..Contract::default()
    };
    if let Some(id) = &arguments.case {
        return case(&corpus, id);
    }
    if arguments.check {
        return check(&corpus, &contract);
    }
    for name in &arguments.faults {
        if !corpus.faults.iter().any(|fault| fault.name == *name) {
            return Err(nothing(format_args!(
                "no fault is named {name:?}; the corpus has {}",
                names(&corpus)
            )));
        }
    }
    if corpus.faults.is_empty() {
        return Err(nothing(
            "the corpus has no fault; write one in faults/, as conformance/README.md says",
        ));
    }
    if let Some(path) = &arguments.markdown {
        writable(path)?;
    }
    if let (true, Some(directory)) = (arguments.write, &arguments.selection.corpus) {
        let new = new_matrix(directory);
        writable(&new)?;
        fs::remove_file(&new).map_err(harness)?;
    }
    measured(arguments, &corpus, &reference, contract)
}

fn nothing(message: impl std::fmt::Display) -> Failure {
    Failure::new(RunCode::Nothing.code(), message)
}

fn names(corpus: &Corpus) -> String {
    let faults = corpus.faults.iter();
    faults
        .map(|fault| fault.name.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

/// One part of an audit: some trials against some faults.
struct Part {
    trials: Vec<Trial>,
    faults: Vec<Chosen>,
}

fn measured(
    arguments: &AuditArguments,
    corpus: &Corpus,
    reference: &LauncherFile,
    contract: Contract,
) -> Result<ExitCode, Failure> {
    let trials = select(corpus, &arguments.selection.filters)?;
    let host: Vec<Fact> = perimeter_runner::facts::of_this_host()
        .into_iter()
        .collect();
    let faults = audit::choose(corpus, &arguments.faults, &host)
        .map_err(|error| Failure::new(USAGE, error))?;
    let user = AuditUser::here();
    let committed = corpus.matrix.clone().unwrap_or_default();
    let mut known = committed.runs.get(&user).cloned();
    let parts = if arguments.stale {
        stale_parts(corpus, user, &faults)
    } else {
        vec![Part { trials, faults }]
    };
    let needs_faulty = parts
        .iter()
        .flat_map(|part| &part.faults)
        .any(|chosen| chosen.not_run.is_none() && chosen.fault.is_mistake());
    let session = Arc::new(session(
        arguments,
        corpus,
        reference,
        contract,
        needs_faulty,
    )?);
    let mut store = store(arguments)?;
    let on_signal = Arc::downgrade(&session);
    Interrupts::watch(move |_| {
        if let Some(session) = on_signal.upgrade() {
            session.cancel();
        }
    })
    .map_err(|error| harness(format_args!("signals cannot be waited for: {error}")))?;
    let mut watch = Watch::new(arguments.quiet);
    let mut code = RunCode::Conforms;
    if parts.is_empty() {
        print(b"nothing is stale\n")?;
    }
    for part in &parts {
        let start = Instant::now();
        let selection = Audit {
            reference,
            trials: &part.trials,
            faults: &part.faults,
            every_case: part.trials.len() == corpus.trials.len(),
            every_fault: part.faults.len() == corpus.faults.len(),
            quick: arguments.quick,
            known: known.as_ref().filter(|_| !arguments.fresh),
        };
        let audited = match audit::run(&session, corpus, &selection, &mut store, &mut watch) {
            Err(error @ audit::AuditError::Interrupted { .. }) => {
                Scratch::remove_all();
                let status = Interrupts::exit_status().unwrap_or(130);
                return Err(Failure::new(u8::try_from(status).unwrap_or(130), error));
            }
            audited => audited.map_err(|error| Failure::new(USAGE, error))?,
        };
        let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (other, contract) = (&committed, session.contract());
        let findings = findings(&audited, &selection, user, other, contract, arguments.stale);
        code = code.or(audit::exit_code(&findings));
        report(
            arguments,
            reference,
            &selection,
            &audited,
            &findings,
            milliseconds,
        )?;
        known = Some(audited.merged);
    }
    if let (true, Some(directory), Some(record)) =
        (arguments.write, &arguments.selection.corpus, known)
    {
        write(directory, committed, user, record)?;
    }
    Ok(code.into())
}

/// New and changed faults against every case, new and changed cases against every fault.
fn stale_parts(corpus: &Corpus, user: AuditUser, faults: &[Chosen]) -> Vec<Part> {
    let stale = audit::of_corpus(corpus);
    let Some((_, stale)) = stale.into_iter().find(|(of, _)| *of == user) else {
        return Vec::new();
    };
    let cases = corpus.trials.iter().filter(|trial| {
        let id = &trial.case.id;
        stale.cases.contains_key(id)
    });
    let cases: Vec<Trial> = cases.cloned().collect();
    let is_stale = |chosen: &&Chosen| stale.faults.contains_key(&chosen.fault.name);
    let changed: Vec<Chosen> = faults.iter().filter(is_stale).cloned().collect();
    let mut parts = Vec::new();
    // What is gone is dropped by either part.
    if !changed.is_empty() || cases.is_empty() {
        parts.push(Part {
            trials: corpus.trials.clone(),
            faults: changed,
        });
    }
    if !cases.is_empty() {
        parts.push(Part {
            trials: cases,
            faults: faults.to_vec(),
        });
    }
    parts
}

fn session(
    arguments: &AuditArguments,
    corpus: &Corpus,
    reference: &LauncherFile,
    contract: Contract,
    needs_faulty: bool,
) -> Result<Session, Failure> {
    let perimeter = std::env::current_exe()
        .map_err(|error| harness(format_args!("cannot find this program's own file: {error}")))?;
    let faulty = if needs_faulty {
        Some(faulty(arguments, &perimeter)?)
    } else {
        None
    };
    let settings = Settings {
        launcher: reference.clone(),
        contract,
        scratch: arguments.scratch.clone(),
        jobs: arguments.jobs.map(usize::from),
        perimeter,
        faulty,
    };
    Session::start(corpus, settings).map_err(|error| Failure::new(USAGE, error))
}

/// The program that makes mistakes.
fn faulty(arguments: &AuditArguments, perimeter: &Path) -> Result<PathBuf, Failure> {
    let path = match &arguments.faulty {
        Some(path) => path.clone(),
        None => perimeter.with_file_name("perimeter-faulty"),
    };
    path.canonicalize().map_err(|error| {
        Failure::new(
            USAGE,
            format_args!(
                "{}: {error}; the program that makes mistakes is built by \
                 `cargo build --release --features faults --bin perimeter-faulty`; \
                 name it with --faulty or PERIMETER_FAULTY if it is elsewhere",
                path.display()
            ),
        )
    })
}

fn store(arguments: &AuditArguments) -> Result<Store, Failure> {
    let directory = arguments.results.clone().or_else(Store::default_directory);
    let directory = directory.ok_or_else(|| {
        Failure::new(
            USAGE,
            "there is no cache directory (HOME); name one with --results",
        )
    })?;
    Store::open(&directory, arguments.fresh).map_err(|error| Failure::new(USAGE, error))
}

/// What is wrong, by what was seen and by what is known with that.
fn findings(
    audited: &Audited,
    selection: &Audit<'_>,
    user: AuditUser,
    committed: &MatrixFile,
    contract: &Contract,
    stale: bool,
) -> Vec<Finding> {
    // A part of the matrix says nothing of what the rest may catch, unless the rest is
    // known and still true.
    let own = if stale {
        &audited.merged
    } else {
        &audited.record
    };
    let judged_faults = selection.every_case || stale;
    let judged_cases = selection.every_fault || stale;
    let others = committed.runs.iter().filter(|(of, _)| **of != user);
    let others: Vec<(AuditUser, AuditRecord)> = others
        .map(|(of, record)| (*of, audit::still_true(record, own)))
        .collect();
    let mut records = vec![(user, own)];
    records.extend(others.iter().map(|(of, record)| (*of, record)));
    let faults: Vec<_> = selection
        .faults
        .iter()
        .filter(|_| judged_faults)
        .map(|chosen| &chosen.fault)
        .collect();
    let scope = Scope {
        faults: &faults,
        trials: if judged_cases { selection.trials } else { &[] },
        contract,
    };
    let mut findings = audited.findings.clone();
    findings.extend(audit::of_records(&records, scope));
    Finding::sort(&mut findings);
    findings
}

fn report(
    arguments: &AuditArguments,
    reference: &LauncherFile,
    selection: &Audit<'_>,
    audited: &Audited,
    findings: &[Finding],
    milliseconds: u64,
) -> Result<(), Failure> {
    let titles: BTreeMap<String, String> = selection
        .faults
        .iter()
        .map(|chosen| (chosen.fault.name.clone(), chosen.fault.title.clone()))
        .collect();
    let mut narrowed = Vec::new();
    if !selection.every_case && !arguments.stale {
        narrowed.push("whether each fault is caught, for cases were left out");
    }
    if !selection.every_fault && !arguments.stale {
        narrowed.push("whether each case catches a fault, for faults were left out");
    }
    let report = Report {
        user: AuditUser::here(),
        launcher: &reference.name,
        trials: selection.trials.len(),
        record: &audited.record,
        findings,
        titles: &titles,
        ran: audited.ran,
        kept: audited.kept,
        again: audited.again,
        milliseconds,
        narrowed: &narrowed,
    };
    let look = Look::stdout(match arguments.color {
        ColorFlag::Auto => Color::Auto,
        ColorFlag::Always => Color::Always,
        ColorFlag::Never => Color::Never,
    });
    let mut text = String::new();
    if arguments.matrix {
        text = audit::pairs(&audited.record) + "\n";
    }
    text += &audit::render(&report, &look);
    print(text.as_bytes())?;
    if let Some(path) = &arguments.markdown {
        append(path, &audit::markdown(&report))
            .map_err(|error| harness(format_args!("{}: {error}", path.display())))?;
    }
    Ok(())
}
