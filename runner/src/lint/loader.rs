//! What the loader refuses, as findings.

use super::Finding;
use super::material::Material;
use crate::corpus::fault;
use crate::corpus::{CorpusError, place};

/// Every file fits its type.
pub(crate) fn schema(material: &Material) -> Vec<Finding> {
    material.read.malformed.iter().map(finding).collect()
}

/// Every fault is one, and stands in the file of its name.
pub(crate) fn faults(material: &Material) -> Vec<Finding> {
    let problems = fault::check(&material.read.faults, &material.read.launchers);
    problems.iter().map(finding).collect()
}

/// No object has a name twice: a reader keeps one of the two, and nobody knows which.
pub(crate) fn repeated_names(material: &Material) -> Vec<Finding> {
    let read = &material.read;
    let readable = read.files.iter().filter_map(|file| {
        let text = std::str::from_utf8(&file.bytes).ok()?;
        let broken = read.malformed.iter().any(|error| {
            matches!(error, CorpusError::Malformed { file: shown, .. } if *shown == file.shown)
        });
        (!broken).then_some((file, text))
    });
    readable
        .flat_map(|(file, text)| {
            place::repeated_names(text)
                .into_iter()
                .map(|(name, place)| Finding {
                    file: file.shown.clone(),
                    line: place.line,
                    column: Some(place.column),
                    case: None,
                    rule: "",
                    problem: format!("the name {name:?} occurs twice in one object"),
                    remedy: "keep one of the two".to_owned(),
                })
        })
        .collect()
}

/// What the loader finds wrong with single cases, by the rule that is broken.
pub(crate) fn problems(material: &Material, rule: &str) -> Vec<Finding> {
    material
        .problems
        .iter()
        .filter(|problem| problem.rule == rule)
        .map(|problem| {
            let (said, remedy) = split(&problem.text);
            material
                .at(problem.topic, problem.case)
                .finding(&[], said, remedy)
        })
        .collect()
}

fn finding(error: &CorpusError) -> Finding {
    let (file, line, column, text) = match error {
        CorpusError::Malformed {
            file,
            line,
            column,
            field,
            problem,
        } => (file, *line, Some(*column), format!("{field}{problem}")),
        CorpusError::Fault { file, problem, .. } => (file, 1, None, problem.clone()),
        other => (&String::new(), 1, None, other.to_string()),
    };
    let (problem, remedy) = split(&text);
    Finding {
        file: file.clone(),
        line,
        column,
        case: None,
        rule: "",
        problem: problem.to_owned(),
        remedy: remedy.to_owned(),
    }
}

/// The loader says in one text what is wrong, and after a semicolon what to write.
fn split(text: &str) -> (&str, &str) {
    text.split_once("; ").unwrap_or((text, ""))
}
