//! The directories that this worker's trial uses, to be removed if the runner
//! dies.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static ROOTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Directories that are in use while this lives.
#[derive(Debug)]
#[must_use]
pub struct InUse {
    roots: Vec<PathBuf>,
}

/// Notes directories, which a worker whose runner has died removes.
pub fn in_use(roots: &[impl AsRef<Path>]) -> InUse {
    let roots: Vec<PathBuf> = roots.iter().map(|root| root.as_ref().to_owned()).collect();
    all().extend(roots.iter().cloned());
    InUse { roots }
}

impl InUse {
    /// Whether this is about a directory.
    pub(crate) fn holds(&self, root: &Path) -> bool {
        self.roots.iter().any(|held| held == root)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        all().retain(|root| !self.roots.contains(root));
    }
}

/// Removes what is in use; nothing runs in it any more.
pub(super) fn remove_all() {
    for root in all().drain(..) {
        // Nobody is left to be told; the next run clears what stays.
        let _ = crate::fixture::remove_tree(&root);
    }
}

fn all() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    ROOTS.lock().unwrap_or_else(PoisonError::into_inner)
}
