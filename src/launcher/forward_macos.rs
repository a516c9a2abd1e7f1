//! Waiting for a command while passing on the signals that the launcher gets, on macOS.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::unistd::{Pid, getpgrp, getppid, tcgetpgrp};

use super::LaunchError;
use crate::unsafe_calls::is_ignored;
use crate::unsafe_spawn::take_pending;

/// The signals that ask a program to end.
const ENDING: [Signal; 4] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
];

/// What came to the launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A signal to pass on.
    Signal {
        signal: Signal,
        /// Whether a terminal's key made it, for a whole group. The kernel does not say
        /// here; a key's signal that comes to the group that has the terminal is taken
        /// for one.
        by_kernel: bool,
    },
    /// The window of the terminal has another size.
    Resized,
    /// The launcher's caller is gone.
    CallerGone,
}

/// The signals of this thread, blocked and told by a queue (kqueue(2)) until this is
/// dropped.
#[derive(Debug)]
pub(super) struct Signals {
    queue: Kqueue,
    taken: Vec<Signal>,
    before: SigSet,
    caller: Option<Pid>,
    caller_told: bool,
}

impl Signals {
    /// Takes over the signals that end a program, except ignored ones, which stay so.
    pub(super) fn take(windows: bool, end_with_caller: bool) -> Result<Signals, LaunchError> {
        let system = |error: Errno| LaunchError::system("wait for signals", error.into());
        let mut taken: Vec<Signal> = ENDING
            .into_iter()
            .filter(|signal| !is_ignored(*signal as i32))
            .collect();
        if windows {
            taken.push(Signal::SIGWINCH);
        }
        let set: SigSet = taken.iter().copied().collect();
        let caller = end_with_caller.then(getppid);
        let queue = Kqueue::new().map_err(system)?;
        let mut wanted: Vec<KEvent> = taken
            .iter()
            .map(|signal| {
                let number = *signal as usize;
                event(number, EventFilter::EVFILT_SIGNAL, FilterFlag::empty())
            })
            .collect();
        if let Some(caller) = caller {
            let number = usize::try_from(caller.as_raw()).unwrap_or(0);
            wanted.push(event(
                number,
                EventFilter::EVFILT_PROC,
                FilterFlag::NOTE_EXIT,
            ));
        }
        let before = set
            .thread_swap_mask(SigmaskHow::SIG_BLOCK)
            .map_err(system)?;
        for change in wanted {
            match queue.kevent(&[change], &mut [], None) {
                // A caller that is gone already is noticed by whose child this is.
                Ok(_) | Err(Errno::ESRCH) => {}
                Err(error) => {
                    let _ = before.thread_set_mask();
                    return Err(system(error));
                }
            }
        }
        Ok(Signals {
            queue,
            taken,
            before,
            caller,
            caller_told: false,
        })
    }

    /// Takes one event, without waiting.
    pub(super) fn next(&mut self) -> Option<Event> {
        // What the queue told is read off, so that it does not tell it again.
        let mut told = [event(0, EventFilter::EVFILT_USER, FilterFlag::empty()); 8];
        let now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let _ = self.queue.kevent(&[], &mut told, Some(now));
        for signal in &self.taken {
            if !take_pending(*signal as i32) {
                continue;
            }
            return Some(match signal {
                Signal::SIGWINCH => Event::Resized,
                signal => Event::Signal {
                    signal: *signal,
                    by_kernel: is_of_a_key(*signal),
                },
            });
        }
        if self.caller_is_gone() && !self.caller_told {
            self.caller_told = true;
            return Some(Event::CallerGone);
        }
        None
    }

    /// Whether the caller was gone before its end could be noticed.
    pub(super) fn caller_is_gone(&self) -> bool {
        self.caller.is_some_and(|caller| caller != getppid())
    }
}

/// Whether a terminal sent this to the whole group that this program is in.
fn is_of_a_key(signal: Signal) -> bool {
    matches!(signal, Signal::SIGINT | Signal::SIGQUIT)
        && tcgetpgrp(io::stdin()).is_ok_and(|foreground| foreground == getpgrp())
}

fn event(ident: usize, filter: EventFilter, what: FilterFlag) -> KEvent {
    KEvent::new(
        ident,
        filter,
        EvFlags::EV_ADD | EvFlags::EV_CLEAR,
        what,
        0,
        0,
    )
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        let _ = self.before.thread_set_mask();
    }
}
