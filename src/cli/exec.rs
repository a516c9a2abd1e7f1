//! `perimeter exec`.

use std::process::ExitCode;

use super::arguments::Exec;
use super::confinement::{Prepared, prepare, refused};
use super::failure::Failure;

/// Runs a command in a sandbox, and ends as it does.
pub fn run(exec: Exec) -> Result<ExitCode, Failure> {
    // The main thread waits for the command, so the launcher needs no thread of
    // its own to outlive it.
    perimeter::launcher::this_thread_stays();
    let Prepared {
        launcher,
        directory,
        variables,
    } = prepare(&exec.confinement)?;
    let mut words = exec.command.into_iter();
    let program = words.next().unwrap_or_default();
    let mut command = launcher.command(program);
    command
        .args(words)
        .environment(variables)
        .terminal(exec.tty);
    if let Some(directory) = directory {
        command.current_dir(directory);
    }
    let mut child = command.spawn().map_err(refused)?;
    if let Some(refusal) = child.refusal() {
        eprintln!("perimeter: {refusal}");
    }
    // Whoever called this may be killed; the command then has nobody to answer to.
    child.end_with_caller(true);
    let exit = child.wait_forwarding_signals().map_err(refused)?;
    Ok(ExitCode::from(exit.shell_status()))
}
