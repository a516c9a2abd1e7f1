//! How a command ended.

use crate::faults;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It ended with this status. In a sandbox, a command that a signal ended has 128
    /// and the signal's number, as in a shell: bubblewrap passes on no more.
    Code(u8),
    /// It was ended by this signal, sent from outside of the sandbox.
    Signal(i32),
    /// There is no such program in what the command would see. Nothing was started.
    NotFound,
    /// The program cannot be executed. Nothing was started.
    NotExecutable,
}

impl Exit {
    /// The status that a shell would report: 127 and 126 for a program that is not
    /// there or cannot be executed, 128 and the number for a signal.
    ///
    /// ```
    /// use perimeter::Exit;
    ///
    /// assert_eq!(Exit::Code(3).shell_status(), 3);
    /// assert_eq!(Exit::Signal(15).shell_status(), 143);
    /// assert_eq!(Exit::NotFound.shell_status(), 127);
    /// ```
    #[must_use]
    pub fn shell_status(self) -> u8 {
        faults::status(match self {
            Exit::Code(code) => code,
            Exit::Signal(signal) => 128u8.wrapping_add(u8::try_from(signal).unwrap_or(0)),
            Exit::NotFound => 127,
            Exit::NotExecutable => 126,
        })
    }

    /// Whether the command ended with status 0.
    #[must_use]
    pub fn success(self) -> bool {
        self == Exit::Code(0)
    }
}
