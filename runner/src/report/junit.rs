//! Results for systems that read JUnit.
//!
//! Such a system often sees this file alone, so it must be red exactly when the
//! exit code is not zero: what fails the run is a failure or an error here, and
//! everything else that is no pass is skipped, with its reason.

use std::collections::BTreeMap;
use std::time::Duration;

use indexmap::IndexMap;
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use thiserror::Error;

use super::closing;
use super::results::{Excuse, Header, TrialResult};
use super::summary::{Standing, Summary};
use super::text::{harmless, word, words};
use crate::exit::ExitCode;

/// The report could not be made.
#[derive(Debug, Error)]
#[error("make the JUnit report: {0}")]
pub struct JunitError(#[from] quick_junit::SerializeError);

/// The whole report: a suite for each topic, and one for the run where the run
/// itself fails.
pub fn render(
    header: &Header,
    trials: &[TrialResult],
    summary: &Summary,
    milliseconds: u64,
) -> Result<String, JunitError> {
    let name = format!("{}: {}", header.suite.name, header.launcher.name);
    let mut report = Report::new(harmless(&name));
    report.set_time(Duration::from_millis(milliseconds));
    let mut topics: IndexMap<&str, Vec<&TrialResult>> = IndexMap::new();
    for trial in trials {
        topics.entry(&trial.topic).or_default().push(trial);
    }
    for (topic, mut trials) in topics {
        trials.sort_by(|one, other| one.trial.cmp(&other.trial));
        let mut suite = TestSuite::new(harmless(topic));
        for (name, value) in properties(header) {
            suite.add_property(Property::new(name, harmless(&value)));
        }
        let milliseconds = trials.iter().map(|trial| trial.milliseconds).sum();
        suite.set_time(Duration::from_millis(milliseconds));
        suite.add_test_cases(trials.iter().map(|trial| case(header, trial)));
        report.add_test_suite(suite);
    }
    if let Some(suite) = run_suite(header, summary) {
        report.add_test_suite(suite);
    }
    Ok(report.to_string()?)
}

/// What a reader needs to judge the results.
fn properties(header: &Header) -> BTreeMap<&'static str, String> {
    let host = &header.host;
    let mut properties = BTreeMap::from([
        ("suite.version", header.suite.version.clone()),
        ("corpus.digest", header.corpus.digest.clone()),
        ("launcher.name", header.launcher.name.clone()),
        ("host.os", format!("{} {}", host.os, host.kernel)),
        ("host.architecture", host.architecture.clone()),
        ("host.uid", host.uid.to_string()),
        ("host.facts", words(&host.facts)),
        ("required.levels", words(&header.contract.levels)),
    ]);
    if let Some(version) = &header.launcher.version {
        properties.insert("launcher.version", version.clone());
    }
    if !header.contract.absent_facts.is_empty() {
        properties.insert("declared.absent", words(&header.contract.absent_facts));
    }
    properties
}

/// One trial.
fn case(header: &Header, trial: &TrialResult) -> TestCase {
    let status = match Standing::of(trial, &header.contract) {
        Standing::Conforms => TestCaseStatus::success(),
        Standing::Error => unsuccessful(NonSuccessKind::Error, trial),
        Standing::Failed if trial.required => unsuccessful(NonSuccessKind::Failure, trial),
        Standing::Unproven if trial.required => unsuccessful(NonSuccessKind::Error, trial),
        Standing::Failed | Standing::Unproven => skipped(trial, "not required"),
        Standing::Excused => skipped(trial, &excuse(trial)),
        Standing::Declared => skipped(trial, "declared for this run"),
        Standing::Uncounted => skipped(trial, "not counted"),
    };
    let mut case = TestCase::new(harmless(&trial.trial), status);
    // Readers group by what stands before the class name's last dot.
    case.set_classname(harmless(&trial.id));
    case.set_time(Duration::from_millis(trial.milliseconds));
    case.add_property(Property::new("title", harmless(&trial.title)));
    case.add_property(Property::new("level", word(&trial.level)));
    case.add_property(Property::new("strength", word(&trial.strength)));
    case.add_property(Property::new("verdict", trial.verdict.as_str()));
    case.add_property(Property::new("rev", trial.rev.to_string()));
    case
}

fn excuse(trial: &TrialResult) -> String {
    let reason = trial.excuse.as_ref().map(Excuse::text);
    format!(
        "expected: {}",
        reason.as_deref().unwrap_or("no reason is given")
    )
}

fn unsuccessful(kind: NonSuccessKind, trial: &TrialResult) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(trial.verdict.as_str());
    status.set_message(harmless(&trial.reason));
    status.set_description(evidence(trial));
    status
}

fn skipped(trial: &TrialResult, why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_type(trial.verdict.as_str());
    let message = format!("{} ({why}): {}", trial.verdict, trial.reason);
    status.set_message(harmless(&message));
    if !trial.evidence.is_empty() {
        status.set_description(evidence(trial));
    }
    status
}

/// The assertion and what was seen, a line each.
fn evidence(trial: &TrialResult) -> String {
    let mut lines = vec![harmless(&trial.title)];
    lines.extend(trial.evidence.iter().map(|line| harmless(line)));
    lines.join("\n")
}

/// What fails the run beside its trials.
fn run_suite(header: &Header, summary: &Summary) -> Option<TestSuite> {
    let mut problems = Vec::new();
    for problem in &summary.expectation_problems {
        problems.push((NonSuccessKind::Failure, "expectations", problem.clone()));
    }
    if summary.interrupted {
        let message = String::from("the run was interrupted");
        problems.push((NonSuccessKind::Error, "completeness", message));
    }
    let unproven = matches!(summary.exit_code(), ExitCode::Unproven | ExitCode::Nothing);
    if unproven && summary.required.unproven == 0 && !summary.interrupted {
        let message = closing::proven(summary, &header.contract);
        problems.push((NonSuccessKind::Error, "selection", message));
    }
    if problems.is_empty() {
        return None;
    }
    let mut suite = TestSuite::new("the run itself");
    for (kind, name, message) in problems {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(name);
        status.set_message(harmless(&message));
        let mut case = TestCase::new(name, status);
        case.set_classname("run");
        suite.add_test_case(case);
    }
    Some(suite)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::corpus::vocabulary::{Fact, Level, Strength};
    use crate::report::sample;
    use crate::verdict::Verdict;

    fn report(summary: &Summary, trials: &[TrialResult]) -> Report {
        let text = render(&sample::header(), trials, summary, 4_249).unwrap();
        Report::deserialize_from_str(&text).unwrap()
    }

    fn summary(trials: &[TrialResult]) -> Summary {
        Summary::of(trials, &sample::contract())
    }

    /// Required or not, declared or not: every way for one trial to end.
    fn endings() -> Vec<TrialResult> {
        let mut endings = Vec::new();
        for verdict in Verdict::ALL {
            let trial = sample::trial("a.b.c", verdict);
            endings.push(trial.clone().lacking(&[Fact::Ipv6Loopback]));
            endings.push(trial.clone().at(Level::Launch, Strength::May));
            endings.push(trial);
        }
        endings
    }

    #[test]
    fn it_is_red_exactly_when_the_exit_code_is_not_zero() {
        let mut runs = vec![summary(&[])];
        let mut all = vec![Vec::new()];
        for ending in endings() {
            for more in [None, Some(sample::trial("d.e.f", Verdict::Conforms))] {
                let trials: Vec<_> = [ending.clone()].into_iter().chain(more).collect();
                let plain = summary(&trials);
                let problem = vec![String::from("stale")];
                runs.push(plain.clone().interrupted());
                runs.push(plain.clone().with_expectation_problems(problem));
                runs.push(plain);
                all.extend([trials.clone(), trials.clone(), trials]);
            }
        }
        for (summary, trials) in runs.iter().zip(&all) {
            let report = report(summary, trials);
            let red = report.failures + report.errors > 0;
            let code = summary.exit_code();
            assert_eq!(red, code != ExitCode::Conforms, "{code:?}: {trials:?}");
        }
    }

    #[test]
    fn only_what_conforms_succeeds() {
        let trials = sample::trials();
        let report = report(&summary(&trials), &trials);
        let conform = summary(&trials).all.conform;
        assert_eq!(report.tests, trials.len());
        assert_eq!(report.failures, 2);
        assert_eq!(report.errors, 2);
        assert_eq!(
            report.tests - report.failures - report.errors - report.skipped,
            conform
        );
    }

    #[test]
    fn a_suite_is_a_topic_and_a_failure_has_verdict_reason_and_evidence() {
        let trials = sample::trials();
        let text = render(&sample::header(), &trials, &summary(&trials), 1).unwrap();
        for part in [
            r#"<testsuite name="The tree of processes""#,
            r#"classname="processes.tree.dies""#,
            r#"<failure message="a process of the command outlived the launcher" type="leaked">"#,
            "pid 4711: sleep 300 | tee `log`",
            r#"<error message="no C compiler is installed" type="unmeasured">"#,
            "the launcher does not claim hidden-paths",
        ] {
            assert!(text.contains(part), "{part} is not in:\n{text}");
        }
    }

    #[rstest]
    #[case("\u{0}\u{8}\u{b}\u{1b}[31m")]
    #[case("\u{fffe}\u{ffff}")]
    #[case("]]> <!-- & \" '")]
    fn what_xml_does_not_allow_is_kept_out(#[case] evil: &str) {
        let trial = sample::trial(evil, Verdict::Escaped)
            .because(evil, &[evil])
            .named(evil, evil);
        let trials = [trial];
        let text = render(&sample::header(), &trials, &summary(&trials), 1).unwrap();
        let forbidden = |it: char| {
            (it.is_control() && !matches!(it, '\n' | '\t' | '\r'))
                || matches!(it, '\u{fffe}' | '\u{ffff}')
        };
        assert!(!text.contains(forbidden), "{text}");
        let report = Report::deserialize_from_str(&text).unwrap();
        assert_eq!(report.failures, 1);
    }
}
