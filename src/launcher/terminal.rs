//! A terminal of the command's own, which the caller's terminal is connected to.
//!
//! A command that had the caller's terminal could push keys into its queue (TIOCSTI,
//! ioctl_tty(2)), for the shell that started the launcher to execute.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags};
use nix::pty::openpty;
use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::isatty;

use crate::unsafe_calls::copy_window_size;

/// The launcher's side of a command's terminal. The caller's terminal is restored when
/// this is dropped.
#[derive(Debug)]
pub(super) struct Terminal {
    /// The side that the command does not have.
    master: File,
    /// Where the caller's keys come from.
    keys: File,
    /// Where the command's output goes.
    screen: File,
    /// Keys that the command's terminal had no room for.
    pending: Vec<u8>,
    keys_ended: bool,
    screen_ended: bool,
    saved: Option<Termios>,
}

impl Terminal {
    /// A new terminal in the likeness of the caller's, and the streams of the command
    /// that are on it: those that the caller has on a terminal. None, where the caller's
    /// standard input is no terminal: then there are no keys to pass on, and the command
    /// runs without one, as it would in a pipeline.
    pub(super) fn open(streams: &mut [Option<OwnedFd>; 3]) -> io::Result<Option<Terminal>> {
        let on_terminal = |number: usize, streams: &[Option<OwnedFd>; 3]| {
            streams[number].is_none()
                && match number {
                    0 => isatty(io::stdin()),
                    1 => isatty(io::stdout()),
                    _ => isatty(io::stderr()),
                }
                .unwrap_or(false)
        };
        if !on_terminal(0, streams) {
            return Ok(None);
        }
        let keys = io::stdin().as_fd().try_clone_to_owned()?;
        let screen = if on_terminal(1, streams) {
            io::stdout().as_fd().try_clone_to_owned()?
        } else {
            keys.try_clone()?
        };
        let likeness = tcgetattr(&keys)?;
        let pair = openpty(None, &likeness)?;
        for descriptor in [&pair.master, &pair.slave] {
            fcntl(
                descriptor,
                FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC),
            )?;
        }
        fcntl(
            &pair.master,
            FcntlArg::F_SETFL(OFlag::O_RDWR | OFlag::O_NONBLOCK),
        )?;
        copy_window_size(keys.as_fd(), pair.master.as_fd());
        for number in 0..3 {
            if on_terminal(number, streams) {
                streams[number] = Some(pair.slave.try_clone()?);
            }
        }
        Ok(Some(Terminal {
            master: pair.master.into(),
            keys: keys.into(),
            screen: screen.into(),
            pending: Vec::new(),
            keys_ended: false,
            screen_ended: false,
            saved: Some(likeness),
        }))
    }

    /// Lets every key through to the command's terminal, which gives them their meaning.
    pub(super) fn begin(&self) -> io::Result<()> {
        if let Some(saved) = &self.saved {
            let mut raw = saved.clone();
            cfmakeraw(&mut raw);
            tcsetattr(&self.keys, SetArg::TCSADRAIN, &raw)?;
        }
        Ok(())
    }

    /// The caller's terminal and its settings, for whoever restores them if this cannot.
    pub(super) fn settings(&self) -> Option<(OwnedFd, Termios)> {
        let keys = self.keys.as_fd().try_clone_to_owned().ok()?;
        Some((keys, self.saved.clone()?))
    }

    /// What to wait for: keys, and the command's terminal.
    pub(super) fn watched(&self) -> [PollFd<'_>; 2] {
        let reading = |wanted| {
            if wanted {
                PollFlags::POLLIN
            } else {
                PollFlags::empty()
            }
        };
        let keys = reading(self.pending.is_empty() && !self.keys_ended);
        let mut screen = reading(!self.screen_ended);
        if !self.pending.is_empty() {
            screen |= PollFlags::POLLOUT;
        }
        [
            PollFd::new(self.keys.as_fd(), keys),
            PollFd::new(self.master.as_fd(), screen),
        ]
    }

    /// Passes on what there is. `keys` and `screen` are what became of
    /// [`Terminal::watched`].
    pub(super) fn pass(&mut self, keys: PollFlags, screen: PollFlags) {
        let readable = PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR;
        if keys.intersects(readable) && self.pending.is_empty() && !self.keys_ended {
            let mut buffer = [0; 4096];
            match self.keys.read(&mut buffer) {
                Ok(0) => self.keys_ended = true,
                Ok(length) => self.pending.extend_from_slice(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.keys_ended = true,
            }
        }
        if !self.pending.is_empty() {
            let written = self.master.write(&self.pending).unwrap_or(0);
            self.pending.drain(..written);
        }
        if screen.intersects(readable) {
            self.show();
        }
    }

    /// Shows what the command wrote, without waiting for more.
    fn show(&mut self) {
        let mut buffer = [0; 4096];
        match self.master.read(&mut buffer) {
            Ok(length) if length > 0 => {
                let _ = self.screen.write_all(&buffer[..length]);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // EIO: nobody has the other side open, at first or any more (pty(7)).
            _ => self.screen_ended = true,
        }
    }

    /// Shows the rest, when everything in the sandbox is gone.
    pub(super) fn finish(&mut self) {
        loop {
            let mut buffer = [0; 4096];
            match self.master.read(&mut buffer) {
                Ok(length) if length > 0 => {
                    if self.screen.write_all(&buffer[..length]).is_err() {
                        return;
                    }
                }
                Err(error) if error.raw_os_error() == Some(Errno::EINTR as i32) => {}
                _ => return,
            }
        }
    }

    /// Gives the command's terminal the size of the caller's.
    pub(super) fn resize(&self) {
        copy_window_size(self.keys.as_fd(), self.master.as_fd());
    }
}

impl AsFd for Terminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.master.as_fd()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(saved) = &self.saved {
            let _ = tcsetattr(&self.keys, SetArg::TCSADRAIN, saved);
        }
    }
}
