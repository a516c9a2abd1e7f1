//! The lint of a corpus: what a reader of the files can tell to be wrong without
//! running anything.
//!
//! What the loader refuses is found here too, and all of it at once. The rest is
//! what makes a corpus worth its name: ids that keep their meaning, twins that are
//! twins, promises that cases cover, commands that do no harm.

mod axes;
mod fields;
mod fixture;
mod harmless;
mod history;
mod loader;
mod material;
mod prose;
mod references;
mod requirements;
mod rules;
mod shell;
mod siblings;
pub mod table;
pub mod write;

use std::fmt;

use serde::Serialize;

use crate::corpus::{CorpusError, Source};
use material::Material;

pub use rules::{RULES, rule};

/// One thing that a corpus must keep.
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// What it asks for, in one sentence.
    pub about: &'static str,
    /// Whether it looks at the corpus as a whole, so that it can say nothing while
    /// a file cannot be read.
    pub(crate) whole: bool,
    pub(crate) check: fn(&Material) -> Vec<Finding>,
}

impl fmt::Debug for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

/// Something that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The file, as a message names it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, where it is known.
    pub column: Option<usize>,
    /// The case.
    pub case: Option<String>,
    /// The rule that is broken.
    pub rule: &'static str,
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub remedy: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)?;
        if let Some(column) = self.column {
            write!(formatter, ":{column}")?;
        }
        write!(formatter, ": ")?;
        if let Some(case) = &self.case {
            write!(formatter, "case {case}: ")?;
        }
        write!(formatter, "{}", self.problem)?;
        if !self.remedy.is_empty() {
            write!(formatter, "; {}", self.remedy)?;
        }
        write!(formatter, " [{}]", self.rule)
    }
}

/// What came of a lint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// What is wrong, by file and line.
    pub findings: Vec<Finding>,
    /// The rules that were applied.
    pub rules: Vec<&'static str>,
    /// Rules that look at the corpus as a whole, and could not: some file of it
    /// cannot be read.
    pub not_applied: Vec<&'static str>,
    /// How many files were looked at.
    pub files: usize,
    /// How many cases were looked at.
    pub cases: usize,
}

/// Applies rules to a corpus.
///
/// # Errors
/// A directory or a file that the system does not let be read, or a directory
/// that holds no case.
pub fn lint(source: &Source, rules: &[&'static Rule]) -> Result<Report, CorpusError> {
    let material = Material::from(source)?;
    let mut report = Report {
        findings: Vec::new(),
        rules: Vec::new(),
        not_applied: Vec::new(),
        files: material.read.files.len(),
        cases: material.cases().count(),
    };
    for rule in rules {
        if rule.whole && !material.read.malformed.is_empty() {
            report.not_applied.push(rule.name);
            continue;
        }
        report.rules.push(rule.name);
        let found = (rule.check)(&material).into_iter().map(|finding| Finding {
            rule: rule.name,
            ..finding
        });
        report.findings.extend(found);
    }
    report.findings.sort();
    report.findings.dedup();
    Ok(report)
}
