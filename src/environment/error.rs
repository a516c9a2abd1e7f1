//! Why a command's variables were refused.

use crate::policy::{Fault, ReadError, Refusal, Unreadable};

/// Why a command has no environment. No variant holds a variable's value, which
/// may be a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// The document says something that is refused, or that the policy does not
    /// allow.
    #[error(transparent)]
    Document(#[from] Refusal),
    /// The document's file cannot be read.
    #[error(transparent)]
    File(#[from] Unreadable),
    /// A variable that was set in code is refused.
    #[error("variable {name:?}: {problem}; {remedy}")]
    Variable {
        /// The variable's name.
        name: String,
        /// What is wrong with it.
        problem: String,
        /// What to do instead.
        remedy: String,
    },
}

impl EnvironmentError {
    /// The refused value's place, where the document itself is at fault.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            EnvironmentError::Document(refusal) => Some(refusal),
            _ => None,
        }
    }

    pub(super) fn variable(name: &str, fault: Fault) -> EnvironmentError {
        EnvironmentError::Variable {
            name: name.to_owned(),
            problem: fault.problem,
            remedy: fault.remedy,
        }
    }
}

impl From<ReadError> for EnvironmentError {
    fn from(error: ReadError) -> EnvironmentError {
        match error {
            ReadError::File(error) => EnvironmentError::File(error),
            ReadError::Document(error) => EnvironmentError::Document(error),
        }
    }
}
