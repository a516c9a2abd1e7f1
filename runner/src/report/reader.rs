//! Reads a results file.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::results::{FORMAT, Footer, Header, Line, TrialResult};
use super::summary::verdicts;

/// A whole results file.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What was run.
    pub header: Header,
    /// What came of it, in the order in which the trials ended.
    pub trials: Vec<TrialResult>,
    /// How it ended.
    pub footer: Footer,
}

/// What a results file holds, be it whole or not.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialRun {
    /// What was run.
    pub header: Header,
    /// What came of it so far.
    pub trials: Vec<TrialResult>,
    /// How it ended; absent where the run was cut short.
    pub footer: Option<Footer>,
}

/// A results file could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file itself.
    #[error("read the results file {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line is no record.
    #[error("{}:{line}: {message}; the file is damaged, or another version wrote it", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A record is where it cannot be.
    #[error("{}:{line}: {what}; run again to get a sound file", path.display())]
    Misplaced {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// The format is of another version.
    #[error("{}:1: results of format {found}, and this program reads {FORMAT}; use the version that wrote it", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The file's version.
        found: u32,
    },
    /// It holds what a model says, and no result of a run.
    #[error("{}: these are decisions of a model, and nothing was run; name the results of a run", path.display())]
    Modelled {
        /// The file.
        path: PathBuf,
    },
    /// There is no footer.
    #[error("{} is incomplete: the run ended after {trials} of {selected} trials without a footer; run again", path.display())]
    Incomplete {
        /// The file.
        path: PathBuf,
        /// How many trials it holds.
        trials: usize,
        /// How many were selected.
        selected: usize,
    },
}

/// Reads the results of a whole run; a file without footer is refused.
pub fn read(path: &Path) -> Result<Run, ReadError> {
    let run = read_partial(path)?;
    match run.footer {
        Some(footer) => Ok(Run {
            header: run.header,
            trials: run.trials,
            footer,
        }),
        None => Err(ReadError::Incomplete {
            path: path.to_owned(),
            trials: run.trials.len(),
            selected: run.header.selected,
        }),
    }
}

/// Reads the results of a run that may have been cut short, even in the middle
/// of its last line.
pub fn read_partial(path: &Path) -> Result<PartialRun, ReadError> {
    let io = |source| ReadError::Io {
        path: path.to_owned(),
        source,
    };
    let mut input = BufReader::new(File::open(path).map_err(io)?);
    let mut reading = Reading::new(path);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if input.read_until(b'\n', &mut bytes).map_err(io)? == 0 {
            return reading.end();
        }
        reading.line(&bytes)?;
    }
}

/// What has been read so far.
struct Reading<'a> {
    path: &'a Path,
    number: usize,
    header: Option<Header>,
    trials: Vec<TrialResult>,
    names: HashSet<String>,
    footer: Option<Footer>,
}

impl<'a> Reading<'a> {
    fn new(path: &'a Path) -> Self {
        Reading {
            path,
            number: 0,
            header: None,
            trials: Vec::new(),
            names: HashSet::new(),
            footer: None,
        }
    }

    fn line(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        self.number += 1;
        let line = match serde_json::from_slice::<Line>(bytes) {
            Ok(line) => line,
            Err(_) if !bytes.ends_with(b"\n") && self.header.is_some() => return Ok(()),
            Err(error) => {
                return Err(ReadError::Malformed {
                    path: self.path.to_owned(),
                    line: self.number,
                    message: error.to_string(),
                });
            }
        };
        match line {
            Line::ModelledRun(_) | Line::Modelled(_) | Line::ModelledEnd(_) => {
                Err(ReadError::Modelled {
                    path: self.path.to_owned(),
                })
            }
            _ if self.footer.is_some() => Err(self.misplaced("a record after the footer")),
            Line::Header(_) if self.header.is_some() => Err(self.misplaced("a second header")),
            Line::Header(header) if header.format != FORMAT => Err(ReadError::Format {
                path: self.path.to_owned(),
                found: header.format,
            }),
            Line::Header(header) => {
                self.header = Some(header);
                Ok(())
            }
            _ if self.header.is_none() => Err(self.misplaced("a record before the header")),
            Line::Trial(trial) if !self.names.insert(trial.trial.clone()) => {
                Err(self.misplaced(&format!("a second result of {}", trial.trial)))
            }
            Line::Trial(trial) => {
                self.trials.push(trial);
                Ok(())
            }
            Line::Footer(footer) if footer.verdicts != verdicts(&self.trials) => {
                Err(self.misplaced("the footer counts other verdicts than the lines above hold"))
            }
            Line::Footer(footer) => {
                self.footer = Some(footer);
                Ok(())
            }
        }
    }

    fn misplaced(&self, what: &str) -> ReadError {
        ReadError::Misplaced {
            path: self.path.to_owned(),
            line: self.number,
            what: what.to_owned(),
        }
    }

    fn end(self) -> Result<PartialRun, ReadError> {
        match self.header {
            Some(header) => Ok(PartialRun {
                header,
                trials: self.trials,
                footer: self.footer,
            }),
            None => Err(ReadError::Malformed {
                path: self.path.to_owned(),
                line: 1,
                message: String::from("there is no header"),
            }),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::fs;

    use super::*;
    use crate::report::sample;
    use crate::report::summary::Summary;
    use crate::report::writer::ResultsWriter;

    fn written() -> (tempfile::TempDir, PathBuf, Run) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.jsonl");
        let header = sample::header();
        let trials = sample::trials();
        let footer = Summary::of(&trials, &header.contract).footer(1234);
        let mut writer = ResultsWriter::create(&path, &header).unwrap();
        for trial in &trials {
            writer.trial(trial).unwrap();
        }
        writer.finish(&footer).unwrap();
        let run = Run {
            header,
            trials,
            footer,
        };
        (directory, path, run)
    }

    fn lines(path: &Path) -> Vec<String> {
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn rewrite(path: &Path, lines: &[String]) {
        fs::write(path, lines.join("\n") + "\n").unwrap();
    }

    #[test]
    fn what_was_written_is_read_back() {
        let (_directory, path, run) = written();
        assert_eq!(read(&path).unwrap(), run);
    }

    #[test]
    fn each_line_says_its_kind() {
        let (_directory, path, run) = written();
        let lines = lines(&path);
        assert!(lines[0].starts_with(r#"{"kind":"header","#));
        assert!(lines[1].starts_with(r#"{"kind":"trial","#));
        assert!(lines[run.trials.len() + 1].starts_with(r#"{"kind":"footer","#));
    }

    #[test]
    fn a_run_that_was_killed_is_incomplete() {
        let (_directory, path, run) = written();
        let mut lines = lines(&path);
        lines.pop();
        rewrite(&path, &lines);
        let error = read(&path).unwrap_err();
        assert!(matches!(error, ReadError::Incomplete { .. }), "{error}");
        assert_eq!(read_partial(&path).unwrap().trials, run.trials);
    }

    #[test]
    fn a_run_that_was_killed_within_a_line_is_incomplete() {
        let (_directory, path, run) = written();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 40]).unwrap();
        assert!(matches!(read(&path), Err(ReadError::Incomplete { .. })));
        assert_eq!(read_partial(&path).unwrap().trials, run.trials);
    }

    #[test]
    fn an_unknown_field_is_refused_with_its_line() {
        let (_directory, path, _) = written();
        let mut lines = lines(&path);
        lines[2] = lines[2].replacen("{\"kind\":\"trial\",", "{\"kind\":\"trial\",\"odd\":1,", 1);
        rewrite(&path, &lines);
        let error = read(&path).unwrap_err().to_string();
        assert!(
            error.contains("results.jsonl:3: unknown field `odd`"),
            "{error}"
        );
    }

    #[test]
    fn a_footer_that_counts_otherwise_is_refused() {
        let (_directory, path, _) = written();
        let mut lines = lines(&path);
        lines.remove(1);
        rewrite(&path, &lines);
        assert!(matches!(read(&path), Err(ReadError::Misplaced { .. })));
    }

    #[test]
    fn records_out_of_order_are_refused() {
        let (_directory, path, _) = written();
        let sound = lines(&path);
        for (from, to) in [(0, 1), (sound.len() - 1, 1), (1, 2)] {
            let mut lines = sound.clone();
            let copy = lines[from].clone();
            lines.insert(to, copy);
            rewrite(&path, &lines);
            let error = read(&path).unwrap_err();
            assert!(matches!(error, ReadError::Misplaced { .. }), "{error}");
        }
    }

    #[test]
    fn an_empty_file_has_no_header() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.jsonl");
        fs::write(&path, "").unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("no header"), "{error}");
    }

    #[test]
    fn another_format_is_refused() {
        let (_directory, path, _) = written();
        let mut lines = lines(&path);
        lines[0] = lines[0].replacen("\"format\":1", "\"format\":2", 1);
        rewrite(&path, &lines);
        assert!(matches!(
            read(&path),
            Err(ReadError::Format { found: 2, .. })
        ));
    }
}
