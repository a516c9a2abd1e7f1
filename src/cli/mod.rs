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
mod expectations;
mod explain;
mod explore;
mod failure;
mod launchers;
mod lint;
mod list;
mod modelled;
mod plan;
mod plans;
mod policy;
mod print;
mod report;
mod repro;
mod unsafe_stdout;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use arguments::{Arguments, Command, Exec};
use failure::{Failure, LAUNCHER};

/// Runs the command that was typed: the program's name, then the words after it.
pub fn run(words: Vec<OsString>) -> ExitCode {
    // Launching is the hot path: the words of the other commands are not even
    // looked at.
    let is_exec = words.get(1).is_some_and(|word| word == "exec");
    if is_exec {
        return match Exec::try_parse_from(words.into_iter().skip(1)) {
            Ok(exec) => exec::run(exec).unwrap_or_else(|failure| failure.report()),
            Err(error) => match bare_command(&error) {
                Some(failure) => failure.report(),
                None => refuse(&error, LAUNCHER),
            },
        };
    }
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error, failure::USAGE),
    };
    let outcome = match arguments.command {
        Command::Exec(exec) => exec::run(exec),
        Command::Check(check) => check::run(check),
        Command::Audit(audit) => audit::run(&audit),
        Command::Compare(compare) => compare::run(&compare),
        Command::Launchers(launchers) => launchers::run(&launchers),
        Command::List(list) => list::run(&list),
        Command::Lint(lint) => lint::run(&lint),
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

/// What to say of a command that was typed without the `--` before it.
fn bare_command(error: &clap::Error) -> Option<Failure> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let bare = error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-');
    bare.then(|| {
        let message = format_args!(
            "{word:?} is no option of exec; the command stands behind two hyphens: write `-- {word}`"
        );
        Failure::new(LAUNCHER, message)
    })
}

/// A command line that is wrong, or a call for help. Under `exec` the statuses below 125
/// are the command's own.
fn refuse(error: &clap::Error, status: u8) -> ExitCode {
    use std::io::Write;
    let shown = error.print().and_then(|()| std::io::stdout().flush());
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            print::written(shown).unwrap_or_else(|failure| failure.report())
        }
        _ => ExitCode::from(status),
    }
}
