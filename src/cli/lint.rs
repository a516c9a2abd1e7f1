//! `perimeter lint`.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use perimeter_runner::corpus::Source;
use perimeter_runner::lint::{self, RULES, Report, Rule};

use super::failure::{Failure, USAGE};
use super::print::print;

/// Say what is wrong with a corpus, without running anything.
///
/// Reads every file of the corpus and says what breaks a rule: where, what is
/// wrong, and what to write instead. `--rules` lists the rules.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status:
  0   every rule is kept
  1   a rule is broken
  2   the command line is wrong, or the corpus cannot be read

Examples:
  perimeter lint --corpus conformance
  perimeter lint --corpus conformance title-form sibling-near
  perimeter lint --corpus conformance --write
  perimeter lint --rules")]
pub struct Lint {
    /// Rules to apply [default: all of them]
    #[arg(value_name = "RULE", value_parser = PossibleValuesParser::new(RULES.iter().map(|rule| rule.name)), hide_possible_values = true)]
    pub only: Vec<String>,
    /// Another corpus than the one inside this program
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    /// How to print what was found
    #[arg(long, value_enum, default_value = "human")]
    pub format: Format,
    /// List the rules
    #[arg(long, conflicts_with_all = ["only", "corpus", "write"])]
    pub rules: bool,
    /// Write revisions.json and REQUIREMENTS.md anew, if every other rule is kept
    #[arg(long, requires = "corpus", conflicts_with = "only")]
    pub write: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A line for each finding
    Human,
    /// One object
    Json,
}

/// Lints the corpus, or lists the rules.
pub fn run(lint: &Lint) -> Result<ExitCode, Failure> {
    if lint.rules {
        return print(rules(lint.format).as_bytes());
    }
    let (report, written) = match &lint.corpus {
        Some(directory) if lint.write => {
            lint::write::write(directory).map_err(|error| Failure::new(USAGE, error))?
        }
        directory => {
            let source = match directory {
                Some(directory) => Source::Directory(directory.clone()),
                None => Source::embedded(),
            };
            let report = lint::lint(&source, &chosen(&lint.only))
                .map_err(|error| Failure::new(USAGE, error))?;
            (report, Vec::new())
        }
    };
    let mut text = String::new();
    match lint.format {
        Format::Json => text = json(&report)?,
        Format::Human => {
            for path in &written {
                let _ = writeln!(text, "wrote {}", path.display());
            }
            text.push_str(&for_readers(&report));
            if lint.write && !report.findings.is_empty() {
                text.push_str("Nothing was written: mend these first.\n");
            }
        }
    }
    print(text.as_bytes())?;
    Ok(ExitCode::from(u8::from(!report.findings.is_empty())))
}

fn chosen(names: &[String]) -> Vec<&'static Rule> {
    let wanted = |rule: &&Rule| names.is_empty() || names.iter().any(|name| name == rule.name);
    RULES.iter().filter(wanted).collect()
}

fn rules(format: Format) -> String {
    if format == Format::Json {
        let rules: Vec<_> = RULES
            .iter()
            .map(|rule| serde_json::json!({ "rule": rule.name, "about": rule.about }))
            .collect();
        return format!("{:#}\n", serde_json::Value::Array(rules));
    }
    let width = RULES.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    RULES.iter().fold(String::new(), |mut text, rule| {
        let _ = writeln!(text, "{:width$}  {}", rule.name, rule.about);
        text
    })
}

fn json(report: &Report) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(report)
        .map_err(|error| Failure::new(perimeter_runner::exit::ExitCode::Harness.code(), error))?;
    Ok(format!("{text}\n"))
}

fn for_readers(report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let _ = writeln!(text, "{finding}");
    }
    let gap = if report.findings.is_empty() { "" } else { "\n" };
    let _ = writeln!(
        text,
        "{gap}{} in {} files, {} cases, {} rules",
        counted(report.findings.len(), "finding"),
        report.files,
        report.cases,
        report.rules.len()
    );
    if !report.not_applied.is_empty() {
        let _ = writeln!(
            text,
            "Not applied until every file can be read: {}",
            report.not_applied.join(", ")
        );
    }
    text
}

fn counted(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
