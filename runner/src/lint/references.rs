//! What a file refers to: public reports, cases, launchers.

use std::collections::HashSet;

use super::Finding;
use super::material::{Material, in_file};
use crate::corpus::expectation::Expectation;
use crate::corpus::place::At;

/// A reference is a URL, `owner/repository#number` or the number of a CVE.
pub(crate) fn form(material: &Material) -> Vec<Finding> {
    const REMEDY: &str = "write https://…, owner/repository#number or CVE-YEAR-NUMBER, each once";
    let mut findings = Vec::new();
    for at in material.cases() {
        for (index, problem) in wrong(&at.case.references) {
            let path = [At::Field("references"), At::Item(index)];
            findings.push(at.finding(&path, problem, REMEDY));
        }
    }
    for fault in &material.read.faults {
        for (index, problem) in wrong(&fault.content.references) {
            let path = [At::Field("references"), At::Item(index)];
            findings.push(in_file(&fault.source, &path, problem, REMEDY));
        }
    }
    findings
}

fn wrong(references: &[String]) -> Vec<(usize, String)> {
    let each = references.iter().enumerate();
    each.filter_map(|(index, reference)| {
        if references[..index].contains(reference) {
            Some((index, format!("{reference} is there twice")))
        } else if is_url(reference) || is_issue(reference) || is_cve(reference) {
            None
        } else {
            Some((index, format!("{reference:?} leads nowhere")))
        }
    })
    .collect()
}

fn is_url(text: &str) -> bool {
    text.strip_prefix("https://").is_some_and(|rest| {
        let host = rest.split('/').next().unwrap_or_default();
        host.contains('.') && !rest.contains(char::is_whitespace)
    })
}

fn is_issue(text: &str) -> bool {
    let Some((repository, number)) = text.split_once('#') else {
        return false;
    };
    let names: Vec<&str> = repository.split('/').collect();
    let is_name = |name: &&str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    names.len() == 2 && names.iter().all(is_name) && is_number(number)
}

fn is_cve(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    matches!(parts[..], ["CVE", year, number]
        if year.len() == 4 && is_number(year) && number.len() >= 4 && is_number(number))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A launcher stands in the file of its name.
pub(crate) fn launcher(material: &Material) -> Vec<Finding> {
    let read = &material.read;
    let files = read.files.iter().filter_map(|file| {
        let stem = file
            .name
            .strip_prefix("launchers/")?
            .strip_suffix(".json")?;
        let text = std::str::from_utf8(&file.bytes).ok()?;
        let value: serde_json::Value = serde_json::from_str(text).ok()?;
        let name = value.get("name")?.as_str()?.to_owned();
        (name != stem).then_some((file, name))
    });
    files
        .map(|(file, name)| {
            in_file(
                file,
                &[At::Field("name")],
                format!("the launcher {name} stands in another file"),
                format!("call the file {name}.json"),
            )
        })
        .collect()
}

/// Expectations stand in the file of their launcher, each once, with its reason.
pub(crate) fn expectation_file(material: &Material) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, content) in &material.read.expectations {
        let launcher = &content.launcher;
        if file.name != format!("expectations/{launcher}.json") {
            findings.push(in_file(
                file,
                &[At::Field("launcher")],
                format!("the failures of {launcher} stand in another file"),
                format!("call the file expectations/{launcher}.json"),
            ));
        }
        let entries = &content.expectations;
        for (index, entry) in entries.iter().enumerate() {
            let mut add = |field: &str, problem: &str, remedy: &str| {
                let path = [At::Field("expectations"), At::Item(index), At::Field(field)];
                findings.push(in_file(file, &path, problem, remedy));
            };
            if entry.reason.is_unwritten() {
                let remedy = "write it, or remove the entry";
                add("reason", "nobody has written the reason yet", remedy);
            }
            let same = |other: &Expectation| other.case == entry.case && other.when == entry.when;
            if entries[..index].iter().any(same) {
                add("case", "the same is there twice", "remove one of the two");
            }
        }
    }
    findings
}

/// An expectation is about a launcher and a case that there are, of that revision.
pub(crate) fn expectation(material: &Material) -> Vec<Finding> {
    let read = &material.read;
    let launchers: HashSet<&str> = read.launchers.iter().map(|one| one.name.as_str()).collect();
    let mut findings = Vec::new();
    for (file, content) in &read.expectations {
        if !launchers.contains(content.launcher.as_str()) {
            findings.push(in_file(
                file,
                &[At::Field("launcher")],
                format!("{} is no launcher of the corpus", content.launcher),
                "name one that it has",
            ));
        }
        for (index, expectation) in content.expectations.iter().enumerate() {
            let mut add = |field: &str, problem: String, remedy: &str| {
                let path = [At::Field("expectations"), At::Item(index), At::Field(field)];
                findings.push(in_file(file, &path, problem, remedy));
            };
            let Some(at) = material.case(&expectation.case) else {
                let problem = format!("{} is no case", expectation.case);
                add("case", problem, "name one, or remove the entry");
                continue;
            };
            if at.case.rev != expectation.rev {
                let problem = format!("the case has revision {}", at.case.rev);
                add("rev", problem, "look at the case again, and write that");
            }
            let axes = expectation.when.iter().flat_map(|when| &when.axes);
            for (axis, values) in axes {
                let known = at.case.axes.get(axis);
                let unknown = values
                    .iter()
                    .find(|value| known.is_none_or(|known| !known.contains(value)));
                if known.is_none() || unknown.is_some() {
                    let problem = match unknown {
                        Some(value) if known.is_some() => {
                            format!("the axis {axis} has no value {value:?}")
                        }
                        _ => format!("the case has no axis {axis}"),
                    };
                    add("when", problem, "write a value that a trial has");
                }
            }
        }
    }
    findings
}
