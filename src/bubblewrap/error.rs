//! Why bubblewrap cannot be used.

use std::io;
use std::path::PathBuf;

/// Why bubblewrap cannot be used, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BubblewrapError {
    /// It is nowhere on PATH.
    #[error(
        "bubblewrap is not installed: there is no `bwrap` on PATH{}; install the package \
         `bubblewrap`, or name the program in the policy's `bubblewrap`",
        skipped_note(.skipped)
    )]
    NotFound {
        /// Programs of that name that were passed over, since a command could have
        /// put them there.
        skipped: Vec<PathBuf>,
    },
    /// The program that the policy names is not there.
    #[error("bubblewrap {path} cannot be used: {source}; mend the policy's `bubblewrap`")]
    Unusable {
        /// The program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program that the policy names is no program.
    #[error(
        "bubblewrap {path} is not an executable file; mend the policy's `bubblewrap`, or \
         install the package `bubblewrap`"
    )]
    NotExecutable {
        /// The program.
        path: PathBuf,
    },
    /// A command could have replaced it.
    #[error(
        "bubblewrap {path} lies where a command can write; name one outside of the \
         workspace and of the writable paths"
    )]
    Writable {
        /// The program.
        path: PathBuf,
    },
    /// It is something else under that name.
    #[error(
        "{path} is not bubblewrap: {reason}; install the package `bubblewrap`, or name \
         the program itself in the policy's `bubblewrap`"
    )]
    Imposter {
        /// The program.
        path: PathBuf,
        /// What gave it away.
        reason: &'static str,
    },
    /// It lacks an option that no sandbox of ours goes without.
    #[error("bubblewrap {path} is too old: it has no `{option}`; 0.6.1 or later is needed")]
    TooOld {
        /// The program.
        path: PathBuf,
        /// The option.
        option: &'static str,
    },
    /// The view, the variables and the command are more than bubblewrap takes.
    #[error(
        "policy, variables and command need {count} bubblewrap arguments, and {limit} is the \
         most that it takes: grant or hide common parents instead of single paths, or give \
         the command its arguments in a file"
    )]
    TooMany {
        /// How many there would be.
        count: usize,
        /// How many it takes.
        limit: usize,
    },
}

fn skipped_note(skipped: &[PathBuf]) -> String {
    if skipped.is_empty() {
        return String::new();
    }
    let paths: Vec<String> = skipped
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    format!(
        " that a command could not have written (passed over: {})",
        paths.join(", ")
    )
}
