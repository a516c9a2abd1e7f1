//! Results that are kept from one audit to the next, so that one that was stopped
//! goes on where it was, and one that finds nothing changed launches nothing.
//!
//! A subject has a file of lines, named by what its results hang on; a result is
//! added when its trial ends. A line that was cut short is passed over.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::seen::Cell;
use super::subject::{Role, Subject};
use crate::corpus::Trial;
use crate::corpus::matrix::AuditUser;
use crate::verdict::Verdict;

/// Why results cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}; results of audits are kept here: name another directory with --results", path = path.display())]
pub struct StoreError {
    /// The path.
    pub path: PathBuf,
    /// The system's reason.
    pub error: io::Error,
}

/// A line of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    trial: String,
    digest: String,
    #[serde(flatten)]
    cell: StoredCell,
}

/// The same as [`Cell`], which refuses the fields of the line around it.
#[derive(Debug, Serialize, Deserialize)]
struct StoredCell {
    cell: Cell,
}

/// A directory of results.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    files: HashMap<PathBuf, File>,
}

impl Store {
    /// Where results are kept unless another directory is named: in the user's cache
    /// directory.
    pub fn default_directory() -> Option<PathBuf> {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        let cache = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        let home = || {
            Some(
                variable("HOME")
                    .filter(|path| path.is_absolute())?
                    .join(".cache"),
            )
        };
        Some(cache.or_else(home)?.join("perimeter/audit"))
    }

    /// Opens a directory, which is made if need be. With `fresh`, what is there of
    /// this user's is thrown away.
    ///
    /// # Errors
    /// A directory that cannot be made or read.
    pub fn open(directory: &Path, fresh: bool) -> Result<Store, StoreError> {
        let store = Store {
            directory: directory.to_owned(),
            files: HashMap::new(),
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(|error| store.wrong(directory, error))?;
        if fresh {
            store.remove(&format!("{}.", AuditUser::here().as_str()), None)?;
        }
        Ok(store)
    }

    /// What is kept of a subject's trials: by place in the list.
    ///
    /// # Errors
    /// A file that is there and cannot be read.
    pub fn known(
        &self,
        subject: &Subject,
        trials: &[Trial],
    ) -> Result<HashMap<usize, Cell>, StoreError> {
        let path = self.path(subject);
        let text = match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HashMap::new()),
            Err(error) => return Err(self.wrong(&path, error)),
        };
        let lines: HashMap<(String, String), Cell> = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Stored>(line).ok())
            .map(|stored| ((stored.trial, stored.digest), stored.cell.cell))
            .collect();
        let of_trial = |trial: &Trial| lines.get(&(trial.name.clone(), trial.digest.clone()));
        Ok(trials
            .iter()
            .enumerate()
            .filter_map(|(place, trial)| Some((place, of_trial(trial)?.clone())))
            .collect())
    }

    /// Keeps a result. The harness's own failure is none.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn keep(
        &mut self,
        subject: &Subject,
        trial: &Trial,
        cell: &Cell,
    ) -> Result<(), StoreError> {
        if cell.verdict == Verdict::Error {
            return Ok(());
        }
        let path = self.path(subject);
        let wrong = |error| StoreError {
            path: path.clone(),
            error,
        };
        if !self.files.contains_key(&path) {
            // What was kept of the same subject as it was before is of no use.
            self.remove(&prefix(subject), Some(&path))?;
            let file = OpenOptions::new()
                .append(true)
                .create(true)
                .open(&path)
                .map_err(wrong)?;
            self.files.insert(path.clone(), file);
        }
        let stored = Stored {
            trial: trial.name.clone(),
            digest: trial.digest.clone(),
            cell: StoredCell { cell: cell.clone() },
        };
        let mut line = serde_json::to_string(&stored).map_err(|error| wrong(error.into()))?;
        line.push('\n');
        match self.files.get_mut(&path) {
            Some(file) => file.write_all(line.as_bytes()).map_err(wrong),
            None => Ok(()),
        }
    }

    fn path(&self, subject: &Subject) -> PathBuf {
        let name = format!("{}{}.jsonl", prefix(subject), subject.identity);
        self.directory.join(name)
    }

    /// Removes files whose names begin so, but not this one.
    fn remove(&self, prefix: &str, except: Option<&Path>) -> Result<(), StoreError> {
        let wrong = |error| self.wrong(&self.directory, error);
        for entry in fs::read_dir(&self.directory).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let ours = name.starts_with(prefix) && name.ends_with(".jsonl");
            if ours && except != Some(&path) {
                fs::remove_file(&path).map_err(|error| self.wrong(&path, error))?;
            }
        }
        Ok(())
    }

    fn wrong(&self, path: &Path, error: io::Error) -> StoreError {
        StoreError {
            path: path.to_owned(),
            error,
        }
    }
}

/// How the names of a subject's files begin. Names of faults have no dots.
fn prefix(subject: &Subject) -> String {
    let user = AuditUser::here().as_str();
    match subject.role {
        Role::Fault(_) => format!("{user}.fault-{}.", subject.name),
        Role::Open => format!("{user}.open."),
        Role::Reference => format!("{user}.reference."),
        Role::Control => format!("{user}.control."),
        Role::Dead => format!("{user}.dead."),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::audit::sample::{outcomes, trials};
    use crate::corpus::matrix::MatrixFile;

    fn subject(name: &str, identity: &str) -> Subject {
        let launcher = serde_json::json!({
            "name": name, "about": "A test.", "features": [], "arguments": []
        });
        Subject {
            role: Role::Fault(0),
            name: name.to_owned(),
            launcher: serde_json::from_value(launcher).unwrap(),
            identity: identity.to_owned(),
        }
    }

    /// Keeps what came of the trials, and returns how many of them are known then.
    fn keep(directory: &Path, subject: &Subject, letters: &str) -> usize {
        let mut store = Store::open(directory, false).unwrap();
        let outcomes = outcomes(letters);
        for trial in &trials() {
            if let Some(cell) = outcomes.get(&trial.name) {
                store.keep(subject, trial, cell).unwrap();
            }
        }
        known(directory, subject)
    }

    fn known(directory: &Path, subject: &Subject) -> usize {
        let store = Store::open(directory, false).unwrap();
        store.known(subject, &trials()).unwrap().len()
    }

    #[test]
    fn what_is_kept_is_known_but_no_error_and_nothing_of_another_digest() {
        let place = tempfile::tempdir().unwrap();
        let own = subject("own", "1");
        assert_eq!(keep(place.path(), &own, "ce!."), 2);
        let store = Store::open(place.path(), false).unwrap();
        let cells = store.known(&own, &trials()).unwrap();
        assert_eq!(cells[&1].verdict, Verdict::Escaped);
        let mut changed = trials();
        changed[0].digest = "changed".to_owned();
        assert_eq!(store.known(&own, &changed).unwrap().len(), 1);
    }

    #[test]
    fn a_subject_that_was_changed_begins_anew_and_others_stay() {
        let place = tempfile::tempdir().unwrap();
        let (old, new) = (subject("own", "1"), subject("own", "2"));
        let other = subject("own-other", "1");
        assert_eq!(keep(place.path(), &old, "ceoo"), 4);
        assert_eq!(keep(place.path(), &other, "c..."), 1);
        assert_eq!(keep(place.path(), &new, "ce.."), 2);
        assert_eq!(known(place.path(), &old), 0);
        assert_eq!(known(place.path(), &other), 1);
        drop(Store::open(place.path(), true).unwrap());
        assert_eq!(known(place.path(), &new), 0);
    }

    #[test]
    fn a_line_that_was_cut_short_is_passed_over() {
        let place = tempfile::tempdir().unwrap();
        let own = subject("own", "1");
        keep(place.path(), &own, "ceoo");
        let file = fs::read_dir(place.path()).unwrap().next().unwrap().unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        fs::write(file.path(), &text[..text.len() - 9]).unwrap();
        assert_eq!(known(place.path(), &own), 3);
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_told_by_its_path() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        fs::write(
            &file,
            serde_json::to_string(&MatrixFile::default()).unwrap(),
        )
        .unwrap();
        let error = Store::open(&file, false).unwrap_err().to_string();
        assert!(
            error.contains("/file: ") && error.contains("--results"),
            "{error}"
        );
    }
}
