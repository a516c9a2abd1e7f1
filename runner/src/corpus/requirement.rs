//! The promises that cases cover, by id.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::vocabulary::{Platform, Strength};

/// `requirements.json`: every promise that cases can name in `covers`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequirementFile {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The promises.
    pub requirements: Vec<Requirement>,
}

/// One promise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Its id.
    pub id: String,
    /// The promise, in one sentence.
    pub text: String,
    /// How binding it is.
    pub strength: Strength,
    /// Where it means anything.
    #[serde(default = "Platform::unix")]
    pub platforms: Vec<Platform>,
    /// What shows that it is kept, where no case of the corpus can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
}

/// What shows that a promise is kept which no launched command can show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Elsewhere {
    /// Why no case of the corpus shows it.
    pub reason: String,
    /// The tests that do, as `file` or `file::function` within the repository.
    /// Empty where nothing shows it yet, and the reason then says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
}
