//! Known outcomes: what a profile was seen to do, and whether the model agrees.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::corpus::Source;
use crate::corpus::error::parse;

use super::action::Action;
use super::answer::Answer;
use super::error::TableError;
use super::perform::{Model, Performed};
use super::profile::{Parameters, Profile};
use super::semantics::Semantics;
use super::tables::{FACTS, Tables};
use super::world::{Additions, World};

/// What `{root}` is in the model: a directory without links on the way.
const ROOT: &str = "/Users/tester/facts";

/// `macos/facts/<topic>.json`: known outcomes of one kind.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactFile {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// What these are about.
    pub topic: String,
    /// What is known of it.
    pub about: String,
    /// The facts.
    pub facts: Vec<Fact>,
}

/// A known outcome. Texts may hold `{root}`, a directory of the fact's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Dotted, and never used again for anything else.
    pub id: String,
    /// Where it is known from: a public report, as `owner/repository#number`, or a file.
    pub source: String,
    /// How it is known.
    pub evidence: Evidence,
    /// The releases of macOS that it was seen on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub macos: Vec<String>,
    /// What a reader should know besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The profile, as a text or its lines.
    pub profile: Lines,
    /// Its parameters.
    #[serde(default, skip_serializing_if = "Parameters::is_empty")]
    pub parameters: Parameters,
    /// What is there, beside a usual Mac.
    #[serde(default, skip_serializing_if = "Additions::is_empty")]
    pub world: Additions,
    /// What is done, in order, and what comes of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// For a profile that is refused: what the message says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whether the profile is about the start of programs, so that a real run adds no
    /// rules for the start of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}

/// How a fact is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// Somebody ran it on a Mac and wrote down what happened.
    Measured,
    /// A project's continuous integration runs it on Macs.
    PeerCi,
    /// It was read in the system's own files, or in a project's code and comments.
    Source,
    /// It is said, and nothing shows it.
    Claim,
}

/// A text, or its lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a text (a string) or its lines (a list of strings)"
)]
pub enum Lines {
    /// The text.
    Text(String),
    /// The lines.
    Lines(Vec<String>),
}

impl Lines {
    /// The text.
    pub fn text(&self) -> String {
        match self {
            Lines::Text(text) => text.clone(),
            Lines::Lines(lines) => lines.join("\n"),
        }
    }
}

/// One action, and what comes of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The action.
    #[serde(rename = "do")]
    pub action: Action,
    /// What comes of it.
    pub expect: Expected,
    /// Every check that denies it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Vec<Denial>>,
}

/// What comes of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Expected {
    /// It happens.
    Allowed,
    /// It is refused.
    Denied,
    /// Sources contradict each other, or none says it.
    Unknown,
}

/// A check that denies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Denial {
    /// The operation.
    pub operation: String,
    /// What it is about: the path, or the name.
    pub on: String,
}

/// The facts of a corpus.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Every fact, in the order of the files.
    pub facts: Vec<Fact>,
}

/// A fact that the model does not agree with.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{fact}: {problem}")]
pub struct Disagreement {
    /// The fact.
    pub fact: String,
    /// What differs, with the checks.
    pub problem: String,
}

impl Facts {
    /// Reads the facts of a corpus.
    ///
    /// # Errors
    /// A file that is wrong in shape, or an id that is there twice.
    pub fn load(source: &Source) -> Result<Facts, TableError> {
        let mut facts: Vec<Fact> = Vec::new();
        let mut ids = BTreeSet::new();
        for file in source.files()? {
            if !file.name.starts_with(FACTS) {
                continue;
            }
            let content: FactFile = parse(&file.shown, &file.bytes)?;
            for fact in content.facts {
                let problem = if !ids.insert(fact.id.clone()) {
                    "the id is there twice"
                } else if fact.steps.is_empty() == fact.refused.is_none() {
                    "either steps or what the refusal says have to be stated"
                } else {
                    facts.push(fact);
                    continue;
                };
                return Err(TableError::Inconsistent {
                    file: file.shown,
                    entry: fact.id,
                    problem: problem.to_owned(),
                });
            }
        }
        Ok(Facts { facts })
    }

    /// Where the model says something else.
    pub fn disagreements(&self, tables: &Tables, semantics: Semantics) -> Vec<Disagreement> {
        let facts = self.facts.iter();
        facts
            .flat_map(|fact| fact.disagreements(tables, semantics))
            .collect()
    }
}

impl Fact {
    /// The same fact in a directory.
    #[must_use]
    pub fn in_root(&self, root: &str) -> Fact {
        let placed = |fact: &Fact| {
            let mut value = serde_json::to_value(fact)?;
            place(&mut value, root);
            serde_json::from_value(value)
        };
        placed(self).unwrap_or_else(|_: serde_json::Error| self.clone())
    }

    /// Where the model says something else of this fact.
    pub fn disagreements(&self, tables: &Tables, semantics: Semantics) -> Vec<Disagreement> {
        let fact = self.in_root(ROOT);
        let differs = |problem: String| Disagreement {
            fact: fact.id.clone(),
            problem,
        };
        let text = fact.profile.text();
        let profile = Profile::read_with(&text, &fact.parameters, tables, semantics);
        let profile = match (profile, &fact.refused) {
            (Ok(_), Some(wanted)) => {
                return vec![differs(format!("the profile is read, and not: {wanted}"))];
            }
            (Err(error), Some(wanted)) if error.problem.to_string().contains(wanted) => {
                return Vec::new();
            }
            (Err(error), _) => return vec![differs(error.to_string())],
            (Ok(profile), None) => profile,
        };
        let world = World::new(&tables.world).with(&fact.world);
        let mut model = Model::with(&profile, tables, world, semantics);
        let steps = fact.steps.iter();
        steps
            .filter_map(|step| step.difference(&model.perform(&step.action)))
            .map(differs)
            .collect()
    }
}

impl Step {
    fn difference(&self, performed: &Performed) -> Option<String> {
        let wanted = match self.expect {
            Expected::Allowed => Answer::Allowed,
            Expected::Denied => Answer::Denied,
            Expected::Unknown => Answer::Unknown,
        };
        let denials: Vec<Denial> = performed
            .denials()
            .map(|check| Denial {
                operation: check.operation.clone(),
                on: check.subject.clone(),
            })
            .collect();
        let same = self.by.as_ref().is_none_or(|by| *by == denials);
        if performed.answer == wanted && same {
            return None;
        }
        let checks: Vec<String> = performed.checks.iter().map(ToString::to_string).collect();
        Some(format!(
            "{:?} is {} and not {wanted}{}:\n  {}",
            self.action,
            performed.answer,
            if same { "" } else { " by these checks alone" },
            checks.join("\n  ")
        ))
    }
}

fn place(value: &mut Value, root: &str) {
    match value {
        Value::String(text) => *text = text.replace("{root}", root),
        Value::Array(items) => items.iter_mut().for_each(|item| place(item, root)),
        Value::Object(map) => {
            let entries = std::mem::take(map).into_iter();
            *map = entries
                .map(|(name, mut value)| {
                    place(&mut value, root);
                    (name.replace("{root}", root), value)
                })
                .collect();
        }
        _ => {}
    }
}
