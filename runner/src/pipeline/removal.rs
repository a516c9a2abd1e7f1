//! Removing what attempts leave, behind the back of the next one: to remove a
//! directory a file system may wait for its disk, and there are several of
//! them in each attempt.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::fixture::remove_tree;
use crate::worker::InUse;

/// How many attempts may wait to be removed. More would fill a small file
/// system with what is no longer needed.
const WAITING: usize = 32;

/// What an attempt has left.
struct Remains {
    trees: Vec<PathBuf>,
    // Until it is gone, a worker whose runner dies has to remove it.
    _in_use: InUse,
}

/// Has trees removed. Nothing may run in them any more.
pub(super) fn later(trees: Vec<PathBuf>, in_use: InUse) {
    let remains = Remains {
        trees,
        _in_use: in_use,
    };
    let unsent = match remover() {
        Some(remover) => remover.send(remains).err().map(|error| error.0),
        None => Some(remains),
    };
    if let Some(remains) = unsent {
        remove(&remains);
    }
}

/// Has a root removed when the worker ends, whatever the reason: it serves one
/// attempt after the other.
pub(super) fn at_the_end(root: &Path) {
    static KNOWN: Mutex<Vec<InUse>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if !known.iter().any(|known| known.holds(root)) {
        known.push(crate::worker::in_use(&[root]));
    }
}

fn remover() -> Option<&'static SyncSender<Remains>> {
    static REMOVER: OnceLock<Option<SyncSender<Remains>>> = OnceLock::new();
    REMOVER
        .get_or_init(|| {
            let (sender, receiver) = sync_channel::<Remains>(WAITING);
            std::thread::Builder::new()
                .name("removal".to_owned())
                .spawn(move || receiver.iter().for_each(|remains| remove(&remains)))
                .ok()
                .map(|_| sender)
        })
        .as_ref()
}

fn remove(remains: &Remains) {
    for tree in &remains.trees {
        match remove_tree(tree) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // The end of the run tries once more.
                let _ = writeln!(io::stderr(), "perimeter: {error}");
            }
            _ => {}
        }
    }
}
