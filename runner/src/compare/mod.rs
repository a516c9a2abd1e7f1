//! Several runs side by side: launchers, users and hosts as columns, cases as rows.

mod column;
mod compact;
mod html;
mod json;
mod markdown;
mod plain;

pub use column::{Column, CompareError};
pub use html::render as html;
pub use json::render as json;
pub use markdown::render as markdown;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::corpus::Corpus;
use crate::corpus::vocabulary::{Level, Platform, Strength};
use crate::report::reader::Run;
use crate::report::results::TrialResult;
use crate::verdict::{Class, Verdict};

/// The runs, joined.
#[derive(Debug)]
pub struct Comparison {
    /// Launchers, as each user and on each host that ran them.
    pub columns: Vec<Column>,
    /// Cases, in the order of their ids.
    pub rows: Vec<Row>,
}

/// A case, and what each column has of it.
#[derive(Debug)]
pub struct Row {
    /// The case's id.
    pub id: String,
    /// The assertion.
    pub title: String,
    /// Why it matters; absent where the corpus at hand has no such case.
    pub why: Option<String>,
    /// The command, as the case writes it.
    pub command: Option<String>,
    /// Public reports and documents.
    pub references: Vec<String>,
    /// The topic's name.
    pub topic: String,
    /// The level whose claim the case tests.
    pub level: Level,
    /// How binding it is.
    pub strength: Strength,
    /// Where it means anything; empty where the corpus at hand does not have it.
    pub platforms: Vec<Platform>,
    /// What each column saw; a column that has not run the case has nothing.
    pub cells: Vec<Option<Cell>>,
    /// Whether columns ran different texts of the case, so that their verdicts
    /// cannot be compared.
    pub differs: bool,
}

/// What one column has of one case.
#[derive(Debug)]
pub struct Cell {
    /// The worst verdict of its trials.
    pub verdict: Verdict,
    /// How many trials got each verdict.
    pub verdicts: BTreeMap<Verdict, usize>,
    /// The trials that do not conform, the worst first, a few of each cell.
    pub told: Vec<Told>,
    /// The digest of the case that was run.
    pub digest: String,
}

/// A trial that does not conform.
#[derive(Debug)]
pub struct Told {
    /// The trial's name.
    pub trial: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// What was seen, without the paths of the host that saw it.
    pub evidence: Vec<String>,
}

impl Cell {
    /// How many trials of one case are told of, and how many lines of each.
    const SHOWN: usize = 3;
    const LINES: usize = 6;

    fn of(trials: &[&TrialResult]) -> Option<Cell> {
        let mut verdicts = BTreeMap::new();
        for trial in trials {
            *verdicts.entry(trial.verdict).or_default() += 1;
        }
        let mut told: Vec<&&TrialResult> = trials
            .iter()
            .filter(|trial| trial.verdict != Verdict::Conforms)
            .collect();
        told.sort_by(|one, other| (one.verdict, &one.trial).cmp(&(other.verdict, &other.trial)));
        Some(Cell {
            verdict: worst(trials)?,
            verdicts,
            told: told
                .into_iter()
                .take(Self::SHOWN)
                .map(|trial| Told {
                    trial: trial.trial.clone(),
                    verdict: trial.verdict,
                    reason: plain::text(&trial.reason),
                    evidence: trial
                        .evidence
                        .iter()
                        .take(Self::LINES)
                        .map(|line| plain::text(line))
                        .collect(),
                })
                .collect(),
            digest: trials.first()?.digest.clone(),
        })
    }
}

/// The worst verdict of the trials that count; of all, where none does.
fn worst(trials: &[&TrialResult]) -> Option<Verdict> {
    let verdicts = || trials.iter().map(|trial| trial.verdict);
    verdicts()
        .filter(|verdict| verdict.class() != Class::Uncounted)
        .min()
        .or_else(|| verdicts().min())
}

impl Comparison {
    /// Joins runs: the parts of a split run are one column, and so are a run and
    /// others of the same launcher, user and host that ran other trials.
    ///
    /// # Errors
    /// Two runs that both have a trial of the same launcher, user and host.
    pub fn of(runs: Vec<(PathBuf, Run)>, corpus: &Corpus) -> Result<Comparison, CompareError> {
        let columns = column::join(runs)?;
        let ids: BTreeSet<&str> = columns
            .iter()
            .flat_map(|column| column.trials.iter().map(|trial| trial.id.as_str()))
            .collect();
        let by_id: Vec<BTreeMap<&str, Vec<&TrialResult>>> = columns
            .iter()
            .map(|column| {
                let mut by_id: BTreeMap<&str, Vec<&TrialResult>> = BTreeMap::new();
                for trial in &column.trials {
                    by_id.entry(&trial.id).or_default().push(trial);
                }
                by_id
            })
            .collect();
        let rows = ids
            .into_iter()
            .filter_map(|id| {
                let of_columns: Vec<Option<&Vec<&TrialResult>>> =
                    by_id.iter().map(|column| column.get(id)).collect();
                row(id, &of_columns, corpus)
            })
            .collect();
        Ok(Comparison { columns, rows })
    }

    /// The topics, in the order of their names.
    pub fn topics(&self) -> BTreeSet<&str> {
        self.rows.iter().map(|row| row.topic.as_str()).collect()
    }

    /// Of the rows that are chosen, how many conform in a column, and how many
    /// count there: neither unsupported nor not applicable.
    pub fn counts(&self, column: usize, chosen: impl Fn(&Row) -> bool) -> (usize, usize) {
        let cells = self
            .rows
            .iter()
            .filter(|row| chosen(row))
            .filter_map(|row| row.cells.get(column).and_then(Option::as_ref))
            .filter(|cell| cell.verdict.class() != Class::Uncounted);
        cells.fold((0, 0), |(conform, all), cell| {
            let conforms = cell.verdict == Verdict::Conforms;
            (conform + usize::from(conforms), all + 1)
        })
    }
}

fn row(id: &str, of_columns: &[Option<&Vec<&TrialResult>>], corpus: &Corpus) -> Option<Row> {
    let first = of_columns.iter().flatten().next()?.first()?;
    let known = corpus.trials.iter().find(|trial| trial.case.id == id);
    let cells: Vec<Option<Cell>> = of_columns
        .iter()
        .map(|trials| trials.and_then(|trials| Cell::of(trials)))
        .collect();
    let digests: BTreeSet<&str> = cells
        .iter()
        .flatten()
        .map(|cell| cell.digest.as_str())
        .collect();
    Some(Row {
        id: id.to_owned(),
        title: first.title.clone(),
        why: known.map(|trial| trial.case.why.clone()),
        command: known.and_then(|trial| {
            let run = trial.case.run.as_ref()?;
            Some(match serde_json::to_value(run).ok()? {
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            })
        }),
        references: known.map_or_else(Vec::new, |trial| trial.case.references.clone()),
        topic: first.topic.clone(),
        level: first.level,
        strength: first.strength,
        platforms: known.map_or_else(Vec::new, |trial| trial.case.platforms.clone()),
        differs: digests.len() > 1,
        cells,
    })
}
