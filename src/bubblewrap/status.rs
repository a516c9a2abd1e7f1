//! What bubblewrap reports of itself (`--json-status-fd`).

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use serde::Deserialize;

/// One report. Each is an object on a line of its own, and has what is known then.
#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case", default)]
struct Report {
    child_pid: Option<i32>,
    exit_code: Option<i32>,
}

/// The reading end of the reports.
#[derive(Debug)]
pub(super) struct Reports {
    file: File,
    text: Vec<u8>,
    ended: bool,
}

impl Reports {
    pub(super) fn new(descriptor: OwnedFd) -> Reports {
        Reports {
            file: File::from(descriptor),
            text: Vec::with_capacity(512),
            ended: false,
        }
    }

    /// Waits for the process id of the sandbox's first process, as the host counts;
    /// nothing if bubblewrap ended without one.
    pub(super) fn first_process(&mut self) -> io::Result<Option<i32>> {
        loop {
            if let Some(pid) = self.reports().find_map(|report| report.child_pid) {
                return Ok(Some(pid));
            }
            if self.ended {
                return Ok(None);
            }
            self.read()?;
        }
    }

    /// Waits until bubblewrap has ended, and returns the command's exit status; nothing
    /// if the command was never started.
    pub(super) fn exit_code(&mut self) -> io::Result<Option<i32>> {
        while !self.ended {
            self.read()?;
        }
        Ok(self.reports().find_map(|report| report.exit_code))
    }

    /// Reads once, without waiting if the descriptor is readable.
    pub(super) fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 512];
        match self.file.read(&mut buffer) {
            Ok(0) => self.ended = true,
            Ok(length) => self.text.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Whether bubblewrap has ended.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    fn reports(&self) -> impl Iterator<Item = Report> {
        self.text
            .split_inclusive(|byte| *byte == b'\n')
            .filter(|line| line.ends_with(b"\n"))
            .filter_map(|line| serde_json::from_slice(line).ok())
    }
}

impl AsFd for Reports {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
