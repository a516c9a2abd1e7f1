//! A request: what a launcher is asked to do in one launch.

use std::collections::BTreeMap;
use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::document::{EnvironmentDocument, PolicyDocument};
use crate::corpus::case::EnvironmentSpec;
use crate::corpus::policy::PolicySpec;

/// One launch, in terms that every launcher shares. A launcher that needs code
/// to be driven is given this as JSON.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Request {
    /// What the command may reach. A list that is empty is left out; the network is always
    /// stated.
    pub policy: PolicySpec,
    /// The workspace: an absolute path, which the command may always write.
    pub workspace: PathBuf,
    /// The directory that the command is to run in: an absolute path.
    pub cwd: PathBuf,
    /// Whether that was asked for; if not, it is the workspace.
    pub cwd_asked: bool,
    /// The variables that the command is to have beside what the posture gives it; `null`
    /// where none are asked for. A text is a document of them as an agent wrote it, and
    /// may be wrong: a launcher that reads no such documents does not claim `documents`.
    pub environment: Option<EnvironmentSpec>,
    /// The argument vector of the command, the program first. Nothing in it is to be
    /// expanded.
    pub command: Vec<String>,
    /// Whether the command is to get a terminal of its own, which is no way to the
    /// caller's; only a launcher that claims `terminal` is asked.
    pub terminal: bool,
    /// The environment that the launcher itself is started with: the caller's, for the
    /// posture that hands it on. It is told, and need not be read.
    pub own_environment: BTreeMap<String, String>,
    /// Symbolic links of a Mac that is only thought of, by path; for a run that is
    /// modelled.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, String>,
}

impl Request {
    /// The policy document of this request: the text as the case has it, or the
    /// fields.
    pub fn policy_document(&self) -> String {
        if let Some(text) = &self.policy.document {
            return text.clone();
        }
        written(&PolicyDocument::of(&self.policy))
    }

    /// The environment document of this request.
    pub fn environment_document(&self) -> String {
        match &self.environment {
            None => "{}\n".to_owned(),
            Some(EnvironmentSpec::Document(text)) => text.clone(),
            Some(EnvironmentSpec::Variables(variables)) => written(&EnvironmentDocument {
                environment: variables.clone(),
            }),
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

/// The text of a document.
fn written<T: Serialize>(document: &T) -> String {
    // A document of texts, lists and words is always JSON.
    let text = serde_json::to_string_pretty(document).unwrap_or_default();
    format!("{text}\n")
}

/// The name in a text that is `${NAME}` and nothing else.
fn referenced(text: &str) -> Option<&str> {
    text.strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .filter(|name| !name.contains(['{', '}', '$']))
}
