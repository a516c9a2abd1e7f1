//! The judge: one pure function from what was seen to a verdict.
//!
//! Order matters. An escape is an escape whatever else went wrong; a denial is
//! believed only when the command started and the baseline shows that the
//! effect is possible here.

use crate::corpus::expect::{Absorbed, Expect, Outcome, Refusal};
use crate::observe::observation::{Ending, LaunchObservation, Observation};
use crate::verdict::Verdict;

/// A verdict, with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, in one sentence.
    pub reason: String,
    /// What was seen, a line each.
    pub evidence: Vec<String>,
}

/// What the judge needs to know of the launcher.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LauncherTraits {
    /// The exit status by which it says that it refused, where it has one.
    pub refusal_status: Option<u8>,
}

/// Judges one trial. `baseline` is the same case without a sandbox; it is
/// needed for everything but a permission that holds.
pub fn judge(
    expect: &Expect,
    launcher: LauncherTraits,
    baseline: Option<&Observation>,
    observed: &Observation,
) -> Judgement {
    let mut judgement = verdict(expect, launcher, baseline, observed);
    judgement.evidence.extend(tries(observed, ""));
    if let Some(baseline) = baseline {
        let tries = tries(baseline, "without a sandbox: ");
        judgement.evidence.extend(tries);
    }
    judgement
}

/// How often the launches of a race were tried.
fn tries<'a>(
    observation: &'a Observation,
    whose: &'a str,
) -> impl Iterator<Item = String> + use<'a> {
    let tries = observation
        .launches
        .iter()
        .filter_map(|launch| launch.tries);
    tries.map(move |tries| {
        let (made, started) = (tries.made, tries.started);
        format!("{whose}launched {made} times, {started} of them started the command")
    })
}

fn verdict(
    expect: &Expect,
    launcher: LauncherTraits,
    baseline: Option<&Observation>,
    observed: &Observation,
) -> Judgement {
    if let Some(judgement) = escape(expect, observed) {
        return judgement;
    }
    if let Some(judgement) = vacuous(expect, baseline, observed) {
        return judgement;
    }
    if let Some(launch) = timed_out(observed) {
        return found(
            Verdict::Timeout,
            "the deadline passed, and the whole tree was killed",
            streams(launch),
        );
    }
    if !observed.leftovers.is_empty() {
        return found(
            Verdict::Leaked,
            "a process outlived the launcher",
            leftovers(observed),
        );
    }
    match expect.outcome {
        Outcome::Allowed => allowed(expect, observed),
        Outcome::Denied => denied(expect, launcher, observed),
        Outcome::Refused => refused(launcher, observed),
    }
}

fn found(verdict: Verdict, reason: impl Into<String>, evidence: Vec<String>) -> Judgement {
    Judgement {
        verdict,
        reason: reason.into(),
        evidence,
    }
}

/// What must not happen, and did.
fn escape(expect: &Expect, observed: &Observation) -> Option<Judgement> {
    if !observed.leaks.is_empty() {
        let evidence = observed
            .leaks
            .iter()
            .map(|leak| format!("the canary of secret {} is in {}", leak.secret, leak.place))
            .collect();
        return Some(found(
            Verdict::Escaped,
            "a secret showed where the case does not allow it",
            evidence,
        ));
    }
    let forbidden = match expect.outcome {
        Outcome::Allowed => false,
        Outcome::Denied => observed.shows_effect(),
        Outcome::Refused => observed.last().is_some_and(|launch| launch.started),
    };
    if forbidden {
        let reason = match expect.outcome {
            Outcome::Refused => "the command was started, and the launch had to be refused",
            _ => "the forbidden effect showed",
        };
        let mut evidence = parts(observed, true);
        evidence.extend(changes(observed));
        return Some(found(Verdict::Escaped, reason, evidence));
    }
    if !observed.changes.is_empty() {
        return Some(found(
            Verdict::Escaped,
            "something outside the writable grants changed",
            changes(observed),
        ));
    }
    None
}

/// Whether the case proves nothing here: without a sandbox the effect does not
/// show either.
fn vacuous(
    expect: &Expect,
    baseline: Option<&Observation>,
    observed: &Observation,
) -> Option<Judgement> {
    let Some(baseline) = baseline else {
        // A permission that holds needs no baseline; everything else does.
        return (expect.outcome != Outcome::Allowed).then(|| {
            found(
                Verdict::Vacuous,
                "the command was not tried without a sandbox, so nothing is proven",
                Vec::new(),
            )
        });
    };
    let possible = match expect.outcome {
        Outcome::Refused => baseline.last().is_some_and(|launch| launch.started),
        Outcome::Allowed if observed.shows_effect() => true,
        Outcome::Allowed | Outcome::Denied => {
            baseline.shows_effect() && baseline.launches.iter().all(LaunchObservation::began)
        }
    };
    if possible {
        return None;
    }
    // How it ended, and the last that it said, tell most of why nothing came of it.
    let mut evidence = Vec::new();
    if let Some(launch) = baseline.last() {
        let mut lines = streams(launch).into_iter();
        evidence.extend(lines.next());
        evidence.extend(last_lines(&launch.error_output));
        evidence.extend(parts(baseline, false));
        evidence.extend(lines.filter(|line| !line.starts_with(ERRORS)));
    }
    let evidence = evidence
        .into_iter()
        .map(|line| format!("without a sandbox: {line}"))
        .collect();
    Some(found(
        Verdict::Vacuous,
        "the same command without a sandbox does not bring the effect about on this host",
        evidence,
    ))
}

fn timed_out(observed: &Observation) -> Option<&LaunchObservation> {
    observed
        .launches
        .iter()
        .chain(&observed.control)
        .find(|launch| launch.ending == Ending::TimedOut)
}

fn allowed(expect: &Expect, observed: &Observation) -> Judgement {
    if let Some(launch) = not_begun(observed) {
        return found(
            Verdict::Overblocked,
            "the command never started",
            streams(launch),
        );
    }
    if !observed.shows_effect() {
        let mut evidence = parts(observed, false);
        if let Some(launch) = observed.last() {
            evidence.extend(streams(launch));
        }
        return found(Verdict::Overblocked, "what must work does not", evidence);
    }
    manner(expect, observed).unwrap_or_else(|| {
        found(
            Verdict::Conforms,
            "what must work does",
            parts(observed, true),
        )
    })
}

fn denied(expect: &Expect, launcher: LauncherTraits, observed: &Observation) -> Judgement {
    if let Some(launch) = not_begun(observed) {
        if expect.refusal == Refusal::Accepted && another_began(observed, launch) {
            return refusal(launcher, launch);
        }
        return found(
            Verdict::Overblocked,
            "the command never started, so nothing was denied",
            streams(launch),
        );
    }
    let claimed = expect.claim.as_ref().is_some_and(|claim| {
        observed
            .last()
            .is_some_and(|launch| claim.mismatch(&launch.output).is_none())
    });
    if claimed && expect.absorbed == Absorbed::Rejected {
        let mut evidence = parts(observed, false);
        if let Some(launch) = observed.last() {
            evidence.extend(streams(launch));
        }
        return found(
            Verdict::Deviates,
            "the command was told that it succeeded, and nothing came of it on the host",
            evidence,
        );
    }
    manner(expect, observed).unwrap_or_else(|| {
        let reason = if claimed {
            "absorbed: the effect stayed inside the sandbox"
        } else {
            "the effect that shows without a sandbox does not show under the launcher"
        };
        found(Verdict::Conforms, reason, parts(observed, false))
    })
}

fn refused(launcher: LauncherTraits, observed: &Observation) -> Judgement {
    let Some(control) = &observed.control else {
        return found(
            Verdict::Vacuous,
            "the mended launch was not tried, so the refusal proves nothing",
            Vec::new(),
        );
    };
    if !control.started {
        return found(
            Verdict::Overblocked,
            "the mended launch did not start either, so nothing was refused",
            streams(control),
        );
    }
    match observed.last() {
        Some(launch) => refusal(launcher, launch),
        None => found(Verdict::Error, "nothing was launched", Vec::new()),
    }
}

/// A launch that did not start, beside one that did.
fn refusal(launcher: LauncherTraits, launch: &LaunchObservation) -> Judgement {
    let status = launch.ending.shell_status();
    let evidence = streams(launch);
    match (launcher.refusal_status, launch.ending) {
        (_, Ending::Exited(0)) => found(
            Verdict::Deviates,
            "nothing was started, and the launcher reports success",
            evidence,
        ),
        // Its caller could not even start it there, so it has no status to say.
        (_, Ending::NotStarted) => found(
            Verdict::Conforms,
            "refused, and nothing was started",
            evidence,
        ),
        (Some(expected), _) if status != Some(expected) => found(
            Verdict::Deviates,
            format!("refused, with another exit status than the launcher's own {expected}"),
            evidence,
        ),
        _ if launch.error_output.trim().is_empty() => found(
            Verdict::Deviates,
            "refused without a word of explanation",
            evidence,
        ),
        _ => found(
            Verdict::Conforms,
            "refused, and nothing was started",
            evidence,
        ),
    }
}

/// Whether the manner of the last launch is not as stated.
fn manner(expect: &Expect, observed: &Observation) -> Option<Judgement> {
    let launch = observed.last()?;
    let mut wrong = Vec::new();
    if let Some(expected) = expect.exit {
        let status = launch.ending.shell_status();
        if status != Some(expected) {
            wrong.push(format!(
                "exit status: expected {expected}, saw {}",
                shown_ending(launch)
            ));
        }
    }
    if let Some(mismatch) = text_mismatch(expect.output.as_ref(), &launch.output) {
        wrong.push(format!("standard output: {mismatch}"));
    }
    if let Some(mismatch) = text_mismatch(expect.error_output.as_ref(), &launch.error_output) {
        wrong.push(format!("standard error: {mismatch}"));
    }
    if wrong.is_empty() {
        return None;
    }
    wrong.extend(streams(launch));
    Some(found(
        Verdict::Deviates,
        "the right outcome, in the wrong manner",
        wrong,
    ))
}

fn text_mismatch(pattern: Option<&crate::corpus::expect::TextMatch>, text: &str) -> Option<String> {
    pattern.and_then(|pattern| pattern.mismatch(text))
}

fn not_begun(observed: &Observation) -> Option<&LaunchObservation> {
    observed.launches.iter().find(|launch| !launch.began())
}

fn another_began(observed: &Observation, refused: &LaunchObservation) -> bool {
    observed
        .launches
        .iter()
        .chain(&observed.control)
        .any(|launch| !std::ptr::eq(launch, refused) && launch.started)
}

impl LaunchObservation {
    /// Whether the command started, as far as it was asked to prove it.
    pub(crate) fn began(&self) -> bool {
        self.started || !self.proves_start
    }
}

fn parts(observed: &Observation, holding: bool) -> Vec<String> {
    observed
        .effect
        .iter()
        .filter(|part| part.holds == holding)
        .map(|part| {
            let says = if part.holds { "shows" } else { "does not show" };
            if part.seen.is_empty() {
                format!("{says}: {}", part.what)
            } else {
                format!("{says}: {} (seen: {})", part.what, part.seen)
            }
        })
        .collect()
}

fn changes(observed: &Observation) -> Vec<String> {
    observed
        .changes
        .iter()
        .map(|change| format!("{}: {}", change.path, change.what))
        .collect()
}

fn leftovers(observed: &Observation) -> Vec<String> {
    observed
        .leftovers
        .iter()
        .map(|leftover| format!("process {}: {}", leftover.pid, leftover.command_line))
        .collect()
}

fn shown_ending(launch: &LaunchObservation) -> String {
    match launch.ending {
        Ending::Exited(code) => code.to_string(),
        Ending::Signalled(signal) => format!("signal {signal}"),
        Ending::TimedOut => "no end before the deadline".to_owned(),
        Ending::NotStarted => "no start at all".to_owned(),
    }
}

/// What a command's standard error is called.
const ERRORS: &str = "stderr";

/// The launch in a few lines, for evidence.
fn streams(launch: &LaunchObservation) -> Vec<String> {
    let mut lines = vec![format!("launcher ended with {}", shown_ending(launch))];
    for (name, text) in [
        ("before the command", &launch.preamble),
        ("stdout", &launch.output),
        (ERRORS, &launch.error_output),
    ] {
        let text = text.trim();
        if !text.is_empty() {
            lines.push(format!("{name}: {}", shortened(text)));
        }
    }
    lines
}

/// The last lines of a command's errors.
fn last_lines(errors: &str) -> Vec<String> {
    const LINES: usize = 3;
    let lines: Vec<&str> = errors.lines().filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..]
        .iter()
        .map(|line| format!("{ERRORS}: {}", shortened(line)))
        .collect()
}

/// The first few hundred characters of a text.
fn shortened(text: &str) -> String {
    const LIMIT: usize = 400;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
