//! Where things would be on a usual Mac: the places of a run that makes none.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use crate::corpus::Trial;
use crate::corpus::fixture::{Entry, FixtureSpec};
use crate::fixture::Names;
use crate::launcher::template::Host;
use crate::seatbelt::{Additions, ProgramEntry};

/// The directory of a run, as it would be in a user's cache.
pub(super) const ROOT: &str = "/Users/tester/Library/Caches/perimeter/run/1";
/// The run's directory for temporary files, by its real spelling.
const TEMPORARY: &str = "/private/tmp/perimeter-run-1";
/// The number of every listener's port; which it is decides nothing.
const PORT: &str = "49152";

/// What each placeholder stands for.
pub(super) fn names(trial: &Trial) -> Names {
    let mut names = Names::default();
    names.insert("root", ROOT);
    for name in [
        "workspace",
        "outside",
        "hidden",
        "readable",
        "writable",
        "home",
        "record",
        "state",
    ] {
        names.insert(name, format!("{ROOT}/{name}"));
    }
    names.insert("host-temporary", TEMPORARY);
    names.insert("probe", format!("{ROOT}/workspace/.perimeter-probe"));
    names.insert("toolchain", "/opt/homebrew");
    names.insert("uid", "501");
    names.insert("nonce", "perimeter-nonce");
    let fixture = &trial.fixture;
    for (name, socket) in &fixture.sockets {
        let path = socket.path.clone().unwrap_or_else(|| name.clone());
        let path = names.expand(&path).unwrap_or(path);
        names.insert(format!("socket.{name}"), path);
    }
    for name in fixture.listeners.keys() {
        names.insert(format!("port.{name}"), PORT);
    }
    for name in fixture.processes.keys() {
        names.insert(format!("pid.{name}"), "4711");
    }
    for name in fixture.shared_memory.keys() {
        names.insert(format!("shm.{name}"), "1");
    }
    names
}

/// The links and scripts of a fixture. What its shell commands would make is not seen.
pub(super) fn additions(fixture: &FixtureSpec) -> Additions {
    let mut links = IndexMap::new();
    let mut hard_links = IndexMap::new();
    let mut programs = Vec::new();
    for (path, entry) in &fixture.files {
        let content = match entry {
            Entry::Content(content) => Some(content),
            Entry::Detailed(entry) => {
                if let Some(target) = &entry.symlink {
                    links.insert(path.clone(), target.clone());
                }
                if let Some(file) = &entry.hard_link {
                    hard_links.insert(path.clone(), file.clone());
                }
                entry.content.as_ref()
            }
        };
        if let Some(interpreter) = content.and_then(|content| interpreter(content)) {
            programs.push(ProgramEntry {
                path: path.clone(),
                interpreter: Some(interpreter),
                ..ProgramEntry::default()
            });
        }
    }
    Additions {
        links,
        hard_links,
        programs,
        ..Additions::default()
    }
}

/// The program that a script's first line names.
fn interpreter(content: &str) -> Option<String> {
    let line = content.lines().next()?.strip_prefix("#!")?;
    line.split_whitespace().next().map(str::to_owned)
}

/// A Mac, as a launcher file asks about it; only the launcher's own files are written.
#[derive(Debug)]
pub(super) struct ModelledHost {
    directories: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
    state: PathBuf,
}

impl ModelledHost {
    /// The host of a fixture whose launcher's own files go into a directory.
    pub(super) fn new(fixture: &FixtureSpec, state: &Path) -> ModelledHost {
        let mut host = ModelledHost {
            directories: BTreeSet::new(),
            files: BTreeSet::new(),
            state: state.to_owned(),
        };
        for name in [
            "hidden",
            "readable",
            "writable",
            "outside",
            "workspace",
            "home",
        ] {
            host.directories.insert(Path::new(ROOT).join(name));
        }
        for (path, entry) in &fixture.files {
            let path = Path::new(path);
            host.directories
                .extend(path.ancestors().skip(1).map(Path::to_owned));
            match entry {
                Entry::Detailed(entry) if entry.directory => {
                    host.directories.insert(path.to_owned());
                }
                _ => {
                    host.files.insert(path.to_owned());
                }
            }
        }
        host
    }
}

impl Host for ModelledHost {
    fn find(&self, _program: &str) -> Option<PathBuf> {
        None
    }

    fn directory_of(&self, program: &Path) -> Option<PathBuf> {
        program.parent().map(Path::to_owned)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.directories.contains(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.directories.contains(path) || self.files.contains(path)
    }

    fn is_root(&self) -> bool {
        false
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        if path.starts_with(&self.state) {
            return std::fs::write(path, text);
        }
        let reason = "a model makes no file but the launcher's own";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
