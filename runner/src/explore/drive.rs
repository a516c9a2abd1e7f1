//! Seed after seed, on as many workers as there are, until there is enough.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::compare::{Comparison, compare};
use super::generate::{Claims, scenario};
use super::predict::Prediction;
use super::scenario::{Scenario, Surroundings};
use super::sighting::Sighting;
use crate::launcher::file::LauncherFile;
use crate::session::Session;
use crate::worker::PoolError;

/// When there is enough.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The first seed; each policy takes the next.
    pub seed: u64,
    /// How many policies are tried at most.
    pub count: Option<u64>,
    /// How long new ones are begun.
    pub time: Duration,
    /// How many that differ are looked for.
    pub differences: usize,
}

/// A scenario of which something differs.
#[derive(Debug, Clone)]
pub struct Found {
    /// The scenario.
    pub scenario: Scenario,
    /// What differs.
    pub comparison: Comparison,
    /// What was seen.
    pub seen: Sighting,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct Exploration {
    /// How many policies were tried.
    pub policies: u64,
    /// How many launches had to be refused.
    pub refused: u64,
    /// How many operations there were of each prediction.
    pub operations: BTreeMap<Prediction, u64>,
    /// What differs, in the order of the seeds.
    pub found: Vec<Found>,
}

/// Why it could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    /// A scenario could not be run.
    #[error("seed {seed}: {error}")]
    Harness {
        /// The seed.
        seed: u64,
        /// Why.
        error: PoolError,
    },
}

/// What the comparisons of a run need to know.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    pub(super) claims: Claims,
    pub(super) surroundings: Surroundings,
    pub(super) refusal_status: Option<u8>,
}

impl Terms {
    pub(super) fn of(session: &Session, launcher: &LauncherFile) -> Terms {
        Terms {
            claims: Claims::of(launcher),
            surroundings: Surroundings::of(session.scratch()),
            refusal_status: launcher.refusal_status,
        }
    }

    /// Runs a scenario, and compares.
    pub(super) fn try_out(
        &self,
        session: &Session,
        scenario: &Scenario,
    ) -> Result<(Comparison, Sighting), PoolError> {
        let seen = session.look(&scenario.trial())?;
        let comparison = compare(
            scenario,
            self.surroundings,
            self.claims.nested,
            self.refusal_status,
            &seen,
        );
        Ok((comparison, seen))
    }
}

/// Tries seed after seed. `ended` is told of each, in the order of the seeds, how
/// far it is.
///
/// # Errors
/// The harness's own failure. A cancellation is none: what was done is told.
pub fn explore(
    session: &Session,
    launcher: &LauncherFile,
    limits: Limits,
    mut ended: impl FnMut(&Exploration),
) -> Result<Exploration, ExploreError> {
    let terms = Terms::of(session, launcher);
    let start = Instant::now();
    let next = AtomicU64::new(0);
    let enough = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..session.jobs() {
            let (sender, next, enough, terms) = (sender.clone(), &next, &enough, &terms);
            scope.spawn(move || {
                while !enough.load(Ordering::Relaxed) && start.elapsed() < limits.time {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if limits.count.is_some_and(|count| number >= count) {
                        return;
                    }
                    let seed = limits.seed.wrapping_add(number);
                    let scenario = scenario(seed, &terms.claims, terms.surroundings);
                    let outcome = terms.try_out(session, &scenario);
                    if sender.send((number, scenario, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let outcome = collect(&receiver, limits, &enough, &mut ended);
        enough.store(true, Ordering::Relaxed);
        // What is under way is waited for, so that nothing of it is left.
        receiver.iter().for_each(drop);
        outcome
    })
}

type Outcome = Result<(Comparison, Sighting), PoolError>;
type Tried = (u64, Scenario, Outcome);

/// Takes what comes in the order of the seeds, so that what is found does not hang
/// on which worker was faster.
fn collect(
    receiver: &mpsc::Receiver<Tried>,
    limits: Limits,
    enough: &AtomicBool,
    ended: &mut impl FnMut(&Exploration),
) -> Result<Exploration, ExploreError> {
    let mut exploration = Exploration::default();
    let mut early: BTreeMap<u64, (Scenario, Outcome)> = BTreeMap::new();
    let mut due = 0;
    for (number, scenario, outcome) in receiver {
        early.insert(number, (scenario, outcome));
        while let Some((scenario, outcome)) = early.remove(&due) {
            due += 1;
            match outcome {
                Ok((comparison, seen)) => exploration.add(scenario, comparison, seen),
                Err(PoolError::Cancelled) => return Ok(exploration),
                Err(error) => {
                    return Err(ExploreError::Harness {
                        seed: scenario.seed,
                        error,
                    });
                }
            }
            ended(&exploration);
            if exploration.found.len() >= limits.differences {
                enough.store(true, Ordering::Relaxed);
                return Ok(exploration);
            }
        }
    }
    Ok(exploration)
}

impl Exploration {
    fn add(&mut self, scenario: Scenario, comparison: Comparison, seen: Sighting) {
        self.policies += 1;
        self.refused += u64::from(comparison.refused);
        for prediction in &comparison.predictions {
            *self.operations.entry(*prediction).or_default() += 1;
        }
        if !comparison.differences.is_empty() {
            self.found.push(Found {
                scenario,
                comparison,
                seen,
            });
        }
    }
}
