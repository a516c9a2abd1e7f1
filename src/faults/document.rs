//! Mistakes about policy documents: what a reader guesses that should refuse.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::mistake::{Mistake, made};
use crate::policy::{Policy, PolicyError, Refusal, Unreadable};

/// How often something can be taken out of a document that is still refused.
const TRIES: usize = 32;

/// A policy document, once it was read.
pub(crate) fn document(
    path: &Path,
    read: Result<Policy, PolicyError>,
) -> Result<Policy, PolicyError> {
    match made() {
        Mistake::UnreadableIsEmpty => Ok(read.unwrap_or_default()),
        Mistake::DocumentDemanded => read.and_then(|policy| demand(path, policy)),
        Mistake::UnknownFieldsPassedOver
        | Mistake::VersionNotRead
        | Mistake::ValuesPassedOver
        | Mistake::PathsPassedOver
        | Mistake::LastOfTwoHolds => read.or_else(|error| guess(path, error)),
        _ => read,
    }
}

/// Refuses what is not there, or empty.
fn demand(path: &Path, policy: Policy) -> Result<Policy, PolicyError> {
    if fs::read_to_string(path).is_ok_and(|text| !text.trim().is_empty()) {
        return Ok(policy);
    }
    Err(PolicyError::File(Unreadable {
        file: path.to_owned(),
        problem: "holds no policy".to_owned(),
        remedy: "write one".to_owned(),
        source: None,
    }))
}

/// Reads a document without what it is refused for, if the mistake is to pass that over.
fn guess(path: &Path, error: PolicyError) -> Result<Policy, PolicyError> {
    // A named pipe would never end.
    let text = path
        .is_file()
        .then(|| fs::read_to_string(path).ok())
        .flatten();
    // Of two equal names this parser keeps the last.
    let value = text.and_then(|text| serde_json::from_str(&text).ok());
    let Some(Value::Object(mut document)) = value else {
        return Err(error);
    };
    if made() == Mistake::LastOfTwoHolds {
        return read(path, &document);
    }
    let mut error = error;
    for _ in 0..TRIES {
        let PolicyError::Document(refusal) = &error else {
            break;
        };
        if !pass_over(&mut document, refusal) {
            break;
        }
        match read(path, &document) {
            Err(again) => error = again,
            read => return read,
        }
    }
    Err(error)
}

fn read(path: &Path, document: &Map<String, Value>) -> Result<Policy, PolicyError> {
    let text = Value::Object(document.clone()).to_string();
    Policy::from_json(&text, path)
}

/// Takes out of a document what it was refused for. False, where this mistake is about
/// something else.
fn pass_over(document: &mut Map<String, Value>, refusal: &Refusal) -> bool {
    let field = refusal.field.as_deref().unwrap_or_default();
    let name = field.split('[').next().unwrap_or_default();
    let is_list = ["read_only", "read_write", "hidden"].contains(&name);
    match made() {
        Mistake::UnknownFieldsPassedOver if refusal.problem.starts_with("unknown field") => {
            let count = document.len();
            document.retain(|name, _| crate::policy::FIELDS.contains(&name.as_str()));
            document.len() < count
        }
        Mistake::VersionNotRead if name == "version" => {
            document.insert("version".to_owned(), 1.into());
            true
        }
        Mistake::PathsPassedOver if is_list => match document.get_mut(name) {
            Some(Value::Array(list)) => {
                let count = list.len();
                list.retain(|path| {
                    let text = path.as_str().unwrap_or_default();
                    text.starts_with('/')
                        && text.len() > 1
                        && !text.contains(['*', '\0', '\n'])
                        && !text.split('/').any(|part| matches!(part, "." | ".."))
                });
                list.len() < count
            }
            _ => false,
        },
        Mistake::ValuesPassedOver if name != "version" && is_of_value(refusal, is_list) => {
            document.remove(name).is_some()
        }
        _ => false,
    }
}

/// Whether a value itself is refused: its kind, or its word.
fn is_of_value(refusal: &Refusal, is_list: bool) -> bool {
    let problem = refusal.problem.as_str();
    let is_kind = problem.starts_with("is ") && !(is_list && problem == "is empty");
    let is_word = ["is not known", "is not the name of a variable"];
    is_kind && problem != "is relative" || is_word.iter().any(|word| problem.ends_with(word))
}
