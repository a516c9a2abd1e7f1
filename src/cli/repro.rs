//! `perimeter repro`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use perimeter_runner::corpus::Trial;
use perimeter_runner::repro::{CannotWrite, Recipe, marks, script};
use perimeter_runner::session::OPEN;

use super::corpus::{launcher, load, named};
use super::failure::{Failure, USAGE};
use super::plans::{has_plans, plans};
use super::print::print;

/// Write a case as one shell script, to be run by hand without this program.
///
/// The script makes the fixture in a directory of its own, makes the launch without
/// a sandbox and then under the launcher, says of each part of what is looked for
/// whether it is there, and which verdict follows, and removes everything. The same
/// case, launcher and host give the same text.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status:
  0   the script is written
  2   this case cannot be put into a script, for the reason given
  4   no case has this name

Examples:
  perimeter repro files.write.create-outside | sh
  perimeter repro terminal.caller.pushed-input --launcher bubblewrap-004 --output repro.sh
  perimeter repro lifecycle.end.launcher-signalled --trial host-readable/KILL")]
pub struct Repro {
    /// The case's id, or a trial's name
    #[arg(value_name = "ID")]
    case: String,
    /// The launcher under test: a name that the corpus has, or a launcher file
    #[arg(long, value_name = "NAME|FILE", default_value = "reference")]
    launcher: String,
    /// Which trial of the case: its name, or what follows the id in it [default:
    /// the first]
    #[arg(long, value_name = "NAME")]
    trial: Option<String>,
    /// Where the script is written; standard output when absent
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Another corpus than the one inside this program
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
}

/// Writes the script.
pub fn run(repro: &Repro) -> Result<ExitCode, Failure> {
    let corpus = load(repro.corpus.as_deref())?;
    let named = named(&corpus, &repro.case)?;
    let trial = chosen(&named, repro)?;
    let launcher = launcher(&corpus, &repro.launcher)?;
    let open = corpus.launcher(OPEN).ok_or_else(|| {
        Failure::new(
            USAGE,
            format_args!("the corpus has no launcher file named {OPEN}, so there is no baseline"),
        )
    })?;
    let plans = match has_plans(&launcher) {
        true => plans(trial, &launcher, &marks(trial))?,
        false => Vec::new(),
    };
    let text = script(Recipe {
        trial,
        launcher: &launcher,
        open,
        plans: &plans,
    })
    .map_err(|error: CannotWrite| Failure::new(USAGE, error))?;
    match &repro.output {
        None => print(text.as_bytes()),
        Some(path) => write(path, &text),
    }
}

/// The trial that is asked for.
fn chosen<'a>(named: &[&'a Trial], repro: &Repro) -> Result<&'a Trial, Failure> {
    let Some(wanted) = &repro.trial else {
        return named
            .first()
            .copied()
            .ok_or_else(|| Failure::new(USAGE, "no trial is named"));
    };
    let is_wanted = |trial: &Trial| {
        trial.name == *wanted || trial.name == format!("{}/{wanted}", trial.case.id)
    };
    let found = named.iter().copied().find(|trial| is_wanted(trial));
    found.ok_or_else(|| {
        let names: Vec<&str> = named.iter().map(|trial| trial.name.as_str()).collect();
        Failure::new(
            perimeter_runner::exit::ExitCode::Nothing.code(),
            format_args!(
                "{} has no trial {wanted:?}; it has {}",
                repro.case,
                names.join(", ")
            ),
        )
    })
}

/// Writes a script that can be executed.
fn write(path: &Path, text: &str) -> Result<ExitCode, Failure> {
    use std::os::unix::fs::PermissionsExt;
    let failed = |error: std::io::Error| {
        Failure::new(
            USAGE,
            format_args!(
                "{}: {error}; name a file that can be written",
                path.display()
            ),
        )
    };
    fs::write(path, text).map_err(failed)?;
    let mut mode = fs::metadata(path).map_err(failed)?.permissions();
    // Whoever may read it may run it.
    mode.set_mode(mode.mode() | (mode.mode() & 0o444) >> 2);
    fs::set_permissions(path, mode).map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}
