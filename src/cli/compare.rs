//! `perimeter compare`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;
use perimeter_runner::compare::{self, Comparison};
use perimeter_runner::report::reader;

use super::corpus::load;
use super::failure::{Failure, USAGE};
use super::print::print;

/// Put results of several launchers, users and hosts side by side.
///
/// The parts of a split run are joined. A case that two runs have different texts of
/// is marked. Without a file to write, the Markdown form is printed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  perimeter compare results-*.jsonl
  perimeter compare mine.jsonl theirs.jsonl --html compared.html
  perimeter compare part-1.jsonl part-2.jsonl --json compared.json --markdown compared.md")]
pub struct Compare {
    /// Results files, as `perimeter check --results` writes them
    #[arg(required = true, value_name = "RESULTS")]
    results: Vec<PathBuf>,
    /// The corpus that says what the cases are about, if not the one inside this program
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Write one page that needs nothing beside itself
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Joins the results, and writes or prints them.
pub fn run(arguments: &Compare) -> Result<ExitCode, Failure> {
    let corpus = load(arguments.corpus.as_deref())?;
    let mut runs = Vec::with_capacity(arguments.results.len());
    for path in &arguments.results {
        let run = reader::read(path).map_err(|error| Failure::new(USAGE, error))?;
        runs.push((path.clone(), run));
    }
    let comparison = Comparison::of(runs, &corpus).map_err(|error| Failure::new(USAGE, error))?;
    if let Some(path) = &arguments.html {
        write(path, &compare::html(&comparison, SystemTime::now()))?;
    }
    if let Some(path) = &arguments.markdown {
        write(path, &compare::markdown(&comparison))?;
    }
    if let Some(path) = &arguments.json {
        write(path, &format!("{:#}\n", compare::json(&comparison)))?;
    }
    if arguments.html.is_none() && arguments.markdown.is_none() && arguments.json.is_none() {
        return print(compare::markdown(&comparison).as_bytes());
    }
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| {
        Failure::new(
            USAGE,
            format_args!(
                "{}: {error}; name a file that can be written",
                path.display()
            ),
        )
    })
}
