//! What a failed launch means.

use crate::bubblewrap::Program;
use crate::launcher::LaunchError;

/// The error for what bubblewrap said when it failed.
pub(crate) fn failure(program: &Program, said: Option<&str>) -> LaunchError {
    let said = said.unwrap_or_default();
    let line = said
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("bwrap: "))
        .unwrap_or("bubblewrap ended before the command");
    let _ = program;
    LaunchError::Sandbox {
        cause: line.to_owned(),
        remedy: "see `perimeter doctor`".to_owned(),
    }
}
