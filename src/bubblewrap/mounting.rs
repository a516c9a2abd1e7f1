//! The moment when bubblewrap has mounted everything.
//!
//! bubblewrap does not tell it. It is had from the last of its operations: one that
//! writes what it reads from a descriptor to `/dev/null` inside. It reads only when the
//! operations before it are done, and goes on when there is nothing more to read.

use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{pipe2, write};

/// The least that a pipe can hold, so that one byte fills it (pipe(7)): its pages are
/// counted, not its bytes.
const LEAST: i32 = 1;

/// The end of a pipe that bubblewrap waits for. Dropping it lets bubblewrap go on.
#[derive(Debug)]
pub(super) struct Mounting {
    end: OwnedFd,
    /// The number, in bubblewrap, of the other end.
    inside: RawFd,
}

impl Mounting {
    /// Also returns the end that bubblewrap is to have.
    pub(super) fn new() -> Result<(Mounting, OwnedFd), Errno> {
        let (reader, end) = pipe2(OFlag::O_CLOEXEC)?;
        fcntl(&end, FcntlArg::F_SETPIPE_SZ(LEAST))?;
        write(&end, b"\n")?;
        let inside = reader.as_raw_fd();
        Ok((Mounting { end, inside }, reader))
    }

    /// The operation, which comes after all that mount something.
    pub(super) fn operation(&self) -> [OsString; 3] {
        let inside = self.inside.to_string();
        ["--file".into(), inside.into(), "/dev/null".into()]
    }

    /// Waits until everything is mounted; false if bubblewrap ended before.
    pub(super) fn wait(&self) -> Result<bool, Errno> {
        let mut watched = [PollFd::new(self.end.as_fd(), PollFlags::POLLOUT)];
        while let Err(error) = poll(&mut watched, PollTimeout::NONE) {
            if error != Errno::EINTR {
                return Err(error);
            }
        }
        let ended = PollFlags::POLLERR | PollFlags::POLLHUP;
        Ok(watched[0]
            .revents()
            .is_some_and(|events| !events.intersects(ended)))
    }
}
