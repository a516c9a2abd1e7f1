//! Why a command was not launched.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

#[cfg(target_os = "linux")]
use crate::bubblewrap::BubblewrapError;
use crate::policy::PolicyError;
use crate::seatbelt::SeatbeltError;
use crate::view::ViewError;

/// Why a command was not launched, or not seen to its end. Each says what to do; none
/// is ever the command's own failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The policy breaks its own rules.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// What the policy asks for cannot be shown.
    #[error(transparent)]
    View(#[from] ViewError),
    /// bubblewrap cannot be used.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    Bubblewrap(#[from] BubblewrapError),
    /// Seatbelt cannot be used.
    #[error(transparent)]
    Seatbelt(#[from] SeatbeltError),
    /// The command cannot start in the directory that was asked for.
    #[error("cannot start in {directory}: {reason}")]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// bubblewrap could not make the sandbox.
    #[error("cannot make the sandbox: {cause}; {remedy}")]
    Sandbox {
        /// What went wrong.
        cause: String,
        /// What to do.
        remedy: String,
    },
    /// bubblewrap made the sandbox and could not execute the command in it.
    #[error("cannot execute the command in the sandbox: {cause}; {remedy}")]
    Execute {
        /// What went wrong.
        cause: String,
        /// What to do.
        remedy: String,
    },
    /// What was started says that it is a sandbox, and is none. It was killed before
    /// the command.
    #[error(
        "{program} made no sandbox: the process that it reports is in our own namespaces; \
         install the package `bubblewrap`, or name another program in the policy's `bubblewrap`"
    )]
    NotApart {
        /// The program.
        program: PathBuf,
    },
    /// Something was mounted elsewhere than planned, since the path to it led elsewhere for
    /// a moment. The sandbox was ended before the command.
    #[error(
        "the path {path} changed while the sandbox was made, and nothing was started: find \
         out what changes it, and try again"
    )]
    Displaced {
        /// The path.
        path: PathBuf,
    },
    /// A program could not be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An argument, a path or a variable holds a NUL, which no program can be given.
    #[error("{text:?} holds a NUL character, which cannot be passed to a program: take it out")]
    Nul {
        /// The text.
        text: OsString,
    },
    /// A variable's name is empty or holds `=`.
    #[error("{name:?} cannot be the name of a variable: it is empty or holds `=`")]
    Variable {
        /// The name.
        name: OsString,
    },
    /// A hidden path that does not exist could not be kept from being created.
    #[error("cannot hold the hidden path {path}: {source}")]
    Hold {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A standard stream is a directory, or a handle that was opened for no reading and no
    /// writing.
    #[error(
        "the {stream} is a directory, or a handle on a path: from there a command could open \
         what lies around it, past every rule; give it a file, a pipe or /dev/null"
    )]
    Place {
        /// Which one.
        stream: &'static str,
    },
    /// The system refused something that a launch needs.
    #[error("cannot {doing}: {source}{}", limit_note(.source))]
    System {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// What to do about a limit that was reached.
fn limit_note(source: &io::Error) -> &'static str {
    match source.raw_os_error() {
        Some(libc::EMFILE) => "; raise the limit of open files (`ulimit -n`)",
        Some(libc::EAGAIN) => "; raise the user's limit of processes (`ulimit -u`)",
        Some(libc::ENFILE | libc::ENOMEM) => "; end what else runs on this host, and try again",
        _ => "",
    }
}

impl LaunchError {
    pub(crate) fn system(doing: &'static str, source: io::Error) -> LaunchError {
        LaunchError::System { doing, source }
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn reports(source: io::Error) -> LaunchError {
        LaunchError::system("read bubblewrap's reports", source)
    }
}
