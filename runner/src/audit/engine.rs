//! Runs pairs of subject and trial, and gives each the baseline of its trial.

use crate::corpus::Trial;
use crate::observe::observation::Observation;
use crate::report::results::TrialResult;
use crate::session::{Session, Task};

use super::subject::{Role, Subject};

/// Subject and trial, by their places.
pub(super) type Pair = (usize, usize);

/// Runs pairs.
pub(super) struct Engine<'a> {
    session: &'a Session,
    subjects: &'a [Subject],
    trials: &'a [Trial],
    /// What each trial did without a sandbox, in this run.
    baselines: Vec<Option<Observation>>,
}

impl<'a> Engine<'a> {
    pub(super) fn new(session: &'a Session, subjects: &'a [Subject], trials: &'a [Trial]) -> Self {
        Engine {
            session,
            subjects,
            trials,
            baselines: vec![None; trials.len()],
        }
    }

    /// Runs pairs, and hands each result over as it comes. Trials of which no
    /// baseline is known yet are run without a sandbox first, and that result is
    /// handed over too: it is the subject `open`'s.
    pub(super) fn run(&mut self, pairs: &[Pair], mut ended: impl FnMut(Pair, &TrialResult)) {
        let open = self
            .subjects
            .iter()
            .position(|subject| subject.role == Role::Open);
        if let Some(open) = open {
            let mut missing: Vec<usize> = pairs.iter().map(|(_, trial)| *trial).collect();
            missing.sort_unstable();
            missing.dedup();
            missing.retain(|trial| self.baselines[*trial].is_none());
            let task = |place: usize| Task {
                trial: &self.trials[missing[place]],
                launcher: &self.subjects[open].launcher,
                baseline: None,
            };
            let baselines = &mut self.baselines;
            self.session
                .run_tasks(missing.len(), task, |place, result| {
                    ended((open, missing[place]), &result);
                    // Under `open` both are the same road; a permission that holds
                    // there was run once only.
                    baselines[missing[place]] = result.baseline.or(result.observed);
                });
        }
        let others: Vec<Pair> = pairs
            .iter()
            .copied()
            .filter(|(subject, _)| Some(*subject) != open)
            .collect();
        let task = |place: usize| {
            let (subject, trial) = others[place];
            Task {
                trial: &self.trials[trial],
                launcher: &self.subjects[subject].launcher,
                baseline: self.baselines[trial].as_ref(),
            }
        };
        self.session.run_tasks(others.len(), task, |place, result| {
            ended(others[place], &result);
        });
    }
}
