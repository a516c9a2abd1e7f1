//! Why a view cannot be made.

use std::io;
use std::path::PathBuf;

/// Why a view cannot be made. Each says which path it is about and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// A path that has to be absolute is not.
    #[error("{role} {path} is not an absolute path without `.` and `..`: write it in full")]
    NotAbsolute {
        /// What the path is for.
        role: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// Nothing is there.
    #[error("{role} {path} does not exist: create it, or take it out of the policy")]
    Missing {
        /// What the path is for.
        role: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// The workspace is not a directory.
    #[error("{role} {path} is not a directory")]
    NotDirectory {
        /// What the path is for.
        role: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// A grant goes through a symbolic link, which could be pointed elsewhere later.
    #[error("{role} {path} goes through a symbolic link: write {real} instead")]
    SymbolicLink {
        /// What the path is for.
        role: &'static str,
        /// The path.
        path: PathBuf,
        /// Where it leads now.
        real: PathBuf,
    },
    /// A device cannot be granted.
    #[error("{role} {path} is a device, and devices cannot be granted: take it out of the policy")]
    Device {
        /// What the path is for.
        role: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// The host's processes or devices.
    #[error(
        "{role} {path} is of the host's processes or devices, and a command has its own: take \
         it out of the policy"
    )]
    Interface {
        /// What the path is for.
        role: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// The temporary directory itself.
    #[error(
        "{role} {path} is the temporary directory, and a command has its own: grant the \
         directories in it that are meant"
    )]
    Temporary {
        /// What the path is for.
        role: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// Two grants overlap, which leaves unclear which of them decides.
    #[error("{role} {path} overlaps {other_role} {other}: keep one of the two")]
    Overlap {
        /// What the path is for.
        role: &'static str,
        /// The path.
        path: PathBuf,
        /// What the other path is for.
        other_role: &'static str,
        /// The other path.
        other: PathBuf,
    },
    /// A place that a command must never be able to write.
    #[error("{role} {path} would be writable, and it {reason}: choose a directory of its own")]
    TooWide {
        /// What the path is for.
        role: &'static str,
        /// The path.
        path: PathBuf,
        /// What makes it too wide.
        reason: String,
    },
    /// A hidden path that cannot be hidden.
    #[error("cannot hide {path}: {reason}")]
    CannotHide {
        /// The path.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// More grants than this process may hold open.
    #[error(
        "the policy grants more paths than this process may hold open: grant common parents \
         instead of single paths, or raise the limit (`ulimit -n`)"
    )]
    TooMany,
    /// Something else is at a path than was there when it was checked.
    #[error(
        "{path} is not what it was when the launcher was prepared: look at what replaced it, \
         and prepare the launcher anew"
    )]
    Moved {
        /// The path.
        path: PathBuf,
    },
    /// The system refused to open a path.
    #[error("cannot open {role} {path}: {source}")]
    Open {
        /// What the path is for.
        role: &'static str,
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
