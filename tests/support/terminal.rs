//! A terminal, and programs on it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use nix::pty::{OpenptyResult, Winsize, openpty};

/// The side of a terminal that a person is at.
pub struct Terminal {
    side: File,
    slave: Option<OwnedFd>,
    seen: String,
}

impl Terminal {
    pub fn new(rows: u16, columns: u16) -> Terminal {
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
        for end in [&master, &slave] {
            let flag = nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC);
            nix::fcntl::fcntl(end, flag).unwrap();
        }
        Terminal {
            side: File::from(master),
            slave: Some(slave),
            seen: String::new(),
        }
    }

    /// Starts a program whose standard streams and controlling terminal this is,
    /// once: the terminal hangs up when the program has let go of it.
    pub fn start(&mut self, program: &Command) -> Child {
        let slave = self.slave.take().unwrap();
        let mut command = Command::new("setsid");
        command
            .args(["--ctty", "--wait"])
            .arg(program.get_program())
            .args(program.get_args());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = program.get_current_dir() {
            command.current_dir(directory);
        }
        let stream = || Stdio::from(slave.try_clone().unwrap());
        command
            .stdin(stream())
            .stdout(stream())
            .stderr(stream())
            .spawn()
            .unwrap()
    }

    /// Types.
    pub fn write(&mut self, text: &str) {
        self.side.write_all(text.as_bytes()).unwrap();
    }

    /// Reads until this shows, and returns all that has shown. Fails when the
    /// terminal hangs up first.
    pub fn read_until(&mut self, text: &str) -> &str {
        while !self.seen.contains(text) {
            let read = self.read_some();
            assert!(read, "{text:?} never came: {:?}", self.seen);
        }
        &self.seen
    }

    /// Reads until the terminal hangs up, and returns all that has shown.
    pub fn read_to_end(&mut self) -> &str {
        while self.read_some() {}
        &self.seen
    }

    fn read_some(&mut self) -> bool {
        let mut bytes = [0; 4096];
        // A terminal whose other side is closed fails with EIO.
        match self.side.read(&mut bytes) {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.seen += &String::from_utf8_lossy(&bytes[..count]);
                true
            }
        }
    }
}
