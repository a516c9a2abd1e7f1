//! From a scenario of which something differs to the smallest case that shows it.

use std::fs;
use std::path::{Path, PathBuf};

use super::compare::{Comparison, Difference};
use super::drive::{Found, Terms};
use super::export::{is_sound, topic};
use super::operation::Call;
use super::predict::Prediction;
use super::scenario::Scenario;
use super::shrink::shrink;
use crate::corpus::case::TopicFile;
use crate::corpus::{Corpus, Source};
use crate::launcher::file::LauncherFile;
use crate::session::Session;
use crate::verdict::{Class, Verdict};
use crate::worker::PoolError;

/// A difference, made small.
#[derive(Debug, Clone)]
pub struct Reduced {
    /// The scenario.
    pub scenario: Scenario,
    /// What differs.
    pub difference: Difference,
    /// The cases that show it.
    pub topic: TopicFile,
    /// What the corpus's own runner says of the first of them under the launcher;
    /// nothing where the file cannot be read as a corpus, and why.
    pub verdict: Result<Verdict, String>,
}

impl Reduced {
    /// Whether the cases show the difference by themselves.
    pub fn is_shown(&self) -> bool {
        let class = self.verdict.as_ref().map(|verdict| verdict.class());
        matches!(class, Ok(Class::Failure))
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let text = serde_json::to_string_pretty(&self.topic).unwrap_or_default();
        format!("{text}\n")
    }
}

/// Makes a difference small, and writes it as cases.
///
/// # Errors
/// The harness's own failure, or a cancellation.
pub fn reduce(
    session: &Session,
    launcher: &LauncherFile,
    found: &Found,
) -> Result<Reduced, PoolError> {
    let terms = Terms::of(session, launcher);
    let wanted = kind(&found.scenario, &found.comparison);
    let scenario = shrink(found.scenario.clone(), |smaller| {
        if !is_sound(smaller) {
            return Ok(false);
        }
        match terms.try_out(session, smaller) {
            Ok((comparison, _)) => Ok(wanted.is_some() && kind(smaller, &comparison) == wanted),
            // Not every smaller fixture can be made.
            Err(PoolError::Failed(_)) => Ok(false),
            Err(error) => Err(error),
        }
    })?;
    let (comparison, seen) = terms.try_out(session, &scenario)?;
    let (scenario, comparison, seen) = match comparison.differences.first() {
        Some(_) => (scenario, comparison, seen),
        // It comes and goes; what was seen first is told.
        None => (
            found.scenario.clone(),
            found.comparison.clone(),
            found.seen.clone(),
        ),
    };
    let Some(difference) = comparison.differences.first().cloned() else {
        return Err(PoolError::Failed("nothing differs".to_owned()));
    };
    let topic = topic(&scenario, &comparison, &seen);
    let mut reduced = Reduced {
        scenario,
        difference,
        topic,
        verdict: Err(String::new()),
    };
    reduced.verdict = judged(session, &reduced);
    Ok(reduced)
}

type Sort = (super::compare::Class, Option<Call>);

/// What the first difference is about; none where a prediction cannot be made.
fn kind(scenario: &Scenario, comparison: &Comparison) -> Option<Sort> {
    if comparison.predictions.contains(&Prediction::Unknown) {
        return None;
    }
    let first = comparison.differences.first()?;
    let operation = first.operation.and_then(|it| scenario.operations.get(it));
    Some((first.class, operation.map(|it| it.call)))
}

/// Has the corpus's own loader and runner look at the cases.
fn judged(session: &Session, reduced: &Reduced) -> Result<Verdict, String> {
    let directory = tempfile::Builder::new()
        .prefix("found-")
        .tempdir_in(session.scratch())
        .map_err(|error| error.to_string())?;
    write(directory.path(), "found", &reduced.text()).map_err(|error| error.to_string())?;
    let source = Source::Directory(directory.path().to_owned());
    let corpus = Corpus::load(&source).map_err(|error| error.to_string())?;
    let trial = corpus.trials.first().ok_or("there is no trial")?;
    Ok(session.run(trial).verdict)
}

/// Writes cases into a directory that is, or becomes, a corpus: one that has the
/// launchers which `check` needs.
///
/// # Errors
/// Those of the file system.
pub fn save(directory: &Path, corpus: &Corpus, reduced: &Reduced) -> std::io::Result<PathBuf> {
    let name = format!("seed-{}", reduced.scenario.seed);
    let launchers = directory.join("launchers");
    fs::create_dir_all(&launchers)?;
    for launcher in &corpus.launchers {
        let path = launchers.join(format!("{}.json", launcher.name));
        if !path.exists() {
            let text = serde_json::to_string_pretty(launcher).unwrap_or_default();
            fs::write(path, format!("{text}\n"))?;
        }
    }
    write(directory, &name, &reduced.text())
}

fn write(directory: &Path, name: &str, text: &str) -> std::io::Result<PathBuf> {
    let cases = directory.join("explore");
    fs::create_dir_all(&cases)?;
    let path = cases.join(format!("{name}.json"));
    fs::write(&path, text)?;
    Ok(path)
}
