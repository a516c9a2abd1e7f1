//! What is known of the profiles that a system brings along, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `macos/imports.json`: profiles of the system.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportsFile {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// What the file is.
    pub about: String,
    /// The profiles.
    pub profiles: Vec<ImportEntry>,
}

/// What is known of one profile of the system. Its text differs between releases,
/// so it is known in part: a check that `may` covers and `knows` does not decide is
/// unknown.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportEntry {
    /// Its name, as `import` is given it.
    pub name: String,
    /// Profiles that it imports itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<String>,
    /// Rules that it has, in the profile language.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub knows: Vec<String>,
    /// What it may speak of besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may: Vec<Reach>,
    /// Where it is known from.
    pub source: String,
}

/// What unknown rules may be about.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// How the names of the operations begin that they are of.
    pub operations: Vec<String>,
    /// The paths at and below which; any when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

impl Reach {
    /// Whether an unknown rule of this operation may be about such a path.
    pub(super) fn covers(&self, operation: &str, path: Option<&str>) -> bool {
        let operations = &self.operations;
        if !operations.iter().any(|start| operation.starts_with(start)) {
            return false;
        }
        let below = |parent: &String, path: &str| {
            path.strip_prefix(parent.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match path {
            Some(path) => {
                self.paths.is_empty() || self.paths.iter().any(|parent| below(parent, path))
            }
            None => true,
        }
    }
}
