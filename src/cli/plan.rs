//! `perimeter plan`.

use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use super::arguments::Plan;
use super::confinement::{prepare, refused};
use super::failure::Failure;
use super::print::print;

/// Prints the exact bubblewrap arguments of a launch.
pub fn run(plan: Plan) -> Result<ExitCode, Failure> {
    let prepared = prepare(&plan.confinement)?;
    let command = prepared.command(&plan.command, plan.tty);
    let end = if plan.null { b'\0' } else { b'\n' };
    let mut text = Vec::new();
    for argument in prepared.launcher.plan(&command).map_err(refused)? {
        text.extend_from_slice(argument.as_bytes());
        text.push(end);
    }
    print(&text)
}
