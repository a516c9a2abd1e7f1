//! What the host does while a command runs: actions in order, each at the
//! command's start or after a line of its output.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::str::FromStr;

use nix::sys::signal::Signal;

use super::capture::Kept;
use super::exit::ExitWatch;
use super::request::LaunchRequest;
use super::start::set_nonblocking;
use super::{LaunchError, tree};
use crate::corpus::case::During;

/// What an action asks of the launch itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// A signal for the launcher.
    Signal(Signal),
    /// Text for the terminal.
    Type(String),
    /// The end of the launcher's parent.
    KillParent,
    /// The end of the thread that started the launcher.
    EndThread,
    /// A shell command on the host.
    Host(String),
}

/// The actions of a launch and how far they are.
#[derive(Debug)]
pub(super) struct Script<'a> {
    actions: &'a [During],
    /// Which actions' moment has come.
    due: Vec<bool>,
    next: usize,
}

impl<'a> Script<'a> {
    /// Refuses what can never be done, before anything is started.
    pub(super) fn new(request: &LaunchRequest<'a>) -> Result<Script<'a>, LaunchError> {
        for action in request.during {
            if let Some(name) = &action.signal {
                signal(name)?;
            }
            if action.typed.is_some() && !request.terminal {
                return Err(LaunchError::NoTerminal);
            }
        }
        Ok(Script {
            actions: request.during,
            due: vec![false; request.during.len()],
            next: 0,
        })
    }

    /// The command has started.
    pub(super) fn start(&mut self) {
        for (due, action) in self.due.iter_mut().zip(self.actions) {
            *due |= action.after.is_none();
        }
    }

    /// The command has written a line.
    pub(super) fn line(&mut self, line: &[u8]) {
        for (due, action) in self.due.iter_mut().zip(self.actions).skip(self.next) {
            *due |= action.after.as_deref().map(str::as_bytes) == Some(line);
        }
    }

    /// Whether any action waits for a line.
    pub(super) fn heeds_lines(&self) -> bool {
        let waiting = self.due.iter().zip(self.actions).skip(self.next);
        waiting
            .into_iter()
            .any(|(due, action)| !due && action.after.is_some())
    }

    /// The next action whose moment has come, if those before it are done.
    pub(super) fn take(&mut self) -> Result<Option<Act>, LaunchError> {
        let Some(action) = self.actions.get(self.next) else {
            return Ok(None);
        };
        if !self.due[self.next] {
            return Ok(None);
        }
        self.next += 1;
        Ok(Some(if let Some(name) = &action.signal {
            Act::Signal(signal(name)?)
        } else if let Some(command) = &action.host {
            Act::Host(command.clone())
        } else if let Some(text) = &action.typed {
            Act::Type(text.clone())
        } else if action.kill_parent {
            Act::KillParent
        } else {
            Act::EndThread
        }))
    }
}

/// A signal by its name without `SIG`.
fn signal(name: &str) -> Result<Signal, LaunchError> {
    Signal::from_str(&format!("SIG{name}")).map_err(|_| LaunchError::UnknownSignal {
        name: name.to_owned(),
    })
}

/// A shell command of the host, while it runs.
#[derive(Debug)]
pub(super) struct HostCommand {
    text: String,
    child: Child,
    pub(super) exit: ExitWatch,
    pub(super) errors: ChildStderr,
    pub(super) errors_ended: bool,
    kept: Kept,
}

impl HostCommand {
    /// Starts it as the leader of its own process group, by which what it
    /// leaves behind is told from the launcher's processes.
    pub(super) fn start(
        text: String,
        request: &LaunchRequest<'_>,
    ) -> Result<HostCommand, LaunchError> {
        let failed = |source| LaunchError::Start {
            program: "bash".to_owned(),
            source,
        };
        let environment = request.host_environment.iter();
        let gate = tree::starting();
        let mut child = Command::new("bash")
            .arg("-c")
            .arg(&text)
            .current_dir(&request.host_directory)
            .env_clear()
            .envs(environment.map(|(name, value)| (name, value)))
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        drop(gate);
        let errors = child
            .stderr
            .take()
            .ok_or_else(|| failed(std::io::Error::other("its standard error is no pipe")))?;
        set_nonblocking(&errors)?;
        Ok(HostCommand {
            text,
            exit: ExitWatch::new(process_id(&child))
                .map_err(LaunchError::system("watch a host command"))?,
            child,
            errors,
            errors_ended: false,
            kept: Kept::default(),
        })
    }

    /// Its process group.
    pub(super) fn group(&self) -> i32 {
        process_id(&self.child)
    }

    /// Reads what it has written as errors.
    pub(super) fn read(&mut self) {
        let mut buffer = [0; 4096];
        loop {
            match self.errors.read(&mut buffer) {
                Ok(0) => self.errors_ended = true,
                Ok(length) => {
                    self.kept.push(&buffer[..length]);
                    continue;
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => self.errors_ended = true,
            }
            return;
        }
    }

    /// The deadline has passed before its end.
    pub(super) fn give_up(mut self) {
        // An error means that it has ended just now.
        let _ = self.child.kill();
    }

    /// After its end: what came of it.
    pub(super) fn finish(mut self) -> Result<(), LaunchError> {
        self.read();
        let status = self
            .child
            .wait()
            .map_err(LaunchError::system("wait for a host command"))?;
        if status.success() {
            return Ok(());
        }
        Err(LaunchError::HostCommand {
            command: self.text,
            ending: status.to_string(),
            output: shortened(self.kept),
        })
    }
}

fn shortened(kept: Kept) -> String {
    let text: String = kept.into_text().chars().take(1000).collect();
    text.trim_end().to_owned()
}

/// A child's process id as the system calls have it.
pub(super) fn process_id(child: &Child) -> i32 {
    // Process ids are positive and below 2^22 (proc(5), pid_max).
    i32::try_from(child.id()).unwrap_or(i32::MAX)
}
