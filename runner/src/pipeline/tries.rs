//! The steps of an attempt: what the host does, and the tries of a launch that takes
//! part in a race.

use super::{AttemptError, Stage, os_pairs};
use crate::corpus::case::LaunchSpec;
use crate::corpus::expect::Outcome;
use crate::fixture;
use crate::launch::Beside;
use crate::observe::observation::{Part, Tries};
use crate::observe::snapshot::Snapshot;

/// How many times as often a race is tried while the launcher refuses every try.
const REFUSED: u32 = 8;

impl Stage<'_> {
    /// A step of the host's; something if it did not end well because of what a launch
    /// left. Then what was to be permitted did not come about. Where something is to be
    /// denied it is an error, since it would be taken for a denial.
    pub(super) fn host(&self, command: &str) -> Result<Option<Part>, AttemptError> {
        let launched = !self.observation.launches.is_empty();
        let blames = launched && self.trial.case.expect.outcome == Outcome::Allowed;
        match fixture::run_on_host(command, self.layout) {
            Err(error) if blames => Ok(Some(Part {
                what: "the host's commands end well".to_owned(),
                holds: false,
                seen: error.to_string(),
            })),
            done => Ok(done.map(|()| None)?),
        }
    }

    /// A step's launch: once, or beside the other party of a race until the
    /// effect shows.
    pub(super) fn tries(
        &mut self,
        launch: &LaunchSpec,
        before: &Snapshot,
    ) -> Result<(), AttemptError> {
        let beside = launch.meanwhile.as_deref().map(|command| {
            let environment = os_pairs(self.own_environment().into_iter().collect());
            Beside::start(command, &self.layout.root, &environment)
        });
        self.beside = beside.transpose()?;
        let outcome = self.repeat(launch, before);
        self.beside = None;
        outcome
    }

    fn repeat(&mut self, launch: &LaunchSpec, before: &Snapshot) -> Result<(), AttemptError> {
        let mut tries = Tries::default();
        let mut kept = None;
        loop {
            let launched = self.launch(launch)?;
            tries.made += 1;
            let started = launched.observation.started;
            tries.started += u32::from(started);
            self.typed = launched.typed;
            self.observation.launches.push(launched.observation);
            if launch.tries == 1 {
                return Ok(());
            }
            let after = self.look()?;
            let shows = self.effect(before, &after).iter().all(|part| part.holds);
            let last = self.observation.launches.pop();
            if shows || started || kept.is_none() {
                kept = last;
            }
            // A launcher may refuse what it sees swapped; one that starts nothing
            // has not taken part in the race.
            let enough = if tries.started > 0 { 1 } else { REFUSED };
            if shows || tries.made >= launch.tries * enough {
                break;
            }
        }
        if let Some(mut kept) = kept {
            kept.tries = Some(tries);
            self.observation.launches.push(kept);
        }
        Ok(())
    }
}
