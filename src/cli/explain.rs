//! `perimeter explain`.

mod explanation;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use perimeter_runner::report::console::{Color, Look};
use perimeter_runner::shell::word;

use super::corpus::{launcher, load, named};
use super::failure::Failure;
use super::print::print;

/// Say what a case is about, what it runs, and what each verdict means.
///
/// Nothing is run. For the reference launcher, the fixture is made in the user's
/// cache directory for a moment, so that the arguments shown are the real ones.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  perimeter explain files.write.create-outside
  perimeter explain files.write.create-outside/strict --launcher ./mine.json
  perimeter explain terminal.caller.pushed-input --json")]
pub struct Explain {
    /// The case's id, or a trial's name
    #[arg(value_name = "ID")]
    case: String,
    /// The launcher whose command line is shown: a name that the corpus has, or a
    /// launcher file
    #[arg(long, value_name = "NAME|FILE", default_value = "reference")]
    launcher: String,
    /// Another corpus than the one inside this program
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints a case: why it is there, what it sets up, what it runs, and what each
/// verdict would mean.
pub fn run(explain: &Explain) -> Result<ExitCode, Failure> {
    let corpus = load(explain.corpus.as_deref())?;
    let named = named(&corpus, &explain.case)?;
    let launcher = launcher(&corpus, &explain.launcher)?;
    let mut given = String::new();
    if explain.launcher != "reference" {
        given += &format!(" --launcher {}", word(&explain.launcher));
    }
    if let Some(directory) = &explain.corpus {
        given += &format!(" --corpus {}", word(&directory.display().to_string()));
    }
    let explanation = explanation::explain(&corpus, &named, &launcher, &given)?;
    let text = if explain.json {
        let json = serde_json::to_string_pretty(&explanation);
        format!("{}\n", json.map_err(|error| Failure::new(70, error))?)
    } else {
        text::render(&explanation, Look::stdout(Color::Never).width)
    };
    print(text.as_bytes())
}
