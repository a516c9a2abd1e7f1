//! Launches commands under a policy.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(target_os = "macos", path = "macos.rs")]
mod backend;
mod child;
mod command;
mod directory;
mod error;
mod exit;
#[cfg_attr(target_os = "macos", path = "forward_macos.rs")]
mod forward;
#[cfg(target_os = "linux")]
mod hold;
mod pipe;
mod program;
mod ready;
#[cfg_attr(target_os = "macos", path = "spawner_macos.rs")]
mod spawner;
mod streams;
mod terminal;
mod unconfined;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub use child::Child;
pub use command::{Command, Output};
pub use error::LaunchError;
pub use exit::Exit;
#[cfg(target_os = "linux")]
pub(crate) use hold::Held;
pub use nix::sys::signal::Signal;
pub use program::Refusal;
#[cfg(target_os = "linux")]
pub(crate) use spawner::spawn;
pub use spawner::this_thread_stays;
pub use streams::Stdio;

use self::backend::Confinement;
use crate::faults;
use crate::policy::Policy;
use crate::view::View;

/// Whether a policy is enforced. There is nothing between the two, and nothing turns
/// one into the other: what cannot be enforced is not launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Enforcement {
    /// Every command is confined.
    #[default]
    Required,
    /// No command is, on the caller's explicit word.
    Off,
}

/// Launches commands, each in a sandbox of its own, under one policy.
///
/// The workspace and the policy's grants are held open from the start: a path that is
/// swapped for another later does not widen them.
#[derive(Debug)]
pub struct Launcher {
    policy: Policy,
    workspace: PathBuf,
    confinement: Option<Confinement>,
}

/// Policies and workspaces that a probe has succeeded with.
static PROBED: Mutex<Option<HashSet<String>>> = Mutex::new(None);

impl Launcher {
    /// Checks the policy, opens what it grants and finds bubblewrap, or Seatbelt on
    /// macOS. Starts nothing.
    ///
    /// # Errors
    /// [`LaunchError`], with the cause and what to do about it.
    pub fn prepare(policy: &Policy, workspace: impl AsRef<Path>) -> Result<Launcher, LaunchError> {
        Launcher::prepare_with(policy, workspace, Enforcement::Required)
    }

    /// As [`Launcher::prepare`]; with [`Enforcement::Off`], or a policy that is not
    /// enabled, commands are not confined at all.
    ///
    /// # Errors
    /// As [`Launcher::prepare`].
    pub fn prepare_with(
        policy: &Policy,
        workspace: impl AsRef<Path>,
        enforcement: Enforcement,
    ) -> Result<Launcher, LaunchError> {
        let workspace = workspace.as_ref();
        let policy = &*faults::policy(policy, workspace);
        policy.check()?;
        if !policy.enabled || enforcement == Enforcement::Off {
            directory::check_unconfined(workspace)?;
            return Ok(Launcher {
                policy: policy.clone(),
                workspace: workspace.to_owned(),
                confinement: None,
            });
        }
        let (confinement, workspace) = Confinement::prepare(policy, workspace)?;
        Ok(Launcher {
            policy: policy.clone(),
            workspace,
            confinement: Some(confinement),
        })
    }

    /// As [`Launcher::prepare`], and launches one command that does nothing, with
    /// everything that a real launch has, so that a host that cannot make the sandbox
    /// is found out at start-up. A success is remembered by the process.
    ///
    /// # Errors
    /// As [`Launcher::prepare`], and where the sandbox cannot be made.
    pub fn probe(policy: &Policy, workspace: impl AsRef<Path>) -> Result<Launcher, LaunchError> {
        let launcher = Launcher::prepare(policy, workspace)?;
        let key = format!("{:?} {:?}", launcher.policy, launcher.workspace);
        let remembered = PROBED
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .is_some_and(|probed| probed.contains(&key));
        if launcher.confinement.is_some() && !remembered {
            let mut command = launcher.command("true");
            command.stdin(Stdio::Null).stdout(Stdio::Null);
            let mut child = command.spawn()?;
            child.wait()?;
            PROBED
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert_default()
                .insert(key);
        }
        Ok(launcher)
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The workspace, as the caller spelled it.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Whether commands are confined.
    #[must_use]
    pub fn is_confined(&self) -> bool {
        self.confinement.is_some()
    }

    /// What a command would see now; nothing where it is not confined.
    ///
    /// # Errors
    /// [`LaunchError::View`] where a hidden path cannot be hidden.
    pub fn view(&self) -> Result<Option<View>, LaunchError> {
        let Some(confinement) = &self.confinement else {
            return Ok(None);
        };
        confinement.view(&self.policy).map(Some)
    }

    /// A command to launch: a program and, later, its arguments.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command<'_> {
        Command::new(self, program.as_ref().to_owned())
    }

    /// A command line to launch: `bash -c LINE`.
    pub fn shell(&self, line: impl AsRef<std::ffi::OsStr>) -> Command<'_> {
        let mut command = self.command("bash");
        command.arg("-c").arg(line);
        command
    }

    /// The exact arguments that bubblewrap, or `sandbox-exec` on macOS, would be given
    /// for a command, the command itself last, to be read or to be run by hand.
    ///
    /// In a launch with bubblewrap, what the policy grants is named by open descriptors, and the
    /// options are passed through one (`--args`), so that nobody sees them in a
    /// process list; here, everything is written out.
    ///
    /// # Errors
    /// As [`Command::spawn`]. Nothing is started.
    pub fn plan(&self, command: &Command<'_>) -> Result<Vec<std::ffi::OsString>, LaunchError> {
        command.plan()
    }

    /// The program that makes the sandbox, bubblewrap or `sandbox-exec`; nothing where
    /// commands are not confined.
    #[must_use]
    pub fn program_path(&self) -> Option<&Path> {
        self.confinement.as_ref().map(Confinement::program_path)
    }

    /// The bubblewrap that is used; nothing where commands are not confined.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn program(&self) -> Option<&crate::bubblewrap::Program> {
        self.confinement
            .as_ref()
            .map(|confinement| &*confinement.program)
    }
}
