//! Trying out what this host can do.

use std::fmt;
use std::path::{Path, PathBuf};

use super::platform;
use crate::launcher::{Exit, Launcher, Stdio};
use crate::policy::{Network, Policy, Posture};

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It works.
    Works,
    /// It works, with less protection or comfort than there could be.
    Limited,
    /// It does not work.
    Fails,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at.
    pub subject: String,
    /// How it stands.
    pub state: State,
    /// What was seen.
    pub detail: String,
    /// What to do, where it does not stand well.
    pub remedy: Option<String>,
}

/// What a host can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What was looked at, causes before effects.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether commands can be confined here.
    #[must_use]
    pub fn works(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.state != State::Fails)
    }
}

impl fmt::Display for Report {
    /// One finding a line, and its remedy beneath it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            let state = match finding.state {
                State::Works => "works",
                State::Limited => "limited",
                State::Fails => "fails",
            };
            writeln!(
                formatter,
                "{state:<8}{}: {}",
                finding.subject, finding.detail
            )?;
            if let Some(remedy) = &finding.remedy {
                writeln!(formatter, "        {remedy}")?;
            }
        }
        Ok(())
    }
}

/// Looks at bubblewrap and at the kernel's settings, or at Seatbelt on macOS, and
/// launches one command that does nothing in each posture, with and without a network.
///
/// `bubblewrap` names the program as a policy does. The launches use an empty temporary
/// directory as their workspace, which is removed again.
#[must_use]
pub fn examine(bubblewrap: Option<&Path>) -> Report {
    let mut findings = vec![kernel()];
    findings.extend(platform::settings());
    let workspace = match Workspace::make() {
        Ok(workspace) => workspace,
        Err(error) => {
            findings.push(Finding {
                subject: "workspace".to_owned(),
                state: State::Fails,
                detail: format!(
                    "cannot make a directory in {}",
                    std::env::temp_dir().display()
                ),
                remedy: Some(error.desc().to_lowercase()),
            });
            return Report { findings };
        }
    };
    let policy = Policy {
        bubblewrap: bubblewrap.map(Path::to_owned),
        ..Policy::strict()
    };
    match Launcher::prepare(&policy, &workspace.0) {
        Ok(launcher) => findings.extend(platform::program(&launcher)),
        Err(error) => {
            findings.push(failed(platform::PROGRAM, &error.to_string()));
            return Report { findings };
        }
    }
    for (posture, name) in [
        (Posture::Strict, "strict"),
        (Posture::HostReadable, "host-readable"),
    ] {
        for (network, word) in [(Network::Host, "host"), (Network::None, "none")] {
            let policy = Policy {
                posture,
                network,
                ..policy.clone()
            };
            let subject = format!("posture {name}, network {word}");
            findings.push(launch(subject, &policy, &workspace.0));
        }
    }
    Report { findings }
}

fn kernel() -> Finding {
    let name = nix::sys::utsname::uname().map_or_else(
        |_| "unknown".to_owned(),
        |name| {
            format!(
                "{} {}",
                name.sysname().to_string_lossy(),
                name.release().to_string_lossy()
            )
        },
    );
    Finding {
        subject: "kernel".to_owned(),
        state: State::Works,
        detail: name,
        remedy: None,
    }
}

fn launch(subject: String, policy: &Policy, workspace: &Path) -> Finding {
    let result = Launcher::prepare(policy, workspace).and_then(|launcher| {
        launcher
            .command("true")
            .stdin(Stdio::Null)
            .stdout(Stdio::Null)
            .stderr(Stdio::Null)
            .status()
    });
    match result {
        Ok(Exit::Code(0)) => Finding {
            subject,
            state: State::Works,
            detail: "a command ran in it".to_owned(),
            remedy: None,
        },
        Ok(exit) => failed(
            &subject,
            &format!("`true` ended with {}", exit.shell_status()),
        ),
        Err(error) => failed(&subject, &error.to_string()),
    }
}

/// An error of ours says the cause, then the remedy.
fn failed(subject: &str, error: &str) -> Finding {
    let (detail, remedy) = match error.split_once("; ") {
        Some((cause, remedy)) => (cause, Some(remedy.to_owned())),
        None => (error, None),
    };
    Finding {
        subject: subject.to_owned(),
        state: State::Fails,
        detail: detail.to_owned(),
        remedy,
    }
}

/// An empty directory, removed when this is dropped.
struct Workspace(PathBuf);

impl Workspace {
    fn make() -> Result<Workspace, nix::errno::Errno> {
        nix::unistd::mkdtemp(&std::env::temp_dir().join("perimeter-doctor-XXXXXX")).map(Workspace)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}
