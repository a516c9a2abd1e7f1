//! A trial as one POSIX shell script, which a reviewer runs by hand without this
//! program: it sets the fixture up, makes the very launch, first without a
//! sandbox and then under a launcher, shows what is looked for, and cleans up.
//!
//! The script is a pure function of the trial, the launcher file and, for the
//! reference launcher, its recorded plans; the same input gives the same text.

mod fixture;
mod header;
mod launches;
mod look;
mod parts;
mod probe;
mod text;

use std::path::PathBuf;

use crate::corpus::Trial;
use crate::corpus::expect::{Outcome, Refusal};
use crate::corpus::vocabulary::Platform;
use crate::launcher::file::LauncherFile;
use crate::rehearsal::{Rehearsal, RehearsalError, Setting, Step, names_of, rehearse};
use crate::shell;

use text::Script;

/// What the reference launcher does in one launch, recorded for where it is not
/// installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// It starts bubblewrap with these arguments, the command left out.
    Bubblewrap(Vec<String>),
    /// It starts the command itself, on the policy's explicit word.
    Unconfined,
    /// It starts nothing, and says this.
    Refused(String),
    /// It could not be found out, for this reason.
    Unknown(String),
}

/// What a script is written from.
#[derive(Debug, Clone, Copy)]
pub struct Recipe<'a> {
    /// The trial.
    pub trial: &'a Trial,
    /// The launcher under test.
    pub launcher: &'a LauncherFile,
    /// The launcher that is no sandbox.
    pub open: &'a LauncherFile,
    /// The plan of each launch, the control's last, with marks for paths; none
    /// where the launcher is not the reference.
    pub plans: &'a [Plan],
}

/// Why a trial cannot be put into a script.
#[derive(Debug, thiserror::Error)]
pub enum CannotWrite {
    /// The script is for Linux, and the case is not.
    #[error("{trial}: the case is about {platforms}, and a script is written for Linux alone")]
    Platform {
        /// The trial.
        trial: String,
        /// What it is about.
        platforms: String,
    },
    /// The probe's operation cannot be done by an interpreter.
    #[error("{trial}: it uses the probe's operation `{operation}`, {reason}")]
    Operation {
        /// The trial.
        trial: String,
        /// The operation.
        operation: String,
        /// Why not.
        reason: String,
    },
    /// A text that no shell word can hold.
    #[error("{trial}: {what} holds a zero byte, which no shell can hand on")]
    ZeroByte {
        /// The trial.
        trial: String,
        /// Where it is.
        what: String,
    },
    /// A text cannot be expanded, or the launcher file cannot be rendered.
    #[error(transparent)]
    Rehearsal(#[from] RehearsalError),
}

/// The names by which a trial is written into a script: each placeholder is a
/// variable of the shell.
pub fn marks(trial: &Trial) -> crate::fixture::Names {
    names_of(trial, shell::mark)
}

/// The script.
///
/// # Errors
/// [`CannotWrite`], for what is never left out silently.
pub fn script(recipe: Recipe<'_>) -> Result<String, CannotWrite> {
    let trial = recipe.trial;
    if !trial.case.platforms.contains(&Platform::Linux) {
        let platforms = trial.case.platforms.iter().map(crate::report::word);
        return Err(CannotWrite::Platform {
            trial: trial.name.clone(),
            platforms: platforms.collect::<Vec<_>>().join(", "),
        });
    }
    let setting = Setting {
        names: marks(trial),
        user: shell::mark("user"),
        program: PathBuf::from(shell::mark("program")),
        perimeter: PathBuf::from(shell::mark("perimeter")),
    };
    let baseline = rehearse(trial, recipe.open, &setting)?;
    let launched = rehearse(trial, recipe.launcher, &setting)?;
    no_zero_bytes(&launched)?;
    let mut script = Script::default();
    header::write(&mut script, recipe, &launched);
    script.line("# ---- The case ----------------------------------------------------------------");
    script.blank();
    fixture::write(&mut script, &launched.trial);
    launches::write(&mut script, recipe, &baseline, &launched);
    look::write(&mut script, &launched.trial);
    script.line("# ---- How it is run and read: the same in every script ------------------------");
    script.blank();
    begin(&mut script, recipe, &launched)?;
    reading(&mut script, recipe);
    Ok(script.into_text())
}

/// The launches of a rehearsal, in the order in which they are made.
fn launches_of(rehearsal: &Rehearsal) -> impl Iterator<Item = &crate::rehearsal::Launch> {
    let steps = rehearsal.steps.iter().filter_map(|step| match step {
        Step::Launch(launch) => Some(&**launch),
        Step::Host(_) => None,
    });
    steps.chain(&rehearsal.control)
}

/// Texts that are handed on as words of a shell must hold no zero byte.
fn no_zero_bytes(rehearsal: &Rehearsal) -> Result<(), CannotWrite> {
    let found = |what: &str| {
        Err(CannotWrite::ZeroByte {
            trial: rehearsal.trial.name.clone(),
            what: what.to_owned(),
        })
    };
    for launch in launches_of(rehearsal) {
        let rendered = &launch.rendered;
        if rendered.command_line.iter().any(|word| word.contains('\0')) {
            return found("an argument");
        }
        let variables = rendered.environment.iter();
        if variables.clone().any(|(_, value)| value.contains('\0')) {
            return found("a variable");
        }
    }
    Ok(())
}

/// What every script begins with, and the helpers that this one needs.
fn begin(
    script: &mut Script,
    recipe: Recipe<'_>,
    rehearsal: &Rehearsal,
) -> Result<(), CannotWrite> {
    let trial = &rehearsal.trial;
    script.part(parts::BEGIN);
    let kept = launches::need_keeper(rehearsal);
    let services = fixture::needs_services(&trial.fixture);
    let probe = probe::program(trial)?;
    let regular = look::needs_python(trial);
    if kept || services || probe.is_some() || regular {
        script.line("need python3");
    }
    launches::programs(script, recipe);
    script.line("tools=$top/tools");
    script.line("mkdir \"$tools\"");
    script.line("user=$(id -un)");
    script.line("uid=$(id -u)");
    if services {
        script.blank();
        script.file("host.py", parts::SERVICES);
    }
    if kept {
        script.blank();
        script.file("keeper.py", parts::KEEPER);
    }
    if let Some(program) = probe {
        script.blank();
        script.line("# The probe is a program in the workspace, run inside the sandbox.");
        script.line(&format!(
            "python=$(PATH={} command -v python3) || die 'python3 must be where a sandbox has it: in /usr/bin'",
            crate::facts::LAUNCH_PATH
        ));
        script.line("say \"#!$python -IS\" >\"$tools/probe\"");
        script.append_file("probe", &program);
    }
    script.blank();
    script.part(parts::HOST);
    script.part(parts::WATCH);
    if !crate::corpus::secrets_of(&trial.fixture).is_empty() {
        script.part(parts::SECRETS);
    }
    script.part(if kept { parts::KEPT } else { parts::PLAIN });
    script.part(parts::LAUNCH);
    script.part(parts::LOOK);
    if regular {
        script.part(parts::MATCHES);
    }
    if launches::race(rehearsal) {
        script.part(parts::RACE);
    }
    script.part(parts::ATTEMPT);
    Ok(())
}

/// The two attempts, and the verdict that follows.
fn reading(script: &mut Script, recipe: Recipe<'_>) {
    let expect = &recipe.trial.case.expect;
    script.part(parts::READING);
    script.part(match expect.outcome {
        Outcome::Allowed => parts::READING_ALLOWED,
        Outcome::Denied => parts::READING_DENIED,
        Outcome::Refused => parts::READING_REFUSED,
    });
    let status = recipe.launcher.refusal_status;
    script.line(&format!(
        "refuses_with={}",
        status.map_or_else(String::new, |status| status.to_string())
    ));
    script.line(match expect.refusal {
        Refusal::Accepted => "may_refuse=yes",
        Refusal::Rejected => "may_refuse=no",
    });
    script.line("lost=no");
    script.blank();
    script.line("say '== Without a sandbox'");
    script.line("attempt baseline");
    script.line("possible=no");
    script.line(match expect.outcome {
        // That the command starts is all that is looked for.
        Outcome::Refused => "[ \"$shows\" = no ] || possible=yes",
        _ => "[ \"$shows\" = no ] || [ \"$began_all\" = no ] || possible=yes",
    });
    script.blank();
    let launcher = format!("== Under {}", recipe.launcher.name);
    script.line(&format!("say {}", shell::word(&launcher)));
    script.line("attempt launcher");
    script.line("read_verdict");
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
