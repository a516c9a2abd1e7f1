//! Confining commands with bubblewrap.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::{OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::hold::Held;
use super::terminal::Terminal;
use super::{Child, Command, LaunchError, Refusal, program};
pub(super) use crate::bubblewrap::{End, Run};
use crate::bubblewrap::{Program, Setting, Sources, Waiting, arguments, find, is_contested, pins};
use crate::faults::{self, Protection};
use crate::policy::{Policy, Posture};
use crate::unsafe_spawn::Group;
use crate::view::{Facts, Grants, View};

/// Starts a program with its standard input as the terminal that controls it: of
/// util-linux, and of busybox with the same option.
const TAKE_TERMINAL: [&str; 3] = ["setsid", "-c", "--"];

/// What all launches under one policy share.
#[derive(Debug)]
pub(super) struct Confinement {
    grants: Grants,
    facts: Facts,
    pub(super) program: Arc<Program>,
}

/// bubblewrap is given the variables as they are.
pub(super) fn adjust(_: &mut BTreeMap<OsString, OsString>, _: Posture, _: &View) {}

impl Confinement {
    /// Opens what the policy grants, and finds bubblewrap. Also returns the workspace as
    /// the caller spelled it.
    pub(super) fn prepare(
        policy: &Policy,
        workspace: &Path,
    ) -> Result<(Confinement, PathBuf), LaunchError> {
        let facts = Facts::collect();
        let grants = Grants::open(policy, workspace, &facts)?;
        let search = std::env::var_os("PATH");
        let (named, search) = (policy.bubblewrap.as_deref(), search.as_deref());
        let program = faults::program(find(named, search, &grants), named, search)?;
        let spelling = grants.workspace_spelling().to_owned();
        let confinement = Confinement {
            grants,
            facts,
            program: Arc::new(program),
        };
        Ok((confinement, spelling))
    }

    /// The program that makes the sandbox.
    pub(super) fn program_path(&self) -> &Path {
        &self.program.path
    }

    pub(super) fn view(&self, policy: &Policy) -> Result<View, LaunchError> {
        Ok(View::build(policy, &self.grants, &self.facts)?)
    }

    /// What a command will see.
    fn view_of(&self, command: &Command<'_>) -> Result<View, LaunchError> {
        let (policy, directory) = (&command.launcher.policy, command.directory.as_deref());
        let (grants, facts) = (&self.grants, &self.facts);
        let view = View::build(policy, grants, facts)?;
        Ok(faults::view(view, policy, grants, facts, directory)?)
    }

    pub(super) fn spawn(
        &self,
        command: &Command<'_>,
        streams: &mut [Option<OwnedFd>; 3],
    ) -> Result<Child, LaunchError> {
        let program = &self.program;
        if let Some(pins) = self.early_pins(command) {
            let contested = self.may_be_contested(command.launcher.policy.posture);
            // bubblewrap loads while the view is worked out. It is ended if that fails.
            let waiting = Waiting::start(
                Arc::clone(program),
                command.words.clone(),
                Group::Own,
                std::mem::take(streams),
                &pins,
                contested,
                Held::default(),
            )?;
            let (view, setting) = match self.work_out(command)? {
                Ok(worked_out) => worked_out,
                Err(refusal) => return Ok(Child::refused(refusal)),
            };
            let run = waiting.begin(Arc::new(view), setting)?;
            return Ok(Child::confined(run, None));
        }
        let (view, mut setting) = match self.work_out(command)? {
            Ok(worked_out) => worked_out,
            Err(refusal) => return Ok(Child::refused(refusal)),
        };
        let mut words = command.words.clone();
        let terminal = if command.terminal {
            Terminal::open(streams)
        } else {
            Ok(None)
        }
        .map_err(|error| LaunchError::system("open a terminal for the command", error))?;
        let group = match terminal {
            Some(_) => {
                take_terminal(&view, &mut setting, &mut words);
                Group::Session
            }
            None => Group::Own,
        };
        let mut held = Held::find(view.placeholders())?;
        held.restore(terminal.as_ref().and_then(Terminal::settings));
        let pins = pins(&view, &setting, program);
        let streams = std::mem::take(streams);
        let contested = is_contested(&view, program.features);
        let program = Arc::clone(program);
        let waiting = Waiting::start(program, words, group, streams, &pins, contested, held)?;
        let run = waiting.begin(Arc::new(view), setting)?;
        if let Some(terminal) = &terminal {
            terminal
                .begin()
                .map_err(|error| LaunchError::system("prepare the terminal", error))?;
        }
        Ok(Child::confined(run, terminal))
    }

    pub(super) fn plan(&self, command: &Command<'_>) -> Result<Vec<OsString>, LaunchError> {
        let view = self.view_of(command)?;
        let mut setting = setting(command, &view)?;
        let mut words = command.words.clone();
        if command.terminal {
            take_terminal(&view, &mut setting, &mut words);
        }
        let features = self.program.features;
        let (mut list, _) = arguments(&view, &setting, features, Sources::Paths)?;
        list.push("--".into());
        list.append(&mut words);
        Ok(list)
    }

    /// The descriptors that the launch will use, where they are known before the view
    /// is: a writable path is always mounted, a readable one may be visible without.
    fn early_pins(&self, command: &Command<'_>) -> Option<Vec<RawFd>> {
        let policy = &command.launcher.policy;
        let known = policy.hidden.is_empty() && policy.read_only.is_empty() && !command.terminal;
        let features = self.program.features;
        known.then(|| {
            if features.bind_descriptor {
                self.grants.pins()
            } else {
                Vec::new()
            }
        })
    }

    /// Whether the view of these grants, and of nothing else, could have a mount that has
    /// to be looked at.
    fn may_be_contested(&self, posture: Posture) -> bool {
        !self.program.features.bind_descriptor || self.grants.lie_in_system(posture)
    }

    /// What the command will see, and how it will start; or why there is no command.
    fn work_out(
        &self,
        command: &Command<'_>,
    ) -> Result<Result<(View, Setting), Refusal>, LaunchError> {
        let view = self.view_of(command)?;
        let setting = setting(command, &view)?;
        let search = variable(&setting.variables, "PATH");
        Ok(match command.find(&view, &setting.directory, search) {
            Ok(()) => Ok((view, setting)),
            Err(refusal) => Err(refusal),
        })
    }
}

/// Has the command's terminal become the one that controls it. Without the program
/// for that, the command has a terminal to read and write, and no keys that stop or
/// interrupt it.
fn take_terminal(view: &View, setting: &mut Setting, words: &mut Vec<OsString>) {
    let search = variable(&setting.variables, "PATH");
    let name = OsStr::new(TAKE_TERMINAL[0]);
    let there = !faults::has(Protection::Lookup)
        || program::check(view, name, &setting.directory, search).is_ok();
    if there {
        setting.new_session = false;
        words.splice(0..0, TAKE_TERMINAL.map(OsString::from));
    }
}

fn setting(command: &Command<'_>, view: &View) -> Result<Setting, LaunchError> {
    let directory = command.directory_inside(view)?;
    // bubblewrap says where the command is.
    let variables = command.variables_inside(view)?;
    let setting = Setting {
        variables: variables.into_iter().collect(),
        directory,
        new_session: true,
    };
    Ok(faults::setting(setting, &command.launcher.policy))
}

fn variable<'list>(list: &'list [(OsString, OsString)], name: &str) -> Option<&'list OsStr> {
    list.iter()
        .find(|(each, _)| each == name)
        .map(|(_, value)| value.as_os_str())
}
