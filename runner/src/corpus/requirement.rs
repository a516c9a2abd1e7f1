//! What the corpus and the launcher's own tests must keep, by id.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::vocabulary::{Platform, Strength};

/// `requirements.json`: every promise that cases can name in `covers`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// What shows that it is kept.
    #[serde(default)]
    pub shown_by: ShownBy,
}

/// What shows that a promise is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShownBy {
    /// Cases of the corpus.
    #[default]
    Corpus,
    /// The reference launcher's own tests, since no launched command is part of it.
    LauncherTests,
}
