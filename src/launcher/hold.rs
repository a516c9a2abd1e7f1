//! Keeping a name from being created while a command runs, without leaving anything.
//!
//! A mount needs something to stand on, so the name is held by an empty directory of
//! the host. Launchers that hold the same one share a lock on it, and the last removes
//! it. A launcher that is killed leaves that to its janitor.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, Flock, FlockArg, OFlag, openat};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, send, socketpair};
use nix::sys::stat::{FileStat, Mode, fchmod, fstat, fstatat, mkdirat};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, UnlinkatFlags, unlinkat};

use super::LaunchError;
use crate::unsafe_spawn::{Litter, start_janitor};
use crate::view::{PLACEHOLDER_MODE, Placeholder, open_without_links};

/// How often another launcher may remove a directory between its being found and its
/// being locked, before something else is wrong.
const TRIES: usize = 100;

/// Names that are held until this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Held {
    names: Vec<Name>,
    janitor: Option<Janitor>,
}

#[derive(Debug)]
struct Name {
    parent: OwnedFd,
    name: CString,
    lock: Flock<OwnedFd>,
}

#[derive(Debug)]
struct Janitor {
    orders: OwnedFd,
    pid: Pid,
}

impl Held {
    /// Holds the names, and has someone remove them if this process is killed.
    pub(crate) fn take(placeholders: &[Placeholder]) -> Result<Held, LaunchError> {
        let mut held = Held::default();
        for placeholder in placeholders {
            held.names
                .push(Name::take(placeholder).map_err(|error| LaunchError::Hold {
                    path: placeholder.parent.join(&placeholder.name),
                    source: error.into(),
                })?);
        }
        if !held.names.is_empty() {
            held.janitor = Some(
                Janitor::start(&held.names)
                    .map_err(|error| LaunchError::system("start the janitor", error))?,
            );
        }
        Ok(held)
    }

    /// Tells the janitor which sandbox has to be gone first.
    pub(crate) fn until_gone(&self, first: Pid) {
        if let Some(janitor) = &self.janitor {
            janitor.tell(&first.as_raw().to_ne_bytes());
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Names first: whatever comes in between, the janitor is still there.
        self.names.drain(..).for_each(Name::release);
        if let Some(janitor) = self.janitor.take() {
            janitor.tell(b"q");
            while waitpid(janitor.pid, None) == Err(Errno::EINTR) {}
        }
    }
}

impl Janitor {
    /// Says something to it, without a signal if it is gone.
    fn tell(&self, order: &[u8]) {
        let _ = send(self.orders.as_raw_fd(), order, MsgFlags::MSG_NOSIGNAL);
    }

    fn start(names: &[Name]) -> std::io::Result<Janitor> {
        let (reader, orders) = socketpair(
            AddressFamily::Unix,
            SockType::Stream,
            None,
            SockFlag::SOCK_CLOEXEC,
        )?;
        let litter: Vec<Litter<'_>> = names
            .iter()
            .map(|name| Litter {
                parent: name.parent.as_fd(),
                name: &name.name,
                lock: name.lock.as_fd(),
            })
            .collect();
        let pid = start_janitor(reader.as_fd(), orders.as_fd(), &litter)?;
        Ok(Janitor {
            orders,
            pid: Pid::from_raw(pid),
        })
    }
}

impl Name {
    fn take(placeholder: &Placeholder) -> Result<Name, Errno> {
        let parent = open_without_links(&placeholder.parent)?.descriptor;
        let name = CString::new(placeholder.name.as_bytes()).map_err(|_| Errno::EINVAL)?;
        let mode = Mode::from_bits_truncate(PLACEHOLDER_MODE);
        for _ in 0..TRIES {
            let made = match mkdirat(&parent, name.as_c_str(), mode) {
                Ok(()) => true,
                Err(Errno::EEXIST) => false,
                Err(error) => return Err(error),
            };
            let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
            let directory = match openat(&parent, name.as_c_str(), flags, Mode::empty()) {
                Ok(directory) => directory,
                Err(Errno::ENOENT) => continue,
                Err(error) => return Err(error),
            };
            if made {
                // Whatever the process's umask took away.
                fchmod(&directory, mode)?;
            }
            let lock = Flock::lock(directory, FlockArg::LockShared).map_err(|(_, error)| error)?;
            if !is_still_there(&parent, &name, &lock) {
                continue;
            }
            if !made && !is_ours(&lock)? {
                // Something that has come meanwhile: it is to be hidden, not held.
                return Err(Errno::EEXIST);
            }
            return Ok(Name { parent, name, lock });
        }
        Err(Errno::EBUSY)
    }

    /// Removes the directory, unless another launcher holds it too.
    fn release(self) {
        if self.lock.relock(FlockArg::LockExclusiveNonblock).is_ok()
            && is_still_there(&self.parent, &self.name, &self.lock)
        {
            let _ = unlinkat(&self.parent, self.name.as_c_str(), UnlinkatFlags::RemoveDir);
        }
    }
}

fn is_still_there(parent: &OwnedFd, name: &CString, lock: &Flock<OwnedFd>) -> bool {
    let named = fstatat(parent, name.as_c_str(), AtFlags::AT_SYMLINK_NOFOLLOW);
    match (named, fstat(lock.as_fd())) {
        (Ok(named), Ok(locked)) => identity(&named) == identity(&locked),
        _ => false,
    }
}

fn identity(status: &FileStat) -> (u64, u64) {
    (status.st_dev, status.st_ino)
}

/// Whether a directory has the mark of one that was made to hold a name, and nothing in
/// it.
fn is_ours(directory: &Flock<OwnedFd>) -> Result<bool, Errno> {
    // Just made by another launcher, it may not have its mark yet.
    let marked = fstat(directory.as_fd())?.st_mode & 0o7777 == PLACEHOLDER_MODE;
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut entries = Dir::openat(directory.as_fd(), ".", flags, Mode::empty())?;
    let empty = entries
        .iter()
        .flatten()
        .all(|entry| matches!(entry.file_name().to_bytes(), b"." | b".."));
    Ok(marked && empty)
}
