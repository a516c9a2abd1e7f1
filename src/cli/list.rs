//! `perimeter list`.

use std::fmt::Write;
use std::process::ExitCode;

use perimeter_runner::corpus::Trial;
use serde_json::json;

use super::arguments::List;
use super::corpus::{load, select};
use super::failure::Failure;
use super::print::print;

/// Lists the cases: by topic for a reader, or a line of JSON a trial.
pub fn run(list: &List) -> Result<ExitCode, Failure> {
    let corpus = load(list.selection.corpus.as_deref())?;
    let trials = select(&corpus, &list.selection.filters)?;
    let text = if list.json {
        as_json(&trials)
    } else {
        for_readers(&trials)
    };
    print(text.as_bytes())
}

fn as_json(trials: &[Trial]) -> String {
    trials.iter().fold(String::new(), |mut text, trial| {
        let case = &trial.case;
        let line = json!({
            "trial": trial.name,
            "id": case.id,
            "rev": case.rev,
            "digest": trial.digest,
            "file": trial.file,
            "topic": trial.topic,
            "title": case.title,
            "outcome": case.expect.outcome,
            "level": case.level,
            "strength": case.strength,
            "platforms": case.platforms,
            "covers": case.covers,
            "needs": trial.needs(),
            "facts": case.facts,
            "sibling": case.sibling,
        });
        let _ = writeln!(text, "{line}");
        text
    })
}

fn for_readers(trials: &[Trial]) -> String {
    let mut text = String::new();
    let mut topic = "";
    let mut last = "";
    for trial in trials {
        if trial.topic != topic {
            topic = &trial.topic;
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{topic}  ({})", trial.file);
        }
        // The trials of one case differ in their axes alone, and say so after
        // the id; its title is said once.
        if trial.case.id == last {
            continue;
        }
        last = &trial.case.id;
        let times = trials
            .iter()
            .filter(|other| other.case.id == trial.case.id)
            .count();
        let times = if times > 1 {
            format!("  ×{times}")
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "  {}{times}\n      {}",
            trial.case.id, trial.case.title
        );
    }
    let cases = trials
        .iter()
        .map(|trial| trial.case.id.as_str())
        .collect::<std::collections::HashSet<_>>()
        .len();
    let _ = writeln!(text, "\n{cases} cases, {} trials", trials.len());
    text
}
