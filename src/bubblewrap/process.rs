//! One run of bubblewrap, from its start to the end of everything in it.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, pipe2};

use super::mounted::{displaced, is_contested};
use super::mounting::Mounting;
use super::namespaces::is_apart;
use super::status::Reports;
use super::waiting::{Waiting, send_all};
use super::{Program, Setting, Sources, arguments};
use crate::faults::{self, Protection};
use crate::launcher::{Held, LaunchError};
use crate::unsafe_spawn::{Group, open_process, signal_process};
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

/// What a bubblewrap that was started is let go with.
#[derive(Debug)]
pub(super) struct Begin<'a> {
    pub(super) reports: OwnedFd,
    pub(super) gate: &'a OwnedFd,
    pub(super) mounting: Option<Mounting>,
    pub(super) held: Held,
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

impl Run {
    /// Waits for the sandbox's first process, checks that it is apart from us, and
    /// lets it go on to the command.
    pub(super) fn begin(
        start: Start,
        bubblewrap: Pid,
        begin: Begin<'_>,
    ) -> Result<Run, LaunchError> {
        let Begin {
            reports,
            gate,
            mounting,
            held,
        } = begin;
        let mut run = Run {
            start,
            bubblewrap,
            reaped: false,
            first: Pid::from_raw(0),
            first_handle: None,
            reports: Reports::new(reports),
            killed: false,
            held,
        };
        let first = run.reports.first_process().map_err(LaunchError::reports)?;
        let Some(first) = first else {
            run.reap()?;
            return Err(run.failure());
        };
        run.first = Pid::from_raw(first);
        // The process waits for the gate, so this is the one that was reported.
        run.first_handle = open_process(first).ok();
        if faults::has(Protection::Apart) && !is_apart(first) {
            run.kill();
            run.end()?;
            return Err(LaunchError::NotApart {
                program: run.start.program.path.clone(),
            });
        }
        if let Some(mounting) = mounting {
            if let Some(path) = run.displaced(&mounting)? {
                run.kill();
                run.end()?;
                return Err(LaunchError::Displaced { path });
            }
        }
        run.held.until_gone(run.first);
        // Should it have failed meanwhile, waiting for it says so.
        let _ = send_all(gate, b"\n");
        Ok(run)
    }

    /// Waits until everything is mounted, and looks whether it is where it belongs.
    fn displaced(&self, mounting: &Mounting) -> Result<Option<PathBuf>, LaunchError> {
        let system = |error: Errno| LaunchError::system("look at the mounts", error.into());
        // One that has ended says why when it is waited for.
        if !mounting.wait().map_err(system)? || !faults::has(Protection::Mounted) {
            return Ok(None);
        }
        let (view, features) = (&self.start.view, self.start.program.features);
        displaced(view, features, self.first.as_raw()).map_err(system)
    }

    /// bubblewrap's process id.
    pub(crate) fn id(&self) -> u32 {
        self.bubblewrap.as_raw().unsigned_abs()
    }

    /// A descriptor that is readable when there may be news: see [`Run::has_ended`].
    pub(crate) fn events(&self) -> BorrowedFd<'_> {
        // The end of the first process is the end of all, and bubblewrap's comes with it;
        // what bubblewrap reported until then can be read at leisure.
        match &self.first_handle {
            Some(handle) => handle.as_fd(),
            None => self.reports.as_fd(),
        }
    }

    /// Looks at the news of [`Run::events`]: whether the run has ended.
    pub(crate) fn has_ended(&mut self) -> Result<bool, LaunchError> {
        if self.first_handle.is_none() {
            self.reports.read().map_err(LaunchError::reports)?;
            return Ok(self.reports.ended());
        }
        Ok(true)
    }

    /// Waits for the command, and for everything that it left behind to be dead.
    pub(crate) fn wait(&mut self) -> Result<End, LaunchError> {
        self.end()?;
        let code = self.reports.exit_code().map_err(LaunchError::reports)?;
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
        if let Some(handle) = &self.first_handle {
            let mut watched = [PollFd::new(handle.as_fd(), PollFlags::POLLIN)];
            loop {
                match poll(&mut watched, PollTimeout::NONE) {
                    Err(Errno::EINTR) => {}
                    Err(error) => {
                        return Err(LaunchError::system("wait for the sandbox", error.into()));
                    }
                    Ok(_) => break,
                }
            }
            self.held.dismiss();
        }
        self.reap()
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

/// The descriptors that the arguments for a view name.
pub(crate) fn pins(view: &View, setting: &Setting, program: &Program) -> Vec<RawFd> {
    arguments(view, setting, program.features, Sources::Descriptors)
        .map(|(_, pins)| pins)
        .unwrap_or_default()
}

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
    let waiting = Waiting::start(
        Arc::clone(&again.program),
        vec![NO_PROGRAM.into()],
        again.group,
        streams,
        &pins(&again.view, &again.setting, &again.program),
        is_contested(&again.view, again.program.features),
        Held::find(again.view.placeholders()).ok()?,
    )
    .ok()?;
    if let Ok(mut run) = waiting.begin(Arc::clone(&again.view), again.setting.clone()) {
        let _ = run.wait();
    }
    let mut text = Vec::new();
    said.read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}
