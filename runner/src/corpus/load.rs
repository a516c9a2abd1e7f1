//! Reads a corpus whole: topics, requirements and launcher files.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check;
use super::digest;
use super::error::CorpusError;
use super::fault::{self, Fault};
use super::matrix::MatrixFile;
use super::read::Read;
use super::requirement::Requirement;
use super::source::Source;
use super::trial::Trial;
use crate::launcher::file::LauncherFile;

/// `corpus.json`: what the corpus says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorpusFile {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A corpus, read and checked.
#[derive(Debug, Clone)]
pub struct Corpus {
    /// What it says of itself.
    pub about: CorpusFile,
    /// A digest of the meaning of all its cases.
    pub digest: String,
    /// What its cases can name in `covers`; empty for a corpus without the list.
    pub requirements: Vec<Requirement>,
    /// Everything to run, in the order of the files.
    pub trials: Vec<Trial>,
    /// The launcher files that come with it.
    pub launchers: Vec<LauncherFile>,
    /// The launchers that are wrong on purpose.
    pub faults: Vec<Fault>,
    /// What audits have shown of the cases and faults.
    pub matrix: Option<MatrixFile>,
    /// The line of its file that each case's id stands at, from 1.
    lines: HashMap<String, usize>,
}

impl Corpus {
    /// Reads a corpus and refuses one that contradicts itself.
    ///
    /// # Errors
    /// The first thing that is wrong, with file and line.
    pub fn load(source: &Source) -> Result<Corpus, CorpusError> {
        let mut read = Read::from(source)?;
        if !read.malformed.is_empty() {
            return Err(read.malformed.swap_remove(0));
        }
        if let Some(problem) = check::all(&read).into_iter().next() {
            let topic = &read.topics[problem.topic];
            return Err(check::inconsistent(topic, problem.case, problem.text));
        }
        if let Some(error) = fault::check(&read.faults, &read.launchers)
            .into_iter()
            .next()
        {
            return Err(error);
        }
        let about = read.about.unwrap_or_else(|| CorpusFile {
            schema: None,
            name: "unnamed".to_owned(),
            version: "0".to_owned(),
        });
        let mut trials = Vec::new();
        let mut lines = HashMap::new();
        for topic in &read.topics {
            for (index, case) in topic.content.cases.iter().enumerate() {
                lines.insert(case.id.clone(), check::line_of(topic, index));
                let digest = digest::of_case(&topic.content, case);
                let of_case = Trial::of(&topic.content, &topic.source.name, case, &digest)
                    .map_err(|error| check::inconsistent(topic, index, error.to_string()))?;
                trials.extend(of_case);
            }
        }
        if trials.is_empty() {
            return Err(CorpusError::Empty {
                place: source.shown(),
            });
        }
        let digest = digest::of_all(
            trials
                .iter()
                .map(|trial| (trial.case.id.as_str(), trial.digest.as_str())),
        );
        Ok(Corpus {
            about,
            digest,
            requirements: read.requirements.requirements,
            trials,
            launchers: read.launchers,
            faults: read.faults.into_iter().map(|fault| fault.content).collect(),
            matrix: read.matrix,
            lines,
        })
    }

    /// The line of its file that a case's id stands at, from 1.
    pub fn line_of(&self, id: &str) -> Option<usize> {
        self.lines.get(id).copied()
    }

    /// The launcher file of this name.
    pub fn launcher(&self, name: &str) -> Option<&LauncherFile> {
        self.launchers.iter().find(|file| file.name == name)
    }
}
