//! A bubblewrap that was started and waits for its arguments.
//!
//! It takes as long to load as the view takes to be worked out, so the two are done at
//! once. Until it has its arguments it has done nothing, and can be sent away.

use std::ffi::{CString, OsString};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{
    AddressFamily, MsgFlags, Shutdown, SockFlag, SockType, send, shutdown, socketpair,
};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, pipe2};

use super::mounting::Mounting;
use super::process::{Begin, Run, Start};
use super::{BubblewrapError, LIMIT, Program, Setting, Sources, arguments};
use crate::faults;
use crate::launcher::{Held, LaunchError, spawn};
use crate::unsafe_spawn::{Group, Spawn};
use crate::view::View;

/// A bubblewrap that was started and waits for its arguments. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Waiting {
    program: Arc<Program>,
    command: Vec<OsString>,
    group: Group,
    process: Option<Pid>,
    held: Held,
    reports: OwnedFd,
    arguments: OwnedFd,
    gate: OwnedFd,
    /// Where the mounts are to be looked at.
    mounting: Option<Mounting>,
    /// The numbers, in bubblewrap, of what it reports to and of the gate.
    inside: [RawFd; 2],
}

impl Waiting {
    /// Starts bubblewrap for a command. `pins` are the descriptors that its arguments
    /// will name, and no others: whatever it does not use, the command would have. Where
    /// `contested`, the mounts are looked at before the command is let go. `held` is let
    /// go when the sandbox is gone.
    pub(crate) fn start(
        program: Arc<Program>,
        command: Vec<OsString>,
        group: Group,
        streams: [Option<OwnedFd>; 3],
        pins: &[RawFd],
        contested: bool,
        mut held: Held,
    ) -> Result<Waiting, LaunchError> {
        let system =
            |error: Errno| LaunchError::system("make the pipes to bubblewrap", error.into());
        let (reports, reports_inside) = pipe2(OFlag::O_CLOEXEC).map_err(system)?;
        let (arguments, arguments_inside) = channel().map_err(system)?;
        let (gate, gate_inside) = channel().map_err(system)?;
        let inside = [reports_inside.as_raw_fd(), gate_inside.as_raw_fd()];
        let mut inherited = pins.to_vec();
        inherited.push(arguments_inside.as_raw_fd());
        inherited.extend(inside);
        let (mounting, reader) = match contested {
            true => Mounting::new()
                .map_err(system)
                .map(|(end, reader)| (Some(end), Some(reader)))?,
            false => (None, None),
        };
        inherited.extend(reader.as_ref().map(AsRawFd::as_raw_fd));
        // The options go through a descriptor, where only bubblewrap can read them: a
        // command line is for everyone to see.
        let mut words: Vec<OsString> = vec![
            "bwrap".into(),
            "--args".into(),
            arguments_inside.as_raw_fd().to_string().into(),
            "--".into(),
        ];
        words.extend(command.iter().cloned());
        faults::words(&mut words);
        // Were one of them to end with this process, bubblewrap would go on.
        let announce = held.guard(&[arguments.as_fd(), gate.as_fd()])?;
        let request = Spawn {
            program: c_string(program.path.clone().into_os_string())?,
            arguments: words.into_iter().map(c_string).collect::<Result<_, _>>()?,
            streams,
            inherited,
            group,
            announce: Some(announce),
        };
        let process = spawn(request).map_err(|source| LaunchError::Start {
            program: program.path.clone(),
            source,
        })?;
        let process = Some(Pid::from_raw(process));
        Ok(Waiting {
            program,
            command,
            group,
            process,
            held,
            reports,
            arguments,
            gate,
            mounting,
            inside,
        })
    }

    /// Gives bubblewrap its arguments, and lets the command go once its sandbox was
    /// seen to be one.
    pub(crate) fn begin(mut self, view: Arc<View>, setting: Setting) -> Result<Run, LaunchError> {
        let features = self.program.features;
        let (list, _) = arguments(&view, &setting, features, Sources::Descriptors)?;
        // bubblewrap counts the command's words too.
        let count = list.len() + self.command.len();
        if count > LIMIT {
            return Err(BubblewrapError::TooMany {
                count,
                limit: LIMIT,
            }
            .into());
        }
        let text = self.text(&list)?;
        // One that has ended meanwhile says why when it is waited for.
        let _ = send_all(&self.arguments, &text);
        let _ = shutdown(self.arguments.as_raw_fd(), Shutdown::Write);
        let Some(process) = self.process.take() else {
            return Err(LaunchError::system("start bubblewrap", Errno::ESRCH.into()));
        };
        let start = Start {
            program: Arc::clone(&self.program),
            view,
            setting,
            command: std::mem::take(&mut self.command),
            group: self.group,
        };
        Run::begin(
            start,
            process,
            Begin {
                reports: self.reports.try_clone().map_err(LaunchError::reports)?,
                gate: &self.gate,
                mounting: self.mounting.take(),
                held: std::mem::take(&mut self.held),
            },
        )
    }

    fn text(&self, list: &[OsString]) -> Result<Vec<u8>, LaunchError> {
        let mut text = Vec::with_capacity(4096);
        for (option, descriptor) in ["--json-status-fd", "--block-fd"].iter().zip(self.inside) {
            text.extend_from_slice(format!("{option}\0{descriptor}\0").as_bytes());
        }
        let last = self.mounting.as_ref().map(Mounting::operation);
        for argument in list.iter().chain(last.iter().flatten()) {
            if argument.as_bytes().contains(&0) {
                return Err(LaunchError::Nul {
                    text: argument.clone(),
                });
            }
            text.extend_from_slice(argument.as_bytes());
            text.push(0);
        }
        Ok(text)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            let _ = kill(process, Signal::SIGKILL);
            while waitpid(process, None) == Err(Errno::EINTR) {}
        }
    }
}

/// Two connected ends. Sockets, since writing to one whose other end is gone can be told
/// not to raise SIGPIPE, which this program may not ignore.
fn channel() -> Result<(OwnedFd, OwnedFd), Errno> {
    socketpair(
        AddressFamily::Unix,
        SockType::Stream,
        None,
        SockFlag::SOCK_CLOEXEC,
    )
}

/// Writes everything, and raises no signal if nobody reads it any more.
pub(super) fn send_all(end: &OwnedFd, mut text: &[u8]) -> Result<(), Errno> {
    while !text.is_empty() {
        match send(end.as_raw_fd(), text, MsgFlags::MSG_NOSIGNAL) {
            Ok(length) => text = &text[length..],
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn c_string(text: OsString) -> Result<CString, LaunchError> {
    CString::new(text.into_vec()).map_err(|error| LaunchError::Nul {
        text: OsString::from_vec(error.into_vec()),
    })
}
