//! Waiting for descriptors.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::LaunchError;

/// Waits until one of the descriptors has something, or is closed.
pub(super) fn wait_for(watched: &mut [PollFd<'_>]) -> Result<(), LaunchError> {
    loop {
        match poll(watched, PollTimeout::NONE) {
            Ok(_) => return Ok(()),
            Err(Errno::EINTR) => {}
            Err(error) => return Err(LaunchError::system("wait for the command", error.into())),
        }
    }
}

/// Whether something is there for a descriptor, or its other end is closed.
pub(super) fn is_ready(watched: &PollFd<'_>) -> bool {
    watched.revents().is_some_and(|events| {
        events.intersects(PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR)
    })
}
