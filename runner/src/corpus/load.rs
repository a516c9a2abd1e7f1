//! Reads a corpus whole: topics, requirements and launcher files.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::case::TopicFile;
use super::check;
use super::digest;
use super::error::{CorpusError, parse};
use super::fault::{self, Fault, FaultSource};
use super::matrix::{MATRIX, MatrixFile};
use super::requirement::{Requirement, RequirementFile};
use super::source::{Source, SourceFile};
use super::trial::Trial;
use crate::launcher::file::LauncherFile;
use crate::seatbelt;

/// The directories of a corpus that hold something else than cases.
const OTHER_DIRECTORIES: [&str; 2] = ["expectations", "schema"];

/// `corpus.json`: what the corpus says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorpusFile {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Ids that cases once had, and that are never used again.
    #[serde(default)]
    pub retired: Vec<String>,
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

/// A topic and where it stands.
pub(crate) struct Topic {
    pub(crate) source: SourceFile,
    pub(crate) content: TopicFile,
}

impl Corpus {
    /// Reads a corpus and refuses one that contradicts itself.
    ///
    /// # Errors
    /// The first thing that is wrong, with file and line.
    pub fn load(source: &Source) -> Result<Corpus, CorpusError> {
        let mut about = None;
        let mut requirements = Vec::new();
        let mut topics = Vec::new();
        let mut launchers = Vec::new();
        let mut faults = Vec::new();
        let mut matrix = None;
        for file in source.files()? {
            match file.name.split_once('/') {
                None if file.name == "corpus.json" => {
                    about = Some(parse::<CorpusFile>(&file.shown, &file.bytes)?);
                }
                None if file.name == "requirements.json" => {
                    requirements = parse::<RequirementFile>(&file.shown, &file.bytes)?.requirements;
                }
                None => {}
                Some(("launchers", _)) => launchers.push(parse(&file.shown, &file.bytes)?),
                Some(_) if file.name == MATRIX => {
                    matrix = Some(parse::<MatrixFile>(&file.shown, &file.bytes)?);
                }
                Some(("faults", _)) => faults.push(FaultSource {
                    content: parse(&file.shown, &file.bytes)?,
                    source: file,
                }),
                Some((directory, _)) if OTHER_DIRECTORIES.contains(&directory) => {}
                Some(_) if seatbelt::is_data(&file.name) => {}
                Some(_) => topics.push(Topic {
                    content: parse(&file.shown, &file.bytes)?,
                    source: file,
                }),
            }
        }
        let about = about.unwrap_or_else(|| CorpusFile {
            name: "unnamed".to_owned(),
            version: "0".to_owned(),
            retired: Vec::new(),
        });
        check::all(&topics, &requirements, &about)?;
        fault::check(&faults, &launchers)?;
        let mut trials = Vec::new();
        let mut lines = HashMap::new();
        for topic in &topics {
            for case in &topic.content.cases {
                lines.insert(case.id.clone(), check::line_of(topic, &case.id));
                let digest = digest::of_case(&topic.content, case);
                let of_case = Trial::of(&topic.content, &topic.source.name, case, &digest)
                    .map_err(|error| check::inconsistent(topic, &case.id, error.to_string()))?;
                trials.extend(of_case);
            }
        }
        if trials.is_empty() {
            return Err(CorpusError::Empty {
                place: match source {
                    Source::Directory(path) => path.display().to_string(),
                    Source::Embedded(_) => "the program".to_owned(),
                },
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
            requirements,
            trials,
            launchers,
            faults: faults.into_iter().map(|fault| fault.content).collect(),
            matrix,
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
