//! `perimeter completions`.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use super::arguments::Arguments;
use super::failure::Failure;
use super::print::print;

/// Prints a completion script.
pub fn run(shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "perimeter", &mut script);
    print(&script)
}
