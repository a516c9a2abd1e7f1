//! A pipe that no program inherits.

use std::os::fd::OwnedFd;

use nix::errno::Errno;

/// The reading end and the writing end, both closed by exec.
#[cfg(target_os = "linux")]
pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)
}

/// The reading end and the writing end, both closed by exec. There is no call that does
/// both at once here (pipe(2)); what this library starts marks everything again.
#[cfg(target_os = "macos")]
pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    use nix::fcntl::{FcntlArg, FdFlag, fcntl};
    let (reader, writer) = nix::unistd::pipe()?;
    for end in [&reader, &writer] {
        fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    }
    Ok((reader, writer))
}
