//! `perimeter plan`.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;

use perimeter::seatbelt::{self, ImaginedMac};

use super::arguments::{Plan, PlatformFlag};
use super::confinement::{policy, prepare, refused, variables, workspace};
use super::failure::{Failure, USAGE};
use super::print::print;

/// Prints the exact arguments of a launch, or the profile of one on a Mac.
pub fn run(plan: Plan) -> Result<ExitCode, Failure> {
    if let Some(PlatformFlag::Macos) = plan.platform {
        return profile(&plan);
    }
    let prepared = prepare(&plan.confinement)?;
    let command = prepared.command(&plan.command, plan.tty);
    let end = if plan.null { b'\0' } else { b'\n' };
    let mut text = Vec::new();
    for argument in prepared.launcher.plan(&command).map_err(refused)? {
        text.extend_from_slice(argument.as_bytes());
        text.push(end);
    }
    print(&text)
}

/// Prints the profile that a usual Mac would use.
fn profile(plan: &Plan) -> Result<ExitCode, Failure> {
    let policy = policy(&plan.confinement)?;
    variables(&plan.confinement, &policy, |name| std::env::var_os(name))?;
    let workspace = workspace(&plan.confinement)?;
    let homes = std::env::var_os("HOME").map(PathBuf::from);
    let mac = ImaginedMac {
        links: links(plan)?,
        homes: homes
            .into_iter()
            .filter(|home| home.is_absolute())
            .collect(),
    };
    let text = seatbelt::preview_on(&mac, &policy, workspace, plan.tty).map_err(refused)?;
    if !cfg!(target_os = "macos") {
        // A closed standard error takes nothing from the profile.
        let _ = writeln!(
            std::io::stderr(),
            "perimeter: this profile is for a Mac; it is not run here, and nothing here says \
             that it holds"
        );
    }
    print(text.as_bytes())
}

/// The symbolic links of a Mac that is only thought of.
fn links(plan: &Plan) -> Result<BTreeMap<PathBuf, PathBuf>, Failure> {
    let Some(file) = &plan.links else {
        return Ok(BTreeMap::new());
    };
    let wrong = |problem: &dyn std::fmt::Display| {
        Failure::new(
            USAGE,
            format_args!(
                "{}: {problem}; write an object of paths, and what the symbolic link at each says",
                file.display()
            ),
        )
    };
    let text = std::fs::read(file).map_err(|error| wrong(&error))?;
    serde_json::from_slice(&text).map_err(|error| wrong(&error))
}
