//! A shell command of the host that runs beside several launches, as the other
//! party of a race.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::script::process_id;
use super::{LaunchError, child, tree};

/// The command, while it runs. Dropping this kills its whole process group.
#[derive(Debug)]
pub struct Beside {
    child: Child,
}

impl Beside {
    /// Starts it, in a process group of its own and with its streams closed.
    ///
    /// # Errors
    /// Bash is not there, or the system starts no more processes.
    pub fn start(
        command: &str,
        directory: &Path,
        environment: &[(OsString, OsString)],
    ) -> Result<Beside, LaunchError> {
        let gate = tree::starting();
        let child = Command::new("bash")
            .args(["-c", command])
            .current_dir(directory)
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| LaunchError::Start {
                program: "bash".to_owned(),
                source,
            })?;
        drop(gate);
        Ok(Beside { child })
    }

    /// Stops it until [`Beside::resume`], so that what it changes can be looked at.
    pub fn pause(&self) {
        let own = Pid::from_raw(self.id());
        if killpg(own, Signal::SIGSTOP).is_ok() {
            // It has stopped, or has ended and is not waited for here.
            child::wait_for_stop(own.as_raw());
        }
    }

    /// Lets it go on.
    pub fn resume(&self) {
        let _ = killpg(Pid::from_raw(self.id()), Signal::SIGCONT);
    }

    /// Its process id, which is also its group's.
    pub fn id(&self) -> i32 {
        process_id(&self.child)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = killpg(Pid::from_raw(self.id()), Signal::SIGKILL);
        let _ = self.child.wait();
    }
}
