//! What can be wrong with a corpus or a launcher file.

use std::path::PathBuf;

use serde::de::DeserializeOwned;

/// Why a corpus could not be used. Messages name the place and what to do.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A file or directory cannot be read.
    #[error(
        "{path}: {error}; name a directory that holds a corpus (--corpus) and that this user can read",
        path = path.display()
    )]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The system's reason.
        error: std::io::Error,
    },
    /// A launcher file cannot be read.
    #[error(
        "{path}: {error}; name a launcher file that this user can read, or a launcher of the corpus",
        path = path.display()
    )]
    UnreadableLauncher {
        /// The path.
        path: PathBuf,
        /// The system's reason.
        error: std::io::Error,
    },
    /// A file of expectations cannot be read.
    #[error(
        "{path}: {error}; name a file of expectations that this user can read",
        path = path.display()
    )]
    UnreadableExpectations {
        /// The path.
        path: PathBuf,
        /// The system's reason.
        error: std::io::Error,
    },
    /// A file does not have the shape that its schema asks for.
    #[error("{file}:{line}:{column}: {field}{problem}")]
    Malformed {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The path of the field and a colon, or nothing.
        field: String,
        /// What is wrong.
        problem: String,
    },
    /// A case contradicts itself, or names what is not there.
    #[error("{file}:{line}: case {case}: {problem}")]
    Inconsistent {
        /// The file.
        file: String,
        /// The line of the case's id, from 1.
        line: usize,
        /// The case.
        case: String,
        /// What is wrong and what to write instead.
        problem: String,
    },
    /// A fault contradicts itself, or names what is not there.
    #[error("{file}: fault {fault}: {problem}")]
    Fault {
        /// The file.
        file: String,
        /// The fault.
        fault: String,
        /// What is wrong and what to write instead.
        problem: String,
    },
    /// There is no case at all.
    #[error(
        "{place} holds no case; a corpus is a directory of <area>/<topic>.json files, as conformance/README.md describes"
    )]
    Empty {
        /// Where they were looked for.
        place: String,
    },
}

/// Reads JSON strictly: what is wrong is named with its line, column and field.
pub(crate) fn parse<T: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, CorpusError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        CorpusError::Malformed {
            file: file.to_owned(),
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
            column: 1 + before
                .iter()
                .rev()
                .take_while(|byte| **byte != b'\n')
                .count(),
            field: String::new(),
            problem: "the file is not UTF-8 text; save it as UTF-8".to_owned(),
        }
    })?;
    let at_the_start = |problem: &str| CorpusError::Malformed {
        file: file.to_owned(),
        line: 1,
        column: 1,
        field: String::new(),
        problem: problem.to_owned(),
    };
    if text.starts_with('\u{feff}') {
        let problem = "the file begins with a byte order mark; save it as UTF-8 without one";
        return Err(at_the_start(problem));
    }
    if text.starts_with('[') {
        return Err(at_the_start("the file is a list; write an object: { … }"));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let field = match error.path().to_string() {
            path if path == "." => String::new(),
            path => format!("{path}: "),
        };
        malformed(file, field, &error.into_inner())
    })?;
    reader
        .end()
        .map_err(|error| malformed(file, String::new(), &error))?;
    Ok(value)
}

fn malformed(file: &str, field: String, error: &serde_json::Error) -> CorpusError {
    // serde_json puts the place behind its message; it is said in front here.
    let message = error.to_string();
    let problem = match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    };
    CorpusError::Malformed {
        file: file.to_owned(),
        line: error.line(),
        column: error.column(),
        field,
        problem,
    }
}
