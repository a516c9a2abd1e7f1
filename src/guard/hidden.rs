//! The paths that a policy hides, as the guard compares them.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Hidden paths, each in every spelling that a real location can have.
#[derive(Debug)]
pub(super) struct Hidden {
    locations: Vec<PathBuf>,
}

impl Hidden {
    pub(super) fn new(paths: &[PathBuf]) -> Hidden {
        let mut locations: Vec<PathBuf> = paths.iter().flat_map(|path| spellings(path)).collect();
        locations.sort();
        locations.dedup();
        Hidden { locations }
    }

    /// Whether a location beneath `root` is hidden. The most specific path decides:
    /// what is hidden above the root is there, in the root, all the same.
    pub(super) fn covers(&self, location: &Path, root: &Path) -> bool {
        self.locations
            .iter()
            .any(|hidden| location.starts_with(hidden) && hidden.starts_with(root))
    }

    /// A hidden path beneath `location`.
    pub(super) fn beneath(&self, location: &Path) -> Option<&Path> {
        self.locations
            .iter()
            .find(|hidden| hidden.starts_with(location))
            .map(PathBuf::as_path)
    }

    /// Whether a file is a second name of a hidden one. Only a file that has more
    /// than one name can be.
    pub(super) fn is_second_name(&self, file: &Metadata) -> bool {
        file.is_file()
            && file.nlink() > 1
            && self.locations.iter().any(|hidden| {
                hidden
                    .symlink_metadata()
                    .is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino()))
            })
    }
}

/// The path itself, the path without links above its last name, and what it leads to:
/// a hidden link hides its target too.
fn spellings(path: &Path) -> Vec<PathBuf> {
    let mut spellings = vec![path.to_owned()];
    if let (Some(parent), Some(name)) = (path.parent(), path.file_name()) {
        spellings.push(real(parent).join(name));
    }
    spellings.push(real(path));
    spellings
}

/// The path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}
