//! A command that was launched.

use std::process::{ChildStderr, ChildStdin, ChildStdout};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Exit, LaunchError, Refusal, unconfined};
use crate::bubblewrap::{End, Run};

/// A command that was launched. Dropping it before it has ended kills everything in
/// its sandbox.
#[derive(Debug)]
pub struct Child {
    /// The pipe to its standard input, if that was [`Stdio::Piped`](super::Stdio::Piped).
    pub stdin: Option<ChildStdin>,
    /// The pipe from its standard output, if that was piped.
    pub stdout: Option<ChildStdout>,
    /// The pipe from its standard error, if that was piped.
    pub stderr: Option<ChildStderr>,
    state: State,
    last_signal: Option<Signal>,
}

#[derive(Debug)]
enum State {
    Confined(Box<Run>),
    Unconfined(std::process::Child),
    Refused(Refusal),
    Ended(Exit),
}

impl Child {
    fn new(state: State) -> Child {
        Child {
            stdin: None,
            stdout: None,
            stderr: None,
            state,
            last_signal: None,
        }
    }

    pub(super) fn confined(
        run: Run,
        stdin: Option<ChildStdin>,
        stdout: Option<ChildStdout>,
        stderr: Option<ChildStderr>,
    ) -> Child {
        Child {
            stdin,
            stdout,
            stderr,
            ..Child::new(State::Confined(Box::new(run)))
        }
    }

    pub(super) fn unconfined(
        child: std::process::Child,
        stdin: Option<ChildStdin>,
        stdout: Option<ChildStdout>,
        stderr: Option<ChildStderr>,
    ) -> Child {
        Child {
            stdin,
            stdout,
            stderr,
            ..Child::new(State::Unconfined(child))
        }
    }

    pub(super) fn refused(refusal: Refusal) -> Child {
        Child::new(State::Refused(refusal))
    }

    pub(super) fn ended(exit: Exit) -> Child {
        Child::new(State::Ended(exit))
    }

    /// Why no program was started, where there was none to start: what a shell would
    /// write before it reports 127 or 126.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match &self.state {
            State::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// The process that the caller waits for: bubblewrap, or the command itself where
    /// it is not confined.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        match &self.state {
            State::Confined(run) => Some(run.id()),
            State::Unconfined(child) => Some(child.id()),
            State::Refused(_) | State::Ended(_) => None,
        }
    }

    /// Waits for the command to end. When this returns, nothing of it is left: every
    /// process in its sandbox is gone, those that it left behind too.
    ///
    /// Its standard input, if that is a pipe, is closed first.
    ///
    /// # Errors
    /// [`LaunchError`] where the command was not started after all.
    pub fn wait(&mut self) -> Result<Exit, LaunchError> {
        drop(self.stdin.take());
        let exit = match &mut self.state {
            State::Confined(run) => match run.wait()? {
                End::Code(code) => Exit::Code(code),
                End::Killed => Exit::Signal(self.last_signal.unwrap_or(Signal::SIGKILL) as i32),
            },
            State::Unconfined(child) => unconfined::exit(
                child
                    .wait()
                    .map_err(|error| LaunchError::system("wait for the command", error))?,
            ),
            State::Refused(refusal) => return Ok(refusal.exit()),
            State::Ended(exit) => *exit,
        };
        self.state = State::Ended(exit);
        Ok(exit)
    }

    /// Sends a signal to the command and to the processes of its group, as a
    /// terminal's keys would. If it comes before the command has begun, it ends the
    /// sandbox.
    pub fn signal(&mut self, signal: Signal) {
        self.last_signal = Some(signal);
        match &mut self.state {
            State::Confined(run) => run.signal(signal),
            State::Unconfined(child) => {
                let _ = kill(Pid::from_raw(child.id().cast_signed()), signal);
            }
            State::Refused(_) | State::Ended(_) => {}
        }
    }

    /// Ends the command and everything in its sandbox at once.
    pub fn kill(&mut self) {
        match &mut self.state {
            State::Confined(run) => run.kill(),
            State::Unconfined(child) => {
                let _ = child.kill();
            }
            State::Refused(_) | State::Ended(_) => {}
        }
    }
}
