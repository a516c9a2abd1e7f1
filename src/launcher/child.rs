//! A command that was launched.

use std::os::fd::{AsFd, OwnedFd};
use std::process::{ChildStderr, ChildStdin, ChildStdout};

use nix::poll::{PollFd, PollFlags};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::backend::{End, Run};
use super::forward::{Event, Signals};
use super::ready::{is_ready, wait_for};
use super::terminal::Terminal;
use super::{Exit, LaunchError, Refusal, unconfined};
use crate::unsafe_spawn::open_process;

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
    terminal: Option<Terminal>,
    last_signal: Option<Signal>,
    end_with_caller: bool,
}

#[derive(Debug)]
enum State {
    Confined(Box<Run>),
    Unconfined {
        child: std::process::Child,
        /// Readable when it has ended. Absent on Linux before 5.3.
        handle: Option<OwnedFd>,
    },
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
            terminal: None,
            last_signal: None,
            end_with_caller: false,
        }
    }

    pub(super) fn confined(run: Run, terminal: Option<Terminal>) -> Child {
        Child {
            terminal,
            ..Child::new(State::Confined(Box::new(run)))
        }
    }

    pub(super) fn unconfined(child: std::process::Child) -> Child {
        let handle = open_process(process_id(&child).as_raw()).ok();
        Child::new(State::Unconfined { child, handle })
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

    /// The process that the caller waits for: bubblewrap, or the command itself where it
    /// is not confined, or Seatbelt confines it.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        match &self.state {
            State::Confined(run) => Some(run.id()),
            State::Unconfined { child, .. } => Some(child.id()),
            State::Refused(_) | State::Ended(_) => None,
        }
    }

    /// Whether [`Child::wait_forwarding_signals`] ends the command when the program that
    /// started this one ends. Until told otherwise, it does not.
    pub fn end_with_caller(&mut self, end: bool) -> &mut Child {
        self.end_with_caller = end;
        self
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
        if self.terminal.is_some() {
            self.watch(None)?;
        }
        self.finish()
    }

    /// As [`Child::wait`], for a program that stands for its command: SIGHUP, SIGINT,
    /// SIGQUIT and SIGTERM are passed on to it, and a second one ends everything in the
    /// sandbox at once. What the program ignores, it goes on to ignore.
    ///
    /// The signals are blocked in the calling thread meanwhile; those of a program with
    /// further threads go to whichever has them unblocked.
    ///
    /// # Errors
    /// As [`Child::wait`].
    pub fn wait_forwarding_signals(&mut self) -> Result<Exit, LaunchError> {
        drop(self.stdin.take());
        if !matches!(self.state, State::Refused(_) | State::Ended(_)) {
            let signals = Signals::take(self.terminal.is_some(), self.end_with_caller)?;
            self.watch(Some(signals))?;
        }
        self.finish()
    }

    /// Passes on signals and terminal until the command has ended.
    fn watch(&mut self, mut signals: Option<Signals>) -> Result<(), LaunchError> {
        if signals.as_ref().is_some_and(Signals::caller_is_gone) {
            self.kill();
        }
        let mut signalled = false;
        loop {
            let (ended, signal, terminal) = {
                let mut watched = Vec::with_capacity(4);
                match &self.state {
                    State::Confined(run) => {
                        watched.push(PollFd::new(run.events(), PollFlags::POLLIN));
                    }
                    State::Unconfined {
                        handle: Some(handle),
                        ..
                    } => {
                        watched.push(PollFd::new(handle.as_fd(), PollFlags::POLLIN));
                    }
                    _ => return Ok(()),
                }
                if let Some(signals) = &signals {
                    watched.push(PollFd::new(signals.as_fd(), PollFlags::POLLIN));
                }
                let first = watched.len();
                if let Some(terminal) = &self.terminal {
                    watched.extend(terminal.watched());
                }
                wait_for(&mut watched)?;
                let happened = |index: usize| {
                    watched
                        .get(index)
                        .and_then(PollFd::revents)
                        .unwrap_or(PollFlags::empty())
                };
                (
                    is_ready(&watched[0]),
                    signals.is_some() && is_ready(&watched[1]),
                    (happened(first), happened(first + 1)),
                )
            };
            if let Some(mine) = &mut self.terminal {
                mine.pass(terminal.0, terminal.1);
            }
            if signal {
                while let Some(event) = signals.as_mut().and_then(Signals::next) {
                    self.react(event, &mut signalled);
                }
            }
            if ended && self.has_ended()? {
                return Ok(());
            }
        }
    }

    fn react(&mut self, event: Event, signalled: &mut bool) {
        match event {
            Event::Resized => {
                if let Some(terminal) = &self.terminal {
                    terminal.resize();
                }
            }
            Event::CallerGone => self.kill(),
            Event::Signal { signal, by_kernel } => {
                // A command that is not confined is in our own group, and has had it.
                let had = by_kernel && matches!(self.state, State::Unconfined { .. });
                if *signalled {
                    self.last_signal = Some(signal);
                    self.kill();
                } else if !had {
                    self.signal(signal);
                }
                *signalled = true;
            }
        }
    }

    fn has_ended(&mut self) -> Result<bool, LaunchError> {
        match &mut self.state {
            State::Confined(run) => run.has_ended(),
            _ => Ok(true),
        }
    }

    fn finish(&mut self) -> Result<Exit, LaunchError> {
        let exit = match &mut self.state {
            State::Confined(run) => match run.wait()? {
                End::Code(code) => Exit::Code(code),
                End::Killed => Exit::Signal(self.last_signal.unwrap_or(Signal::SIGKILL) as i32),
            },
            State::Unconfined { child, .. } => unconfined::exit(
                child
                    .wait()
                    .map_err(|error| LaunchError::system("wait for the command", error))?,
            ),
            State::Refused(refusal) => return Ok(refusal.exit()),
            State::Ended(exit) => *exit,
        };
        if let Some(mut terminal) = self.terminal.take() {
            terminal.finish();
        }
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
            State::Unconfined { child, .. } => {
                let _ = kill(process_id(child), signal);
            }
            State::Refused(_) | State::Ended(_) => {}
        }
    }

    /// Ends the command and everything in its sandbox at once.
    pub fn kill(&mut self) {
        match &mut self.state {
            State::Confined(run) => run.kill(),
            State::Unconfined { child, .. } => {
                let _ = child.kill();
            }
            State::Refused(_) | State::Ended(_) => {}
        }
    }
}

/// As the type that signals are sent by.
fn process_id(child: &std::process::Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX))
}
