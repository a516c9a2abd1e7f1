//! One command to launch.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::streams::Streams;
use super::{
    Child, Exit, LaunchError, Launcher, Refusal, Stdio, backend, directory, program, unconfined,
};
use crate::environment;
use crate::faults::{self, Asked, Protection};
use crate::view::View;

/// One command to launch. Made by [`Launcher::command`].
#[derive(Debug)]
pub struct Command<'launcher> {
    pub(super) launcher: &'launcher Launcher,
    pub(super) words: Vec<OsString>,
    pub(super) directory: Option<PathBuf>,
    variables: Vec<(OsString, OsString)>,
    streams: [Stdio; 3],
    pub(super) terminal: bool,
}

/// What a command wrote, and how it ended.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub exit: Exit,
    /// What it wrote to its standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to its standard error.
    pub stderr: Vec<u8>,
}

impl<'launcher> Command<'launcher> {
    pub(super) fn new(launcher: &'launcher Launcher, program: OsString) -> Command<'launcher> {
        Command {
            launcher,
            words: vec![program],
            directory: None,
            variables: Vec::new(),
            streams: Default::default(),
            terminal: false,
        }
    }

    /// Adds an argument.
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Self {
        self.words.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args(&mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        self.words.extend(
            arguments
                .into_iter()
                .map(|argument| argument.as_ref().to_owned()),
        );
        self
    }

    /// The directory to start in; a relative one is taken from the workspace, which is
    /// also the default. It has to be visible inside, and makes nothing visible.
    pub fn current_dir(&mut self, directory: impl AsRef<Path>) -> &mut Self {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets a variable.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.variables
            .push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Sets variables, such as those that an environment document resolves to. Later
    /// ones win.
    pub fn environment(
        &mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> &mut Self {
        self.variables.extend(variables);
        self
    }

    /// The command's standard input.
    pub fn stdin(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.streams[0] = stream.into();
        self
    }

    /// The command's standard output.
    pub fn stdout(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.streams[1] = stream.into();
        self
    }

    /// The command's standard error.
    pub fn stderr(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.streams[2] = stream.into();
        self
    }

    /// Whether the command gets a terminal of its own, for interactive use: the streams
    /// that are on the caller's terminal are then on one that is connected to it. Where
    /// the standard input is no terminal, nothing changes.
    pub fn terminal(&mut self, terminal: bool) -> &mut Self {
        self.terminal = terminal;
        self
    }

    /// Starts the command. The streams are used up; another start inherits them.
    ///
    /// When this returns, the sandbox's first process was seen to be in namespaces of
    /// its own. What goes wrong afterwards, [`Child::wait`] tells.
    ///
    /// # Errors
    /// [`LaunchError`] where the command cannot be confined as the policy says. A
    /// program that is not there is no error: see [`Child::refusal`].
    pub fn spawn(&mut self) -> Result<Child, LaunchError> {
        faults::asked(Asked {
            words: &mut self.words,
            variables: &mut self.variables,
            directory: &mut self.directory,
            streams: &mut self.streams,
            terminal: &mut self.terminal,
        });
        let streams = Streams::open(std::mem::take(&mut self.streams))
            .map_err(|error| LaunchError::system("open the command's streams", error))?;
        if self.launcher.is_confined() {
            streams.refuse_places()?;
        }
        let Streams {
            mut inner,
            stdin,
            stdout,
            stderr,
        } = streams;
        let mut child = match &self.launcher.confinement {
            Some(confinement) => {
                let launch = confinement.spawn(self, &mut inner);
                faults::launched(launch, || self.spawn_unconfined(Default::default()))?
            }
            None => self.spawn_unconfined(inner)?,
        };
        (child.stdin, child.stdout, child.stderr) = (stdin, stdout, stderr);
        Ok(child)
    }

    fn spawn_unconfined(&self, streams: [Option<OwnedFd>; 3]) -> Result<Child, LaunchError> {
        let directory = directory::spelled(self.directory.as_deref(), &self.launcher.workspace);
        directory::check_unconfined(&directory)?;
        let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        variables.extend(self.variables.iter().cloned());
        let variables = variables.into_iter().collect();
        Ok(
            match unconfined::start(&self.words, &directory, variables, streams)? {
                Ok(child) => Child::unconfined(child),
                Err(exit) => Child::ended(exit),
            },
        )
    }

    /// Starts the command and waits for it.
    ///
    /// # Errors
    /// As [`Command::spawn`] and [`Child::wait`].
    pub fn status(&mut self) -> Result<Exit, LaunchError> {
        self.spawn()?.wait()
    }

    /// Starts the command with nothing to read, and collects what it writes.
    ///
    /// # Errors
    /// As [`Command::spawn`] and [`Child::wait`].
    pub fn output(&mut self) -> Result<Output, LaunchError> {
        if matches!(self.streams[0], Stdio::Inherit) {
            self.streams[0] = Stdio::Null;
        }
        self.streams[1] = Stdio::Piped;
        self.streams[2] = Stdio::Piped;
        let mut child = self.spawn()?;
        let stderr = child.stderr.take().map(|mut stream| {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                stream.read_to_end(&mut text).map(|_| text)
            })
        });
        let mut stdout = Vec::new();
        if let Some(mut stream) = child.stdout.take() {
            stream
                .read_to_end(&mut stdout)
                .map_err(|error| LaunchError::system("read the command's output", error))?;
        }
        let stderr = match stderr.map(std::thread::JoinHandle::join) {
            Some(Ok(Ok(text))) => text,
            _ => Vec::new(),
        };
        Ok(Output {
            exit: child.wait()?,
            stdout,
            stderr,
        })
    }

    pub(super) fn plan(&self) -> Result<Vec<OsString>, LaunchError> {
        match &self.launcher.confinement {
            Some(confinement) => confinement.plan(self),
            None => Ok(self.words.clone()),
        }
    }

    /// The directory to start in, as the command will spell it, seen to be there inside.
    pub(super) fn directory_inside(&self, view: &View) -> Result<PathBuf, LaunchError> {
        let directory = directory::spelled(self.directory.as_deref(), &self.launcher.workspace);
        if faults::has(Protection::Directory) {
            directory::check(view, &directory)?;
        }
        Ok(directory)
    }

    /// The command's variables, without those that say where it is.
    pub(super) fn variables_inside(
        &self,
        view: &View,
    ) -> Result<BTreeMap<OsString, OsString>, LaunchError> {
        let posture = self.launcher.policy.posture;
        let mut variables =
            environment::base(posture, view.private_directories(), std::env::vars_os());
        backend::adjust(&mut variables, posture, view);
        variables.remove(OsStr::new("PWD"));
        variables.remove(OsStr::new("OLDPWD"));
        for (name, value) in &self.variables {
            if name.is_empty() || name.as_bytes().contains(&b'=') {
                return Err(LaunchError::Variable { name: name.clone() });
            }
            variables.insert(name.clone(), value.clone());
        }
        Ok(variables)
    }

    /// Whether the program is there to be executed, from inside.
    pub(super) fn find(
        &self,
        view: &View,
        directory: &Path,
        search: Option<&OsStr>,
    ) -> Result<(), Refusal> {
        if !faults::has(Protection::Lookup) {
            return Ok(());
        }
        program::check(view, &self.words[0], directory, search)
    }
}
