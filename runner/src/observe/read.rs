//! Reading files that others made, without a trace and without being held up.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use nix::unistd::read;

#[cfg(target_os = "linux")]
#[path = "read_linux.rs"]
mod platform;
#[cfg(not(target_os = "linux"))]
#[path = "read_macos.rs"]
mod platform;

/// Opens what is at a name for reading: no link is followed, no named pipe is
/// waited for, and no access time set where the system lets that be asked.
pub(super) fn open_quietly<P: ?Sized + nix::NixPath>(
    directory: impl AsFd,
    name: &P,
    flags: OFlag,
) -> nix::Result<OwnedFd> {
    let flags = flags
        | OFlag::O_RDONLY
        | OFlag::O_NOFOLLOW
        | OFlag::O_NONBLOCK
        | OFlag::O_NOCTTY
        | OFlag::O_CLOEXEC;
    let quiet = flags | platform::LEAVE_ACCESS_TIME;
    match openat(directory.as_fd(), name, quiet, Mode::empty()) {
        Err(Errno::EPERM) => openat(directory.as_fd(), name, flags, Mode::empty()),
        result => result,
    }
}

/// Reads until the buffer is full or the file ends.
pub(super) fn fill(file: impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read(file.as_fd(), &mut buffer[filled..]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(filled)
}
