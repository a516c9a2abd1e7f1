//! What was seen of one scenario, in the scenario's own terms: real paths and
//! canaries are put back to their placeholders.

use serde::{Deserialize, Serialize};

use crate::observe::observation::{Change, Ending, Leak, Leftover};

/// What was seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sighting {
    /// Whether the command proved that it started.
    pub started: bool,
    /// How the launcher ended.
    pub ending: Ending,
    /// What the command wrote.
    pub output: String,
    /// What launcher and command wrote as errors.
    pub error_output: String,
    /// What was seen of the launch after it, where there was one.
    pub again: Option<Again>,
    /// The host's files afterwards.
    pub entries: Vec<SeenEntry>,
    /// What changed outside the workspace and the writable grants.
    pub changes: Vec<Change>,
    /// Secrets that showed, and where.
    pub leaks: Vec<Leak>,
    /// Processes that outlived the launcher.
    pub leftovers: Vec<Leftover>,
    /// The listeners and sockets that heard something, by name.
    pub heard: Vec<String>,
    /// What is in the host's temporary directory of this run.
    pub temporary: Vec<String>,
}

/// What was seen of a launch that only looks at what another has left.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Again {
    /// Whether the command proved that it started.
    pub started: bool,
    /// What the command wrote.
    pub output: String,
    /// What launcher and command wrote as errors.
    pub error_output: String,
}

/// What is at a path of the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeenEntry {
    /// The path.
    pub path: String,
    /// The probe's word for what it is.
    pub kind: String,
    /// The permission bits.
    pub mode: u32,
    /// What a file holds or where a link leads; nothing where this user may not look.
    pub content: Option<String>,
    /// The time of the last modification, in seconds since 1970.
    pub modified: i64,
    /// The same for two names of one file.
    pub identity: u64,
}

/// What an operation was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// It succeeded, and this is what it saw.
    Succeeded(String),
    /// It failed with this error.
    Failed(String),
    /// Nothing is known: the command ended before.
    Missing,
}

impl Sighting {
    /// What operation `number` was told.
    pub fn report(&self, number: usize) -> Report {
        report_in(&self.output, number)
    }

    /// What is at a path of the host.
    pub fn entry(&self, path: &str) -> Option<&SeenEntry> {
        self.entries.iter().find(|entry| entry.path == path)
    }
}

/// What operation `number` was told, by the output of its command.
pub fn report_in(output: &str, number: usize) -> Report {
    let begin = format!("{number} ");
    let line = output.lines().find_map(|line| line.strip_prefix(&begin));
    match line {
        Some("ok") => Report::Succeeded(String::new()),
        Some(line) => match line.split_once(' ') {
            Some(("ok", detail)) => Report::Succeeded(detail.to_owned()),
            Some(("no", error)) => Report::Failed(error.to_owned()),
            _ => Report::Missing,
        },
        None => Report::Missing,
    }
}
