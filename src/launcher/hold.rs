//! Keeping a name from being created while a command runs, without leaving anything.
//!
//! A mount needs something to stand on, so the name is held by an empty directory of
//! the host. Launchers that hold the same one share a lock on it, and the last removes
//! it. A launcher that is killed leaves that to its janitor, and the end of its sandbox
//! too.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, Flock, FlockArg, OFlag, openat};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, send, socketpair};
use nix::sys::stat::{FileStat, Mode, fchmod, fstat, fstatat, mkdirat};
use nix::sys::termios::Termios;
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, UnlinkatFlags, unlinkat};

use super::LaunchError;
use crate::faults::{self, Protection};
use crate::unsafe_spawn::{Litter, start_janitor};
use crate::view::{PLACEHOLDER_MODE, Placeholder, open_without_links};

/// How often another launcher may remove a directory between its being found and its
/// being locked, before something else is wrong.
const TRIES: usize = 100;

/// Names that are held, and a sandbox that is ended with the launcher, until this is
/// dropped.
#[derive(Debug, Default)]
pub(crate) struct Held {
    names: Vec<Name>,
    terminal: Option<(OwnedFd, Termios)>,
    janitor: Option<Janitor>,
}

#[derive(Debug)]
struct Name {
    placeholder: Placeholder,
    parent: OwnedFd,
    name: CString,
    lock: Option<Flock<OwnedFd>>,
}

#[derive(Debug)]
struct Janitor {
    orders: OwnedFd,
    pid: Pid,
}

impl Held {
    /// Finds where the names are to be. Nothing is made yet.
    pub(crate) fn find(placeholders: &[Placeholder]) -> Result<Held, LaunchError> {
        let names = placeholders
            .iter()
            .map(|placeholder| Name::find(placeholder).map_err(|error| placeholder.failure(error)))
            .collect::<Result<_, _>>()?;
        Ok(Held {
            names,
            terminal: None,
            janitor: None,
        })
    }

    /// Has a terminal get its settings back if this process is killed.
    pub(crate) fn restore(&mut self, terminal: Option<(OwnedFd, Termios)>) {
        self.terminal = terminal;
    }

    /// Holds the names, and has someone end the sandbox and let go of them if this process
    /// is killed. `open` stays open until then. bubblewrap is to announce itself at the
    /// descriptor that this returns.
    pub(crate) fn guard(&mut self, open: &[BorrowedFd<'_>]) -> Result<RawFd, LaunchError> {
        let janitor = Janitor::start(open, self.terminal.as_ref(), &self.names)
            .map_err(|error| LaunchError::system("start the janitor", error))?;
        let announce = self.janitor.insert(janitor).orders.as_raw_fd();
        for name in &mut self.names {
            name.take()
                .map_err(|error| name.placeholder.failure(error))?;
        }
        Ok(announce)
    }

    /// Tells the janitor the sandbox's first process, which has to be gone first.
    pub(crate) fn until_gone(&self, first: Pid) {
        if let Some(janitor) = &self.janitor {
            if !faults::has(Protection::Janitor) {
                return janitor.tell(b"q");
            }
            janitor.tell(&first.as_raw().to_ne_bytes());
        }
    }
}

impl Held {
    /// The sandbox is gone: where nothing else is left to see to, the janitor goes home
    /// while others are waited for.
    pub(crate) fn dismiss(&self) {
        let nothing = self.names.is_empty() && self.terminal.is_none();
        if let (true, Some(janitor)) = (nothing, &self.janitor) {
            janitor.tell(b"q");
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Names first: whatever comes in between, the janitor is still there.
        if faults::has(Protection::Removal) {
            self.names.drain(..).for_each(Name::release);
        }
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

    fn start(
        open: &[BorrowedFd<'_>],
        terminal: Option<&(OwnedFd, Termios)>,
        names: &[Name],
    ) -> std::io::Result<Janitor> {
        let terminal =
            terminal.map(|(terminal, settings)| (terminal.as_fd(), settings.clone().into()));
        let (reader, orders) = socketpair(
            AddressFamily::Unix,
            SockType::SeqPacket,
            None,
            SockFlag::SOCK_CLOEXEC,
        )?;
        let litter: Vec<Litter<'_>> = names
            .iter()
            .map(|name| Litter {
                parent: name.parent.as_fd(),
                name: &name.name,
            })
            .collect();
        let pid = start_janitor(reader.as_fd(), orders.as_fd(), open, terminal, &litter)?;
        Ok(Janitor {
            orders,
            pid: Pid::from_raw(pid),
        })
    }
}

impl Name {
    fn find(placeholder: &Placeholder) -> Result<Name, Errno> {
        let handle = open_without_links(&placeholder.parent)?.descriptor;
        // By a handle alone a mode cannot be changed; but one may write a directory, and
        // not read it.
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let opened = openat(&handle, ".", flags, Mode::empty());
        Ok(Name {
            placeholder: placeholder.clone(),
            parent: opened.unwrap_or(handle),
            name: CString::new(placeholder.name.as_bytes()).map_err(|_| Errno::EINVAL)?,
            lock: None,
        })
    }

    fn take(&mut self) -> Result<(), Errno> {
        let (parent, name) = (&self.parent, &self.name);
        let mode = Mode::from_bits_truncate(PLACEHOLDER_MODE);
        for _ in 0..TRIES {
            let made = match mkdirat(parent, name.as_c_str(), mode) {
                Ok(()) => true,
                Err(Errno::EEXIST) => false,
                Err(error) => return Err(error),
            };
            let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
            let directory = match openat(parent, name.as_c_str(), flags, Mode::empty()) {
                Ok(directory) => directory,
                Err(Errno::ENOENT) => continue,
                Err(error) => return Err(error),
            };
            if made {
                // Whatever the process's umask took away.
                fchmod(&directory, mode)?;
            }
            let lock = Flock::lock(directory, FlockArg::LockShared).map_err(|(_, error)| error)?;
            if !is_still_there(parent, name, &lock) {
                continue;
            }
            if !made && !is_ours(&lock)? {
                // Something that has come meanwhile: it is to be hidden, not held.
                return Err(Errno::EEXIST);
            }
            self.lock = Some(lock);
            return Ok(());
        }
        Err(Errno::EBUSY)
    }

    /// Removes the directory, unless another launcher holds it too.
    fn release(self) {
        let Some(lock) = self.lock else { return };
        if lock.relock(FlockArg::LockExclusiveNonblock).is_err() {
            return;
        }
        let closed = open_up(&self.parent);
        if is_still_there(&self.parent, &self.name, &lock) {
            let _ = unlinkat(&self.parent, self.name.as_c_str(), UnlinkatFlags::RemoveDir);
        }
        if let Some(mode) = closed {
            let _ = fchmod(&self.parent, mode);
        }
    }
}

/// Lets the owner change a directory that the command has closed. Returns the mode that
/// it is to get back.
fn open_up(directory: &OwnedFd) -> Option<Mode> {
    let mode = Mode::from_bits_truncate(fstat(directory).ok()?.st_mode);
    let needed = Mode::S_IWUSR | Mode::S_IXUSR;
    let closed = !mode.contains(needed);
    (closed && fchmod(directory, mode | needed).is_ok()).then_some(mode)
}

impl Placeholder {
    fn failure(&self, error: Errno) -> LaunchError {
        LaunchError::Hold {
            path: self.parent.join(&self.name),
            source: error.into(),
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
