//! One run of sandbox-exec, which becomes the command, to the end of everything in it.
//!
//! What ends with it: the command's session, and every process in its sandbox, however
//! it left that session; see [`Mark`]. What a service outside started on its behalf is in
//! no sandbox of ours; the profile allows to speak to none that would.

use std::ffi::{CString, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use nix::errno::Errno;
use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};
use nix::sys::signal::{Signal, killpg};
use nix::sys::termios::Termios;
use nix::unistd::{AccessFlags, Pid, access};

use super::janitor_macos::Janitor;
use super::{PROGRAM, Private, SeatbeltError};
use crate::launcher::LaunchError;
use crate::unsafe_spawn::{Mark, end_all, is_sandboxed, prepare, program_of};
use crate::view::{MARK, View};

/// sandbox-exec's status for a profile that it cannot read (`EX_DATAERR`, sysexits(3)).
const PROFILE_REFUSED: i32 = 65;

/// Its status for what the system does not let it do (`EX_OSERR`): a second sandbox, or
/// a program that cannot be executed.
const SYSTEM_REFUSED: i32 = 71;

/// Whether commands can be confined here at all, told without trying.
///
/// # Errors
/// [`SeatbeltError::Missing`], [`SeatbeltError::Nested`].
pub(crate) fn check() -> Result<(), SeatbeltError> {
    if access(PROGRAM, AccessFlags::X_OK).is_err() {
        return Err(SeatbeltError::Missing {
            program: PROGRAM.into(),
        });
    }
    if is_sandboxed() {
        return Err(SeatbeltError::Nested);
    }
    Ok(())
}

/// What to run, and in what.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) profile: String,
    pub(crate) words: Vec<OsString>,
    pub(crate) directory: PathBuf,
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// Whether the command's standard input is a terminal of its own.
    pub(crate) terminal: bool,
    /// The caller's terminal and its settings.
    pub(crate) restore: Option<(OwnedFd, Termios)>,
    pub(crate) private: Private,
}

/// A sandbox that was begun.
#[derive(Debug)]
pub(crate) struct Run {
    child: Child,
    status: Option<ExitStatus>,
    events: Events,
    profile: String,
    mark: Mark,
    killed: bool,
    // In this order: nothing is left when the janitor goes, nor when its directory does.
    janitor: Option<Janitor>,
    private: Option<Private>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The command ended with this status.
    Code(u8),
    /// It was ended from outside.
    Killed,
}

impl Run {
    /// Starts the command in its sandbox.
    pub(crate) fn begin(
        start: Start,
        view: &View,
        streams: [Option<OwnedFd>; 3],
    ) -> Result<Run, LaunchError> {
        let private = start.private;
        let directories = view.private_directories();
        private
            .furnish(directories)
            .map_err(|error| LaunchError::system("make the private directory", error))?;
        let mark = Mark {
            writable: c_string(directories.temporary.join("file"))?,
            hidden: c_string(private.path().join(MARK))?,
        };
        let janitor = Janitor::start(&mark, private.path(), start.restore)
            .map_err(|error| LaunchError::system("start the janitor", error))?;
        let mut command = sandbox_exec(&start.profile);
        command
            .args(&start.words)
            .env_clear()
            .envs(start.variables)
            .env("PWD", &start.directory)
            .current_dir(&start.directory);
        let [stdin, stdout, stderr] = streams;
        stdin.map(|stream| command.stdin(stream));
        stdout.map(|stream| command.stdout(stream));
        stderr.map(|stream| command.stderr(stream));
        prepare(&mut command, start.terminal, janitor.announce());
        let mut child = command.spawn().map_err(|source| LaunchError::Start {
            program: PROGRAM.into(),
            source,
        })?;
        let events = match Events::of(process_id(&child)) {
            Ok(events) => events,
            Err(error) => {
                let _ = child.kill();
                end_all(process_id(&child).as_raw(), &mark);
                let _ = child.wait();
                return Err(LaunchError::system("watch the command", error.into()));
            }
        };
        Ok(Run {
            child,
            status: None,
            events,
            profile: start.profile,
            mark,
            killed: false,
            janitor: Some(janitor),
            private: Some(private),
        })
    }

    /// The command's process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// A descriptor that is readable when there may be news: see [`Run::has_ended`].
    pub(crate) fn events(&self) -> BorrowedFd<'_> {
        self.events.queue.as_fd()
    }

    /// Looks at the news of [`Run::events`]: whether the command has ended.
    pub(crate) fn has_ended(&mut self) -> Result<bool, LaunchError> {
        self.events.read(false)?;
        Ok(self.events.ended)
    }

    /// Waits for the command, and for everything that it left behind to be gone.
    pub(crate) fn wait(&mut self) -> Result<End, LaunchError> {
        while !self.events.ended {
            self.events.read(true)?;
        }
        let status = self.end()?;
        self.janitor = None;
        self.private = None;
        if self.killed {
            return Ok(End::Killed);
        }
        self.judge(status)
    }

    /// Whether a status is the command's own. sandbox-exec says on the command's standard
    /// error why it could not begin; to hear it too, the same is tried again with a
    /// command that does nothing.
    fn judge(&self, status: ExitStatus) -> Result<End, LaunchError> {
        let own = End::Code(match (status.code(), status.signal()) {
            (Some(code), _) => u8::try_from(code & 0xff).unwrap_or(u8::MAX),
            (None, signal) => 128u8.wrapping_add(u8::try_from(signal.unwrap_or(0)).unwrap_or(0)),
        });
        if self.events.began {
            return Ok(own);
        }
        let rehearsal = sandbox_exec(&self.profile)
            .arg("/usr/bin/true")
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .output()
            .map_err(|source| LaunchError::Start {
                program: PROGRAM.into(),
                source,
            })?;
        let said = String::from_utf8_lossy(&rehearsal.stderr).trim().to_owned();
        match rehearsal.status.code() {
            // It began and ended before anyone looked.
            Some(0) if !self.events.in_time || status.code() != Some(SYSTEM_REFUSED) => Ok(own),
            Some(0) => Err(LaunchError::Execute {
                cause: "the program could not be started, and is there".to_owned(),
                remedy: "look whether it is made for this machine, and whether its interpreter \
                         is readable inside"
                    .to_owned(),
            }),
            Some(PROFILE_REFUSED) => Err(SeatbeltError::Refused { said }.into()),
            Some(SYSTEM_REFUSED) if said.contains("sandbox_apply") => {
                Err(SeatbeltError::Nested.into())
            }
            _ => Err(SeatbeltError::Failed {
                status: rehearsal.status.to_string(),
                said,
            }
            .into()),
        }
    }

    /// Sends a signal to the command's process group, as a terminal would.
    pub(crate) fn signal(&mut self, signal: Signal) {
        if self.status.is_none() && killpg(process_id(&self.child), signal).is_err() {
            self.kill();
        }
    }

    /// Ends everything in the sandbox at once.
    pub(crate) fn kill(&mut self) {
        if self.status.is_none() {
            self.killed = true;
            let _ = self.child.kill();
            end_all(process_id(&self.child).as_raw(), &self.mark);
        }
    }

    /// Ends what the command left behind, then lets go of its process id.
    fn end(&mut self) -> Result<ExitStatus, LaunchError> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        end_all(process_id(&self.child).as_raw(), &self.mark);
        let status = match self.child.wait() {
            Ok(status) => status,
            // A caller that ignores SIGCHLD has its children reaped by the kernel.
            Err(error) if error.raw_os_error() == Some(Errno::ECHILD as i32) => {
                ExitStatus::from_raw(0)
            }
            Err(error) => return Err(LaunchError::system("wait for the command", error)),
        };
        self.status = Some(status);
        Ok(status)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.kill();
            let _ = self.end();
        }
    }
}

/// What the kernel tells of the command's process.
#[derive(Debug)]
struct Events {
    queue: Kqueue,
    /// Whether it was watched before it could have ended.
    in_time: bool,
    /// Whether sandbox-exec has become the command.
    began: bool,
    ended: bool,
}

impl Events {
    fn of(pid: Pid) -> Result<Events, Errno> {
        let queue = Kqueue::new()?;
        let ident = usize::try_from(pid.as_raw()).map_err(|_| Errno::ESRCH)?;
        let change = KEvent::new(
            ident,
            EventFilter::EVFILT_PROC,
            EvFlags::EV_ADD | EvFlags::EV_CLEAR,
            FilterFlag::NOTE_EXEC | FilterFlag::NOTE_EXIT,
            0,
            0,
        );
        let in_time = match queue.kevent(&[change], &mut [], None) {
            Ok(_) => true,
            Err(Errno::ESRCH) => false,
            Err(error) => return Err(error),
        };
        // From now on nothing is missed; what it became before shows by its program.
        let began = program_of(pid.as_raw())
            .is_some_and(|program| program.as_slice() != PROGRAM.as_bytes());
        Ok(Events {
            queue,
            in_time,
            began,
            ended: !in_time,
        })
    }

    fn read(&mut self, wait: bool) -> Result<(), LaunchError> {
        let now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let nothing = KEvent::new(
            0,
            EventFilter::EVFILT_USER,
            EvFlags::empty(),
            FilterFlag::empty(),
            0,
            0,
        );
        let mut told = [nothing; 4];
        let count = match self
            .queue
            .kevent(&[], &mut told, if wait { None } else { Some(now) })
        {
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
            Err(error) => return Err(LaunchError::system("watch the command", error.into())),
        };
        for event in &told[..count] {
            self.began |= event.fflags().contains(FilterFlag::NOTE_EXEC);
            self.ended |= event.fflags().contains(FilterFlag::NOTE_EXIT);
        }
        Ok(())
    }
}

fn sandbox_exec(profile: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["-p", profile, "--"]);
    command
}

fn process_id(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX))
}

fn c_string(path: impl AsRef<Path>) -> Result<CString, LaunchError> {
    let path = path.as_ref().as_os_str();
    CString::new(path.as_bytes()).map_err(|_| LaunchError::Nul {
        text: path.to_owned(),
    })
}
