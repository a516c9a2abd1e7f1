//! The directory of a run's own, and the clearing of those that dead runs left.

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::geteuid;

use crate::fixture::remove_tree;

/// How the name of a run's directory begins.
const PREFIX: &str = "perimeter-";
/// The file in it that is locked (flock(2)) for as long as the run lives; the
/// system lets go of it however the run ends.
const LOCK: &str = "run.lock";
/// How often a name is tried: each is one of 2^40.
const ATTEMPTS: usize = 16;

/// Why there is no place for a run.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// The directory cannot be used.
    #[error(
        "cannot make a scratch directory in {}: {source}; choose another with `--scratch DIR`",
        path.display()
    )]
    Unusable {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The directories of this process's runs that are there.
static PRESENT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn present() -> MutexGuard<'static, Vec<PathBuf>> {
    PRESENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A run's own directory, removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _lock: Flock<File>,
}

impl Scratch {
    /// A new directory in this one, which is made if need be and first cleared
    /// of what dead runs of the same user left there.
    pub fn create(directory: &Path) -> Result<Scratch, ScratchError> {
        Scratch::try_create(directory).map_err(|source| ScratchError::Unusable {
            path: directory.to_owned(),
            source,
        })
    }

    /// A new directory in the first usable of `$XDG_CACHE_HOME/perimeter`,
    /// `~/.cache/perimeter` and `/var/tmp`. Never in /tmp: launchers give a
    /// command a /tmp of its own, which would hide what is looked for.
    pub fn create_default() -> Result<Scratch, ScratchError> {
        let mut candidates = candidates(env::var_os("XDG_CACHE_HOME"), env::var_os("HOME"));
        let last = candidates.pop().unwrap_or_default();
        candidates
            .iter()
            .find_map(|directory| Scratch::create(directory).ok())
            .map_or_else(|| Scratch::create(&last), Ok)
    }

    /// Its absolute path, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes every such directory of this process, for a process that is
    /// about to exit without unwinding. Workers must have ended.
    pub fn remove_all() {
        for path in present().drain(..) {
            // What stays is cleared by the next run.
            let _ = remove_tree(&path);
        }
    }

    fn try_create(directory: &Path) -> io::Result<Scratch> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(directory)?;
        let directory = directory.canonicalize()?;
        clear_stale(&directory)?;
        for _ in 0..ATTEMPTS {
            let path = directory.join(format!("{PREFIX}{}", random_name()?));
            match DirBuilder::new().mode(0o755).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            match lock_new(&path) {
                Ok(Some(lock)) => {
                    // Whatever the mask of this process is.
                    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
                    present().push(path.clone());
                    return Ok(Scratch { path, _lock: lock });
                }
                // Another run's clearing came between: it took it for dead.
                Ok(None) => {}
                Err(error) => {
                    let _ = remove_tree(&path);
                    return Err(error);
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        present().retain(|path| *path != self.path);
        let _ = remove_tree(&self.path);
    }
}

/// Makes and locks the lock file of a new directory; none if the directory was
/// cleared away before the lock was held.
fn lock_new(path: &Path) -> io::Result<Option<Flock<File>>> {
    let name = path.join(LOCK);
    let options = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&name);
    let file = match options {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let Some(lock) = lock(file)? else {
        return Ok(None);
    };
    match fs::symlink_metadata(&name) {
        Ok(found) if found.ino() == lock.metadata()?.ino() => Ok(Some(lock)),
        _ => Ok(None),
    }
}

/// The lock, unless another holds it.
fn lock(file: File) -> io::Result<Option<Flock<File>>> {
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, nix::errno::Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, errno)) => Err(errno.into()),
    }
}

/// Removes the directories of dead runs. What is not certainly one, by name,
/// owner, kind and lock file, is left alone; so is what cannot be removed.
fn clear_stale(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)?.flatten() {
        let is_named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_named {
            let path = entry.path();
            if let Some(_lock) = stale(&path) {
                let _ = remove_tree(&path);
            }
        }
    }
    Ok(())
}

/// The lock of a dead run's directory.
fn stale(path: &Path) -> Option<Flock<File>> {
    let own = |found: &fs::Metadata| found.uid() == geteuid().as_raw();
    let directory = fs::symlink_metadata(path).ok()?;
    if !directory.is_dir() || !own(&directory) {
        return None;
    }
    let file = OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path.join(LOCK))
        .ok()?;
    let found = file.metadata().ok()?;
    if !found.is_file() || !own(&found) {
        return None;
    }
    lock(file).ok()?
}

/// Where a run may be, best first.
fn candidates(cache: Option<std::ffi::OsString>, home: Option<std::ffi::OsString>) -> Vec<PathBuf> {
    let cache = cache.map(|cache| PathBuf::from(cache).join("perimeter"));
    let home = home.map(|home| PathBuf::from(home).join(".cache/perimeter"));
    let system = Some(PathBuf::from("/var/tmp"));
    let usable = |path: &PathBuf| path.is_absolute() && !path.starts_with("/tmp");
    [cache, home, system]
        .into_iter()
        .flatten()
        .filter(usable)
        .collect()
}

/// Eight letters and digits: short, for paths of sockets have 107 bytes
/// (unix(7)).
fn random_name() -> io::Result<String> {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let letters = bytes.iter().map(|byte| LETTERS[usize::from(byte % 32)]);
    Ok(letters.map(char::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("a directory").flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn it_is_there_while_it_lives() {
        let directory = tempfile::tempdir().expect("a directory");
        let scratch = Scratch::create(&directory.path().join("a/b")).expect("a scratch");
        fs::write(scratch.path().join("file"), "text").expect("a file");
        let mode = fs::metadata(scratch.path()).expect("it").mode() & 0o777;
        assert_eq!(mode, 0o755);
        let path = scratch.path().to_owned();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn a_living_run_is_left_alone_and_a_dead_one_is_cleared() {
        let directory = tempfile::tempdir().expect("a directory");
        let living = Scratch::create(directory.path()).expect("a scratch");
        let dead = directory.path().join("perimeter-dead");
        fs::create_dir_all(dead.join("deep/er")).expect("a directory");
        fs::write(dead.join(LOCK), "").expect("a file");
        let next = Scratch::create(directory.path()).expect("a scratch");
        assert!(living.path().exists());
        assert!(next.path().exists());
        assert!(!dead.exists());
    }

    #[test]
    fn what_is_no_run_is_left_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let target = tempfile::tempdir().expect("a directory");
        fs::write(target.path().join(LOCK), "").expect("a file");
        let path = |name: &str| directory.path().join(name);
        fs::create_dir(path("perimeter-no-lock")).expect("a directory");
        fs::create_dir(path("other")).expect("a directory");
        fs::write(path("other").join(LOCK), "").expect("a file");
        std::os::unix::fs::symlink(target.path(), path("perimeter-link")).expect("a link");
        fs::create_dir(path("perimeter-lock-link")).expect("a directory");
        let lock_link = path("perimeter-lock-link").join(LOCK);
        std::os::unix::fs::symlink(target.path().join(LOCK), lock_link).expect("a link");
        drop(Scratch::create(directory.path()).expect("a scratch"));
        let expected = [
            "other",
            "perimeter-link",
            "perimeter-lock-link",
            "perimeter-no-lock",
        ];
        assert_eq!(names(directory.path()), expected);
        assert!(target.path().join(LOCK).exists());
    }

    #[test]
    fn an_unusable_directory_names_itself_and_the_remedy() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let error = Scratch::create(file.path()).expect_err("no directory");
        let text = error.to_string();
        assert!(text.contains(&file.path().display().to_string()), "{text}");
        assert!(text.contains("--scratch DIR"), "{text}");
    }

    #[test]
    fn the_default_is_never_beneath_tmp() {
        let paths = candidates(Some("/tmp/cache".into()), Some("/home/ada".into()));
        let expected = ["/home/ada/.cache/perimeter", "/var/tmp"];
        assert_eq!(paths, expected.map(PathBuf::from));
        assert_eq!(candidates(None, None), ["/var/tmp"].map(PathBuf::from));
    }
}
