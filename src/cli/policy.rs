//! `perimeter policy`.

use std::process::ExitCode;

use perimeter::Policy;

use super::arguments::PolicyCommand;
use super::failure::{Failure, USAGE};
use super::print::print;

/// Reads a policy document and says what is wrong with it, or what it means.
pub fn run(command: &PolicyCommand) -> Result<ExitCode, Failure> {
    let PolicyCommand::Check { file } = command;
    // An absent document is the strict default to a launch; to someone who asks
    // about a file it is a misspelt name.
    if let Err(error) = std::fs::symlink_metadata(file) {
        return Err(Failure::new(
            USAGE,
            format_args!(
                "{}: {error}; name a policy document (a launch without one gets the strict default)",
                file.display()
            ),
        ));
    }
    let policy = Policy::from_file(file).map_err(|error| Failure::new(USAGE, error))?;
    print(format!("{}\n", policy.to_json().trim_end()).as_bytes())
}
