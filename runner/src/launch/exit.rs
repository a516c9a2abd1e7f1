//! Learning by an event that a process has ended.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Polls as readable once a process has ended, whoever's child it is. A
/// process that has ended and was not waited for yet counts as ended.
#[derive(Debug)]
pub struct ExitWatch {
    descriptor: Option<Descriptor>,
}

#[cfg(target_os = "linux")]
type Descriptor = std::os::fd::OwnedFd;
#[cfg(target_os = "macos")]
type Descriptor = nix::sys::event::Kqueue;

impl ExitWatch {
    /// Watches the process; if it is gone already, that is its end.
    pub fn new(pid: i32) -> io::Result<ExitWatch> {
        open(pid).map(|descriptor| ExitWatch { descriptor })
    }

    /// What to poll for reading; none when the process was gone from the start.
    pub fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(AsFd::as_fd)
    }

    /// Waits for the end, at most this long, and says whether it came.
    pub fn wait(&self, limit: Duration) -> bool {
        let Some(descriptor) = self.as_fd() else {
            return true;
        };
        let limit = std::time::Instant::now() + limit;
        loop {
            let mut polled = [PollFd::new(descriptor, PollFlags::POLLIN)];
            match poll(&mut polled, timeout_until(limit)) {
                Ok(0) => return false,
                Ok(_) => return true,
                Err(Errno::EINTR) => {}
                Err(_) => return false,
            }
        }
    }
}

/// The time from now to an instant as poll takes it, rounded up so that the
/// instant has passed when nothing came.
pub(crate) fn timeout_until(instant: std::time::Instant) -> PollTimeout {
    let left = instant.saturating_duration_since(std::time::Instant::now());
    let milliseconds = left.as_micros().div_ceil(1000);
    i32::try_from(milliseconds)
        .ok()
        .and_then(|milliseconds| PollTimeout::try_from(milliseconds).ok())
        .unwrap_or(PollTimeout::MAX)
}

#[cfg(target_os = "linux")]
fn open(pid: i32) -> io::Result<Option<Descriptor>> {
    super::child::open_process(pid)
}

/// kqueue(2), EVFILT_PROC with NOTE_EXIT; a kqueue itself can be polled.
#[cfg(target_os = "macos")]
fn open(pid: i32) -> io::Result<Option<Descriptor>> {
    use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};
    let queue = Kqueue::new()?;
    let ident = usize::try_from(pid).map_err(io::Error::other)?;
    let change = KEvent::new(
        ident,
        EventFilter::EVFILT_PROC,
        EvFlags::EV_ADD,
        FilterFlag::NOTE_EXIT,
        0,
        0,
    );
    match queue.kevent(&[change], &mut [], None) {
        Ok(_) => Ok(Some(queue)),
        Err(Errno::ESRCH) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}
