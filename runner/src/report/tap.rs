//! Results in the Test Anything Protocol, version 14 (testanything.org).
//!
//! As with JUnit, a reader often sees this alone: a line is `not ok` without a
//! directive exactly when it fails the run.

use std::fmt::Write as _;

use super::closing;
use super::results::{Excuse, Header, TrialResult};
use super::summary::{Standing, Summary};
use super::text::harmless;
use crate::exit::ExitCode;

/// The whole report: a point for each trial, and one for each thing that fails
/// the run beside them.
pub fn render(header: &Header, trials: &[TrialResult], summary: &Summary) -> String {
    let problems = problems(header, summary);
    let mut text = format!("TAP version 14\n1..{}\n", trials.len() + problems.len());
    let mut number = 0;
    for trial in trials {
        number += 1;
        point(&mut text, number, header, trial);
    }
    for problem in problems {
        number += 1;
        let _ = writeln!(text, "not ok {number} - {}", description(&problem));
    }
    if summary.interrupted {
        text.push_str("Bail out! the run was interrupted\n");
    }
    text
}

fn point(text: &mut String, number: usize, header: &Header, trial: &TrialResult) {
    let standing = Standing::of(trial, &header.contract);
    let (ok, directive) = match standing {
        Standing::Conforms => (true, None),
        Standing::Error => (false, None),
        Standing::Failed | Standing::Unproven if trial.required => (false, None),
        Standing::Failed | Standing::Unproven => (false, Some("TODO not required")),
        Standing::Excused => (false, Some("TODO expected")),
        Standing::Declared | Standing::Uncounted => (true, Some("SKIP")),
    };
    let ok = if ok { "ok" } else { "not ok" };
    let name = description(&format!("{}: {}", trial.trial, trial.title));
    let _ = write!(text, "{ok} {number} - {name}");
    if let Some(directive) = directive {
        let excused = (standing == Standing::Excused).then_some(trial.excuse.as_ref());
        let reason = excused.flatten().map(Excuse::text);
        let reason = reason.as_ref().unwrap_or(&trial.reason);
        let _ = write!(text, " # {directive}: {}", description(reason));
    }
    text.push('\n');
    if standing != Standing::Conforms {
        diagnostics(text, trial);
    }
}

/// A block of YAML, whose strings are written as JSON, which YAML reads.
fn diagnostics(text: &mut String, trial: &TrialResult) {
    let quoted = |text: &str| serde_json::Value::from(harmless(text)).to_string();
    let _ = writeln!(text, "  ---");
    let _ = writeln!(text, "  verdict: {}", trial.verdict);
    let _ = writeln!(text, "  reason: {}", quoted(&trial.reason));
    if !trial.evidence.is_empty() {
        let _ = writeln!(text, "  evidence:");
        for line in &trial.evidence {
            let _ = writeln!(text, "    - {}", quoted(line));
        }
    }
    let _ = writeln!(text, "  ...");
}

/// What fails the run beside its trials.
fn problems(header: &Header, summary: &Summary) -> Vec<String> {
    let mut problems = summary.expectation_problems.clone();
    if summary.interrupted {
        problems.push(String::from("the run was interrupted"));
    }
    let unproven = matches!(summary.exit_code(), ExitCode::Unproven | ExitCode::Nothing);
    if unproven && summary.required.unproven == 0 && !summary.interrupted {
        problems.push(closing::proven(summary, &header.contract));
    }
    problems
}

/// Text without what the protocol would take for its own: a `#` begins a
/// directive, and a backslash escapes it.
fn description(text: &str) -> String {
    harmless(text).replace('\\', "\\\\").replace('#', "\\#")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::corpus::vocabulary::{Fact, Level, Strength};
    use crate::report::sample;
    use crate::verdict::Verdict;

    fn text(trials: &[TrialResult], summary: &Summary) -> String {
        render(&sample::header(), trials, summary)
    }

    /// Whether a reader of the protocol calls the run failed.
    fn is_red(text: &str) -> bool {
        text.lines().any(|line| {
            line.starts_with("Bail out!")
                || line.starts_with("not ok ") && !line.replace("\\#", "").contains(" # TODO")
        })
    }

    #[test]
    fn it_is_red_exactly_when_the_exit_code_is_not_zero() {
        let conforming = sample::trial("d.e.f", Verdict::Conforms);
        for verdict in Verdict::ALL {
            let trial = sample::trial("a.b.c", verdict);
            for trial in [
                trial.clone(),
                trial.clone().lacking(&[Fact::Ipv6Loopback]),
                trial.at(Level::Launch, Strength::May),
            ] {
                for trials in [vec![trial.clone()], vec![trial.clone(), conforming.clone()]] {
                    let plain = Summary::of(&trials, &sample::contract());
                    let stale = vec![String::from("stale")];
                    for summary in [
                        plain.clone(),
                        plain.clone().interrupted(),
                        plain.with_expectation_problems(stale),
                    ] {
                        let code = summary.exit_code();
                        let text = text(&trials, &summary);
                        assert_eq!(is_red(&text), code != ExitCode::Conforms, "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_plan_counts_the_points() {
        let trials = sample::trials();
        let text = text(&trials, &Summary::of(&trials, &sample::contract()));
        let points = text
            .lines()
            .filter(|line| line.starts_with("ok ") || line.starts_with("not ok "))
            .count();
        assert_eq!(text.lines().nth(1), Some(format!("1..{points}").as_str()));
        assert_eq!(points, trials.len());
    }

    #[test]
    fn what_a_command_wrote_is_no_directive_and_no_line() {
        let evil = "a # SKIP\nok 2 - b \\# TODO";
        let trials = [sample::trial(evil, Verdict::Escaped).because(evil, &[evil])];
        let summary = Summary::of(&trials, &sample::contract());
        let text = text(&trials, &summary);
        assert!(is_red(&text), "{text}");
        assert!(!text.contains("\nok "), "{text}");
    }
}
