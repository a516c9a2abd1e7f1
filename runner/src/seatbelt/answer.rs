//! What the model says, and on what it rests.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An answer of the model.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The system lets it happen.
    Allowed,
    /// It hangs on something that the model does not know.
    Unknown,
    /// The system refuses it.
    Denied,
}

impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Answer::Allowed => "allowed",
            Answer::Unknown => "unknown",
            Answer::Denied => "denied",
        })
    }
}

/// What decided a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// A rule of the profile.
    Rule {
        /// The operation that the rule speaks of: the one asked for, or one that it
        /// falls back to.
        operation: String,
        /// The line of the rule, from 1.
        line: usize,
    },
    /// A rule that every profile has.
    Always {
        /// The operation of the rule.
        operation: String,
    },
    /// A profile of the system that is imported.
    Import {
        /// Its name.
        name: String,
    },
    /// The answer where no rule matches.
    Terminal {
        /// The operation whose answer it is.
        operation: String,
    },
    /// What no profile can change.
    System(&'static str),
    /// Why it is unknown.
    Unknown(String),
}

impl fmt::Display for Basis {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Basis::Rule { operation, line } => write!(formatter, "line {line}, of {operation}"),
            Basis::Always { operation } => {
                write!(formatter, "the rule of {operation} that every profile has")
            }
            Basis::Import { name } => write!(formatter, "the system's {name}"),
            Basis::Terminal { operation } => {
                write!(formatter, "no rule; {operation} ends so")
            }
            Basis::System(reason) => formatter.write_str(reason),
            Basis::Unknown(reason) => formatter.write_str(reason),
        }
    }
}

/// The decision of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The answer.
    pub answer: Answer,
    /// What decided.
    pub basis: Basis,
    /// The operations whose rules were looked at, in order.
    pub chain: Vec<String>,
}

/// Whether a filter matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Truth {
    Yes,
    No,
    /// It hangs on this.
    Unknown(String),
}

impl From<bool> for Truth {
    fn from(truth: bool) -> Truth {
        if truth { Truth::Yes } else { Truth::No }
    }
}

impl Truth {
    pub(super) fn not(self) -> Truth {
        match self {
            Truth::Yes => Truth::No,
            Truth::No => Truth::Yes,
            unknown @ Truth::Unknown(_) => unknown,
        }
    }

    /// Whether any is true; none of none is.
    pub(super) fn any(all: impl IntoIterator<Item = Truth>) -> Truth {
        let mut found = Truth::No;
        for truth in all {
            match truth {
                Truth::Yes => return Truth::Yes,
                Truth::No => {}
                unknown @ Truth::Unknown(_) => found = unknown,
            }
        }
        found
    }

    /// Whether all are true; all of none are.
    pub(super) fn all(all: impl IntoIterator<Item = Truth>) -> Truth {
        Truth::any(all.into_iter().map(Truth::not)).not()
    }
}
