//! Writes a results file while the run goes on.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use super::results::{Footer, Header, TrialResult};

/// A results file could not be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The file could not be made.
    #[error("create the results file {}: {source}; name a file in a directory that exists and can be written", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A record could not be written.
    #[error("write the results file {}: {source}; it is incomplete: free some space or name another file, and run again", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A results file that is being written.
///
/// Each record is one write of one line, so that a run that is killed leaves
/// whole lines and no footer, and the reader can tell.
#[derive(Debug)]
pub struct ResultsWriter<W: Write = File> {
    path: PathBuf,
    output: W,
}

impl ResultsWriter<File> {
    /// Makes the file, or empties the one that is there, and writes the header.
    pub fn create(path: &Path, header: &Header) -> Result<Self, WriteError> {
        let output = File::create(path).map_err(|source| WriteError::Create {
            path: path.to_owned(),
            source,
        })?;
        ResultsWriter::start(path, output, header)
    }
}

impl<W: Write> ResultsWriter<W> {
    /// Writes the header to an open output; `path` is what errors name it by.
    pub fn start(path: &Path, output: W, header: &Header) -> Result<Self, WriteError> {
        let mut writer = ResultsWriter {
            path: path.to_owned(),
            output,
        };
        writer.record(&Record::Header(header))?;
        Ok(writer)
    }

    /// Writes what came of one trial.
    pub fn trial(&mut self, result: &TrialResult) -> Result<(), WriteError> {
        self.record(&Record::Trial(result))
    }

    /// Writes the footer, which says that the run is whole.
    pub fn finish(mut self, footer: &Footer) -> Result<(), WriteError> {
        self.record(&Record::Footer(footer))?;
        self.output.flush().map_err(|source| WriteError::Write {
            path: self.path,
            source,
        })
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        let written = serde_json::to_vec(record)
            .map_err(io::Error::other)
            .and_then(|mut line| {
                line.push(b'\n');
                self.output.write_all(&line)
            });
        written.map_err(|source| WriteError::Write {
            path: self.path.clone(),
            source,
        })
    }
}

/// [`super::results::Line`], borrowed.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Record<'a> {
    Header(&'a Header),
    Trial(&'a TrialResult),
    Footer(&'a Footer),
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_file_in_no_directory_is_an_error_that_names_it() {
        let path = Path::new("/nonexistent/results.jsonl");
        let error = ResultsWriter::create(path, &sample::header()).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/results.jsonl"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let path = Path::new("/dev/full");
        let error = ResultsWriter::create(path, &sample::header()).unwrap_err();
        assert!(matches!(error, WriteError::Write { .. }), "{error}");
        assert!(error.to_string().contains("/dev/full"));
    }
}
