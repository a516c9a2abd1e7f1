//! A file that is held before it is used, on macOS.
//!
//! There is neither `O_PATH` nor openat2 here. Paths are walked name by name, so no
//! symbolic link is followed; a file is held open for reading, which is why one that
//! cannot be read cannot be written through the guard either; and where it is
//! comes from `F_GETPATH` (fcntl(2)).

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, FcntlArg, OFlag, fcntl, open, openat};
use nix::sys::stat::{Mode, SFlag, fstatat};

use super::walk::walk;

/// How a handle is opened: without waiting for a pipe's other end.
pub(super) const HANDLE: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_NONBLOCK)
    .union(OFlag::O_NOCTTY)
    .union(OFlag::O_CLOEXEC);

/// A regular file or a directory that has a path.
#[derive(Debug)]
pub(super) struct Handle {
    file: File,
    /// The directory and the name that it was found under, for opening it again.
    found: Option<(File, OsString)>,
}

impl Handle {
    /// The directory at `path`, links followed: the path is the caller's own.
    pub(super) fn directory(path: &Path) -> Result<Handle, Errno> {
        let flags = HANDLE | OFlag::O_DIRECTORY;
        Ok(Handle {
            file: open(path, flags, Mode::empty())?.into(),
            found: None,
        })
    }

    /// What is at an absolute path, no link followed.
    pub(super) fn literal(path: &Path) -> Result<Handle, Errno> {
        let rest = path.strip_prefix("/").map_err(|_| Errno::EINVAL)?;
        Handle::directory(Path::new("/"))?.beneath(rest, false)
    }

    /// What is at `rest`, a relative path, without leaving this directory and
    /// without following a link, whether `links` are wanted or not.
    pub(super) fn beneath(&self, rest: &Path, _links: bool) -> Result<Handle, Errno> {
        let walked = walk(self.as_fd(), rest)?;
        Ok(Handle {
            file: walked.found.into(),
            found: walked.entry.map(|(parent, name)| (parent.into(), name)),
        })
    }

    /// What has this name in this directory, a link itself not followed.
    pub(super) fn child(&self, name: &OsStr) -> Result<Handle, Errno> {
        self.beneath(Path::new(name), false)
    }

    /// The same file again.
    pub(super) fn again(&self) -> io::Result<Handle> {
        let found = match &self.found {
            Some((parent, name)) => Some((parent.try_clone()?, name.clone())),
            None => None,
        };
        Ok(Handle {
            file: self.file.try_clone()?,
            found,
        })
    }

    /// Where the file is now, without links.
    pub(super) fn location(&self) -> Result<PathBuf, Errno> {
        let mut location = PathBuf::new();
        match fcntl(&self.file, FcntlArg::F_GETPATH(&mut location)) {
            Ok(_) => Ok(location),
            Err(Errno::ENOENT) => Err(Errno::ESTALE),
            Err(errno) => Err(errno),
        }
    }

    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Opens the name that the file was found under once more. The caller compares
    /// what it gets with what is held.
    pub(super) fn reopen(&self, flags: OFlag) -> Result<File, Errno> {
        let (parent, name) = self.found.as_ref().ok_or(Errno::EISDIR)?;
        refuse_special(parent.as_fd(), name)?;
        let flags =
            flags | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        openat(parent, name.as_os_str(), flags, Mode::empty()).map(File::from)
    }
}

impl AsFd for Handle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Opening a device can be enough to act on it, so it is not opened to be looked at.
pub(super) fn refuse_special(parent: BorrowedFd<'_>, name: &OsStr) -> Result<(), Errno> {
    let status = fstatat(parent, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
    match SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFREG | SFlag::S_IFDIR => Ok(()),
        SFlag::S_IFLNK => Err(Errno::ELOOP),
        _ => Err(Errno::ENXIO),
    }
}
