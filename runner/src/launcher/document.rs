//! The documents that a launcher is handed: the policy, and the command's variables.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::corpus::policy::{NetworkSpec, PolicySpec, PostureSpec};

/// An absolute path without `.`, `..` or an empty component and without control
/// characters, which may end in one slash.
const PATH: &str = "^(/([^/.\\x00-\\x1f\\x7f-\\x9f][^/\\x00-\\x1f\\x7f-\\x9f]*\
                    |\\.[^/.\\x00-\\x1f\\x7f-\\x9f][^/\\x00-\\x1f\\x7f-\\x9f]*\
                    |\\.\\.[^/\\x00-\\x1f\\x7f-\\x9f]+))+/?$";

/// The name of an environment variable, as a shell has it.
const VARIABLE: &str = "^[A-Za-z_][A-Za-z0-9_]*$";

/// A policy document: what a command may reach. Only `version` is required. What
/// a schema cannot say, a launcher still refuses: a name that occurs twice, a grant
/// beneath another, one path in two lists, a pattern.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyDocument {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    #[schemars(default, with = "String")]
    pub schema: Option<String>,
    /// The version of this form of document.
    #[schemars(extend("const" = 1))]
    pub version: u32,
    /// The set of defaults that the rest narrows or widens; `strict` when absent.
    #[schemars(default)]
    pub posture: PostureSpec,
    /// Whether the host's network is there; `host` when absent.
    #[schemars(default)]
    pub network: NetworkSpec,
    /// Paths that the command can read and not write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, inner(regex(pattern = PATH)), extend("uniqueItems" = true))]
    pub read_only: Vec<String>,
    /// Paths that the command can read and write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, inner(regex(pattern = PATH)), extend("uniqueItems" = true))]
    pub read_write: Vec<String>,
    /// Paths that are blank to the command. The most specific path decides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, inner(regex(pattern = PATH)), extend("uniqueItems" = true))]
    pub hidden: Vec<String>,
    /// Names of the host's variables that the environment document may copy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, inner(regex(pattern = VARIABLE)), extend("uniqueItems" = true))]
    pub host_environment: Vec<String>,
    /// `false` is the explicit request to run without a sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, with = "bool")]
    pub enabled: Option<bool>,
    /// The bubblewrap program; searched on PATH when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, with = "String", regex(pattern = PATH))]
    pub bubblewrap: Option<String>,
}

impl PolicyDocument {
    /// The document of a policy that is stated by its fields.
    pub fn of(policy: &PolicySpec) -> PolicyDocument {
        PolicyDocument {
            schema: None,
            version: 1,
            posture: policy.posture.unwrap_or_default(),
            network: policy.network.unwrap_or_default(),
            read_only: policy.read_only.clone(),
            read_write: policy.read_write.clone(),
            hidden: policy.hidden.clone(),
            host_environment: policy.host_environment.clone(),
            enabled: policy.enabled,
            bubblewrap: policy.bubblewrap.clone(),
        }
    }
}

/// A document of the command's variables. It is the agent's own configuration, so
/// other fields may stand beside `environment`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EnvironmentDocument {
    /// Names and values. A value that is `${NAME}` and nothing else is the host's
    /// variable NAME, if the policy lists it; `$${NAME}` is the text `${NAME}`.
    #[schemars(default, schema_with = "variables")]
    pub environment: IndexMap<String, String>,
}

/// Names are not empty and hold no `=` and no control character; no value holds a
/// NUL, and `${…}` around the whole of one holds the name of a variable.
fn variables(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "propertyNames": { "pattern": "^[^=\\x00-\\x1f\\x7f-\\x9f]+$" },
        "additionalProperties": {
            "type": "string",
            "pattern": "^([^$\\x00][^\\x00]*|\\$|\\$[^{\\x00][^\\x00]*|\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}|\\$\\{[^\\x00]*[^}\\x00]|\\$\\{|\\$\\{[^\\x00]*[{}][^\\x00]*\\})?$"
        }
    })
}
