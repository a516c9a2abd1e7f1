//! How a command of the command line fails: one paragraph, and an exit status.

use std::fmt;
use std::process::ExitCode;

/// A failure that is told to the user.
#[derive(Debug)]
pub struct Failure {
    message: String,
    status: u8,
}

/// The exit status for a command line or an input that is wrong.
pub const USAGE: u8 = 2;

/// The launcher's own exit status: it failed or refused, and nothing was started.
pub const LAUNCHER: u8 = 125;

impl Failure {
    /// A failure with this exit status.
    pub fn new(status: u8, message: impl fmt::Display) -> Failure {
        Failure {
            message: message.to_string(),
            status,
        }
    }

    /// Tells the user, and returns the exit status.
    pub fn report(&self) -> ExitCode {
        use std::io::Write;
        // A closed standard error leaves the exit status to speak.
        let _ = writeln!(std::io::stderr(), "perimeter: {}", plain(&self.message));
        ExitCode::from(self.status)
    }
}

/// The text without what a terminal would obey: the name of a file, which a command may
/// have chosen, can hold anything.
fn plain(text: &str) -> String {
    text.chars()
        .map(|letter| match letter {
            '\n' | '\t' => letter.to_string(),
            letter if letter.is_control() => letter.escape_default().to_string(),
            letter => letter.to_string(),
        })
        .collect()
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}
