//! A request: what a launcher is asked to do in one launch.

use std::collections::BTreeMap;
use std::path::PathBuf;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::corpus::case::EnvironmentSpec;
use crate::corpus::policy::{NetworkSpec, PolicySpec, PostureSpec};

/// One launch, in terms that every launcher shares. A launcher that needs code
/// to be driven is given this as JSON.
#[derive(Debug, Clone, Serialize)]
pub struct Request {
    /// The policy.
    pub policy: PolicySpec,
    /// The workspace.
    pub workspace: PathBuf,
    /// The directory that the command runs in.
    pub cwd: PathBuf,
    /// Whether that was asked for, or is the workspace by default.
    pub cwd_asked: bool,
    /// The agent's variables.
    pub environment: Option<EnvironmentSpec>,
    /// The argument vector of the command.
    pub command: Vec<String>,
    /// Whether the command is to get a terminal of its own.
    pub terminal: bool,
    /// The launcher's own environment.
    pub own_environment: BTreeMap<String, String>,
}

impl Request {
    /// The policy document of this request: the text as the case has it, or the
    /// fields.
    pub fn policy_document(&self) -> String {
        if let Some(text) = &self.policy.document {
            return text.clone();
        }
        let mut fields = Map::new();
        fields.insert("version".to_owned(), json!(1));
        let posture = match self.policy.posture.unwrap_or_default() {
            PostureSpec::Strict => "strict",
            PostureSpec::HostReadable => "host-readable",
        };
        let network = match self.policy.network {
            NetworkSpec::Either | NetworkSpec::Host => "host",
            NetworkSpec::None => "none",
        };
        fields.insert("posture".to_owned(), json!(posture));
        fields.insert("network".to_owned(), json!(network));
        let lists = [
            ("read_only", &self.policy.read_only),
            ("read_write", &self.policy.read_write),
            ("hidden", &self.policy.hidden),
            ("host_environment", &self.policy.host_environment),
        ];
        for (name, list) in lists {
            if !list.is_empty() {
                fields.insert(name.to_owned(), json!(list));
            }
        }
        if let Some(enabled) = self.policy.enabled {
            fields.insert("enabled".to_owned(), json!(enabled));
        }
        if let Some(program) = &self.policy.bubblewrap {
            fields.insert("bubblewrap".to_owned(), json!(program));
        }
        format!("{:#}\n", Value::Object(fields))
    }

    /// The environment document of this request.
    pub fn environment_document(&self) -> String {
        match &self.environment {
            None => "{}\n".to_owned(),
            Some(EnvironmentSpec::Document(text)) => text.clone(),
            Some(EnvironmentSpec::Variables(variables)) => {
                format!("{:#}\n", json!({ "environment": variables }))
            }
        }
    }

    /// The agent's variables with their references replaced, for launchers that
    /// know no references: `${NAME}` as the whole value is the launcher's own
    /// variable, `$${NAME}` is the text `${NAME}`.
    pub fn variables(&self) -> IndexMap<String, String> {
        let Some(EnvironmentSpec::Variables(variables)) = &self.environment else {
            return IndexMap::new();
        };
        variables
            .iter()
            .map(|(name, value)| (name.clone(), self.resolved(value)))
            .collect()
    }

    fn resolved(&self, value: &str) -> String {
        if let Some(literal) = value.strip_prefix('$') {
            if referenced(literal).is_some() {
                return literal.to_owned();
            }
        }
        referenced(value).map_or_else(
            || value.to_owned(),
            |name| self.own_environment.get(name).cloned().unwrap_or_default(),
        )
    }
}

/// The name in a text that is `${NAME}` and nothing else.
fn referenced(text: &str) -> Option<&str> {
    text.strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .filter(|name| !name.contains(['{', '}', '$']))
}
