//! Results for code scanning: SARIF 2.1.0 (the OASIS standard of that name).
//!
//! A case is a rule, with its reason as help; a trial that does not conform is a
//! result at the line of its case. What an expectation excuses is a result that
//! is suppressed. What conforms or does not count is no result.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::closing;
use super::results::{Excuse, Header, TrialResult};
use super::summary::{Standing, Summary};
use super::text::{harmless, word};
use crate::corpus::{Corpus, Trial};
use crate::exit::ExitCode;
use crate::verdict::Verdict;

/// The whole report. `corpus` is what the trials are of.
pub fn render(
    header: &Header,
    trials: &[TrialResult],
    summary: &Summary,
    corpus: &Corpus,
) -> String {
    let told: Vec<&TrialResult> = trials
        .iter()
        .filter(|trial| {
            !matches!(
                Standing::of(trial, &header.contract),
                Standing::Conforms | Standing::Declared | Standing::Uncounted
            )
        })
        .collect();
    let cases = cases(corpus, trials);
    let rules: Vec<Value> = cases.values().map(|place| rule(place)).collect();
    let indexes: BTreeMap<&str, usize> = cases
        .keys()
        .enumerate()
        .map(|(index, id)| (*id, index))
        .collect();
    let results: Vec<Value> = told
        .iter()
        .map(|trial| {
            let place = cases.get(trial.id.as_str());
            let index = indexes.get(trial.id.as_str()).copied();
            result(header, trial, place, index)
        })
        .collect();
    let code = summary.exit_code();
    let report = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": header.suite.name,
                "version": header.suite.version,
                "rules": rules,
            }},
            "automationDetails": { "id": format!("{}/{}/", header.suite.name, harmless(&header.launcher.name)) },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": !matches!(code, ExitCode::Harness) && !summary.interrupted,
                "exitCode": code.code(),
                "exitCodeDescription": summary.meaning(),
                "startTimeUtc": header.started,
                "toolExecutionNotifications": notifications(header, summary),
            }],
            "properties": {
                "launcher": header.launcher,
                "host": header.host,
                "corpus": header.corpus,
                "contract": header.contract,
            },
            "results": results,
        }],
    });
    format!("{report:#}\n")
}

/// A case, and the line that its id stands at.
struct Place<'a> {
    trial: &'a Trial,
    line: usize,
}

/// The cases that were run, by id.
fn cases<'a>(corpus: &'a Corpus, trials: &[TrialResult]) -> BTreeMap<&'a str, Place<'a>> {
    let mut cases = BTreeMap::new();
    for trial in &corpus.trials {
        let id = trial.case.id.as_str();
        if !cases.contains_key(id) && trials.iter().any(|result| result.id == id) {
            let line = corpus.line_of(id).unwrap_or(1);
            cases.insert(id, Place { trial, line });
        }
    }
    cases
}

fn rule(place: &Place<'_>) -> Value {
    let case = &place.trial.case;
    let mut help = format!("{}\n\n{}", case.title, case.why);
    let mut markdown = format!("**{}**\n\n{}", case.title, case.why);
    if !case.references.is_empty() {
        help.push_str("\n\nReferences:");
        markdown.push_str("\n\nReferences:\n");
        for reference in &case.references {
            help.push_str(&format!("\n- {reference}"));
            markdown.push_str(&format!("\n- {reference}"));
        }
    }
    let how = format!("`perimeter explain {}`", case.id);
    help.push_str(&format!("\n\nMore: {}", how.trim_matches('`')));
    markdown.push_str(&format!("\n\nMore: {how}"));
    json!({
        "id": case.id,
        "shortDescription": { "text": case.title },
        "fullDescription": { "text": case.why },
        "help": { "text": help, "markdown": markdown },
        "properties": {
            "tags": ["security", "sandbox", word(&case.level), place.trial.topic],
            "strength": word(&case.strength),
            "rev": case.rev,
            "covers": case.covers,
        },
    })
}

fn result(
    header: &Header,
    trial: &TrialResult,
    place: Option<&Place<'_>>,
    rule: Option<usize>,
) -> Value {
    let standing = Standing::of(trial, &header.contract);
    let mut result = Map::new();
    result.insert("ruleId".into(), trial.id.as_str().into());
    if let Some(rule) = rule {
        result.insert("ruleIndex".into(), rule.into());
    }
    result.insert("kind".into(), "fail".into());
    result.insert("level".into(), level(trial, standing).into());
    let mut text = format!(
        "{}: {}: {} ({})",
        harmless(&header.launcher.name),
        trial.verdict,
        harmless(&trial.reason),
        harmless(&trial.trial),
    );
    for line in &trial.evidence {
        text.push_str(&format!("\n{}", harmless(line)));
    }
    result.insert("message".into(), json!({ "text": text }));
    if let Some(place) = place {
        result.insert("locations".into(), json!([location(header, place)]));
    }
    // One alert a trial and launcher, wherever its case moves to in its file.
    result.insert(
        "partialFingerprints".into(),
        json!({ "trial/v1": format!("{} {}", header.launcher.name, trial.trial) }),
    );
    if standing == Standing::Excused {
        let reason = trial.excuse.as_ref().map(Excuse::text);
        result.insert(
            "suppressions".into(),
            json!([{
                "kind": "external",
                "status": "accepted",
                "justification": harmless(reason.as_deref().unwrap_or("no reason is given")),
            }]),
        );
    }
    result.insert(
        "properties".into(),
        json!({
            "verdict": trial.verdict,
            "required": trial.required,
            "axes": trial.axes,
            "digest": trial.digest,
        }),
    );
    Value::Object(result)
}

/// An escape weighs most; what the run does not require is a note.
fn level(trial: &TrialResult, standing: Standing) -> &'static str {
    match standing {
        Standing::Error => "error",
        _ if !trial.required => "note",
        Standing::Unproven => "warning",
        _ if trial.verdict == Verdict::Deviates => "warning",
        _ => "error",
    }
}

fn location(header: &Header, place: &Place<'_>) -> Value {
    // The corpus inside the program has the paths of the project's own tree.
    let directory = header.corpus.directory.as_deref().unwrap_or("conformance");
    let path = format!("{}/{}", directory.trim_end_matches('/'), place.trial.file);
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&path) },
            "region": { "startLine": place.line },
        },
        "logicalLocations": [{ "fullyQualifiedName": place.trial.case.id, "kind": "member" }],
    })
}

/// A path as a reference of a URI (RFC 3986): what is not plain is escaped.
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut uri = String::with_capacity(path.len());
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// What fails the run beside its trials.
fn notifications(header: &Header, summary: &Summary) -> Vec<Value> {
    let mut texts: Vec<String> = summary.expectation_problems.clone();
    if summary.interrupted {
        texts.push(String::from("the run was interrupted"));
    }
    let unproven = matches!(summary.exit_code(), ExitCode::Unproven | ExitCode::Nothing);
    if unproven && summary.required.unproven == 0 && !summary.interrupted {
        texts.push(closing::proven(summary, &header.contract));
    }
    texts
        .into_iter()
        .map(|text| json!({ "level": "error", "message": { "text": harmless(&text) } }))
        .collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::relative("conformance/files/write.json", "conformance/files/write.json")]
    #[case::here("./mine/a.json", "mine/a.json")]
    #[case::absolute("/home/me/a.json", "file:///home/me/a.json")]
    #[case::odd("a b/ä#?.json", "a%20b/%C3%A4%23%3F.json")]
    fn paths_are_uris(#[case] path: &str, #[case] expected: &str) {
        assert_eq!(uri(path), expected);
    }
}
