//! The operations of profiles, their fallbacks and terminal answers, as data.

use std::collections::HashMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::error::TableError;

/// `macos/operations.json`: what profiles can speak of.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationsFile {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// What the file is.
    pub about: String,
    /// Where entries come from, by the word that they use for it.
    pub sources: IndexMap<String, String>,
    /// The operations, from the widest to the narrowest of each family.
    pub operations: Vec<OperationEntry>,
    /// Other names of operations.
    pub aliases: Vec<AliasEntry>,
    /// Rules that every profile has before its own.
    pub always: Vec<AlwaysEntry>,
    /// What a rule can ask of a check, and of which operations.
    pub filters: Vec<FilterEntry>,
    /// The words that filters know as numbers.
    pub constants: Vec<ConstantsEntry>,
}

/// An operation: either `fallback` or `terminal` is stated.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationEntry {
    /// Its name.
    pub name: String,
    /// The operation whose rules are asked where none of its own matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// The answer where no rule matches, whatever the profile says of `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<Terminal>,
    /// Whether what follows from no rule matching is an assumption, so that an
    /// answer which rests on it is unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assumed: bool,
    /// A word of `sources`.
    pub source: String,
}

/// The answer of an operation without a matching rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Terminal {
    /// It is allowed.
    Allow,
    /// It is denied.
    Deny,
}

/// Another name of an operation.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AliasEntry {
    /// The name.
    pub name: String,
    /// The operation that it means.
    pub operation: String,
    /// A word of `sources`.
    pub source: String,
}

/// A rule of every profile.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AlwaysEntry {
    /// The rule, in the profile language.
    pub rule: String,
    /// A word of `sources`.
    pub source: String,
}

/// Filters of one kind.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilterEntry {
    /// Their names. A filter of a name also has the forms `-prefix` and `-regex`.
    pub names: Vec<String>,
    /// What they look at.
    pub kind: FilterKind,
    /// How the names of the operations begin that take them.
    pub operations: Vec<String>,
    /// The filter that these are another name of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// A word of `sources`.
    pub source: String,
}

/// What a filter looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FilterKind {
    /// The path: `literal`, `subpath`, `prefix`, `regex`, ….
    Path,
    /// A name.
    Name,
    /// A number, or a word that stands for one.
    Number,
    /// A process.
    Target,
    /// One end of a connection.
    Address,
    /// Something that the model has no notion of: its answer is always unknown.
    Undecided,
}

/// The words of one filter.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantsEntry {
    /// The filter.
    pub of: String,
    /// The words and their numbers.
    pub names: IndexMap<String, i64>,
    /// A word of `sources`.
    pub source: String,
}

/// One operation, ready to be followed.
#[derive(Debug, Clone)]
pub(super) struct Operation {
    pub(super) name: String,
    pub(super) next: Next,
    pub(super) assumed: bool,
}

/// What follows where no rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Fallback(usize),
    Terminal(Answer),
}

/// Every operation, by name.
#[derive(Debug, Clone)]
pub(super) struct Operations {
    all: Vec<Operation>,
    by_name: HashMap<String, usize>,
    aliases: HashMap<String, usize>,
}

impl Operations {
    /// Reads and checks the table.
    pub(super) fn new(file: &str, table: &OperationsFile) -> Result<Operations, TableError> {
        let wrong = |entry: &str, problem: String| TableError::Inconsistent {
            file: file.to_owned(),
            entry: entry.to_owned(),
            problem,
        };
        let sources = table.operations.iter().map(|one| (&one.name, &one.source));
        let sources = sources.chain(table.aliases.iter().map(|one| (&one.name, &one.source)));
        let sources = sources.chain(table.always.iter().map(|one| (&one.rule, &one.source)));
        let sources = sources.chain(table.constants.iter().map(|one| (&one.of, &one.source)));
        let of_filters = table.filters.iter().flat_map(|one| {
            let names = one.names.iter();
            names.map(move |name| (name, &one.source))
        });
        for (entry, source) in sources.chain(of_filters) {
            if !table.sources.contains_key(source) {
                return Err(wrong(entry, format!("no source is called {source}")));
            }
        }
        let mut by_name = HashMap::new();
        for (place, entry) in table.operations.iter().enumerate() {
            if by_name.insert(entry.name.clone(), place).is_some() {
                return Err(wrong(&entry.name, "is there twice".to_owned()));
            }
        }
        let find = |entry: &str, name: &str| {
            let found = by_name.get(name).copied();
            found.ok_or_else(|| wrong(entry, format!("no operation is called {name}")))
        };
        let mut all = Vec::new();
        for entry in &table.operations {
            let next = match (&entry.fallback, entry.terminal) {
                (Some(fallback), None) => Next::Fallback(find(&entry.name, fallback)?),
                (None, Some(Terminal::Allow)) => Next::Terminal(Answer::Allowed),
                (None, Some(Terminal::Deny)) => Next::Terminal(Answer::Denied),
                _ => {
                    let problem = "either a fallback or a terminal answer has to be stated";
                    return Err(wrong(&entry.name, problem.to_owned()));
                }
            };
            all.push(Operation {
                name: entry.name.clone(),
                next,
                assumed: entry.assumed,
            });
        }
        let mut aliases = HashMap::new();
        for alias in &table.aliases {
            let operation = find(&alias.name, &alias.operation)?;
            if by_name.contains_key(&alias.name) || aliases.contains_key(&alias.name) {
                return Err(wrong(&alias.name, "is there twice".to_owned()));
            }
            aliases.insert(alias.name.clone(), operation);
        }
        let operations = Operations {
            all,
            by_name,
            aliases,
        };
        for place in 0..operations.all.len() {
            if operations.chain(place).len() > operations.all.len() {
                let name = &operations.all[place].name;
                return Err(wrong(name, "falls back to itself".to_owned()));
            }
        }
        Ok(operations)
    }

    /// The operation of a name or, where these count, of another name.
    pub(super) fn find(&self, name: &str, with_aliases: bool) -> Option<usize> {
        let alias = || self.aliases.get(name).filter(|_| with_aliases);
        self.by_name.get(name).or_else(alias).copied()
    }

    pub(super) fn get(&self, operation: usize) -> &Operation {
        &self.all[operation]
    }

    /// The operation and all that it falls back to, in order; one too many where it
    /// never ends.
    pub(super) fn chain(&self, operation: usize) -> Vec<usize> {
        let mut chain = vec![operation];
        let mut current = operation;
        while let Next::Fallback(next) = self.all[current].next {
            chain.push(next);
            current = next;
            if chain.len() > self.all.len() {
                break;
            }
        }
        chain
    }
}
