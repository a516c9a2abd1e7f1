//! Why the guard did not touch a file.

use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use crate::policy::describe;

/// Why a file operation was refused, or failed. Each message names the path as the
/// caller wrote it and what to do instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// The workspace cannot be one: absent, not a directory, or `/`.
    #[error("workspace {} {problem}; name an existing directory of its own", path.display())]
    Workspace {
        /// The workspace.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A path that the policy grants cannot be opened as it stands.
    #[error("grant {} {problem}; {remedy}", path.display())]
    Grant {
        /// The granted path.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// Two of the workspace and the grants are one place, or one contains the
    /// other, once links are followed.
    #[error(
        "{} and {} overlap; grant directories that contain neither each other nor the workspace",
        outer.display(),
        inner.display()
    )]
    Overlap {
        /// The real location of the one that contains the other.
        outer: PathBuf,
        /// The real location of the other.
        inner: PathBuf,
    },
    /// The policy's own file lies where this guard may write.
    #[error(
        "the policy {} lies in the writable {}; keep it where no command can change it",
        path.display(),
        writable.display()
    )]
    PolicyInside {
        /// The policy's file.
        path: PathBuf,
        /// The workspace or grant that contains it.
        writable: PathBuf,
    },
    /// The text is not a path.
    #[error("path {path:?} {problem}; name a file")]
    Path {
        /// The text.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The path lies, or leads, outside of everything that is granted.
    #[error("{} is outside of the workspace and its grants; grant it in the policy", path.display())]
    Outside {
        /// The path.
        path: PathBuf,
    },
    /// The policy hides the path, or what it leads to.
    #[error("{} is hidden by the policy; remove it from `hidden` to use it", path.display())]
    Hidden {
        /// The path.
        path: PathBuf,
    },
    /// The path contains a hidden one, that would come to light elsewhere.
    #[error(
        "{} contains {}, which the policy hides; move or remove what is around it instead",
        path.display(),
        hidden.display()
    )]
    ContainsHidden {
        /// The path.
        path: PathBuf,
        /// The hidden path beneath it.
        hidden: PathBuf,
    },
    /// The path is granted for reading only.
    #[error("{} is granted for reading only; grant it in `read_write`", path.display())]
    ReadOnly {
        /// The path.
        path: PathBuf,
    },
    /// A symbolic link in the path is not followed: it is the last name of what is
    /// to be created, is magic (proc(5)), leads in a circle, or no link is
    /// followed here.
    #[error("{} is, or passes, a symbolic link that is not followed; name what it leads to", path.display())]
    Link {
        /// The path.
        path: PathBuf,
    },
    /// The path is a pipe, a socket or a device, that could block or act on being
    /// opened.
    #[error("{} is a pipe, a socket or a device; name a regular file", path.display())]
    Special {
        /// The path.
        path: PathBuf,
    },
    /// The path is a directory, and the operation is one on files.
    #[error("{} is a directory; name a file", path.display())]
    Directory {
        /// The path.
        path: PathBuf,
    },
    /// The path is no directory, and the operation is one on directories.
    #[error("{} is not a directory; name one", path.display())]
    NotDirectory {
        /// The path.
        path: PathBuf,
    },
    /// The path is the workspace or a grant itself, which stays where it is.
    #[error("{} is the workspace or a grant itself; name something in it", path.display())]
    Root {
        /// The path.
        path: PathBuf,
    },
    /// The path ends in `..`, which names nothing that can be created or removed.
    #[error("{} does not end in a name; write the path that it leads to", path.display())]
    NoName {
        /// The path.
        path: PathBuf,
    },
    /// Something on the way was moved, replaced or removed while it was looked at.
    #[error(
        "{} was moved or replaced meanwhile; try again, with a new guard if it is a grant itself",
        path.display()
    )]
    Moved {
        /// The path.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error(
        "cannot {action} {}: {}; check that it exists and its permissions",
        path.display(),
        describe(source)
    )]
    System {
        /// The path.
        path: PathBuf,
        /// What was to be done.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl GuardError {
    /// What the kind of the equivalent I/O error is: the system's own where it
    /// refused, and otherwise what a caller's tool would expect.
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            GuardError::System { source, .. } => source.kind(),
            GuardError::Path { .. } | GuardError::NoName { .. } => io::ErrorKind::InvalidInput,
            GuardError::Directory { .. } => io::ErrorKind::IsADirectory,
            GuardError::NotDirectory { .. } => io::ErrorKind::NotADirectory,
            GuardError::Moved { .. } => io::ErrorKind::Interrupted,
            _ => io::ErrorKind::PermissionDenied,
        }
    }

    /// What an error number means where the guard's own rules are the likely cause.
    pub(super) fn from_errno(path: &Path, action: &'static str, errno: Errno) -> GuardError {
        let path = path.to_owned();
        match errno {
            Errno::EXDEV => GuardError::Outside { path },
            Errno::ELOOP => GuardError::Link { path },
            Errno::EAGAIN | Errno::ESTALE => GuardError::Moved { path },
            Errno::ENXIO => GuardError::Special { path },
            Errno::EISDIR => GuardError::Directory { path },
            _ => GuardError::system(&path, action, errno.into()),
        }
    }

    pub(super) fn system(path: &Path, action: &'static str, source: io::Error) -> GuardError {
        GuardError::System {
            path: path.to_owned(),
            action,
            source,
        }
    }
}

impl From<GuardError> for io::Error {
    fn from(error: GuardError) -> io::Error {
        io::Error::new(error.kind(), error)
    }
}
