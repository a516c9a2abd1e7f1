//! The short road of a trial: fixture, launch, observation, verdict.

mod attempt;
mod command;
mod gate;
pub mod item;
mod look;
mod names;
mod removal;
mod toolchain;

pub(crate) use command::{arguments, copies, own_environment};
pub use gate::{Gate, gate};
pub(crate) use names::{expand_all, expand_known};

use std::time::Instant;

use crate::corpus::expect::Outcome;
use crate::judge::{Judgement, LauncherTraits, judge};
use crate::verdict::Verdict;
use attempt::{Attempt, AttemptError};
use item::{WorkItem, WorkResult};

/// Runs one trial to its verdict: under the launcher, and without a sandbox
/// where the verdict needs that.
pub fn run(item: &WorkItem) -> WorkResult {
    if item.look {
        return look::look(item);
    }
    let start = Instant::now();
    let facts = item.facts.iter().copied().collect();
    let mut result = match gate(&item.trial, &item.launcher, &facts) {
        Some(gate) => WorkResult {
            verdict: gate.verdict,
            reason: gate.reason,
            missing: gate.missing,
            ..WorkResult::error(String::new())
        },
        None => measured(item).unwrap_or_else(|error| WorkResult::error(error.to_string())),
    };
    result.milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    result
}

fn measured(item: &WorkItem) -> Result<WorkResult, AttemptError> {
    let traits = LauncherTraits {
        refusal_status: item.launcher.refusal_status,
    };
    let attempt = |launcher, tag| {
        Attempt {
            item,
            launcher,
            tag,
            after: &|_| {},
        }
        .run()
    };
    let observed = attempt(&item.launcher, "s")?;
    let expect = &item.trial.case.expect;
    // A permission that holds speaks for itself. Where it does not, the baseline
    // tells a launcher that blocks too much from a host that cannot do it.
    let mut baseline = None;
    if item.baseline.is_none()
        && (expect.outcome != Outcome::Allowed
            || judge(expect, traits, None, &observed).verdict != Verdict::Conforms)
    {
        baseline = Some(attempt(&item.open, "b")?);
    }
    let Judgement {
        verdict,
        reason,
        evidence,
    } = judge(
        expect,
        traits,
        baseline.as_ref().or(item.baseline.as_ref()),
        &observed,
    );
    Ok(WorkResult {
        verdict,
        reason,
        evidence,
        missing: Vec::new(),
        baseline,
        observed: Some(observed),
        milliseconds: 0,
        sighting: None,
    })
}
