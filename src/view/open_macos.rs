//! Opening a path without following a symbolic link in any of its components, on macOS.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, lstat};

/// What a path led to.
#[derive(Debug)]
pub(crate) struct Opened {
    /// A handle. There is none here that gives no access to the content, so it is one
    /// for reading.
    pub(crate) descriptor: OwnedFd,
    /// What it is.
    pub(crate) status: FileStat,
}

impl Opened {
    pub(crate) fn kind(&self) -> SFlag {
        kind(&self.status)
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.kind() == SFlag::S_IFDIR
    }
}

fn kind(status: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT
}

/// Opens an absolute path. `ELOOP` means that a component is a symbolic link
/// (O_NOFOLLOW_ANY, open(2), since macOS 11).
///
/// A device or a pipe is not opened, since that can be enough to act on it; in its
/// stead is the directory that it is in.
pub(crate) fn open_without_links(path: &Path) -> Result<Opened, Errno> {
    let no_links = OFlag::from_bits_retain(libc::O_NOFOLLOW_ANY);
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC | no_links;
    let status = lstat(path)?;
    let opened = match kind(&status) {
        SFlag::S_IFREG | SFlag::S_IFDIR => path,
        SFlag::S_IFLNK => return Err(Errno::ELOOP),
        _ => path.parent().unwrap_or(path),
    };
    let descriptor = open(opened, flags, Mode::empty())?;
    let status = if opened == path {
        fstat(&descriptor)?
    } else {
        status
    };
    Ok(Opened { descriptor, status })
}

/// As an error of the standard library.
pub(crate) fn as_io(error: Errno) -> io::Error {
    io::Error::from_raw_os_error(error as i32)
}
