//! The corpus: the copy inside this program, or a directory.

use std::path::Path;

use include_dir::{Dir, include_dir};
use perimeter_runner::corpus::{Corpus, Source, Trial};

use super::failure::{Failure, USAGE};

static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/conformance");

/// Reads the corpus.
pub fn load(directory: Option<&Path>) -> Result<Corpus, Failure> {
    let source = match directory {
        Some(directory) => Source::Directory(directory.to_owned()),
        None => embedded(),
    };
    Corpus::load(&source).map_err(|error| Failure::new(USAGE, error))
}

/// The corpus inside this program.
fn embedded() -> Source {
    fn gather(directory: &'static Dir<'static>, files: &mut Vec<(String, &'static [u8])>) {
        files.extend(directory.files().map(|file| {
            let name = file.path().to_string_lossy().into_owned();
            (name, file.contents())
        }));
        for inner in directory.dirs() {
            gather(inner, files);
        }
    }
    let mut files = Vec::new();
    gather(&EMBEDDED, &mut files);
    Source::Embedded(files)
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

/// The case whose id shares the most words with a filter that matched nothing.
fn near(corpus: &Corpus, filter: &str) -> String {
    let words: Vec<&str> = filter
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| word.len() > 2)
        .collect();
    let shared = |id: &str| words.iter().filter(|word| id.contains(**word)).count();
    corpus
        .trials
        .iter()
        .map(|trial| trial.case.id.as_str())
        .max_by_key(|id| shared(id))
        .filter(|id| shared(id) > 0)
        .map_or_else(String::new, |id| format!("did you mean {id}? "))
}
