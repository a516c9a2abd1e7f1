//! `perimeter plan`.

use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use super::arguments::Plan;
use super::confinement::{Prepared, prepare, refused};
use super::failure::Failure;
use super::print::print;

/// Prints the exact bubblewrap arguments of a launch.
pub fn run(plan: Plan) -> Result<ExitCode, Failure> {
    let Prepared {
        launcher,
        directory,
        variables,
    } = prepare(&plan.confinement)?;
    let mut words = plan.command.into_iter();
    let program = words.next().unwrap_or_default();
    let mut command = launcher.command(program);
    command
        .args(words)
        .environment(variables)
        .terminal(plan.tty);
    if let Some(directory) = directory {
        command.current_dir(directory);
    }
    let end = if plan.null { b'\0' } else { b'\n' };
    let mut text = Vec::new();
    for argument in launcher.plan(&command).map_err(refused)? {
        text.extend_from_slice(argument.as_bytes());
        text.push(end);
    }
    print(&text)
}
