//! One run of bubblewrap, from its start to the end of everything in it.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, pipe2};

use super::namespaces::is_apart;
use super::status::Reports;
use super::{Program, Setting, Sources, arguments};
use crate::launcher::{Held, LaunchError, spawn};
use crate::unsafe_spawn::{Group, Spawn, open_process, signal_process};
use crate::view::View;

/// What to run, and in what.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub(crate) program: Arc<Program>,
    pub(crate) view: Arc<View>,
    pub(crate) setting: Setting,
    pub(crate) command: Vec<OsString>,
    pub(crate) group: Group,
}

/// A sandbox whose first process is there.
#[derive(Debug)]
pub(crate) struct Run {
    start: Start,
    bubblewrap: Pid,
    reaped: bool,
    first: Pid,
    /// Absent on Linux before 5.3.
    first_handle: Option<OwnedFd>,
    reports: Reports,
    killed: bool,
    /// Let go when the sandbox is gone.
    held: Held,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The command ended with this status.
    Code(u8),
    /// The sandbox was ended from outside.
    Killed,
}

/// Starts bubblewrap, and lets the command go once its sandbox was seen to be one.
pub(crate) fn start(start: Start, streams: [Option<OwnedFd>; 3]) -> Result<Run, LaunchError> {
    let held = Held::take(start.view.placeholders())?;
    let system = |doing| move |error: Errno| LaunchError::system(doing, error.into());
    let (reports, reports_writer) =
        pipe2(OFlag::O_CLOEXEC).map_err(system("make a pipe for bubblewrap's reports"))?;
    let (gate_reader, gate) =
        pipe2(OFlag::O_CLOEXEC).map_err(system("make a pipe to hold the command"))?;
    let (list, mut inherited) = arguments(
        &start.view,
        &start.setting,
        start.program.features,
        Sources::Descriptors,
    )?;
    let text = write_arguments(&list, &reports_writer, &gate_reader)?;
    inherited.extend([
        text.as_raw_fd(),
        reports_writer.as_raw_fd(),
        gate_reader.as_raw_fd(),
    ]);
    let mut words = vec![
        "bwrap".into(),
        "--args".into(),
        text.as_raw_fd().to_string().into(),
        "--".into(),
    ];
    words.extend(start.command.iter().cloned());
    let request = Spawn {
        program: c_string(start.program.path.clone().into_os_string())?,
        arguments: words.into_iter().map(c_string).collect::<Result<_, _>>()?,
        streams,
        inherited,
        group: start.group,
    };
    let pid = spawn(request).map_err(|source| LaunchError::Start {
        program: start.program.path.clone(),
        source,
    })?;
    drop((text, reports_writer, gate_reader));
    let mut run = Run {
        start,
        bubblewrap: Pid::from_raw(pid),
        reaped: false,
        first: Pid::from_raw(0),
        first_handle: None,
        reports: Reports::new(reports),
        killed: false,
        held,
    };
    run.release(gate)?;
    Ok(run)
}

/// Writes the arguments where only bubblewrap can read them: a command line is for
/// everyone to see.
fn write_arguments(
    list: &[OsString],
    reports: &OwnedFd,
    gate: &OwnedFd,
) -> Result<File, LaunchError> {
    let mut text = Vec::with_capacity(4096);
    for (option, descriptor) in [("--json-status-fd", reports), ("--block-fd", gate)] {
        text.extend_from_slice(format!("{option}\0{}\0", descriptor.as_raw_fd()).as_bytes());
    }
    for argument in list {
        if argument.as_bytes().contains(&0) {
            return Err(LaunchError::Nul {
                text: argument.clone(),
            });
        }
        text.extend_from_slice(argument.as_bytes());
        text.push(0);
    }
    let system = |error: io::Error| LaunchError::system("write bubblewrap's arguments", error);
    let descriptor =
        memfd_create("arguments", MFdFlags::MFD_CLOEXEC).map_err(|error| system(error.into()))?;
    let mut file = File::from(descriptor);
    file.write_all(&text)
        .and_then(|()| file.rewind())
        .map_err(system)?;
    Ok(file)
}

fn c_string(text: OsString) -> Result<CString, LaunchError> {
    CString::new(text.into_vec()).map_err(|error| LaunchError::Nul {
        text: OsString::from_vec(error.into_vec()),
    })
}

impl Run {
    /// Waits for the sandbox's first process, checks that it is apart from us, and
    /// lets it go on to the command.
    fn release(&mut self, gate: OwnedFd) -> Result<(), LaunchError> {
        let first = self.reports.first_process().map_err(LaunchError::reports)?;
        let Some(first) = first else {
            self.reap()?;
            return Err(self.failure());
        };
        self.first = Pid::from_raw(first);
        // The process waits for the gate, so this is the one that was reported.
        self.first_handle = open_process(first).ok();
        if !is_apart(first) {
            self.kill();
            self.end()?;
            return Err(LaunchError::NotApart {
                program: self.start.program.path.clone(),
            });
        }
        self.held.until_gone(self.first);
        // Should it have failed meanwhile, waiting for it says so.
        let _ = nix::unistd::write(&gate, b"\n");
        Ok(())
    }

    /// bubblewrap's process id.
    pub(crate) fn id(&self) -> u32 {
        self.bubblewrap.as_raw().unsigned_abs()
    }

    /// A descriptor that is readable when bubblewrap reports or ends.
    pub(crate) fn events(&self) -> std::os::fd::BorrowedFd<'_> {
        self.reports.as_fd()
    }

    /// Takes what there is to read from [`Run::events`]; whether bubblewrap has ended.
    pub(crate) fn take_events(&mut self) -> Result<bool, LaunchError> {
        self.reports.read().map_err(LaunchError::reports)?;
        Ok(self.reports.ended())
    }

    /// Waits for the command, and for everything that it left behind to be dead.
    pub(crate) fn wait(&mut self) -> Result<End, LaunchError> {
        let code = self.reports.exit_code().map_err(LaunchError::reports)?;
        self.end()?;
        self.held = Held::default();
        match code.map(u8::try_from) {
            Some(Ok(code)) => Ok(End::Code(code)),
            _ if self.killed => Ok(End::Killed),
            _ => Err(self.failure()),
        }
    }

    /// Sends a signal to the command's process group, as a terminal would. Until the
    /// command has one, the signal ends the sandbox.
    pub(crate) fn signal(&mut self, signal: Signal) {
        if self.reaped {
            return;
        }
        let sent = match self.start.setting.new_session {
            // The first process leads the group that the command is in. It ignores
            // what it has no handler for, as the first of a namespace.
            true => killpg(self.first, signal),
            false => match self.command_process() {
                Some(pid) => killpg(pid, signal).or_else(|_| kill(pid, signal)),
                None => Err(Errno::ESRCH),
            },
        };
        if sent.is_err() {
            self.kill();
        }
    }

    /// The command's process: the one child of the sandbox's first
    /// (proc_pid_task(5), `children`).
    fn command_process(&self) -> Option<Pid> {
        let first = self.first;
        let list = std::fs::read_to_string(format!("/proc/{first}/task/{first}/children")).ok()?;
        list.split_whitespace()
            .next()?
            .parse()
            .ok()
            .map(Pid::from_raw)
    }

    /// Ends everything in the sandbox at once.
    pub(crate) fn kill(&mut self) {
        if self.reaped {
            return;
        }
        self.killed = true;
        match &self.first_handle {
            Some(handle) => {
                let _ = signal_process(handle.as_fd(), Signal::SIGKILL as i32);
            }
            None if self.first.as_raw() > 0 => {
                let _ = kill(self.first, Signal::SIGKILL);
            }
            None => {}
        }
        let _ = kill(self.bubblewrap, Signal::SIGKILL);
    }

    /// Waits until bubblewrap and every process of the sandbox are gone: bubblewrap
    /// returns while they still die.
    fn end(&mut self) -> Result<(), LaunchError> {
        self.reap()?;
        let Some(handle) = &self.first_handle else {
            return Ok(());
        };
        let mut watched = [PollFd::new(handle.as_fd(), PollFlags::POLLIN)];
        loop {
            match poll(&mut watched, PollTimeout::NONE) {
                Err(Errno::EINTR) => {}
                Err(error) => {
                    return Err(LaunchError::system("wait for the sandbox", error.into()));
                }
                Ok(_) => return Ok(()),
            }
        }
    }

    fn reap(&mut self) -> Result<(), LaunchError> {
        while !self.reaped {
            match waitpid(self.bubblewrap, None) {
                Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) => self.reaped = true,
                // A caller that ignores SIGCHLD has its children reaped by the kernel.
                Err(Errno::ECHILD) => self.reaped = true,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => {
                    return Err(LaunchError::system("wait for bubblewrap", error.into()));
                }
            }
        }
        Ok(())
    }

    /// Why the command was not started. bubblewrap has told the command's own
    /// standard error; to hear it too, the same is tried again without a command.
    fn failure(&self) -> LaunchError {
        crate::diagnosis::failure(&self.start.program, rehearse(&self.start).as_deref())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            let _ = self.end();
        }
    }
}

/// A program that is nowhere, so that a rehearsal starts nothing.
pub(crate) const NO_PROGRAM: &str = "/.no-program";

/// Starts the same sandbox without a command, and returns what bubblewrap says.
fn rehearse(again: &Start) -> Option<String> {
    if again.command == [NO_PROGRAM] {
        return None;
    }
    let (said, writer) = pipe2(OFlag::O_CLOEXEC).ok()?;
    let mut said = File::from(said);
    let null = || {
        File::options()
            .read(true)
            .write(true)
            .open("/dev/null")
            .map(OwnedFd::from)
    };
    let streams = [Some(null().ok()?), Some(null().ok()?), Some(writer)];
    let again = Start {
        command: vec![NO_PROGRAM.into()],
        ..again.clone()
    };
    if let Ok(mut run) = start(again, streams) {
        let _ = run.wait();
    }
    let mut text = Vec::new();
    said.read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}
