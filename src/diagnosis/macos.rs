//! What a sandbox needs of macOS.

use std::process::{Command, Stdio};

use super::{Finding, State};
use crate::launcher::Launcher;
use crate::seatbelt;

/// What confines commands.
pub(super) const PROGRAM: &str = "seatbelt";

/// The sandbox-exec that is used.
pub(super) fn program(_: &Launcher) -> Option<Finding> {
    Some(Finding {
        subject: PROGRAM.to_owned(),
        state: State::Works,
        detail: format!(
            "{}, and this program is in no other sandbox",
            seatbelt::PROGRAM
        ),
        remedy: None,
    })
}

/// The release, which decides what Seatbelt does.
pub(super) fn settings() -> Vec<Finding> {
    let ask = |word: &str| {
        let output = Command::new("/usr/bin/sw_vers")
            .arg(word)
            .env_clear()
            .stdin(Stdio::null())
            .output()
            .ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let version = ask("-productVersion").unwrap_or_else(|| "of an unknown version".to_owned());
    let build = ask("-buildVersion").unwrap_or_else(|| "unknown".to_owned());
    vec![Finding {
        subject: "macOS".to_owned(),
        state: State::Works,
        detail: format!("{version} (build {build})"),
        remedy: None,
    }]
}
