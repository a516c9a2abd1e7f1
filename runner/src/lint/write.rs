//! `perimeter lint --write`: the files of a corpus that are generated.

use std::fs;
use std::path::{Path, PathBuf};

use super::material::Material;
use super::{RULES, Report, lint, table};
use crate::corpus::history::Revision;
use crate::corpus::{CorpusError, Source, digest};

/// The rules that writing mends. Nothing is written while another is broken.
const MENDED: [&str; 2] = ["rev-recorded", "requirement-table"];

/// What the record of revisions is called.
const REVISIONS: &str = "revisions.json";

/// Why the generated files could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The corpus cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// A file cannot be written.
    #[error("{path}: {error}; make the corpus's directory writable", path = path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: std::io::Error,
    },
}

/// Writes the record of revisions and the table of requirements, if every other
/// rule is kept: so a change of meaning without a new revision cannot be covered up.
/// Returns what was found, and the files that are new or changed.
///
/// # Errors
/// A corpus that cannot be read, or a file that cannot be written.
pub fn write(directory: &Path) -> Result<(Report, Vec<PathBuf>), WriteError> {
    let source = Source::Directory(directory.to_owned());
    let rules: Vec<_> = RULES
        .iter()
        .filter(|rule| !MENDED.contains(&rule.name))
        .collect();
    let report = lint(&source, &rules)?;
    if !report.findings.is_empty() {
        return Ok((report, Vec::new()));
    }
    let material = Material::from(&source)?;
    let mut files = vec![(REVISIONS, revisions(&material))];
    if !material.read.requirements.requirements.is_empty() {
        files.push((table::NAME, table::text(&material)));
    }
    let mut written = Vec::new();
    for (name, text) in files {
        let path = directory.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        fs::write(&path, text).map_err(|error| WriteError::Unwritable {
            path: path.clone(),
            error,
        })?;
        written.push(path);
    }
    let all: Vec<_> = RULES.iter().collect();
    Ok((lint(&source, &all)?, written))
}

/// The record, a case a line, so that changes of two cases never meet in one.
fn revisions(material: &Material) -> String {
    let mut cases: Vec<(&str, Revision)> = material
        .cases()
        .map(|at| {
            let revision = Revision {
                rev: at.case.rev,
                digest: digest::of_case(&at.topic.content, at.case),
            };
            (at.case.id.as_str(), revision)
        })
        .collect();
    cases.sort_by_key(|(id, _)| *id);
    let lines: Vec<String> = cases
        .iter()
        .map(|(id, revision)| {
            format!(
                "    \"{id}\": {{ \"rev\": {}, \"digest\": \"{}\" }}",
                revision.rev, revision.digest
            )
        })
        .collect();
    format!(
        "{{\n  \"$schema\": \"schema/revisions.schema.json\",\n  \"cases\": {{\n{}\n  }}\n}}\n",
        lines.join(",\n")
    )
}
