//! What an audit runs: the right launcher, the two extremes, the control, the faults.

use std::io;
use std::path::{Path, PathBuf};

use crate::corpus::fault::{FAULTY, mistaken};
use crate::corpus::vocabulary::{Fact, Platform};
use crate::corpus::{Corpus, Fault, digest};
use crate::launcher::file::LauncherFile;

/// The launcher that runs nothing, by the name that every corpus has it under.
pub const DEAD: &str = "dead";
/// The mistake that is none: the program that makes mistakes then has to be the
/// right launcher in everything.
pub const CONTROL: &str = "none";

/// What a subject is in an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// No sandbox; its runs are the baselines of all others.
    Open,
    /// The launcher that is right.
    Reference,
    /// The program that makes mistakes, making none.
    Control,
    /// The launcher that runs nothing.
    Dead,
    /// A fault, by its place in the list of those that were chosen.
    Fault(usize),
}

/// A launcher that is run against the trials.
#[derive(Debug, Clone)]
pub struct Subject {
    /// What it is in the audit.
    pub role: Role,
    /// Its name.
    pub name: String,
    /// How it is driven.
    pub launcher: LauncherFile,
    /// A digest of all that its results hang on, beside the trial: the launcher and
    /// the programs that are run.
    pub identity: String,
}

/// A fault that was chosen.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The fault.
    pub fault: Fault,
    /// Its launcher.
    pub launcher: LauncherFile,
    /// The digest of both.
    pub digest: String,
    /// Why it cannot be run here.
    pub not_run: Option<String>,
}

/// The faults of a corpus with these names, or all; each with its launcher.
///
/// # Errors
/// A fault that contradicts itself.
pub fn choose(corpus: &Corpus, names: &[String], facts: &[Fact]) -> Result<Vec<Chosen>, String> {
    corpus
        .faults
        .iter()
        .filter(|fault| names.is_empty() || names.contains(&fault.name))
        .map(|fault| {
            let launcher = fault.wrong_launcher(&corpus.launchers)?;
            Ok(Chosen {
                digest: digest::of_fault(fault, &launcher),
                not_run: not_run(fault, facts),
                fault: fault.clone(),
                launcher,
            })
        })
        .collect()
}

/// Why a fault cannot be run here.
fn not_run(fault: &Fault, facts: &[Fact]) -> Option<String> {
    if !fault.platforms.contains(&Platform::HOST) {
        return Some("another system".to_owned());
    }
    let missing: Vec<String> = fault
        .missing(facts)
        .map(|fact| crate::report::word(&fact))
        .collect();
    (!missing.is_empty()).then(|| format!("needs {}", missing.join(", ")))
}

/// The launcher of the control.
///
/// # Errors
/// A right launcher in which no mistake can be made.
pub(super) fn control(reference: &LauncherFile) -> Result<LauncherFile, String> {
    let launchers = std::slice::from_ref(reference);
    let mut control = mistaken(launchers, &reference.name, CONTROL)?;
    control.name = "control".to_owned();
    Ok(control)
}

/// Digests of the programs that results hang on.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    /// This program: the runner, the judge and the reference launcher.
    own: String,
    faulty: Option<String>,
}

impl Programs {
    /// Reads them.
    pub(super) fn read(
        own: &Path,
        faulty: Option<&Path>,
    ) -> Result<Programs, (PathBuf, io::Error)> {
        let of = |path: &Path| digest::of_file(path).map_err(|error| (path.to_owned(), error));
        Ok(Programs {
            own: of(own)?,
            faulty: faulty.map(of).transpose()?,
        })
    }

    /// What the results of a launcher hang on.
    pub(super) fn identity(&self, launcher: &LauncherFile, facts: &[Fact]) -> String {
        let text = serde_json::to_string(launcher).unwrap_or_default();
        let faulty = self.faulty.as_ref().filter(|_| text.contains(FAULTY));
        let programs: Vec<Option<String>> = launcher
            .programs
            .iter()
            .map(|name| digest::of_file(&which::which(name).ok()?).ok())
            .collect();
        digest::of_json(&(&text, &self.own, faulty, programs, facts))
    }
}
