//! Columns: the runs that are of one launcher, as one user, on one kind of host.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::corpus::vocabulary::Level;
use crate::report::reader::Run;
use crate::report::results::{Header, TrialResult};
use crate::report::summary::{Hold, Summary};

/// One launcher, as one user, on one host.
#[derive(Debug)]
pub struct Column {
    /// How it is told from the others: its launcher's name, and more only where
    /// two columns share that.
    pub name: String,
    /// The first of its runs.
    pub header: Header,
    /// The digests of the corpora that its runs are of.
    pub corpora: Vec<String>,
    /// What came of all of its runs.
    pub trials: Vec<TrialResult>,
    /// Whether its runs have every trial of their corpus.
    pub complete: bool,
}

/// What is said of one level of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelCell {
    /// Whether its authors claim it.
    pub claimed: bool,
    /// MUST trials that conform.
    pub conform: usize,
    /// MUST trials that count.
    pub counted: usize,
    /// Whether it holds; where the runs leave trials out, only that it does not.
    pub hold: Hold,
}

/// Runs that cannot be joined.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// Two files have the same trial.
    #[error(
        "{}: {trial} under {launcher} is in {} too, as the same user on the same host; leave one of the two files out",
        path.display(),
        other.display()
    )]
    Twice {
        /// The later file.
        path: PathBuf,
        /// The earlier one.
        other: PathBuf,
        /// The launcher's name.
        launcher: String,
        /// The trial.
        trial: String,
    },
    /// A run was stopped before its end.
    #[error("{}: the run was interrupted; run it again", path.display())]
    Interrupted {
        /// The file.
        path: PathBuf,
    },
}

/// What makes two runs one column.
fn key(header: &Header) -> (String, Option<String>, String, String, bool) {
    let host = &header.host;
    (
        header.launcher.name.clone(),
        header.launcher.version.clone(),
        format!("{} {}", host.os, host.kernel),
        host.architecture.clone(),
        host.uid == 0,
    )
}

/// Joins runs into columns, in the order in which they come.
pub(super) fn join(runs: Vec<(PathBuf, Run)>) -> Result<Vec<Column>, CompareError> {
    let mut columns: Vec<Column> = Vec::new();
    let mut owners: HashMap<(usize, String), PathBuf> = HashMap::new();
    for (path, run) in runs {
        if run.footer.interrupted {
            return Err(CompareError::Interrupted { path });
        }
        let index = columns
            .iter()
            .position(|column| key(&column.header) == key(&run.header));
        let index = index.unwrap_or_else(|| {
            columns.push(Column {
                name: String::new(),
                header: run.header.clone(),
                corpora: Vec::new(),
                trials: Vec::new(),
                complete: false,
            });
            columns.len() - 1
        });
        for trial in &run.trials {
            let owner = owners.insert((index, trial.trial.clone()), path.clone());
            if let Some(other) = owner {
                return Err(CompareError::Twice {
                    path,
                    other,
                    launcher: run.header.launcher.name,
                    trial: trial.trial.clone(),
                });
            }
        }
        let column = &mut columns[index];
        if !column.corpora.contains(&run.header.corpus.digest) {
            column.corpora.push(run.header.corpus.digest.clone());
        }
        column.trials.extend(run.trials);
        column.complete =
            column.corpora.len() == 1 && column.trials.len() == run.header.corpus.trials;
    }
    name(&mut columns);
    Ok(columns)
}

/// Names each column by as much as tells it from the others.
fn name(columns: &mut [Column]) {
    let parts: Vec<[String; 4]> = columns
        .iter()
        .map(|column| {
            let host = &column.header.host;
            let user = if host.uid == 0 { "root" } else { "user" };
            [
                column.header.launcher.name.clone(),
                user.to_owned(),
                column.header.launcher.version.clone().unwrap_or_default(),
                format!("{} {} {}", host.os, host.kernel, host.architecture),
            ]
        })
        .collect();
    for (index, column) in columns.iter_mut().enumerate() {
        let own = &parts[index];
        let others = || {
            parts
                .iter()
                .enumerate()
                .filter(move |(other, theirs)| *other != index && theirs[0] == own[0])
                .map(|(_, theirs)| theirs)
        };
        let more: Vec<&str> = (1..own.len())
            .filter(|part| others().any(|theirs| theirs[*part] != own[*part]))
            .map(|part| own[part].as_str())
            .collect();
        column.name = if more.is_empty() {
            own[0].clone()
        } else {
            format!("{} ({})", own[0], more.join(", "))
        };
    }
}

impl Column {
    /// Each level, lowest first.
    pub fn levels(&self) -> Vec<(Level, LevelCell)> {
        let mut contract = self.header.contract.clone();
        // Its parts together are the whole, and that is what is judged here.
        contract.partition = None;
        contract.filters.clear();
        let summary = Summary::of(&self.trials, &contract);
        let claims = &self.header.launcher.levels;
        summary
            .levels
            .iter()
            .map(|row| {
                let cell = LevelCell {
                    claimed: claims.iter().any(|claim| *claim >= row.level),
                    conform: row.must.conform,
                    counted: row.must.counted(),
                    // What failed stays so, whatever the trials would show that are left out.
                    hold: match row.hold {
                        hold if self.complete => hold,
                        Hold::Fails => Hold::Fails,
                        _ => Hold::Unjudged,
                    },
                };
                (row.level, cell)
            })
            .collect()
    }

    /// The highest level that holds.
    pub fn highest(&self) -> Option<Level> {
        self.levels()
            .into_iter()
            .filter(|(_, cell)| cell.hold == Hold::Holds)
            .map(|(level, _)| level)
            .max()
    }

    /// How many MUST trials of claimed levels do not conform though they count.
    pub fn broken_claims(&self) -> usize {
        self.levels()
            .iter()
            .filter(|(_, cell)| cell.claimed)
            .map(|(_, cell)| cell.counted - cell.conform)
            .sum()
    }
}
