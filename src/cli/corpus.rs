//! The corpus: the copy inside this program, or a directory.

use std::path::Path;

use perimeter_runner::corpus::{Corpus, Source, Trial};
use perimeter_runner::launcher::file::{LauncherFile, read_launcher};

use super::failure::{Failure, USAGE};

/// Reads the corpus.
pub fn load(directory: Option<&Path>) -> Result<Corpus, Failure> {
    Corpus::load(&source(directory)).map_err(|error| Failure::new(USAGE, error))
}

/// Where the corpus is read from.
pub fn source(directory: Option<&Path>) -> Source {
    match directory {
        Some(directory) => Source::Directory(directory.to_owned()),
        None => Source::embedded(),
    }
}

/// The launcher of this name, or in this file.
pub fn launcher(corpus: &Corpus, name: &str) -> Result<LauncherFile, Failure> {
    if let Some(known) = corpus.launcher(name) {
        return Ok(known.clone());
    }
    if name.contains('/') || Path::new(name).extension().is_some() {
        return read_launcher(Path::new(name)).map_err(|error| Failure::new(USAGE, error));
    }
    let known: Vec<&str> = corpus
        .launchers
        .iter()
        .map(|file| file.name.as_str())
        .collect();
    Err(Failure::new(
        USAGE,
        format_args!(
            "no launcher is named {name:?}; name one of {}, or a launcher file by its path",
            known.join(", ")
        ),
    ))
}

/// The trials that the filters select: all of them without a filter. A filter
/// that selects nothing is a mistake, and the error names what is near it.
pub fn select(corpus: &Corpus, filters: &[String]) -> Result<Vec<Trial>, Failure> {
    let matches = |trial: &Trial, filter: &str| {
        trial.name.contains(filter)
            || trial.file.contains(filter)
            || trial.topic.to_lowercase().contains(&filter.to_lowercase())
    };
    for filter in filters {
        if !corpus.trials.iter().any(|trial| matches(trial, filter)) {
            return Err(Failure::new(
                perimeter_runner::exit::ExitCode::Nothing.code(),
                format_args!(
                    "{filter:?} matches no case; {}`perimeter list` shows them all",
                    near(corpus, filter)
                ),
            ));
        }
    }
    Ok(corpus
        .trials
        .iter()
        .filter(|trial| filters.is_empty() || filters.iter().any(|filter| matches(trial, filter)))
        .cloned()
        .collect())
}

/// What to say of a filter that matched nothing: the case that is most like it.
fn near(corpus: &Corpus, filter: &str) -> String {
    match nearest(corpus, filter, 1).first() {
        Some(id) => format!("did you mean {id}? "),
        None => String::new(),
    }
}

/// The trials of this case, or the one of this name. An error offers what is near.
pub fn named<'a>(corpus: &'a Corpus, name: &str) -> Result<Vec<&'a Trial>, Failure> {
    let found: Vec<&Trial> = corpus
        .trials
        .iter()
        .filter(|trial| trial.case.id == name || trial.name == name)
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let near = match nearest(corpus, name, 3).as_slice() {
        [] => String::new(),
        ids => format!("near it are {}; ", ids.join(", ")),
    };
    Err(Failure::new(
        perimeter_runner::exit::ExitCode::Nothing.code(),
        format_args!("no case is named {name:?}; {near}`perimeter list` shows them all"),
    ))
}

/// The ids that have the most in common with a text, the best first; those that
/// have little are left out.
fn nearest<'a>(corpus: &'a Corpus, text: &str, count: usize) -> Vec<&'a str> {
    let wanted = runs(text);
    let mut ids: Vec<(&str, usize)> = Vec::new();
    for trial in &corpus.trials {
        let id = trial.case.id.as_str();
        if ids.last().is_some_and(|(last, _)| *last == id) {
            continue;
        }
        let own = runs(id);
        let shared = wanted.intersection(&own).count();
        // In a hundred, of what the two have together (Dice's coefficient).
        ids.push((id, 200 * shared / (wanted.len() + own.len()).max(1)));
    }
    ids.retain(|(_, likeness)| *likeness >= 35);
    ids.sort_by_key(|(_, likeness)| std::cmp::Reverse(*likeness));
    ids.into_iter().take(count).map(|(id, _)| id).collect()
}

/// Each run of three characters in a text.
fn runs(text: &str) -> std::collections::HashSet<String> {
    let letters: Vec<char> = text.to_lowercase().chars().collect();
    letters.windows(3).map(|run| run.iter().collect()).collect()
}
