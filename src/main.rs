//! The command `perimeter`.

mod cli;

fn main() -> std::process::ExitCode {
    // A conformance run starts this same program again as its workers and as the
    // probe inside a sandbox; those calls never return from here.
    perimeter_runner::entry();
    cli::run(std::env::args_os().collect())
}
