//! Digests: what a case or a corpus meant when a result was written.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::case::{Case, TopicFile};
use super::fault::Fault;
use crate::launcher::file::LauncherFile;

/// A digest of what the case means: its prose and references do not count, nor what
/// a model is told of it.
pub fn of_case(topic: &TopicFile, case: &Case) -> String {
    let mut meaning = case.clone();
    meaning.title.clear();
    meaning.why.clear();
    meaning.references.clear();
    meaning.modelled.clear();
    for launch in meaning
        .steps
        .iter_mut()
        .filter_map(|step| step.launch.as_mut())
    {
        launch.modelled.clear();
    }
    meaning.fixture = topic.fixture.with(&case.fixture);
    meaning.policy = case.policy.clone().or_else(|| topic.policy.clone());
    of_json(&meaning)
}

/// A digest of what a fault is: its file without its prose, and its launcher.
pub fn of_fault(fault: &Fault, launcher: &LauncherFile) -> String {
    let mut launcher = launcher.clone();
    launcher.schema = None;
    launcher.about.clear();
    launcher.notes.clear();
    launcher.profile.clear();
    of_json(&(&launcher, &fault.platforms, &fault.needs, fault.starts))
}

/// A digest of a list of digests.
pub fn of_all<'a>(digests: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut all: Vec<_> = digests.collect();
    all.sort_unstable();
    of_json(&all)
}

/// A digest of a file's content.
///
/// # Errors
/// A file that cannot be read.
pub fn of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(digits(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// The first 16 hexadecimal digits of the SHA-256 of a value's JSON.
pub(crate) fn of_json<T: Serialize>(value: &T) -> String {
    let text = serde_json::to_vec(value).unwrap_or_default();
    digits(&Sha256::digest(text))
}

fn digits(hash: &[u8]) -> String {
    hash.iter().take(8).fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
