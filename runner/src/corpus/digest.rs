//! Digests: what a case or a corpus meant when a result was written.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use indexmap::IndexMap;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::case::{ByAxis, Case, TopicFile};
use super::fault::Fault;
use super::vocabulary::{Level, Strength};
use crate::launcher::file::LauncherFile;

/// A digest of what the case means: what is run, where, how it is judged and how
/// much that counts. Prose, references and the revision itself are left out, and
/// so is what only says how the case stands to others.
pub fn of_case(topic: &TopicFile, case: &Case) -> String {
    of_json(&meaning(topic, case))
}

/// A digest of what is run and how it is judged, whatever the case is called:
/// two cases of one behaviour are one case written twice.
pub fn of_behaviour(topic: &TopicFile, case: &Case) -> String {
    let mut meaning = meaning(topic, case);
    meaning.id.clear();
    meaning.sibling = None;
    meaning.level = Level::Launch;
    meaning.strength = Strength::Must;
    of_json(&meaning)
}

fn meaning(topic: &TopicFile, case: &Case) -> Case {
    let mut steps = case.steps.clone();
    for step in &mut steps {
        step.modelled.clear();
        if let Some(launch) = &mut step.launch {
            launch.modelled = None;
            launch.modelled_by.clear();
        }
    }
    Case {
        // What a model is told of a case is no part of it.
        modelled: None,
        modelled_by: ByAxis::new(),
        unmodelled: None,
        steps,
        rev: 0,
        title: String::new(),
        why: String::new(),
        covers: Vec::new(),
        references: Vec::new(),
        sibling_reason: None,
        decided_by: Vec::new(),
        host_paths: IndexMap::new(),
        fixture: topic.fixture.with(&case.fixture),
        policy: case.policy.clone().or_else(|| topic.policy.clone()),
        ..case.clone()
    }
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
