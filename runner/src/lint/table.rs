//! `REQUIREMENTS.md`: which case shows which promise, generated from the data.

use std::fmt::Write;

use serde::Serialize;

use super::Finding;
use super::material::{CaseAt, Material};
use crate::corpus::requirement::Requirement;
use crate::corpus::vocabulary::Platform;

/// Its name in the corpus.
pub const NAME: &str = "REQUIREMENTS.md";

/// The committed table is that of the data.
pub(super) fn check(material: &Material) -> Vec<Finding> {
    if material.read.requirements.requirements.is_empty() {
        return Vec::new();
    }
    let problem = match &material.table {
        None => "is missing",
        Some(committed) if *committed != text(material) => "is not what the data says",
        Some(_) => return Vec::new(),
    };
    let problem = format!("the table {problem}");
    let place = material.in_file(
        NAME,
        &[],
        problem,
        "run `perimeter lint --corpus DIR --write`",
    );
    vec![place]
}

/// The text of the table.
pub(super) fn text(material: &Material) -> String {
    let requirements = &material.read.requirements.requirements;
    let cases: Vec<CaseAt<'_>> = material.cases().collect();
    let on = |platform: Platform| {
        let there = cases
            .iter()
            .filter(|at| at.case.platforms.contains(&platform));
        there.count()
    };
    let mut text = format!(
        "# What each requirement is shown by\n\n\
         Generated from `requirements.json` and the cases by `perimeter lint --write`; not to be \
         edited.\n\n\
         {} requirements, {} cases: {} mean something on Linux, {} on macOS. A case is listed with \
         the level\nwhose claim it tests and how binding it is there.\n",
        requirements.len(),
        cases.len(),
        on(Platform::Linux),
        on(Platform::Macos),
    );
    for requirement in requirements {
        section(&mut text, requirement, &cases);
    }
    text
}

fn section(text: &mut String, requirement: &Requirement, cases: &[CaseAt<'_>]) {
    let _ = write!(
        text,
        "\n## {}\n\n{}\n\n{}{}.\n",
        requirement.id,
        requirement.text,
        capital(&word(&requirement.strength)),
        only(&requirement.platforms),
    );
    let covering: Vec<&CaseAt<'_>> = cases
        .iter()
        .filter(|at| at.case.covers.contains(&requirement.id))
        .collect();
    if !covering.is_empty() {
        text.push('\n');
    }
    for at in covering {
        let case = at.case;
        let platforms = if case.platforms == requirement.platforms {
            ""
        } else {
            only(&case.platforms)
        };
        let _ = writeln!(
            text,
            "- `{}`: {} ({}, {}{platforms})",
            case.id,
            case.title,
            word(&case.level),
            word(&case.strength),
        );
    }
    if let Some(elsewhere) = &requirement.elsewhere {
        let lead = if text.ends_with(".\n") {
            "No case shows it. "
        } else {
            ""
        };
        let _ = writeln!(text, "\n{lead}{}", elsewhere.reason.trim());
        if !elsewhere.tests.is_empty() {
            text.push('\n');
        }
        for test in &elsewhere.tests {
            let _ = writeln!(text, "- `{test}`");
        }
    }
}

fn only(platforms: &[Platform]) -> &'static str {
    match platforms {
        [Platform::Linux] => ", on Linux alone",
        [Platform::Macos] => ", on macOS alone",
        _ => "",
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

/// A word of a closed list, as the corpus's files write it.
fn word<T: Serialize>(value: &T) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
