//! The command line: reads what was typed, calls the launcher or the runner.

mod arguments;
mod audit;
mod check;
mod compare;
mod completions;
mod confinement;
mod corpus;
mod doctor;
mod exec;
mod explain;
mod explore;
mod failure;
mod launchers;
mod list;
mod plan;
mod plans;
mod policy;
mod print;
mod repro;
mod unsafe_stdout;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use arguments::{Arguments, Command, Exec};
use failure::{Failure, LAUNCHER};

/// Runs the command that was typed.
pub fn run() -> ExitCode {
    // Launching is the hot path: the words of the other commands are not even
    // looked at.
    if is_exec() {
        let words = std::env::args_os().skip(1);
        return match Exec::try_parse_from(words) {
            Ok(exec) => exec::run(exec).unwrap_or_else(|failure| failure.report()),
            Err(error) => refuse(&error),
        };
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    let outcome = match arguments.command {
        Command::Exec(exec) => exec::run(exec),
        Command::Check(check) => check::run(check),
        Command::Audit(audit) => audit::run(&audit),
        Command::Compare(compare) => compare::run(&compare),
        Command::Launchers(launchers) => launchers::run(&launchers),
        Command::List(list) => list::run(&list),
        Command::Explain(explain) => explain::run(&explain),
        Command::Explore(explore) => explore::run(&explore),
        Command::Repro(repro) => repro::run(&repro),
        Command::Plan(plan) => plan::run(plan),
        Command::Policy(command) => policy::run(&command),
        Command::Doctor(doctor) => doctor::run(&doctor),
        Command::Completions { shell } => completions::run(shell),
    };
    outcome.unwrap_or_else(|failure: Failure| failure.report())
}

fn is_exec() -> bool {
    std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "exec")
}

/// A command line that is wrong, or a call for help.
fn refuse(error: &clap::Error) -> ExitCode {
    use std::io::Write;
    let shown = error.print().and_then(|()| std::io::stdout().flush());
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            print::written(shown).unwrap_or_else(|failure| failure.report())
        }
        // The statuses below 125 are the command's own under `exec`.
        _ if is_exec() => ExitCode::from(LAUNCHER),
        _ => ExitCode::from(failure::USAGE),
    }
}
