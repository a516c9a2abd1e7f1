//! A file that is held without being opened, on Linux: `O_PATH` and openat2(2).
//!
//! openat2 came with Linux 5.6. Where it is absent, or a filter of system calls
//! forbids it, paths are walked instead, and then no symbolic link is followed.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, open, openat, openat2, readlink};
use nix::sys::stat::Mode;

use super::walk::walk;

/// How a handle is opened: it can be looked at and resolved against, and opening
/// it has no effect on a pipe or a device.
pub(super) const HANDLE: OFlag = OFlag::O_PATH.union(OFlag::O_CLOEXEC);

/// How often a resolution is tried again. The kernel asks for it when anything in
/// the system is renamed while it passes a `..` (openat2(2), `EAGAIN`).
const ATTEMPTS: usize = 256;

/// What the kernel appends to the location of a file that has lost its name.
const DELETED: &[u8] = b" (deleted)";

/// A file, a directory or anything else that has a path.
#[derive(Debug)]
pub(super) struct Handle {
    file: File,
}

impl Handle {
    /// The directory at `path`, links followed: the path is the caller's own.
    pub(super) fn directory(path: &Path) -> Result<Handle, Errno> {
        let flags = HANDLE | OFlag::O_DIRECTORY;
        Ok(Handle::from(open(path, flags, Mode::empty())?))
    }

    /// What is at an absolute path, no link followed.
    pub(super) fn literal(path: &Path) -> Result<Handle, Errno> {
        let top = Handle::directory(Path::new("/"))?;
        let rest = path.strip_prefix("/").map_err(|_| Errno::EINVAL)?;
        top.resolve(rest, ResolveFlag::RESOLVE_NO_SYMLINKS)
    }

    /// What is at `rest`, a relative path, without leaving this directory. Links
    /// that stay beneath it are followed, if `links` are wanted at all.
    pub(super) fn beneath(&self, rest: &Path, links: bool) -> Result<Handle, Errno> {
        if links {
            self.resolve(rest, ResolveFlag::RESOLVE_NO_MAGICLINKS)
        } else {
            self.walk(rest)
        }
    }

    /// What has this name in this directory, a link itself not followed.
    pub(super) fn child(&self, name: &OsStr) -> Result<Handle, Errno> {
        let flags = HANDLE | OFlag::O_NOFOLLOW;
        Ok(Handle::from(openat(self, name, flags, Mode::empty())?))
    }

    /// The same file again.
    pub(super) fn again(&self) -> io::Result<Handle> {
        Ok(Handle {
            file: self.file.try_clone()?,
        })
    }

    /// Where the file is now, without links. A file without a name gives `ESTALE`.
    pub(super) fn location(&self) -> Result<PathBuf, Errno> {
        let location = PathBuf::from(readlink(&self.magic_link())?);
        // A file may really be called `x (deleted)`; then that is where it is.
        if location.as_os_str().as_bytes().ends_with(DELETED) {
            let found = location.symlink_metadata().ok();
            let held = self.metadata().map_err(|_| Errno::ESTALE)?;
            if found.is_none_or(|found| identity(&found) != identity(&held)) {
                return Err(Errno::ESTALE);
            }
        }
        Ok(location)
    }

    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Opens the very file that is held: the path is not looked at again, so it
    /// does not matter what stands there by now.
    pub(super) fn reopen(&self, flags: OFlag) -> Result<File, Errno> {
        let flags = flags | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
        open(&self.magic_link(), flags, Mode::empty()).map(File::from)
    }

    fn resolve(&self, rest: &Path, restriction: ResolveFlag) -> Result<Handle, Errno> {
        let how = OpenHow::new()
            .flags(HANDLE)
            .resolve(ResolveFlag::RESOLVE_BENEATH | restriction);
        let rest = if rest.as_os_str().is_empty() {
            Path::new(".")
        } else {
            rest
        };
        for _ in 0..ATTEMPTS {
            match openat2(self, rest, how) {
                Ok(descriptor) => return Ok(Handle::from(descriptor)),
                Err(Errno::EAGAIN) => {}
                // Filters of system calls from before 5.6 say EPERM. A walk is no
                // weaker, so it does not matter what else that could mean.
                Err(Errno::ENOSYS | Errno::EPERM) => return self.walk(rest),
                Err(errno) => return Err(errno),
            }
        }
        Err(Errno::EAGAIN)
    }

    fn walk(&self, rest: &Path) -> Result<Handle, Errno> {
        Ok(Handle::from(walk(self.as_fd(), rest)?.found))
    }

    fn magic_link(&self) -> PathBuf {
        // The thread's, since the process's own entry goes when its first thread ends.
        PathBuf::from(format!("/proc/thread-self/fd/{}", self.file.as_raw_fd()))
    }
}

impl From<OwnedFd> for Handle {
    fn from(descriptor: OwnedFd) -> Handle {
        Handle {
            file: File::from(descriptor),
        }
    }
}

impl AsFd for Handle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}
