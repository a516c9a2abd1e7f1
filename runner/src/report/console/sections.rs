//! The sections between the head of a report and its table.

use super::super::remedy::remedy;
use super::super::results::TrialResult;
use super::super::text::{harmless, shortened, word, wrapped};
use super::{LABEL, Page};
use crate::verdict::{Class, Verdict};

/// As much of what was seen as a person takes in at a glance; the results file
/// has it all.
const EVIDENCE_LINES: usize = 6;
const EVIDENCE_CHARACTERS: usize = 240;

/// Failures in full: what was asserted, what was seen, how to look further, which is
/// by the command `explain` and the case's id.
pub(super) fn failures(page: &mut Page<'_>, heading: &str, trials: &[&TrialResult], explain: &str) {
    if trials.is_empty() {
        return;
    }
    page.heading(heading, trials.len());
    for trial in trials {
        page.line("");
        title(page, trial);
        page.prose(4, &trial.title);
        page.labelled_at(4, "because", &trial.reason);
        evidence(page, trial);
        page.labelled_at(4, "look", &format!("{explain} {}", trial.id));
    }
}

/// Failures that the contract does not ask about, in short.
pub(super) fn observed(page: &mut Page<'_>, trials: &[&TrialResult]) {
    if trials.is_empty() {
        return;
    }
    page.heading("Failed, and not required", trials.len());
    for trial in trials {
        title(page, trial);
        let (strength, level) = (word(&trial.strength), word(&trial.level));
        page.prose(4, &format!("{} ({strength}, {level})", trial.reason));
    }
}

/// Failures that an expectation excuses.
pub(super) fn expected(page: &mut Page<'_>, trials: &[&TrialResult]) {
    if trials.is_empty() {
        return;
    }
    page.heading("Failed as expected", trials.len());
    for trial in trials {
        title(page, trial);
        let Some(excuse) = &trial.excuse else {
            continue;
        };
        page.prose(4, &excuse.text());
    }
}

/// What is wrong with the list of expectations.
pub(super) fn problems(page: &mut Page<'_>, problems: &[String]) {
    if problems.is_empty() {
        return;
    }
    page.heading("Expectations to mend", problems.len());
    for problem in problems {
        page.prose(2, problem);
    }
}

/// What was not proven, those with one reason together.
pub(super) fn unproven(page: &mut Page<'_>, heading: &str, trials: &[&TrialResult]) {
    if trials.is_empty() {
        return;
    }
    page.heading(heading, trials.len());
    for group in grouped(trials, |trial| {
        (trial.verdict, &trial.reason, &trial.missing)
    }) {
        page.line("");
        for trial in &group {
            title(page, trial);
        }
        let Some(first) = group.first() else {
            continue;
        };
        page.labelled_at(4, "because", &first.reason);
        // Why it does not show without a sandbox is seen in any of them.
        if group.len() == 1 || first.verdict == Verdict::Vacuous {
            evidence(page, first);
        }
        if let Some(remedy) = remedy(first) {
            page.labelled_at(4, "remedy", &remedy);
        }
    }
}

/// What does not count, by reason.
pub(super) fn uncounted(page: &mut Page<'_>, trials: &[&TrialResult]) {
    if trials.is_empty() {
        return;
    }
    page.heading("Not counted", trials.len());
    let mut groups = grouped(trials, |trial| (trial.verdict, &trial.reason));
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    for group in groups {
        let Some(first) = group.first() else {
            continue;
        };
        let label = match first.verdict {
            Verdict::Unmeasured => "declared",
            verdict => verdict.as_str(),
        };
        let number = group.len();
        let room = page.look.width.saturating_sub(24);
        for (row, line) in wrapped(&harmless(&first.reason), room).iter().enumerate() {
            if row == 0 {
                page.line(&format!("{number:>6}  {label:<14}  {line}"));
            } else {
                page.line(&format!("{:24}{line}", ""));
            }
        }
    }
}

/// The verdict and the trial's name.
fn title(page: &mut Page<'_>, trial: &TrialResult) {
    let look = page.look;
    let style = match trial.verdict.class() {
        Class::Failure | Class::Harness if trial.excuse.is_none() => look.bad,
        Class::Pass => look.good,
        _ => look.doubtful,
    };
    page.line(&format!(
        "  {style}{}{}  {}{}{}",
        trial.verdict,
        style.render_reset(),
        look.strong,
        harmless(&trial.trial),
        look.strong.render_reset(),
    ));
}

/// What was seen, each line behind a bar so that no output can pass for the
/// report's own words.
fn evidence(page: &mut Page<'_>, trial: &TrialResult) {
    let dim = page.look.dim;
    let reset = dim.render_reset();
    let room = page.look.width.saturating_sub(4 + LABEL + 2);
    let mut lines = Vec::new();
    for seen in trial.evidence.iter().take(EVIDENCE_LINES) {
        let seen = harmless(seen);
        lines.extend(wrapped(&shortened(&seen, EVIDENCE_CHARACTERS), room));
    }
    let left = trial.evidence.len().saturating_sub(EVIDENCE_LINES);
    if left > 0 {
        lines.push(format!("and {left} more in the results"));
    }
    for (number, line) in lines.iter().enumerate() {
        let label = if number == 0 { "seen" } else { "" };
        page.line(&format!("    {dim}{label:<LABEL$}|{reset} {line}"));
    }
}

/// The trials with equal keys together, in the order of the first of each.
fn grouped<'a, K: PartialEq>(
    trials: &[&'a TrialResult],
    key: impl Fn(&'a TrialResult) -> K,
) -> Vec<Vec<&'a TrialResult>> {
    let mut groups: Vec<(K, Vec<&'a TrialResult>)> = Vec::new();
    for &trial in trials {
        let own = key(trial);
        match groups.iter_mut().find(|(key, _)| *key == own) {
            Some((_, group)) => group.push(trial),
            None => groups.push((own, vec![trial])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
