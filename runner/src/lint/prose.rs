//! Prose: each case says what it asserts and why that matters.

use std::collections::HashMap;

use super::Finding;
use super::material::{CaseAt, Material};
use crate::corpus::place::At;

/// A report has room for so many characters on a line.
const TITLE: std::ops::RangeInclusive<usize> = 15..=100;
/// Below this a reason names no bug and no effect; above it nobody reads on.
const REASON: std::ops::RangeInclusive<usize> = 40..=600;
/// A reason that is given more often says nothing of the single case.
const REPEATED: usize = 2;

/// A title reads as a sentence: a capital first, no full stop, of a line's length.
pub(crate) fn title(material: &Material) -> Vec<Finding> {
    material
        .cases()
        .filter_map(|at| {
            let title = at.case.title.as_str();
            let length = title.chars().count();
            let (problem, remedy) = if title.trim() != title {
                (
                    "the title begins or ends with a space".to_owned(),
                    "remove it",
                )
            } else if !begins_well(&at) {
                (
                    "the title begins neither with a capital nor with the name of a program that \
                     the case runs"
                        .to_owned(),
                    "write the assertion as a sentence",
                )
            } else if title.ends_with(['.', '!', '?', ':', ';', ',']) {
                (
                    "the title ends with a mark".to_owned(),
                    "write it without one, as the other titles are",
                )
            } else if !TITLE.contains(&length) {
                (
                    format!("the title has {length} characters"),
                    "write an assertion of 15 to 100",
                )
            } else {
                return None;
            };
            Some(at.finding(&[At::Field("title")], problem, remedy))
        })
        .collect()
}

/// A sentence begins with a capital, unless it begins with what has none: a program
/// or a path that the case names.
fn begins_well(at: &CaseAt<'_>) -> bool {
    let title = at.case.title.as_str();
    if title.starts_with(|first: char| first.is_uppercase() || first.is_numeric()) {
        return true;
    }
    let word = title.split([' ', ',', '\'']).next().unwrap_or_default();
    at.commands().keys().any(|text| text.contains(word))
}

/// No two cases assert the same.
pub(crate) fn unique(material: &Material) -> Vec<Finding> {
    let mut seen: HashMap<String, &str> = HashMap::new();
    material
        .cases()
        .filter_map(|at| {
            let title = at.case.title.to_lowercase();
            let first = *seen.entry(title).or_insert(&at.case.id);
            (first != at.case.id).then(|| {
                at.finding(
                    &[At::Field("title")],
                    format!("the title is that of {first}"),
                    "say what this case asserts and the other does not",
                )
            })
        })
        .collect()
}

/// A reason is long enough to name a bug and its effect.
pub(crate) fn reason(material: &Material) -> Vec<Finding> {
    let mut findings: Vec<Finding> = material
        .cases()
        .filter_map(|at| {
            let length = at.case.why.trim().chars().count();
            let (problem, remedy) = if !REASON.contains(&length) {
                (
                    format!("why has {length} characters"),
                    "name the class of bug and its effect, in 40 to 600",
                )
            } else if !at.case.why.trim().ends_with(['.', '?', '!', ')', '"']) {
                (
                    "why ends in the middle of a sentence".to_owned(),
                    "write whole sentences",
                )
            } else {
                return None;
            };
            Some(at.finding(&[At::Field("why")], problem, remedy))
        })
        .collect();
    for topic in &material.read.topics {
        if topic.content.about.trim().chars().count() < *REASON.start() {
            findings.push(super::material::in_file(
                &topic.source,
                &[At::Field("about")],
                "the topic says too little of what it is about",
                "write what an outsider must know to read its cases",
            ));
        }
    }
    findings
}

/// The same reason does not serve for many cases.
pub(crate) fn repeated(material: &Material) -> Vec<Finding> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    material
        .cases()
        .filter_map(|at| {
            let count = seen.entry(at.case.why.trim()).or_default();
            *count += 1;
            (*count > REPEATED).then(|| {
                at.finding(
                    &[At::Field("why")],
                    format!("{REPEATED} cases before this one have the same reason"),
                    "say what is at stake in this case, or make the cases one with an axis",
                )
            })
        })
        .collect()
}

/// A case waits neither for nothing nor for ever.
pub(crate) fn timeout(material: &Material) -> Vec<Finding> {
    const LONGEST: u32 = 120;
    material
        .cases()
        .filter(|at| !(1..=LONGEST).contains(&at.case.timeout))
        .map(|at| {
            at.finding(
                &[At::Field("timeout")],
                format!("a timeout of {} seconds", at.case.timeout),
                "write 1 to 120, or leave it out for 20",
            )
        })
        .collect()
}
