//! A host that takes notes instead of writing, and that knows a trial's fixture
//! without having made it.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use crate::corpus::Trial;
use crate::corpus::fixture::Entry;
use crate::fixture::Names;
use crate::launcher::template::{Host, ThisHost};

/// The directories that every trial may have, by placeholder.
const DIRECTORIES: [&str; 9] = [
    "root",
    "workspace",
    "outside",
    "hidden",
    "readable",
    "writable",
    "home",
    "record",
    "state",
];

/// A file that a launch needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    /// Its path.
    pub path: PathBuf,
    /// Its content; nothing where no file may be there.
    pub text: Option<String>,
}

/// The host of one launch.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    trial: &'a Trial,
    names: &'a Names,
    files: RefCell<Vec<WrittenFile>>,
}

impl<'a> Notes<'a> {
    pub(super) fn new(trial: &'a Trial, names: &'a Names) -> Notes<'a> {
        Notes {
            trial,
            names,
            files: RefCell::default(),
        }
    }

    /// What was written, each path once, by its last text.
    pub(super) fn into_files(self) -> Vec<WrittenFile> {
        self.files.into_inner()
    }

    fn note(&self, path: &Path, text: Option<&str>) {
        let mut files = self.files.borrow_mut();
        files.retain(|file| file.path != path);
        files.push(WrittenFile {
            path: path.to_owned(),
            text: text.map(str::to_owned),
        });
    }

    fn is_in_fixture(&self, path: &Path) -> bool {
        self.names
            .get("root")
            .is_some_and(|root| path.starts_with(root))
            || DIRECTORIES
                .iter()
                .filter_map(|name| self.names.get(name))
                .any(|directory| path.starts_with(directory))
    }

    /// The entry at a path, and whether others lie below it.
    fn entry(&self, path: &Path) -> (Option<&Entry>, bool) {
        let files = &self.trial.fixture.files;
        let at = files.iter().find(|(name, _)| Path::new(name) == path);
        let below = files
            .keys()
            .any(|name| Path::new(name) != path && Path::new(name).starts_with(path));
        (at.map(|(_, entry)| entry), below)
    }

    /// As a link of the fixture is followed; a chain of them is not longer than
    /// the fixture.
    fn leads_to_directory(&self, path: &Path, links: usize) -> bool {
        let is_place = DIRECTORIES
            .iter()
            .filter_map(|name| self.names.get(name))
            .any(|directory| Path::new(directory) == path);
        let (entry, below) = self.entry(path);
        match entry {
            _ if is_place || below => true,
            Some(Entry::Detailed(entry)) => match &entry.symlink {
                Some(target) if links > 0 => {
                    let target = path.parent().unwrap_or(path).join(target);
                    self.is_below_directory(&target, links - 1)
                }
                _ => entry.directory,
            },
            _ => false,
        }
    }

    fn is_below_directory(&self, path: &Path, links: usize) -> bool {
        if self.is_in_fixture(path) {
            self.leads_to_directory(path, links)
        } else {
            path.is_dir()
        }
    }
}

impl Host for Notes<'_> {
    fn find(&self, program: &str) -> Option<PathBuf> {
        ThisHost.find(program)
    }

    fn directory_of(&self, program: &Path) -> Option<PathBuf> {
        // What stands for a program that is found later has a name of its own.
        if crate::shell::has_mark(&program.to_string_lossy()) {
            return Some(PathBuf::from(crate::shell::mark("program-directory")));
        }
        ThisHost.directory_of(&ThisHost.find(&program.to_string_lossy())?)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.is_below_directory(path, self.trial.fixture.files.len())
    }

    fn exists(&self, path: &Path) -> bool {
        if !self.is_in_fixture(path) {
            return path.exists();
        }
        let (entry, below) = self.entry(path);
        entry.is_some() || below || self.is_directory(path)
    }

    fn is_root(&self) -> bool {
        ThisHost.is_root()
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        self.note(path, Some(text));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.note(path, None);
        Ok(())
    }
}
