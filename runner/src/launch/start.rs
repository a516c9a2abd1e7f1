//! Starting a launcher with its streams and what it inherits, and nothing else.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::time::Instant;

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::child::{self, Mounts, Parent, Preparation};
use super::exit::ExitWatch;
use super::request::LaunchRequest;
use super::script::process_id;
use super::streams::{self, Side};
use super::terminal::Terminal;
use super::thread::Starter;
use super::{LaunchError, tree};
use crate::fixture::Inheritance;

/// A launcher that was started.
#[derive(Debug)]
pub(super) struct Started {
    /// The launcher's process id.
    pub(super) launcher: i32,
    /// Its end.
    pub(super) exit: ExitWatch,
    /// When it was started.
    pub(super) began: Instant,
    /// Where its input goes; none on a terminal, or with no input.
    pub(super) input: Option<File>,
    /// Its standard output; none on a terminal.
    pub(super) output: Option<File>,
    /// Its standard error; none on a terminal.
    pub(super) errors: Option<File>,
    /// Its terminal.
    pub(super) terminal: Option<Terminal>,
    /// The launcher, or the process in between.
    child: Child,
    between: Option<Between>,
    /// The thread that started it, where that is to end before the launcher.
    thread: Option<Starter>,
}

/// The runner's side of the process between it and the launcher.
#[derive(Debug)]
struct Between {
    report: File,
    hold: OwnedFd,
}

impl Started {
    /// Starts the launcher. A terminal, or a parent that is to be killed, asks
    /// for a process in between.
    pub(super) fn start(request: &LaunchRequest<'_>) -> Result<Started, LaunchError> {
        let (program, arguments) = request
            .command_line
            .split_first()
            .ok_or(LaunchError::Empty)?;
        let terminal = request.terminal.then(Terminal::open).transpose()?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&request.working_directory)
            .env_clear()
            .envs(
                request
                    .environment
                    .iter()
                    .map(|(name, value)| (name, value)),
            );
        match &terminal {
            Some(terminal) => command
                .stdin(terminal.stream()?)
                .stdout(terminal.stream()?)
                .stderr(terminal.stream()?),
            None => command
                .stdin(streams::place(request.streams.input.as_ref(), Side::Read)?)
                .stdout(streams::place(
                    request.streams.output.as_ref(),
                    Side::Write,
                )?)
                .stderr(streams::place(
                    request.streams.errors.as_ref(),
                    Side::Write,
                )?),
        };
        let places = Places::reserve(request.inherited)?;
        let mut preparation = preparation(request, &places)?;
        let mut theirs = None;
        let mut between = None;
        if request.terminal || request.during.iter().any(|action| action.kill_parent) {
            let (report, report_end) = pipe()?;
            let (hold_end, hold) = pipe()?;
            preparation.parent = Some(Parent {
                report: raw(&report_end),
                hold: raw(&hold_end),
                program: resolve(program, request)?,
                arguments: strings(request.command_line.iter().cloned())?,
                environment: strings(request.environment.iter().map(assignment))?,
            });
            theirs = Some((report_end, hold_end));
            between = Some(Between {
                report: File::from(report),
                hold,
            });
        }
        child::prepare(&mut command, preparation);

        let began = Instant::now();
        let gate = tree::starting();
        let (child, thread) = if request.during.iter().any(|action| action.end_thread) {
            let (child, thread) = Starter::spawn(command);
            (child, Some(thread))
        } else {
            let child = command.spawn();
            drop(command);
            (child, None)
        };
        drop(gate);
        let mut child = child.map_err(|source| failure(program, request, source))?;
        drop((places, theirs));
        let launcher = match &mut between {
            None => process_id(&child),
            Some(between) => match between.launcher() {
                Ok(launcher) => launcher,
                Err(source) => return Err(abandon(child, failure(program, request, source))),
            },
        };
        tree::began(launcher);
        let exit = match ExitWatch::new(launcher) {
            Ok(exit) => exit,
            Err(source) => {
                let error = LaunchError::system("watch a launcher")(source);
                return Err(abandon(child, error));
            }
        };
        let input = child.stdin.take().map(|stream| file(stream.into()));
        let output = child.stdout.take().map(|stream| file(stream.into()));
        let errors = child.stderr.take().map(|stream| file(stream.into()));
        for stream in [&input, &output, &errors].into_iter().flatten() {
            if let Err(error) = set_nonblocking(stream) {
                return Err(abandon(child, error));
            }
        }
        Ok(Started {
            launcher,
            exit,
            began,
            input: input.filter(|_| !request.stdin.is_empty()),
            output,
            errors,
            terminal,
            child,
            between,
            thread,
        })
    }

    /// Ends the thread that started the launcher.
    pub(super) fn end_thread(&mut self) {
        drop(self.thread.take());
    }

    /// The process in between, if any.
    pub(super) fn between(&self) -> Option<i32> {
        self.between.as_ref().map(|_| process_id(&self.child))
    }

    /// Waits for a launcher without a process in between, which has ended, so
    /// that no child of ours is left but what outlives it.
    pub(super) fn reap(&mut self) {
        if self.between.is_none() {
            // The status is kept by the child; `finish` asks again.
            let _ = self.child.wait();
        }
    }

    /// How the launcher ended. It has ended; the process in between goes with
    /// this, and with it the terminal's session.
    pub(super) fn finish(mut self) -> Option<ExitStatus> {
        let Some(between) = self.between else {
            return self.child.wait().ok();
        };
        drop(between.hold);
        let mut report = between.report;
        let status = read_number(&mut report).ok().map(ExitStatus::from_raw);
        let _ = self.child.wait();
        // Where its parent was killed, the launcher is our child by adoption.
        status.or_else(|| child::reap(self.launcher))
    }
}

impl Between {
    /// The launcher's process id, or why the program was not executed. All that
    /// is reported about the start is there once the spawn has returned: it
    /// waits until the launcher has executed its program or has ended.
    fn launcher(&mut self) -> io::Result<i32> {
        let launcher = read_number(&mut self.report)?;
        let mut polled = [PollFd::new(self.report.as_fd(), PollFlags::POLLIN)];
        if poll(&mut polled, PollTimeout::ZERO)? > 0 {
            let number = read_number(&mut self.report)?;
            return Err(io::Error::from_raw_os_error(number));
        }
        Ok(launcher)
    }
}

/// Descriptors where the child finds them, and where nothing else of the
/// parent's comes to lie meanwhile.
struct Places {
    /// Duplicates above every wanted number, so that no step of the child's
    /// overwrites what a later one needs.
    sources: Vec<(OwnedFd, RawFd)>,
    /// The wanted numbers that were free, held so that the standard library's
    /// own pipe, by which a failed exec is told, does not land there.
    _reserved: Vec<OwnedFd>,
}

impl Places {
    fn reserve(inherited: &Inheritance) -> Result<Places, LaunchError> {
        let failed = LaunchError::system("duplicate a descriptor to be inherited");
        let wanted = inherited.descriptors.iter().map(|(wanted, _)| *wanted);
        let above = wanted.max().unwrap_or(2) + 1;
        let mut places = Places {
            sources: Vec::new(),
            _reserved: Vec::new(),
        };
        for (wanted, descriptor) in &inherited.descriptors {
            let source = child::duplicate(descriptor, above).map_err(&failed)?;
            places.sources.push((source, *wanted));
            let reserved = child::duplicate(descriptor, *wanted).map_err(&failed)?;
            places._reserved.push(reserved);
        }
        Ok(places)
    }
}

fn preparation(request: &LaunchRequest<'_>, places: &Places) -> Result<Preparation, LaunchError> {
    let inherited = request.inherited;
    let sources = places.sources.iter();
    let keys = inherited.keyring.iter().map(|(description, payload)| {
        let payload = payload.clone().into_bytes();
        string(description.clone().into()).map(|description| (description, payload))
    });
    Ok(Preparation {
        descriptors: sources
            .map(|(source, wanted)| (raw(source), *wanted))
            .collect(),
        keys: keys.collect::<Result<_, _>>()?,
        ignored: inherited
            .ignored_signals
            .iter()
            .map(|signal| *signal as i32)
            .collect(),
        blocked: inherited
            .blocked_signals
            .iter()
            .map(|signal| *signal as i32)
            .collect(),
        mounts: Mounts::new(
            strings(inherited.mounts.iter().map(Into::into))?,
            strings(inherited.binds.iter().map(|(at, _)| at.into()))?
                .into_iter()
                .zip(strings(
                    inherited.binds.iter().map(|(_, shown)| shown.into()),
                )?)
                .collect(),
        ),
        closed: streams::closed(request.streams),
        terminal: request.terminal,
        parent: None,
    })
}

/// Ends a child that cannot be watched.
fn abandon(mut child: Child, error: LaunchError) -> LaunchError {
    let _ = child.kill();
    let _ = child.wait();
    error
}

/// Tells a missing directory, and a kernel that takes no more keys, from a
/// missing program; the system's answer to the start does not.
fn failure(program: &OsStr, request: &LaunchRequest<'_>, source: io::Error) -> LaunchError {
    let directory = &request.working_directory;
    let about_keys = matches!(
        source.raw_os_error(),
        Some(libc::EDQUOT | libc::ENOSYS | libc::ENOTSUP)
    );
    if about_keys && !request.inherited.keyring.is_empty() {
        return LaunchError::system("add the fixture's keys to a session keyring")(source);
    }
    match std::fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => LaunchError::Start {
            program: program.to_string_lossy().into_owned(),
            source,
        },
        Ok(_) => LaunchError::WorkingDirectory {
            path: directory.clone(),
            source: io::ErrorKind::NotADirectory.into(),
        },
        Err(source) => LaunchError::WorkingDirectory {
            path: directory.clone(),
            source,
        },
    }
}

/// The program's path, searched as execvp(3) would in the launcher's own PATH.
fn resolve(program: &OsStr, request: &LaunchRequest<'_>) -> Result<CString, LaunchError> {
    if program.as_bytes().contains(&b'/') {
        return string(program.to_owned());
    }
    let path = request.environment.iter().rev();
    let path = path.clone().find(|(name, _)| name == "PATH");
    let path = path.map_or(OsStr::new("/bin:/usr/bin"), |(_, value)| value);
    let found = which::which_in(program, Some(path), &request.working_directory);
    let found =
        found.map_err(|_| failure(program, request, io::Error::from(io::ErrorKind::NotFound)))?;
    string(found.into_os_string())
}

fn assignment((name, value): &(OsString, OsString)) -> OsString {
    let mut text = name.clone();
    text.push("=");
    text.push(value);
    text
}

fn strings(texts: impl Iterator<Item = OsString>) -> Result<Vec<CString>, LaunchError> {
    texts.map(string).collect()
}

fn string(text: OsString) -> Result<CString, LaunchError> {
    CString::new(text.into_vec()).map_err(|error| LaunchError::System {
        action: "hand on a text that holds a zero byte",
        source: error.into(),
    })
}

fn read_number(report: &mut File) -> io::Result<i32> {
    let mut bytes = [0; 4];
    report.read_exact(&mut bytes)?;
    Ok(i32::from_ne_bytes(bytes))
}

fn file(descriptor: OwnedFd) -> File {
    File::from(descriptor)
}

fn raw(descriptor: &OwnedFd) -> RawFd {
    std::os::fd::AsRawFd::as_raw_fd(descriptor)
}

/// A pipe whose ends are closed by exec: the reading end, the writing end.
pub(super) fn pipe() -> Result<(OwnedFd, OwnedFd), LaunchError> {
    let failed = LaunchError::errno("make a pipe");
    let (reading, writing) = nix::unistd::pipe().map_err(&failed)?;
    for end in [&reading, &writing] {
        fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).map_err(&failed)?;
    }
    Ok((reading, writing))
}

/// Makes reads and writes return at once.
pub(super) fn set_nonblocking(descriptor: &impl AsFd) -> Result<(), LaunchError> {
    let failed = LaunchError::errno("set up a stream");
    let flags = fcntl(descriptor, FcntlArg::F_GETFL).map_err(&failed)?;
    let flags = OFlag::from_bits_retain(flags) | OFlag::O_NONBLOCK;
    fcntl(descriptor, FcntlArg::F_SETFL(flags)).map_err(&failed)?;
    Ok(())
}
