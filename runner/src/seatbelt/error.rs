//! Why a profile, or the data that the model rests on, could not be used.

use crate::corpus::error::CorpusError;

/// A profile that the model does not read, with the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {problem}")]
pub struct ProfileError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text is no sequence of expressions.
    #[error("{0}")]
    Syntax(String),
    /// `(version 1)` does not come first.
    #[error("no version specified")]
    NoVersion,
    /// A name that means nothing.
    #[error("unbound variable: {0}")]
    Unbound(String),
    /// A filter is given something that it does not take; as `sandbox-exec` says it.
    #[error("invalid data type of {filter} filter; expected {expected}, got {got}")]
    Type {
        /// The kind of filter.
        filter: String,
        /// What it takes.
        expected: &'static str,
        /// What it was given.
        got: &'static str,
    },
    /// Anything else that `sandbox-exec` refuses too.
    #[error("{0}")]
    Refused(String),
    /// Something that a Mac may accept and that the model does not know.
    #[error("outside the subset that the model reads: {0}")]
    Outside(String),
}

impl Problem {
    /// Whether a Mac refuses such a profile as well, as far as is known. A name that
    /// means nothing here may mean something there.
    pub fn is_refused_by_macos(&self) -> bool {
        !matches!(self, Problem::Outside(_) | Problem::Unbound(_))
    }

    pub(super) fn at(self, place: super::language::Place) -> ProfileError {
        ProfileError {
            line: place.line,
            column: place.column,
            problem: self,
        }
    }
}

/// Data of the corpus that the model cannot rest on.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A file cannot be read or has not the shape of its schema.
    #[error(transparent)]
    File(#[from] CorpusError),
    /// A file of the model is not in the corpus.
    #[error("the corpus has no {name}; the model of macOS needs it")]
    Missing {
        /// The file's path below the corpus's directory.
        name: &'static str,
    },
    /// An entry contradicts another, or names what is not there.
    #[error("{file}: {entry}: {problem}")]
    Inconsistent {
        /// The file.
        file: String,
        /// The entry.
        entry: String,
        /// What is wrong and what to write instead.
        problem: String,
    },
}
