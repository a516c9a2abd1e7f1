//! Why a launch could not be made or watched.

use std::io;
use std::path::PathBuf;

/// A failure of the harness, never of the command.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The command line is empty.
    #[error("the launcher's command line is empty; check `arguments` in its file")]
    Empty,
    /// The directory to start in is not one.
    #[error("cannot start a launcher in {}: {source}", path.display())]
    WorkingDirectory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program could not be started.
    #[error("cannot start {program}: {source}; check that it is installed and executable")]
    Start {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// A system call of the harness failed.
    #[error("cannot {action}: {source}")]
    System {
        /// What was being done.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A signal's name is unknown.
    #[error("unknown signal {name:?}; write its name without SIG, such as \"TERM\"")]
    UnknownSignal {
        /// The name.
        name: String,
    },
    /// Text is to be typed, and there is no terminal.
    #[error("text is to be typed and the launch has no terminal; set `tty`")]
    NoTerminal,
    /// A shell command on the host failed.
    #[error("the host's command `{command}` failed ({ending}): {output}")]
    HostCommand {
        /// The command.
        command: String,
        /// How it ended.
        ending: String,
        /// What it wrote, shortened.
        output: String,
    },
}

impl LaunchError {
    /// An error of a system call, by what was being done.
    pub(crate) fn system(action: &'static str) -> impl Fn(io::Error) -> LaunchError {
        move |source| LaunchError::System { action, source }
    }

    /// The same for errors of the `nix` crate.
    pub(crate) fn errno(action: &'static str) -> impl Fn(nix::errno::Errno) -> LaunchError {
        move |errno| LaunchError::System {
            action,
            source: errno.into(),
        }
    }
}
