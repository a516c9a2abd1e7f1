//! What the reference launcher would do in each launch of a case: bubblewrap's
//! arguments, made on a real fixture by the code that launches.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::Parser;
use perimeter_runner::corpus::Trial;
use perimeter_runner::fixture::Names;
use perimeter_runner::launcher::file::LauncherFile;
use perimeter_runner::rehearsal::{Launch, Setting, Stage, rehearse_on};
use perimeter_runner::repro::Plan;
use perimeter_runner::worker::Scratch;

use super::arguments::Exec;
use super::confinement::prepare_with;
use super::failure::Failure;

/// The word that stands for this program in a rehearsal.
const PERIMETER: &str = "perimeter";

/// Whether a launcher file is driven by `perimeter exec`, so that there is a plan.
pub fn has_plans(launcher: &LauncherFile) -> bool {
    use perimeter_runner::launcher::file::Argument;
    let first = |place: usize, word: &str| matches!(launcher.arguments.get(place), Some(Argument::Literal(text)) if text == word);
    first(0, "{perimeter}") && first(1, "exec")
}

/// The plan of each launch of a trial, the control's last; paths have the texts
/// of `names` instead of the real ones.
///
/// # Errors
/// A scratch directory that cannot be made.
pub fn plans(trial: &Trial, launcher: &LauncherFile, names: &Names) -> Result<Vec<Plan>, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(super::failure::USAGE, error);
    let scratch = Scratch::create_default().map_err(|error| failed(&error))?;
    let temporary = Scratch::create(Path::new("/tmp")).map_err(|error| failed(&error))?;
    let setting = Setting {
        names: names.clone(),
        user: "user".to_owned(),
        program: PathBuf::from("bwrap"),
        perimeter: PathBuf::from(PERIMETER),
    };
    let root = scratch.path().join("r");
    let stage = Stage {
        root: &root,
        host_temporary: temporary.path(),
    };
    let name = |name: &str| names.get(name).unwrap_or_default().to_owned();
    let replaced = [
        (root.display().to_string(), name("root")),
        (
            temporary.path().display().to_string(),
            name("host-temporary"),
        ),
    ];
    let mut plans = Vec::new();
    let outcome = rehearse_on(stage, trial, launcher, &setting, |launch| {
        plans.push(as_named(plan(launch), &replaced));
    });
    if let Err(error) = outcome {
        plans.push(as_named(Plan::Unknown(error.to_string()), &replaced));
    }
    Ok(plans)
}

/// The plan of one launch whose files are in place.
fn plan(launch: &Launch) -> Plan {
    let words = launch.rendered.command_line.iter().skip(1);
    let exec = match Exec::try_parse_from(words) {
        Ok(exec) => exec,
        Err(error) => return Plan::Unknown(error.to_string()),
    };
    let variables = &launch.rendered.environment;
    let lookup = |wanted: &str| -> Option<OsString> {
        let found = variables.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| OsString::from(value))
    };
    let prepared = match prepare_with(&exec.confinement, lookup) {
        Ok(prepared) => prepared,
        Err(failure) => return Plan::Refused(failure.to_string()),
    };
    if !prepared.launcher.is_confined() {
        return Plan::Unconfined;
    }
    let command = prepared.command(&exec.command, exec.tty);
    match prepared.launcher.plan(&command) {
        Ok(mut arguments) => {
            let options = arguments.len().saturating_sub(exec.command.len());
            arguments.truncate(options);
            let text = |word: OsString| OsStr::to_string_lossy(&word).into_owned();
            Plan::Bubblewrap(arguments.into_iter().map(text).collect())
        }
        Err(error) => Plan::Refused(error.to_string()),
    }
}

/// A plan with names instead of real paths.
fn as_named(plan: Plan, replaced: &[(String, String)]) -> Plan {
    let named = |text: String| {
        replaced
            .iter()
            .fold(text, |text, (from, to)| text.replace(from, to))
    };
    match plan {
        Plan::Bubblewrap(arguments) => Plan::Bubblewrap(arguments.into_iter().map(named).collect()),
        Plan::Unconfined => Plan::Unconfined,
        Plan::Refused(text) => Plan::Refused(named(text)),
        Plan::Unknown(text) => Plan::Unknown(named(text)),
    }
}
