//! The policy of a case, with placeholders.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::vocabulary::Feature;

/// What a launcher is asked to allow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicySpec {
    /// The posture; the trial's axis `posture`, or `strict`, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posture: Option<PostureSpec>,
    /// Whether the host's network is there. Where a case says nothing, it is there if
    /// the launcher can share it, and the case must hold either way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkSpec>,
    /// Readable grants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_only: Vec<String>,
    /// Writable grants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_write: Vec<String>,
    /// Hidden paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// Host variables that `${NAME}` may copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_environment: Vec<String>,
    /// `false` asks for no sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The sandboxing program, by path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bubblewrap: Option<String>,
    /// The text of the policy document as it stands, for cases about the
    /// document itself; the other fields are then left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// Whether there is no document at all, when true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// Where the document is kept; a place that no grant covers when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_path: Option<String>,
}

/// The set of defaults that a policy starts from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PostureSpec {
    /// Only the system, the workspace and what is granted.
    #[default]
    Strict,
    /// The whole host, readable.
    HostReadable,
}

/// Whether the host's network is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NetworkSpec {
    /// It is.
    #[default]
    Host,
    /// It is not.
    None,
}

impl PolicySpec {
    /// The network that a launcher which can do these things is asked for.
    #[must_use]
    pub fn network_for(&self, features: &[Feature]) -> NetworkSpec {
        self.network
            .unwrap_or(if features.contains(&Feature::NetworkHost) {
                NetworkSpec::Host
            } else {
                NetworkSpec::None
            })
    }
}
