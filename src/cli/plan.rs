//! `perimeter plan`.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use perimeter::seatbelt;

use super::arguments::{Plan, PlatformFlag};
use super::confinement::{policy, prepare, refused, workspace};
use super::failure::Failure;
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
    let workspace = workspace(&plan.confinement)?;
    let text = seatbelt::preview(&policy, workspace, plan.tty).map_err(refused)?;
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
