//! The terminal that a launcher is started on: a pseudoterminal whose other
//! end the runner holds (pty(7)).

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{
    LocalFlags, SetArg, SpecialCharacterIndices as Index, tcgetattr, tcsetattr,
};

use super::LaunchError;
use super::start::set_nonblocking;

/// The size of a terminal that nobody has resized.
const SIZE: Winsize = Winsize {
    ws_row: 24,
    ws_col: 80,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// Both ends of a pseudoterminal.
#[derive(Debug)]
pub(super) struct Terminal {
    /// The user's side: what is written here is typed.
    pub(super) user: File,
    /// The program's side.
    program: File,
}

impl Terminal {
    /// A new terminal, controlling nothing.
    pub(super) fn open() -> Result<Terminal, LaunchError> {
        let failed = LaunchError::errno("open a pseudoterminal");
        let pair = openpty(&SIZE, None).map_err(&failed)?;
        for end in [&pair.master, &pair.slave] {
            fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).map_err(&failed)?;
        }
        set_nonblocking(&pair.master)?;
        Ok(Terminal {
            user: File::from(pair.master),
            program: File::from(pair.slave),
        })
    }

    /// The program's side as a stream of a new process.
    pub(super) fn stream(&self) -> Result<Stdio, LaunchError> {
        self.program
            .try_clone()
            .map(|file| Stdio::from(OwnedFd::from(file)))
            .map_err(LaunchError::system("duplicate a terminal"))
    }

    /// What waits to be read on the program's side. An unended line is there
    /// for a reader only out of canonical mode; changing the mode keeps it
    /// (`n_tty_set_termios` in the kernel's `drivers/tty/n_tty.c`). A terminal
    /// that was hung up has nothing.
    pub(super) fn typed(&self) -> String {
        let mut typed = Vec::new();
        if let Ok(mut attributes) = tcgetattr(&self.program) {
            attributes
                .local_flags
                .remove(LocalFlags::ICANON | LocalFlags::ECHO);
            attributes.control_chars[Index::VMIN as usize] = 0;
            attributes.control_chars[Index::VTIME as usize] = 0;
            if tcsetattr(&self.program, SetArg::TCSANOW, &attributes).is_ok() {
                let mut buffer = [0; 4096];
                while let Ok(length @ 1..) = (&self.program).read(&mut buffer) {
                    typed.extend_from_slice(&buffer[..length]);
                }
            }
        }
        String::from_utf8_lossy(&typed).into_owned()
    }
}
