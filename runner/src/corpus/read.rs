//! Reads the files of a corpus, as many of them as can be read.

use std::collections::HashMap;

use serde::de::DeserializeOwned;

use super::case::{Case, TopicFile};
use super::error::{CorpusError, parse};
use super::expectation::ExpectationFile;
use super::fault::FaultSource;
use super::history::{RetiredFile, RevisionsFile};
use super::load::CorpusFile;
use super::matrix::{MATRIX, MatrixFile};
use super::requirement::RequirementFile;
use super::source::{Source, SourceFile};
use crate::launcher::checked;
use crate::launcher::file::LauncherFile;
use crate::seatbelt;

/// A topic and where it stands.
#[derive(Debug)]
pub(crate) struct Topic {
    pub(crate) source: SourceFile,
    pub(crate) content: TopicFile,
}

/// The files of a corpus.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) about: Option<CorpusFile>,
    pub(crate) requirements: RequirementFile,
    pub(crate) retired: RetiredFile,
    pub(crate) revisions: Option<RevisionsFile>,
    pub(crate) topics: Vec<Topic>,
    pub(crate) launchers: Vec<LauncherFile>,
    pub(crate) expectations: Vec<(SourceFile, ExpectationFile)>,
    pub(crate) faults: Vec<FaultSource>,
    pub(crate) matrix: Option<MatrixFile>,
    /// Every file, by its name in the corpus.
    pub(crate) files: Vec<SourceFile>,
    /// What is wrong with the files that could not be read.
    pub(crate) malformed: Vec<CorpusError>,
    /// The first place of each id: which topic, which case of it.
    pub(crate) places: HashMap<String, (usize, usize)>,
}

impl Read {
    /// Reads what there is.
    ///
    /// # Errors
    /// A directory or file that the system does not let be read. A file whose
    /// content is wrong is listed instead.
    pub(crate) fn from(source: &Source) -> Result<Read, CorpusError> {
        let mut read = Read::default();
        for file in source.files()? {
            match file.name.split_once('/') {
                None => read.single(&file),
                Some(("launchers", _)) => match checked::read(&file.shown, &file.bytes) {
                    Ok(launcher) => read.launchers.push(launcher),
                    Err(error) => read.malformed.push(error),
                },
                Some(("expectations", _)) => {
                    if let Some(content) = read.content(&file) {
                        read.expectations.push((file.clone(), content));
                    }
                }
                Some(_) if file.name == MATRIX => read.matrix = read.content(&file),
                Some(("faults", _)) => {
                    if let Err(error) = checked::check(&file.shown, &file.bytes, Some("launcher")) {
                        read.malformed.push(error);
                    } else if let Some(content) = read.content(&file) {
                        let source = file.clone();
                        read.faults.push(FaultSource { source, content });
                    }
                }
                Some(("schema", _)) => {}
                Some(_) if seatbelt::is_data(&file.name) => {}
                Some(_) => {
                    if let Some(content) = read.content(&file) {
                        read.topic(file.clone(), content);
                    }
                }
            }
            read.files.push(file);
        }
        Ok(read)
    }

    /// A file that stands at the top of the corpus.
    fn single(&mut self, file: &SourceFile) {
        match file.name.as_str() {
            "corpus.json" => self.about = self.content(file),
            "requirements.json" => self.requirements = self.content(file).unwrap_or_default(),
            "retired.json" => self.retired = self.content(file).unwrap_or_default(),
            "revisions.json" => self.revisions = self.content(file),
            _ => {}
        }
    }

    fn content<T: DeserializeOwned>(&mut self, file: &SourceFile) -> Option<T> {
        parse(&file.shown, &file.bytes)
            .map_err(|error| self.malformed.push(error))
            .ok()
    }

    fn topic(&mut self, source: SourceFile, content: TopicFile) {
        for (index, case) in content.cases.iter().enumerate() {
            let place = (self.topics.len(), index);
            self.places.entry(case.id.clone()).or_insert(place);
        }
        self.topics.push(Topic { source, content });
    }

    /// The case of this id, and its topic.
    pub(crate) fn case(&self, id: &str) -> Option<(&Topic, &Case)> {
        let (topic, case) = *self.places.get(id)?;
        let topic = &self.topics[topic];
        Some((topic, &topic.content.cases[case]))
    }
}
