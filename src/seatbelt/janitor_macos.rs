//! Someone who ends a sandbox when its launcher is killed.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, send, socketpair};
use nix::sys::termios::Termios;
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use crate::unsafe_spawn::{Mark, start_janitor};

/// Someone who ends a sandbox when its launcher is killed. Dropping this sends it home.
#[derive(Debug)]
pub(super) struct Janitor {
    orders: OwnedFd,
    pid: Pid,
}

impl Janitor {
    pub(super) fn start(
        mark: &Mark,
        private: &Path,
        terminal: Option<(OwnedFd, Termios)>,
    ) -> io::Result<Janitor> {
        let private = CString::new(private.as_os_str().as_bytes()).map_err(io::Error::other)?;
        let (theirs, orders) = socketpair(
            AddressFamily::Unix,
            SockType::Stream,
            None,
            SockFlag::empty(),
        )?;
        for end in [&theirs, &orders] {
            fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
        }
        let terminal = terminal
            .as_ref()
            .map(|(terminal, settings)| (terminal.as_fd(), settings.clone().into()));
        let pid = start_janitor(theirs.as_fd(), terminal, mark, &private)?;
        Ok(Janitor {
            orders,
            pid: Pid::from_raw(pid),
        })
    }

    /// Where the command says its process id.
    pub(super) fn announce(&self) -> BorrowedFd<'_> {
        self.orders.as_fd()
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        // It cannot be gone: it ends with its orders, and nothing else ends it.
        let _ = send(self.orders.as_raw_fd(), b"q", MsgFlags::empty());
        while waitpid(self.pid, None) == Err(Errno::EINTR) {}
    }
}
