//! Opening a path without following a symbolic link in any of its components.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat, openat2};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat};

/// What a path led to.
#[derive(Debug)]
pub(crate) struct Opened {
    /// A handle that gives no access to the content (`O_PATH`).
    pub(crate) descriptor: OwnedFd,
    /// What it is.
    pub(crate) status: FileStat,
}

impl Opened {
    pub(crate) fn kind(&self) -> SFlag {
        SFlag::from_bits_truncate(self.status.st_mode) & SFlag::S_IFMT
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.kind() == SFlag::S_IFDIR
    }
}

/// Opens an absolute path by the handle alone. `ELOOP` means that a component is a
/// symbolic link.
pub(crate) fn open_without_links(path: &Path) -> Result<Opened, Errno> {
    open_without_links_at(AT_FDCWD, path)
}

/// As [`open_without_links`], with a relative path taken from a directory.
pub(crate) fn open_without_links_at(
    directory: BorrowedFd<'_>,
    path: &Path,
) -> Result<Opened, Errno> {
    let how = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
    let descriptor = match openat2(directory, path, how) {
        Ok(descriptor) => descriptor,
        // Linux before 5.6, or a container's filter that does not know the call.
        Err(Errno::ENOSYS | Errno::EPERM) => walk(directory, path)?,
        Err(error) => return Err(error),
    };
    let status = fstat(&descriptor)?;
    Ok(Opened { descriptor, status })
}

fn walk(directory: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlag::O_PATH | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
    let start = if path.is_absolute() { "/" } else { "." };
    let mut here = openat(directory, start, flags, Mode::empty())?;
    for part in path.components() {
        if let Component::Normal(name) = part {
            here = openat(&here, name, flags, Mode::empty())?;
            let kind = SFlag::from_bits_truncate(fstat(&here)?.st_mode) & SFlag::S_IFMT;
            if kind == SFlag::S_IFLNK {
                return Err(Errno::ELOOP);
            }
        }
    }
    Ok(here)
}

/// As an error of the standard library.
pub(crate) fn as_io(error: Errno) -> io::Error {
    io::Error::from_raw_os_error(error as i32)
}
