//! What a sandbox needs of Linux.

use std::path::Path;
use std::process::{Command, Stdio};

use super::host::Host;
use super::{Finding, State};
use crate::launcher::Launcher;

/// What confines commands.
pub(super) const PROGRAM: &str = "bubblewrap";

/// The bubblewrap that is used.
pub(super) fn program(launcher: &Launcher) -> Option<Finding> {
    launcher.program().map(|program| {
        let mut lacking = Vec::new();
        if !program.features.bind_descriptor {
            lacking.push("cannot mount by descriptor (0.10)");
        }
        if !program.features.disable_user_namespaces {
            lacking.push("cannot forbid further user namespaces (0.8)");
        }
        let version = version(&program.path);
        let name = format!("{version} at {}", program.path.display());
        Finding {
            subject: "bubblewrap".to_owned(),
            state: if lacking.is_empty() {
                State::Works
            } else {
                State::Limited
            },
            detail: [&[name.as_str()][..], &lacking].concat().join(", "),
            remedy: (!lacking.is_empty()).then(|| "install a later bubblewrap".to_owned()),
        }
    })
}

/// The settings that forbid what a sandbox needs. They are reported before the launches
/// that fail because of them, and only if they forbid.
pub(super) fn settings() -> Vec<Finding> {
    let host = Host::read();
    let mut findings = Vec::new();
    let refused = host.clone_allowed == Some(false) || host.maximum == Some(0);
    if refused || host.apparmor_restricts {
        let (detail, remedy) = host.namespaces_refused();
        findings.push(Finding {
            subject: "user namespaces".to_owned(),
            // AppArmor lets a program have them whose profile says so.
            state: if refused {
                State::Fails
            } else {
                State::Limited
            },
            detail,
            remedy: Some(remedy),
        });
    }
    if host.proc_is_covered {
        findings.push(Finding {
            subject: "/proc".to_owned(),
            state: State::Limited,
            detail: "parts of it are covered, which may forbid a new one".to_owned(),
            remedy: None,
        });
    }
    findings
}

fn version(program: &Path) -> String {
    Command::new(program)
        .arg("--version")
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .map_or_else(|| "bubblewrap".to_owned(), |text| text.trim().to_owned())
}
