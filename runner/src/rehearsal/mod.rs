//! A trial as it would run, with nothing run: its texts expanded with names of
//! the caller's choice, and each launch as the launcher file renders it.
//!
//! The names may be readable examples, for a person, or marks that stand for
//! what is known only later, for a script.

mod host;
mod names;
mod staged;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::corpus::Trial;
use crate::corpus::case::{LaunchSpec, Tty};
use crate::corpus::placeholder::PlaceholderError;
use crate::corpus::policy::PolicySpec;
use crate::fixture::Names;
use crate::launcher::file::LauncherFile;
use crate::launcher::request::Request;
use crate::launcher::template::{Places, Rendered, TemplateError, render_on};
use crate::pipeline::{arguments, expand_all, own_environment};

pub use host::WrittenFile;
pub use names::{names_of, placeholders_of};
pub use staged::{Stage, StageError, rehearse_on};

/// A trial as it would run.
#[derive(Debug, Clone)]
pub struct Rehearsal {
    /// The trial, every placeholder replaced.
    pub trial: Trial,
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// The launch that must start where another is to be refused; it comes last.
    pub control: Option<Launch>,
}

/// One thing that happens.
#[derive(Debug, Clone)]
pub enum Step {
    /// The host runs a shell command.
    Host(String),
    /// The launcher is asked for a launch.
    Launch(Box<Launch>),
}

/// One launch.
#[derive(Debug, Clone)]
pub struct Launch {
    /// What the case says of it.
    pub spec: LaunchSpec,
    /// The policy that it is under.
    pub policy: PolicySpec,
    /// What the launcher is asked, as every launcher is.
    pub request: Request,
    /// The launcher's command line, environment and directory.
    pub rendered: Rendered,
    /// The files that are written, or made sure to be absent, before it.
    pub files: Vec<WrittenFile>,
    /// The line by which the command proves that it started.
    pub start_line: Option<String>,
}

impl Launch {
    /// What the command may change, by the policy: the workspace and the
    /// writable grants.
    pub fn writable(&self) -> Vec<&str> {
        let workspace = self.request.workspace.to_str();
        let grants = self.policy.read_write.iter().map(String::as_str);
        workspace.into_iter().chain(grants).collect()
    }
}

/// Who and where, beside the placeholders.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The placeholders' texts.
    pub names: Names,
    /// The user's name.
    pub user: String,
    /// The program that the launcher file names first.
    pub program: PathBuf,
    /// The program that is the reference launcher.
    pub perimeter: PathBuf,
}

/// Why a trial could not be rehearsed.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
    /// A text names something that has no value.
    #[error(transparent)]
    Placeholder(#[from] PlaceholderError),
    /// The launcher file cannot be rendered.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// The trial under a launcher, with these names.
///
/// # Errors
/// [`RehearsalError`], where a name has no text.
pub fn rehearse(
    trial: &Trial,
    launcher: &LauncherFile,
    setting: &Setting,
) -> Result<Rehearsal, RehearsalError> {
    let trial: Trial = expand_all(trial, &setting.names)?;
    let stage = Rehearsing {
        trial: &trial,
        launcher,
        setting,
    };
    let mut steps = Vec::new();
    for step in trial.steps() {
        if let Some(command) = step.host {
            steps.push(Step::Host(command));
        }
        if let Some(launch) = step.launch {
            steps.push(Step::Launch(Box::new(stage.launch(launch)?)));
        }
    }
    let control = trial.case.expect.control.as_deref().cloned();
    let control = control.map(|launch| stage.launch(launch)).transpose()?;
    Ok(Rehearsal {
        steps,
        control,
        trial,
    })
}

struct Rehearsing<'a> {
    trial: &'a Trial,
    launcher: &'a LauncherFile,
    setting: &'a Setting,
}

impl Rehearsing<'_> {
    fn name(&self, name: &str) -> &str {
        self.setting.names.get(name).unwrap_or_default()
    }

    fn launch(&self, spec: LaunchSpec) -> Result<Launch, RehearsalError> {
        let policy = spec.policy.as_ref().unwrap_or(&self.trial.policy).clone();
        let workspace = spec
            .workspace
            .as_deref()
            .unwrap_or_else(|| self.name("workspace"));
        let workspace = PathBuf::from(workspace);
        let start_line = spec.proves_start.then(|| self.name("nonce").to_owned());
        let variables = self.trial.fixture.environment.iter();
        let variables = variables.map(|(name, value)| {
            let value = match value {
                crate::corpus::fixture::Text::Plain(text) => text.clone(),
                crate::corpus::fixture::Text::Secret(secret) => {
                    self.name(&format!("secret.{}", secret.secret)).to_owned()
                }
            };
            (name.clone(), value)
        });
        let request = Request {
            policy: policy.clone(),
            cwd: spec
                .cwd
                .as_ref()
                .map_or_else(|| workspace.clone(), PathBuf::from),
            workspace,
            cwd_asked: spec.cwd.is_some(),
            environment: spec.environment.clone(),
            command: arguments(&spec.run, start_line.as_deref()),
            terminal: spec.tty == Tty::Command,
            own_environment: own_environment(
                Path::new(self.name("home")),
                &self.setting.user,
                variables,
            ),
            links: BTreeMap::new(),
        };
        let places = Places {
            program: Some(self.setting.program.clone()),
            perimeter: self.setting.perimeter.clone(),
            faulty: Some(PathBuf::from("perimeter-faulty")),
            root: PathBuf::from(self.name("root")),
            state: PathBuf::from(self.name("state")),
        };
        let notes = host::Notes::new(self.trial, &self.setting.names);
        let rendered = render_on(&notes, self.launcher, &request, &places)?;
        Ok(Launch {
            spec,
            policy,
            request,
            rendered,
            files: notes.into_files(),
            start_line,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
