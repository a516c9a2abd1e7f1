//! From flags and documents to a launcher and a command.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use perimeter::environment::Environment;
use perimeter::policy::Store;
use perimeter::{Command, Enforcement, Launcher, Network, Policy, Posture};

use super::arguments::{Confinement, EnforcementFlag, NetworkFlag, PostureFlag};
use super::failure::{Failure, LAUNCHER};

/// What a launch needs, with everything read and checked.
pub struct Prepared {
    pub launcher: Launcher,
    directory: Option<PathBuf>,
    variables: Vec<(OsString, OsString)>,
}

impl Prepared {
    /// The command that was typed, to be launched or planned.
    pub fn command(&self, words: &[OsString], terminal: bool) -> Command<'_> {
        let (program, arguments) = match words.split_first() {
            Some((program, arguments)) => (program.clone(), arguments),
            None => (OsString::new(), words),
        };
        let mut command = self.launcher.command(program);
        command
            .args(arguments)
            .environment(self.variables.iter().cloned())
            .terminal(terminal);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
    }
}

/// Reads the documents, applies the flags, and prepares the launcher.
pub fn prepare(confinement: &Confinement) -> Result<Prepared, Failure> {
    prepare_with(confinement, |name| std::env::var_os(name))
}

/// The same, for a caller with these variables.
pub fn prepare_with(
    confinement: &Confinement,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Prepared, Failure> {
    let policy = policy(confinement)?;
    let variables = variables(confinement, &policy, variable)?;
    let workspace = workspace(confinement)?;
    let directory = match &confinement.cwd {
        Some(directory) if directory.is_relative() => Some(current()?.join(directory)),
        other => other.clone(),
    };
    let enforcement = match confinement.enforcement {
        EnforcementFlag::Required => Enforcement::Required,
        EnforcementFlag::Off => Enforcement::Off,
    };
    let launcher = Launcher::prepare_with(&policy, &workspace, enforcement).map_err(|error| {
        absent_policy(confinement, &workspace).unwrap_or_else(|| refused(error))
    })?;
    Ok(Prepared {
        launcher,
        directory,
        variables,
    })
}

/// The agent's variables, with what they copy from a caller with these ones.
pub fn variables(
    confinement: &Confinement,
    policy: &Policy,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Vec<(OsString, OsString)>, Failure> {
    let environment = environment(confinement)?;
    environment.resolve(policy, variable).map_err(refused)
}

fn current() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        refused(format_args!(
            "the current directory: {error}; name the workspace with --workspace"
        ))
    })
}

/// The workspace, as it was written, in full.
pub fn workspace(confinement: &Confinement) -> Result<PathBuf, Failure> {
    Ok(match &confinement.workspace {
        Some(workspace) if workspace.is_absolute() => workspace.clone(),
        Some(workspace) => current()?.join(workspace),
        None => logical(current()?),
    })
}

/// What to say of a launch that was refused, where the policy is a file in the workspace
/// that is not there: most often its name is misspelt.
fn absent_policy(confinement: &Confinement, workspace: &Path) -> Option<Failure> {
    let file = std::path::absolute(confinement.policy.as_deref()?).ok()?;
    let absent = file.symlink_metadata().is_err();
    let there = |path: &Path| path.canonicalize().ok();
    let directory = file.ancestors().skip(1).find_map(there)?;
    let within = directory.starts_with(workspace.canonicalize().ok()?);
    (absent && within).then(|| {
        refused(format_args!(
            "policy {} does not exist, and a command could write it, since the workspace {} is \
             writable: name a document that is there, in a directory of its own",
            file.display(),
            workspace.display()
        ))
    })
}

/// A refusal or failure of the launcher: nothing was started.
pub fn refused(error: impl std::fmt::Display) -> Failure {
    Failure::new(LAUNCHER, error)
}

/// The spelling of the current directory that the shell uses, if it is one: PWD
/// keeps the links that getcwd(3) does not.
fn logical(current: PathBuf) -> PathBuf {
    let spelled = std::env::var_os("PWD").map(PathBuf::from);
    match spelled {
        Some(spelled) if spelled.is_absolute() && same(&spelled, &current) => spelled,
        _ => current,
    }
}

fn same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// The policy of the document, narrowed by the flags.
pub fn policy(confinement: &Confinement) -> Result<Policy, Failure> {
    let document = match (&confinement.policy, &confinement.agent) {
        (Some(file), _) => Some(Policy::from_file(file).map_err(refused)?),
        (None, Some(agent)) => {
            let store = Store::user().map_err(refused)?;
            Some(store.load(agent).map_err(refused)?)
        }
        (None, None) => None,
    };
    let stated = document.is_some();
    let mut policy = document.unwrap_or_default();
    if let Some(posture) = confinement.posture {
        let posture = match posture {
            PostureFlag::Strict => Posture::Strict,
            PostureFlag::HostReadable => Posture::HostReadable,
        };
        if stated && policy.posture == Posture::Strict && posture == Posture::HostReadable {
            return Err(widens("--posture host-readable", "\"strict\"", &policy));
        }
        policy.posture = posture;
    }
    if let Some(network) = confinement.network {
        let network = match network {
            NetworkFlag::Host => Network::Host,
            NetworkFlag::None => Network::None,
        };
        if stated && policy.network == Network::None && network == Network::Host {
            return Err(widens("--network host", "\"none\"", &policy));
        }
        policy.network = network;
    }
    Ok(policy)
}

fn widens(flag: &str, stated: &str, policy: &Policy) -> Failure {
    let document = policy.source.as_deref().map_or_else(
        || "the policy".to_owned(),
        |path| path.display().to_string(),
    );
    refused(format_args!(
        "{flag} would widen {document}, which says {stated}; leave the flag out, or change the document"
    ))
}

/// The variables of the document, and those of the flags.
fn environment(confinement: &Confinement) -> Result<Environment, Failure> {
    let mut environment = match &confinement.environment {
        Some(file) => Environment::from_file(file).map_err(refused)?,
        None => Environment::new(),
    };
    for variable in &confinement.variables {
        let text = variable.to_str().and_then(|text| text.split_once('='));
        let Some((name, value)) = text else {
            return Err(refused(format_args!(
                "--env {}: write NAME=VALUE, in UTF-8",
                OsStr::to_string_lossy(variable)
            )));
        };
        environment.set(name, value).map_err(refused)?;
    }
    Ok(environment)
}
