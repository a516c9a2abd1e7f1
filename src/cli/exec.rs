//! `perimeter exec`.

use std::io::Write;
use std::process::ExitCode;

use super::arguments::Exec;
use super::confinement::{prepare, refused};
use super::failure::Failure;

/// Runs a command in a sandbox, and ends as it does.
pub fn run(exec: Exec) -> Result<ExitCode, Failure> {
    // The main thread waits for the command, so the launcher needs no thread of
    // its own to outlive it.
    perimeter::launcher::this_thread_stays();
    let prepared = prepare(&exec.confinement)?;
    let mut command = prepared.command(&exec.command, exec.tty);
    let mut child = command.spawn().map_err(refused)?;
    if let Some(refusal) = child.refusal() {
        // A closed standard error leaves the exit status to speak.
        let _ = writeln!(std::io::stderr(), "perimeter: {refusal}");
    }
    // Whoever called this may be killed; the command then has nobody to answer to.
    child.end_with_caller(true);
    let exit = child.wait_forwarding_signals().map_err(refused)?;
    Ok(ExitCode::from(exit.shell_status()))
}
