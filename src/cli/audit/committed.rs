//! The committed matrix: what it says, whether it is still true, and how it is written.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use perimeter_runner::audit::{self, Finding, Scope};
use perimeter_runner::corpus::Corpus;
use perimeter_runner::corpus::matrix::{AuditRecord, AuditUser, MATRIX, MatrixFile};
use perimeter_runner::exit::ExitCode as RunCode;
use perimeter_runner::report::results::Contract;

use super::nothing;
use crate::cli::check::harness;
use crate::cli::failure::Failure;
use crate::cli::print::print;

/// `--case`.
pub(super) fn case(corpus: &Corpus, id: &str) -> Result<ExitCode, Failure> {
    let matrix = corpus.matrix.as_ref();
    match matrix.and_then(|matrix| audit::faults_of_case(matrix, id)) {
        Some(text) => print(text.as_bytes()),
        None => Err(nothing(format_args!(
            "the committed matrix does not know {id:?}; `perimeter list` shows every case, \
             and `perimeter audit {id}` tries one"
        ))),
    }
}

/// `--check`: what is committed is held against what there is.
pub(super) fn check(corpus: &Corpus, contract: &Contract) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    for (user, stale) in audit::of_corpus(corpus) {
        for (kind, changes) in [("case", &stale.cases), ("fault", &stale.faults)] {
            for (name, change) in changes {
                let (user, change) = (user.as_str(), change.as_str());
                text += &format!("stale as {user}: {kind} {name} was {change}\n");
            }
        }
    }
    let matrix = corpus.matrix.as_ref();
    let is_quick = matrix.is_some_and(|matrix| matrix.runs.values().any(|run| run.quick));
    let stale = !text.is_empty();
    if stale {
        let quick = if is_quick { " --quick" } else { "" };
        text += &format!(
            "run `perimeter audit --corpus conformance --stale{quick} --write` as both users\n"
        );
    }
    let empty = MatrixFile::default();
    let matrix = corpus.matrix.as_ref().unwrap_or(&empty);
    let records: Vec<(AuditUser, &AuditRecord)> =
        matrix.runs.iter().map(|(user, run)| (*user, run)).collect();
    let mut findings = audit::of_records(
        &records,
        Scope {
            faults: &corpus.faults.iter().collect::<Vec<_>>(),
            trials: &corpus.trials,
            contract,
        },
    );
    Finding::sort(&mut findings);
    for finding in &findings {
        let (meaning, about, detail) = (finding.kind.meaning(), &finding.about, &finding.detail);
        text += &format!("{meaning}: {about}  {detail}\n");
    }
    if !stale && findings.is_empty() {
        let faults = corpus.faults.len();
        text = format!(
            "the committed matrix is that of the corpus; each of {faults} faults is caught, and each required case catches one\n"
        );
        return print(text.as_bytes());
    }
    print(text.as_bytes())?;
    Ok(RunCode::Failure.into())
}

/// Where a matrix is written before it takes the place of the old one.
pub(super) fn new_matrix(directory: &Path) -> PathBuf {
    directory.join(MATRIX).with_extension("json.new")
}

/// Writes the committed matrix, whole or not at all.
pub(super) fn write(
    directory: &Path,
    mut matrix: MatrixFile,
    user: AuditUser,
    record: AuditRecord,
) -> Result<(), Failure> {
    let path = directory.join(MATRIX);
    matrix.runs.insert(user, record);
    let wrong = |error: std::io::Error| {
        harness(format_args!(
            "{}: {error}; what was seen is kept: make room and run the same command again",
            path.display()
        ))
    };
    let new = new_matrix(directory);
    let text = audit::text(&matrix);
    fs::File::create(&new)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&new, &path))
        .map_err(wrong)?;
    print(format!("written: {}\n", path.display()).as_bytes()).map(drop)
}
