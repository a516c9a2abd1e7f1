//! What a launcher finds in the place of a standard stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The standard streams that are not the runner's pipes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Streams {
    /// Standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Stream>,
    /// Standard output. The command then cannot prove its start to the runner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Stream>,
    /// Standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Stream>,
}

impl Streams {
    /// Whether all are the runner's.
    pub fn is_plain(&self) -> bool {
        *self == Streams::default()
    }
}

/// What is in the place of one stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// Nothing: the descriptor is closed.
    Closed,
    /// A pipe that nobody holds the other end of.
    Gone,
    /// This file, opened as a shell redirects to it: to read the input from, or
    /// to append what is written.
    File(String),
}
