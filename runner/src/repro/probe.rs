//! The probe in Python: only the operations that a trial uses.

use super::{CannotWrite, parts};
use crate::corpus::Trial;
use crate::corpus::placeholder::texts_of;
use crate::shell;

/// What begins a section, before the names of the operations that need it.
const SECTION: &str = "# operations:";

/// Operations that an interpreter cannot do, with the reason.
const IMPOSSIBLE: [(&str, &str); 2] = [
    (
        "signals",
        "which tells the signals that it inherited, and an interpreter changes them as it starts",
    ),
    (
        "sequence",
        "which is how `perimeter explore` writes what it found, and no command of an agent's; write the case as one first",
    ),
];

/// The program, where the trial uses one. Its texts have marks for placeholders.
pub(super) fn program(trial: &Trial) -> Result<Option<String>, CannotWrite> {
    let mark = shell::mark("probe");
    let mut meaning = trial.case.clone();
    meaning.title.clear();
    meaning.why.clear();
    let texts = texts_of(&(&meaning, &trial.fixture));
    if !texts.iter().any(|text| text.contains(&mark)) {
        return Ok(None);
    }
    let words: Vec<&str> = texts
        .iter()
        .flat_map(|text| text.split(|letter: char| !is_of_a_name(letter)))
        .collect();
    // A word of another command may be one of these, but not alone after the probe.
    let asked = |name: &str| {
        let direct = format!("{mark} {name}");
        texts
            .iter()
            .any(|text| text.contains(&direct) || text == name)
    };
    if let Some((name, reason)) = IMPOSSIBLE.iter().find(|(name, _)| asked(name)) {
        return Err(CannotWrite::Operation {
            trial: trial.name.clone(),
            operation: (*name).to_owned(),
            reason: (*reason).to_owned(),
        });
    }
    let mut program = String::new();
    for (place, section) in sections().iter().enumerate() {
        let (names, body) = section;
        let wanted = place == 0 || names.is_empty() || names.iter().any(|it| words.contains(it));
        if wanted {
            program.push_str(body.trim_end());
            program.push_str("\n\n\n");
        }
    }
    let end = program.trim_end().len();
    program.truncate(end);
    program.push('\n');
    Ok(Some(program))
}

fn is_of_a_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}

/// The sections, each with the operations that need it: none for what all need.
fn sections() -> Vec<(Vec<&'static str>, String)> {
    let mut sections = vec![(Vec::new(), String::new())];
    for line in parts::PROBE.iter().flat_map(|part| part.lines()) {
        if let Some(names) = line.strip_prefix(SECTION) {
            sections.push((names.split_whitespace().collect(), String::new()));
        } else if let Some((_, body)) = sections.last_mut() {
            body.push_str(line);
            body.push('\n');
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::OPERATIONS;

    #[test]
    fn every_operation_of_the_probe_is_there_or_has_a_reason() {
        let known: Vec<&str> = sections()
            .into_iter()
            .flat_map(|(names, _)| names)
            .collect();
        for operation in OPERATIONS {
            let impossible = IMPOSSIBLE.iter().any(|(name, _)| *name == operation.name);
            assert!(
                known.contains(&operation.name) != impossible,
                "{}",
                operation.name
            );
        }
    }
}
