//! Waiting for a command while passing on the signals that the launcher gets.

use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{Pid, getppid};

use super::LaunchError;
use crate::faults::{self, Protection};
use crate::unsafe_calls::is_ignored;
use crate::unsafe_spawn::signal_when_parent_ends;

/// The signals that ask a program to end.
const ENDING: [Signal; 4] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
];

/// What tells that the launcher's own caller is gone. Linux sends it to no program by
/// itself, save to the first of a system whose power fails (signal(7)).
const CALLER_GONE: Signal = Signal::SIGPWR;

/// The origin of signals that the kernel makes, such as a terminal's (sigaction(2)).
const SI_KERNEL: i32 = 0x80;

/// What came to the launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A signal to pass on.
    Signal {
        signal: Signal,
        /// Whether the kernel made it, as for a terminal's keys, for a whole group.
        by_kernel: bool,
    },
    /// The window of the terminal has another size.
    Resized,
    /// The launcher's caller is gone.
    CallerGone,
}

/// The signals of this thread, turned into a descriptor until this is dropped.
#[derive(Debug)]
pub(super) struct Signals {
    descriptor: SignalFd,
    before: SigSet,
    caller: Option<Pid>,
}

impl Signals {
    /// Takes over the signals that end a program, except ignored ones, which stay so.
    pub(super) fn take(windows: bool, end_with_caller: bool) -> Result<Signals, LaunchError> {
        let system = |error: Errno| LaunchError::system("wait for signals", error.into());
        let mut set = SigSet::empty();
        for signal in ENDING {
            if !is_ignored(signal as i32) {
                set.add(signal);
            }
        }
        if windows {
            set.add(Signal::SIGWINCH);
        }
        let caller = (end_with_caller && faults::has(Protection::Caller)).then(getppid);
        if caller.is_some() {
            set.add(CALLER_GONE);
        }
        let before = set
            .thread_swap_mask(SigmaskHow::SIG_BLOCK)
            .map_err(system)?;
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        let descriptor = SignalFd::with_flags(&set, flags).map_err(|error| {
            let _ = before.thread_set_mask();
            system(error)
        })?;
        if caller.is_some() {
            signal_when_parent_ends(CALLER_GONE as i32);
        }
        Ok(Signals {
            descriptor,
            before,
            caller,
        })
    }

    /// Takes one event, without waiting.
    pub(super) fn next(&mut self) -> Option<Event> {
        loop {
            let info = self.descriptor.read_signal().ok().flatten()?;
            let signal = Signal::try_from(i32::try_from(info.ssi_signo).ok()?).ok()?;
            match signal {
                Signal::SIGWINCH => return Some(Event::Resized),
                // The thread that started this may have ended, and its process not.
                CALLER_GONE
                    if self.caller == Some(getppid()) && faults::has(Protection::CallerAlive) => {}
                CALLER_GONE => return Some(Event::CallerGone),
                _ if !faults::has(Protection::Forwarding) => {}
                signal => {
                    let by_kernel = info.ssi_code == SI_KERNEL;
                    return Some(Event::Signal { signal, by_kernel });
                }
            }
        }
    }

    /// Whether the caller was gone before its end could be noticed.
    pub(super) fn caller_is_gone(&self) -> bool {
        self.caller.is_some_and(|caller| caller != getppid())
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        if self.caller.is_some() {
            signal_when_parent_ends(0);
        }
        let _ = self.before.thread_set_mask();
    }
}
