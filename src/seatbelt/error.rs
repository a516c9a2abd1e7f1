//! Why a command cannot be confined with Seatbelt.

use std::path::PathBuf;

/// Why a command cannot be confined with Seatbelt, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeatbeltError {
    /// A path that a profile cannot hold as it stands.
    #[error("{path:?} cannot be written in a Seatbelt profile: {reason}; {remedy}")]
    Path {
        /// The path.
        path: PathBuf,
        /// What is in the way.
        reason: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// There is no sandbox-exec.
    #[error(
        "{program} is not there to be executed: it is a part of macOS, and nothing runs \
         without it; look whether the system is whole"
    )]
    Missing {
        /// Where it has to be.
        program: PathBuf,
    },
    /// This process is in a sandbox itself, and those cannot be nested.
    #[error(
        "this program is inside a Seatbelt sandbox itself, and macOS puts no second one inside: \
         start it outside of the other (an agent's own sandbox, an editor's, `sandbox-exec`)"
    )]
    Nested,
    /// sandbox-exec could not read the profile.
    #[error(
        "this macOS refuses the profile ({said}): report it with the output of \
         `perimeter plan` and of `sw_vers`"
    )]
    Refused {
        /// What it said.
        said: String,
    },
    /// sandbox-exec ended before the command began.
    #[error(
        "cannot make the sandbox: sandbox-exec ended with {status} before the command began ({said}); `perimeter doctor` tries what this Mac can do"
    )]
    Failed {
        /// Its exit status, or the signal that ended it.
        status: String,
        /// What it said.
        said: String,
    },
}
