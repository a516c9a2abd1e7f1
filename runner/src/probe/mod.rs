//! The program inside: small operations that a shell cannot do, run in the
//! sandbox as `PROBE OPERATION ARGUMENT...`, where PROBE is this same
//! executable under another name.
//!
//! It prints a line for each fact on its standard output, and the name of the
//! error (errno(3)) of what failed on its standard error. It exits with 0 when
//! the operation succeeded, 1 when it was denied, 2 when it was misused.

mod calls;
mod install;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod linux;
mod operations;
mod process;
pub(crate) mod sequence;
mod socket;
mod terminal;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};

pub use install::{install, place};
pub use operations::{OPERATIONS, Operation};

/// The name that the executable has as the probe, in whatever directory.
pub const PROGRAM: &str = "perimeter-probe";
/// The probe's name in a workspace: one that a plain `ls` does not show.
pub const NAME: &str = ".perimeter-probe";

/// Whether a signal is ignored by this process.
pub(crate) use calls::is_ignored;

/// Why an operation came to nothing.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments are wrong.
    Usage(String),
    /// The system said no, to this.
    Denied(&'static str, io::Error),
}

/// What an operation came to.
pub(crate) type Outcome = Result<(), Failure>;

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(usage) => write!(formatter, "usage: {usage}"),
            Failure::Denied(call, error) => match error.raw_os_error() {
                Some(number) => {
                    write!(
                        formatter,
                        "{call}: {:?}",
                        nix::errno::Errno::from_raw(number)
                    )
                }
                None => write!(formatter, "{call}: {error}"),
            },
        }
    }
}

/// The denial of a call, by its name.
pub(crate) fn denied<E: Into<io::Error>>(call: &'static str) -> impl Fn(E) -> Failure {
    move |error| Failure::Denied(call, error.into())
}

/// Runs the operation that the arguments name, and exits.
pub fn main(arguments: Vec<OsString>) -> ! {
    std::process::exit(run(&arguments))
}

fn run(arguments: &[OsString]) -> i32 {
    let texts: Option<Vec<&str>> = arguments.iter().map(|text| text.to_str()).collect();
    let texts = texts.unwrap_or_default();
    let Some((name, rest)) = texts.split_first() else {
        return fail(&Failure::Usage(format!("{PROGRAM} OPERATION ARGUMENT...")));
    };
    let Some(operation) = OPERATIONS.iter().find(|operation| operation.name == *name) else {
        return fail(&Failure::Usage(format!("{PROGRAM}: no operation {name:?}")));
    };
    let outcome = if operation.takes(rest.len()) {
        (operation.run)(rest)
    } else {
        let arguments = operation.arguments;
        Err(Failure::Usage(format!("{PROGRAM} {name} {arguments}")))
    };
    outcome.map_or_else(|failure| fail(&failure), |()| 0)
}

fn fail(failure: &Failure) -> i32 {
    // Where there is no standard error, the status still tells.
    let _ = writeln!(io::stderr(), "{failure}");
    match failure {
        Failure::Usage(_) => 2,
        Failure::Denied(..) => 1,
    }
}

/// Prints a fact.
pub(crate) fn say(fact: impl fmt::Display) -> Outcome {
    let mut output = io::stdout().lock();
    writeln!(output, "{fact}")
        .and_then(|()| output.flush())
        .map_err(denied("write"))
}
