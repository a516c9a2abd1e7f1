//! The report that a person reads: worst first, then what was not proven, then
//! what does not count, and at the end exactly what was proven.

mod look;
mod sections;
mod table;

use std::io::{self, Write};

use thiserror::Error;

pub(crate) use look::width_of;
pub use look::{Color, Look};

use super::closing;
use super::results::{Header, TrialResult};
use super::summary::{Standing, Summary};
use super::text::{counted, harmless, word, words, wrapped};
use crate::exit::ExitCode;
use crate::shell;

/// A report could not be printed. It decides nothing: the exit code is that of
/// the run.
#[derive(Debug, Error)]
pub enum PrintError {
    /// The reader has gone, as `head` does; there is nobody to tell.
    #[error("nobody reads the report any more")]
    Closed,
    /// Something else.
    #[error("print the report: {0}; use a results file to keep it")]
    Write(io::Error),
}

/// Prints a report.
pub fn print(output: &mut impl Write, report: &str) -> Result<(), PrintError> {
    let written = output.write_all(report.as_bytes());
    written
        .and_then(|()| output.flush())
        .map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => PrintError::Closed,
            _ => PrintError::Write(error),
        })
}

/// What was typed that a report goes by, beside what its header says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    /// The launcher as it was named, where it was; commands that are shown repeat it.
    pub launcher: Option<&'a str>,
    /// Whether what keeps the run from conforming, and the end, are all that is told.
    pub quiet: bool,
}

/// The whole report.
pub fn render(
    header: &Header,
    trials: &[TrialResult],
    summary: &Summary,
    milliseconds: u64,
    look: &Look,
) -> String {
    let asked = Asked::default();
    render_asked(header, trials, summary, milliseconds, look, asked)
}

/// The report as it was asked for.
pub fn render_asked(
    header: &Header,
    trials: &[TrialResult],
    summary: &Summary,
    milliseconds: u64,
    look: &Look,
    asked: Asked<'_>,
) -> String {
    let mut page = Page {
        text: String::new(),
        look,
    };
    if !asked.quiet {
        head(&mut page, header);
    }
    let mut sorted: Vec<_> = trials
        .iter()
        .map(|trial| (Standing::of(trial, &header.contract), trial))
        .collect();
    sorted.sort_by_key(|(_, trial)| (trial.verdict, trial.level));
    let of = |wanted: &[Standing], required: Option<bool>| -> Vec<&TrialResult> {
        let chosen = sorted.iter().filter(|(standing, trial)| {
            wanted.contains(standing) && required.is_none_or(|it| it == trial.required)
        });
        chosen.map(|(_, trial)| *trial).collect()
    };
    let mut explain = format!("{} explain", header.suite.name);
    let given = [
        ("--corpus", header.corpus.directory.as_deref()),
        ("--launcher", asked.launcher),
    ];
    for (option, value) in given {
        if let Some(value) = value {
            explain += &format!(" {option} {}", shell::word(value));
        }
    }
    sections::failures(
        &mut page,
        "The harness failed",
        &of(&[Standing::Error], None),
        &explain,
    );
    sections::failures(
        &mut page,
        "Failed",
        &of(&[Standing::Failed], Some(true)),
        &explain,
    );
    if !asked.quiet {
        sections::observed(&mut page, &of(&[Standing::Failed], Some(false)));
        sections::expected(&mut page, &of(&[Standing::Excused], None));
    }
    sections::problems(&mut page, &summary.expectation_problems);
    sections::unproven(
        &mut page,
        "Not proven",
        &of(&[Standing::Unproven], Some(true)),
    );
    if !asked.quiet {
        sections::unproven(
            &mut page,
            "Not proven, and not required",
            &of(&[Standing::Unproven], Some(false)),
        );
        sections::uncounted(
            &mut page,
            &of(&[Standing::Uncounted, Standing::Declared], None),
        );
        table::levels(&mut page, summary, &header.contract);
    }
    foot(&mut page, header, summary, milliseconds);
    if asked.quiet {
        // A section begins with a free line, and here nothing is before the first.
        return page.text.trim_start_matches('\n').to_owned();
    }
    page.text
}

/// What was run, on what.
fn head(page: &mut Page<'_>, header: &Header) {
    let look = page.look;
    let launcher = &header.launcher;
    let version = launcher.version.as_deref().unwrap_or("version unknown");
    page.line(&format!(
        "{} {} checked {}{}{} ({})",
        harmless(&header.suite.name),
        harmless(&header.suite.version),
        look.strong,
        harmless(&launcher.name),
        look.strong.render_reset(),
        harmless(version.lines().next().unwrap_or_default()),
    ));
    let host = &header.host;
    let digest: String = header.corpus.digest.chars().take(12).collect();
    let place = match &header.corpus.directory {
        Some(directory) => format!(" from {directory}"),
        None => String::new(),
    };
    page.labelled(
        "corpus",
        &format!(
            "{digest}{place}, {} of {}",
            header.selected,
            counted(header.corpus.trials, "trial"),
        ),
    );
    page.labelled(
        "host",
        &format!(
            "{} {}, {}, uid {}, scratch directory on {}",
            host.os, host.kernel, host.architecture, host.uid, host.scratch_file_system,
        ),
    );
    let contract = &header.contract;
    let required = match contract.levels.iter().max() {
        None => String::from("no level"),
        Some(level) => format!("the MUST cases up to {}", word(level)),
    };
    page.labelled("requires", &required);
    if !contract.required_facts.is_empty() {
        page.labelled("needs", &words(&contract.required_facts));
    }
    if !contract.absent_facts.is_empty() {
        page.labelled("declared", &format!("no {}", words(&contract.absent_facts)));
    }
    if !contract.filters.is_empty() {
        page.labelled("narrowed", &contract.filters.join(", "));
    }
    if let Some(part) = &contract.partition {
        page.labelled("part", part);
    }
}

/// What was proven.
fn foot(page: &mut Page<'_>, header: &Header, summary: &Summary, milliseconds: u64) {
    let look = page.look;
    let style = match summary.exit_code() {
        ExitCode::Conforms => look.good,
        ExitCode::Unproven | ExitCode::Nothing => look.doubtful,
        _ => look.bad,
    };
    page.line("");
    for line in wrapped(&closing::proven(summary, &header.contract), look.width) {
        page.line(&format!("{style}{line}{}", style.render_reset()));
    }
    page.line(&closing::counts(summary, milliseconds));
}

/// The text so far, and how it is set.
struct Page<'a> {
    text: String,
    look: &'a Look,
}

/// The column in which what follows a label starts.
const LABEL: usize = 10;

impl Page<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn heading(&mut self, heading: &str, number: usize) {
        let strong = self.look.strong;
        self.line("");
        self.line(&format!(
            "{strong}{heading}: {number}{}",
            strong.render_reset()
        ));
    }

    /// Prose, made harmless, wrapped at the indent.
    fn prose(&mut self, indent: usize, text: &str) {
        let room = self.look.width.saturating_sub(indent);
        for line in wrapped(&harmless(text), room) {
            self.line(&format!("{:indent$}{line}", ""));
        }
    }

    /// A dim label, and prose beside it.
    fn labelled(&mut self, label: &str, text: &str) {
        self.labelled_at(2, label, text);
    }

    fn labelled_at(&mut self, indent: usize, label: &str, text: &str) {
        let dim = self.look.dim;
        let column = indent + LABEL;
        let room = self.look.width.saturating_sub(column);
        for (number, line) in wrapped(&harmless(text), room).iter().enumerate() {
            if number == 0 {
                let reset = dim.render_reset();
                self.line(&format!("{:indent$}{dim}{label:<LABEL$}{reset}{line}", ""));
            } else {
                self.line(&format!("{:column$}{line}", ""));
            }
        }
    }
}

#[cfg(test)]
#[path = "../console_tests.rs"]
mod tests;
