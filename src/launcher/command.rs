//! One command to launch.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::streams::Streams;
use super::terminal::Terminal;
use super::{
    Child, Confinement, Exit, Held, LaunchError, Launcher, Refusal, Stdio, directory, program,
    unconfined,
};
use crate::bubblewrap::{Setting, Sources, Waiting, arguments, pins};
use crate::environment;
use crate::faults::{self, Asked, Protection};
use crate::unsafe_spawn::Group;
use crate::view::View;

/// Starts a program with its standard input as the terminal that controls it: of
/// util-linux, and of busybox with the same option.
const TAKE_TERMINAL: [&str; 3] = ["setsid", "-c", "--"];

/// One command to launch. Made by [`Launcher::command`].
#[derive(Debug)]
pub struct Command<'launcher> {
    launcher: &'launcher Launcher,
    words: Vec<OsString>,
    directory: Option<PathBuf>,
    variables: Vec<(OsString, OsString)>,
    streams: [Stdio; 3],
    terminal: bool,
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
        let Streams {
            mut inner,
            stdin,
            stdout,
            stderr,
        } = Streams::open(std::mem::take(&mut self.streams))
            .map_err(|error| LaunchError::system("open the command's streams", error))?;
        let mut child = match &self.launcher.confinement {
            Some(confinement) => {
                let launch = self.spawn_confined(confinement, &mut inner);
                faults::launched(launch, || self.spawn_unconfined(Default::default()))?
            }
            None => self.spawn_unconfined(inner)?,
        };
        (child.stdin, child.stdout, child.stderr) = (stdin, stdout, stderr);
        Ok(child)
    }

    fn spawn_confined(
        &self,
        confinement: &Confinement,
        streams: &mut [Option<OwnedFd>; 3],
    ) -> Result<Child, LaunchError> {
        let program = &confinement.program;
        if let Some(pins) = self.early_pins(confinement) {
            // bubblewrap loads while the view is worked out. It is ended if that fails.
            let waiting = Waiting::start(
                Arc::clone(program),
                self.words.clone(),
                Group::Own,
                std::mem::take(streams),
                &pins,
                Held::default(),
            )?;
            let (view, setting) = match self.work_out(confinement)? {
                Ok(worked_out) => worked_out,
                Err(refusal) => return Ok(Child::refused(refusal)),
            };
            let run = waiting.begin(Arc::new(view), setting)?;
            return Ok(Child::confined(run, None));
        }
        let (view, mut setting) = match self.work_out(confinement)? {
            Ok(worked_out) => worked_out,
            Err(refusal) => return Ok(Child::refused(refusal)),
        };
        let mut words = self.words.clone();
        let terminal = if self.terminal {
            Terminal::open(streams)
        } else {
            Ok(None)
        }
        .map_err(|error| LaunchError::system("open a terminal for the command", error))?;
        let group = match terminal {
            Some(_) => {
                Self::take_terminal(&view, &mut setting, &mut words);
                Group::Session
            }
            None => Group::Own,
        };
        let mut held = Held::find(view.placeholders())?;
        held.restore(terminal.as_ref().and_then(Terminal::settings));
        let pins = pins(&view, &setting, program);
        let streams = std::mem::take(streams);
        let waiting = Waiting::start(Arc::clone(program), words, group, streams, &pins, held)?;
        let run = waiting.begin(Arc::new(view), setting)?;
        if let Some(terminal) = &terminal {
            terminal
                .begin()
                .map_err(|error| LaunchError::system("prepare the terminal", error))?;
        }
        Ok(Child::confined(run, terminal))
    }

    /// The descriptors that the launch will use, where they are known before the view
    /// is: a writable path is always mounted, a readable one may be visible without.
    fn early_pins(&self, confinement: &Confinement) -> Option<Vec<RawFd>> {
        let policy = &self.launcher.policy;
        let known = policy.hidden.is_empty() && policy.read_only.is_empty() && !self.terminal;
        let features = confinement.program.features;
        known.then(|| {
            if features.bind_descriptor {
                confinement.grants.pins()
            } else {
                Vec::new()
            }
        })
    }

    /// What the command will see, and how it will start; or why there is no command.
    fn work_out(
        &self,
        confinement: &Confinement,
    ) -> Result<Result<(View, Setting), Refusal>, LaunchError> {
        let view = self.view(confinement)?;
        let setting = self.setting(&view)?;
        Ok(match find(&view, &setting, &self.words[0]) {
            Ok(()) => Ok((view, setting)),
            Err(refusal) => Err(refusal),
        })
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
        let Some(confinement) = &self.launcher.confinement else {
            return Ok(self.words.clone());
        };
        let view = self.view(confinement)?;
        let mut setting = self.setting(&view)?;
        let mut words = self.words.clone();
        if self.terminal {
            Self::take_terminal(&view, &mut setting, &mut words);
        }
        let features = confinement.program.features;
        let (mut list, _) = arguments(&view, &setting, features, Sources::Paths)?;
        list.push("--".into());
        list.append(&mut words);
        Ok(list)
    }

    /// Has the command's terminal become the one that controls it. Without the program
    /// for that, the command has a terminal to read and write, and no keys that stop or
    /// interrupt it.
    fn take_terminal(view: &View, setting: &mut Setting, words: &mut Vec<OsString>) {
        if find(view, setting, OsStr::new(TAKE_TERMINAL[0])).is_ok() {
            setting.new_session = false;
            words.splice(0..0, TAKE_TERMINAL.map(OsString::from));
        }
    }

    fn view(&self, confinement: &Confinement) -> Result<View, LaunchError> {
        let (policy, directory) = (&self.launcher.policy, self.directory.as_deref());
        let (grants, facts) = (&confinement.grants, &confinement.facts);
        let view = View::build(policy, grants, facts)?;
        Ok(faults::view(view, policy, grants, facts, directory)?)
    }

    fn setting(&self, view: &View) -> Result<Setting, LaunchError> {
        let directory = directory::spelled(self.directory.as_deref(), &self.launcher.workspace);
        if faults::has(Protection::Directory) {
            directory::check(view, &directory)?;
        }
        let posture = self.launcher.policy.posture;
        let mut variables =
            environment::base(posture, view.private_directories(), std::env::vars_os());
        // bubblewrap says where the command is.
        variables.remove(OsStr::new("PWD"));
        variables.remove(OsStr::new("OLDPWD"));
        for (name, value) in &self.variables {
            if name.is_empty() || name.as_bytes().contains(&b'=') {
                return Err(LaunchError::Variable { name: name.clone() });
            }
            variables.insert(name.clone(), value.clone());
        }
        let setting = Setting {
            variables: variables.into_iter().collect(),
            directory,
            new_session: true,
        };
        Ok(faults::setting(setting, &self.launcher.policy))
    }
}

fn find(view: &View, setting: &Setting, name: &OsStr) -> Result<(), Refusal> {
    if !faults::has(Protection::Lookup) {
        return Ok(());
    }
    let search = variable(&setting.variables, "PATH");
    program::check(view, name, &setting.directory, search)
}

fn variable<'list>(list: &'list [(OsString, OsString)], name: &str) -> Option<&'list OsStr> {
    list.iter()
        .find(|(each, _)| each == name)
        .map(|(_, value)| value.as_os_str())
}
