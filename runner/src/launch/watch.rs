//! Watching a launcher from its start to the end of its tree: one thread, one
//! poll loop.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::capture::{Capture, Kept};
use super::exit::timeout_until;
use super::request::{LaunchRequest, Launched};
use super::script::{Act, HostCommand, Script};
use super::start::Started;
use super::{LaunchError, tree};
use crate::observe::observation::{Ending, LaunchObservation, Leftover};

/// How much is read of a stream after the launcher's end: the most that a pipe
/// can hold (pipe(7), `/proc/sys/fs/pipe-max-size`), so that a process which
/// goes on writing cannot hold us.
const DRAINED: usize = 1 << 20;

/// Starts a launcher, watches it to its end or to the deadline, and leaves
/// nothing of it running.
pub fn launch(request: &LaunchRequest<'_>) -> Result<Launched, LaunchError> {
    tree::adopt().map_err(LaunchError::system("adopt orphaned processes"))?;
    let script = Script::new(request)?;
    let started = Started::start(request)?;
    let mut watch = Watch {
        request,
        script,
        capture: Capture::new(request.start_line.as_deref(), request.terminal),
        errors: Kept::default(),
        input: request.stdin.clone(),
        output_ended: false,
        host: None,
        host_groups: Vec::new(),
        ended: None,
        buffer: vec![0; 64 << 10],
        started,
    };
    let outcome = match watch.run() {
        Ok(()) => Ok(watch.finish()),
        Err(error) => {
            tree::kill_descendants(request.own_processes);
            Err(error)
        }
    };
    // A launch that was ended by `end_all` never returns: what it saw is not
    // the launcher's doing, and its process is about to exit.
    drop(tree::starting());
    outcome
}

struct Watch<'a> {
    request: &'a LaunchRequest<'a>,
    started: Started,
    script: Script<'a>,
    capture: Capture,
    errors: Kept,
    /// What is still to be read by the launcher or typed into its terminal.
    input: Vec<u8>,
    /// Whether no more output can come: the stream is at its end, or the
    /// terminal was hung up, which says EIO.
    output_ended: bool,
    host: Option<HostCommand>,
    host_groups: Vec<i32>,
    /// How long the launcher ran, once it has ended.
    ended: Option<Duration>,
    buffer: Vec<u8>,
}

/// Why poll may return.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Exit,
    Output,
    Errors,
    Input,
    HostExit,
    HostErrors,
}

impl Watch<'_> {
    /// Until the launcher and the host's actions have ended, or the deadline
    /// has passed.
    fn run(&mut self) -> Result<(), LaunchError> {
        let deadline = self.started.began + self.request.deadline;
        if self.request.start_line.is_none() {
            self.script.start();
        }
        loop {
            self.act()?;
            if self.ended.is_some() && self.host.is_none() {
                return Ok(());
            }
            if Instant::now() >= deadline {
                // What the host does meanwhile waits for what the command does: where
                // that never comes, the launch has not come to its end.
                if let Some(host) = self.host.take() {
                    host.give_up();
                    self.ended = None;
                }
                return Ok(());
            }
            for source in self.wait(deadline)? {
                self.handle(source)?;
            }
        }
    }

    /// Waits for any source until the deadline.
    fn wait(&self, deadline: Instant) -> Result<Vec<Source>, LaunchError> {
        let mut sources = Vec::with_capacity(6);
        let mut polled = Vec::with_capacity(6);
        let mut add = |source, descriptor, flags| {
            sources.push(source);
            polled.push(PollFd::new(descriptor, flags));
        };
        let (input, output) = (PollFlags::POLLIN, PollFlags::POLLOUT);
        if self.ended.is_none() {
            match self.started.exit.as_fd() {
                Some(exit) => add(Source::Exit, exit, input),
                None => return Ok(vec![Source::Exit]),
            }
            if let Some(stream) = self.output().filter(|_| !self.output_ended) {
                add(Source::Output, stream.as_fd(), input);
            }
            if let Some(stream) = &self.started.errors {
                add(Source::Errors, stream.as_fd(), input);
            }
            if let Some(stream) = self.input_stream().filter(|_| !self.input.is_empty()) {
                add(Source::Input, stream.as_fd(), output);
            }
        }
        if let Some(host) = &self.host {
            match host.exit.as_fd() {
                Some(exit) => add(Source::HostExit, exit, input),
                None => return Ok(vec![Source::HostExit]),
            }
            if !host.errors_ended {
                add(Source::HostErrors, host.errors.as_fd(), input);
            }
        }
        match poll(&mut polled, timeout_until(deadline)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(LaunchError::errno("watch a launcher")(errno)),
        }
        let ready = polled.iter().zip(sources);
        let ready = ready.filter(|(polled, _)| polled.any().unwrap_or(false));
        // The exit comes last: what was written before it is read before it.
        let mut ready: Vec<Source> = ready.map(|(_, source)| source).collect();
        ready.sort_by_key(|source| *source == Source::Exit);
        Ok(ready)
    }

    fn handle(&mut self, source: Source) -> Result<(), LaunchError> {
        match source {
            Source::Output => {
                self.read_output();
            }
            Source::Errors => {
                self.read_errors();
            }
            Source::Input => self.write_input(),
            Source::Exit => {
                self.ended = Some(self.started.began.elapsed());
                self.drain();
                self.started.input = None;
            }
            Source::HostErrors => {
                if let Some(host) = &mut self.host {
                    host.read();
                }
            }
            Source::HostExit => {
                if let Some(host) = self.host.take() {
                    host.finish()?;
                }
            }
        }
        Ok(())
    }

    /// Does what is due, up to a host command, which must end first.
    fn act(&mut self) -> Result<(), LaunchError> {
        while self.host.is_none() {
            let Some(act) = self.script.take()? else {
                return Ok(());
            };
            match act {
                Act::Host(command) => {
                    let host = HostCommand::start(command, self.request)?;
                    self.host_groups.push(host.group());
                    self.host = Some(host);
                }
                // The launcher is gone; its number may be another's.
                _ if self.ended.is_some() => {}
                Act::Signal(signal) => send(self.started.launcher, signal)?,
                Act::Type(text) => self.input.extend_from_slice(text.as_bytes()),
                Act::EndThread => self.started.end_thread(),
                Act::KillParent => {
                    if let Some(between) = self.started.between() {
                        send(between, Signal::SIGKILL)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn output(&self) -> Option<&File> {
        let terminal = self.started.terminal.as_ref();
        self.started
            .output
            .as_ref()
            .or(terminal.map(|terminal| &terminal.user))
    }

    fn input_stream(&self) -> Option<&File> {
        let terminal = self.started.terminal.as_ref();
        self.started
            .input
            .as_ref()
            .or(terminal.map(|terminal| &terminal.user))
    }

    /// Reads once; how much came, nothing at the end or when none waits.
    fn read_output(&mut self) -> usize {
        let mut buffer = std::mem::take(&mut self.buffer);
        let result = self
            .output()
            .map_or(Ok(0), |mut file| file.read(&mut buffer));
        let length = match result {
            Ok(0) => {
                self.output_ended = true;
                0
            }
            Ok(length) => {
                let had_started = self.capture.started();
                let script = &mut self.script;
                if script.heeds_lines() || !self.capture.is_begun() {
                    let heed = |line: &[u8]| script.line(line);
                    self.capture.push(&buffer[..length], heed);
                } else {
                    self.capture.push_unheeded(&buffer[..length]);
                }
                if !had_started && self.capture.started() {
                    self.script.start();
                }
                length
            }
            Err(error) => {
                self.output_ended |= !passing(&error);
                0
            }
        };
        self.buffer = buffer;
        length
    }

    /// The same for the standard error.
    fn read_errors(&mut self) -> usize {
        let Some(mut file) = self.started.errors.as_ref() else {
            return 0;
        };
        match file.read(&mut self.buffer) {
            Ok(0) => self.started.errors = None,
            Ok(length) => {
                self.errors.push(&self.buffer[..length]);
                return length;
            }
            Err(error) if passing(&error) => {}
            Err(_) => self.started.errors = None,
        }
        0
    }

    /// Reads what both streams hold.
    fn drain(&mut self) {
        for read in [Self::read_output, Self::read_errors] {
            let mut total = 0;
            while total < DRAINED {
                match read(self) {
                    0 => break,
                    length => total += length,
                }
            }
        }
    }

    /// Writes what fits; the pipe is closed after the last of it.
    fn write_input(&mut self) {
        let result = self
            .input_stream()
            .map_or(Ok(0), |mut file| file.write(&self.input));
        match result {
            Ok(length) => {
                self.input.drain(..length);
            }
            Err(error) if passing(&error) => {}
            // Nobody reads it any more.
            Err(_) => self.input.clear(),
        }
        if self.input.is_empty() {
            self.started.input = None;
        }
    }

    /// Looks at what outlived the launcher, and ends it.
    fn finish(mut self) -> Launched {
        let own = self.request.own_processes.iter().copied();
        // The launcher and its parent are waited for at the very end: they
        // hold the status and the terminal.
        let ended = [self.started.launcher]
            .into_iter()
            .chain(self.started.between());
        let kept: Vec<i32> = own.chain(ended).collect();
        let mut leftovers = Vec::new();
        if self.ended.is_some() {
            self.started.reap();
            leftovers = tree::survivors(&kept, self.request.grace);
        }
        let typed = self
            .started
            .terminal
            .as_ref()
            .map(|terminal| terminal.typed());
        let milliseconds = self.ended.unwrap_or_else(|| self.started.began.elapsed());
        let ending = if self.ended.is_some() {
            if !leftovers.is_empty() {
                tree::kill_descendants(&kept);
            }
            ending(self.started.finish())
        } else {
            tree::kill_descendants(self.request.own_processes);
            self.drain();
            self.started.finish();
            Ending::TimedOut
        };
        let host_groups = self.host_groups;
        let leftovers = leftovers
            .into_iter()
            .filter(|process| !host_groups.contains(&process.group))
            .map(Leftover::from)
            .collect();
        let (started, preamble, output) = self.capture.finish();
        let arguments = self.request.command_line.iter();
        Launched {
            observation: LaunchObservation {
                command_line: arguments
                    .map(|argument| argument.to_string_lossy().into_owned())
                    .collect(),
                started,
                proves_start: self.request.start_line.is_some(),
                ending,
                preamble,
                output,
                error_output: self.errors.into_text(),
                milliseconds: milliseconds.as_secs_f64() * 1000.0,
                tries: None,
            },
            leftovers,
            typed: typed.unwrap_or_default(),
        }
    }
}

/// Whether a stream has merely nothing for us now.
fn passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

fn send(pid: i32, signal: Signal) -> Result<(), LaunchError> {
    match kill(Pid::from_raw(pid), signal) {
        // It has ended meanwhile.
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(errno) => Err(LaunchError::errno("signal a launcher")(errno)),
    }
}

/// The status as observations have it. It is unknown only on macOS, for a
/// launcher whose parent was killed: nobody but its parent can learn it there.
fn ending(status: Option<ExitStatus>) -> Ending {
    let signal = status.and_then(|status| status.signal());
    let code = status.and_then(|status| status.code());
    signal.map_or_else(
        || Ending::Exited(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(255)),
        Ending::Signalled,
    )
}
