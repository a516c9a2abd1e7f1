//! Why a policy, or a document like it, was refused.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// One value of a document that is refused: where it stands, what is wrong with
/// it and what to write instead.
///
/// Shown as a single sentence that begins with the place, in the form that
/// editors and terminals turn into a link:
/// `policy.json:3:16: read_only[1]: "data" is relative; write an absolute path, such as "/home/user/data"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The document's file, or the name that the caller gave to the text.
    pub file: PathBuf,
    /// The line of the offending value, counted from 1.
    pub line: usize,
    /// The column of the offending value's first character, counted from 1 in
    /// characters, not bytes.
    pub column: usize,
    /// The offending field, such as `read_only[1]`; absent where the document as
    /// a whole is at fault.
    pub field: Option<String>,
    /// What is wrong, as a fragment that follows the field.
    pub problem: String,
    /// What to write instead, as an imperative fragment.
    pub remedy: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}:{}:{}: ",
            self.file.display(),
            self.line,
            self.column
        )?;
        if let Some(field) = &self.field {
            write!(out, "{field}: ")?;
        }
        write!(out, "{}; {}", self.problem, self.remedy)
    }
}

impl std::error::Error for Refusal {}

/// A file that could not be read, or that must not be trusted.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}; {remedy}", file.display())]
pub struct Unreadable {
    /// The file, as it was named.
    pub file: PathBuf,
    /// What is wrong with it.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
    /// What the operating system said, where it said something.
    #[source]
    pub source: Option<io::Error>,
}

/// Why there is no policy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The document says something that is refused.
    #[error(transparent)]
    Document(#[from] Refusal),
    /// The document's file, or the store that holds it, cannot be read or trusted.
    #[error(transparent)]
    File(#[from] Unreadable),
    /// A policy that was built in code breaks a rule that its document would have
    /// to keep.
    #[error("{field}: {problem}; {remedy}")]
    Field {
        /// The offending field, such as `read_only[1]`.
        field: String,
        /// What is wrong with it.
        problem: String,
        /// What to put there instead.
        remedy: String,
    },
    /// The name cannot be an agent's, so no file is looked for.
    #[error("agent name {name:?} {problem}; {remedy}")]
    AgentName {
        /// The name as it was given.
        name: String,
        /// What is wrong with it.
        problem: String,
        /// What a name looks like.
        remedy: String,
    },
    /// Neither of the variables that say where the user's policies are is set.
    #[error("the policy store has no place: {problem}; {remedy}")]
    NoStore {
        /// What is missing.
        problem: String,
        /// What to set.
        remedy: String,
    },
}

impl PolicyError {
    /// The refused value's place, where the document itself is at fault.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            PolicyError::Document(refusal) => Some(refusal),
            _ => None,
        }
    }
}

/// What is wrong with a value and what to write instead, before its place is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) problem: String,
    pub(crate) remedy: String,
}

impl Fault {
    pub(crate) fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault {
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// The fault as it is told of a policy that has no document.
    pub(crate) fn in_field(self, field: impl Into<String>) -> PolicyError {
        PolicyError::Field {
            field: field.into(),
            problem: self.problem,
            remedy: self.remedy,
        }
    }
}

/// A value as it is shown in a message: in quotes, control characters escaped,
/// and short enough to leave the rest of the sentence readable.
pub(crate) fn quote(value: &str) -> String {
    const LONGEST: usize = 80;
    match value.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", &value[..end]),
        None => format!("{value:?}"),
    }
}

/// The system's words as a fragment, without the number that the library puts
/// after them.
pub(crate) fn describe(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    text.to_lowercase()
}
