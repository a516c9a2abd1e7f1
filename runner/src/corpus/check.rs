//! What a corpus must keep beyond its schema, checked whenever it is read.

use std::collections::{HashMap, HashSet};

use super::case::{Case, During, EnvironmentSpec, LaunchSpec, Step};
use super::error::CorpusError;
use super::expect::{Expect, Outcome};
use super::load::{CorpusFile, Topic};
use super::placeholder::{names_in, texts_of};
use super::requirement::Requirement;

/// The placeholders that every case has.
pub const FIXED_NAMES: [&str; 14] = [
    "workspace",
    "outside",
    "hidden",
    "readable",
    "writable",
    "home",
    "record",
    "root",
    "state",
    "host-temporary",
    "probe",
    "toolchain",
    "uid",
    "nonce",
];

/// A case's fault, with its place.
pub(crate) fn inconsistent(topic: &Topic, id: &str, problem: impl Into<String>) -> CorpusError {
    CorpusError::Inconsistent {
        file: topic.source.shown.clone(),
        line: line_of(topic, id),
        case: id.to_owned(),
        problem: problem.into(),
    }
}

/// The line that a case's id stands at, from 1.
pub(crate) fn line_of(topic: &Topic, id: &str) -> usize {
    let text = String::from_utf8_lossy(&topic.source.bytes);
    let needle = format!("\"{id}\"");
    text.lines()
        .position(|line| line.contains("\"id\"") && line.contains(&needle))
        .map_or(1, |index| index + 1)
}

/// Checks every case, alone and against the others.
pub(crate) fn all(
    topics: &[Topic],
    requirements: &[Requirement],
    about: &CorpusFile,
) -> Result<(), CorpusError> {
    let mut by_id: HashMap<&str, &Case> = HashMap::new();
    let known: HashSet<&str> = requirements.iter().map(|known| known.id.as_str()).collect();
    for topic in topics {
        for case in &topic.content.cases {
            let wrong = |problem: String| inconsistent(topic, &case.id, problem);
            if by_id.insert(&case.id, case).is_some() {
                return Err(wrong(
                    "another case has the same id; choose a new one".into(),
                ));
            }
            if about.retired.contains(&case.id) {
                return Err(wrong("this id is retired; choose a new one".into()));
            }
            alone(case).map_err(wrong)?;
            placeholders(topic, case).map_err(wrong)?;
            if let Some(unknown) = case.covers.iter().find(|id| !known.contains(id.as_str())) {
                if !known.is_empty() {
                    return Err(wrong(format!(
                        "covers {unknown}, which requirements.json does not have"
                    )));
                }
            }
        }
    }
    for topic in topics {
        for case in &topic.content.cases {
            let wrong = |problem: String| inconsistent(topic, &case.id, problem);
            match (&case.sibling, case.expect.outcome) {
                (None, Outcome::Allowed) => {}
                (None, _) => {
                    return Err(wrong(
                        "a denial or refusal names its allowed twin as sibling".into(),
                    ));
                }
                (Some(sibling), _) => match by_id.get(sibling.as_str()) {
                    None => return Err(wrong(format!("sibling {sibling} is no case"))),
                    Some(twin) if twin.expect.outcome != Outcome::Allowed => {
                        return Err(wrong(format!("sibling {sibling} allows nothing")));
                    }
                    Some(_) => {}
                },
            }
        }
    }
    Ok(())
}

/// What can be said of a case by itself.
fn alone(case: &Case) -> Result<(), String> {
    let id_is_dotted = case.id.split('.').count() >= 3
        && case.id.split('.').all(|word| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        });
    if !id_is_dotted {
        return Err("an id is area.topic.words, of lower-case letters, digits and hyphens".into());
    }
    if case.title.trim().is_empty() || case.why.trim().is_empty() || case.covers.is_empty() {
        return Err("title, why and covers are never empty".into());
    }
    if case.run.is_none() == case.steps.is_empty() {
        return Err("state either run or steps".into());
    }
    if let Some((axis, _)) = case.axes.iter().find(|(_, values)| values.is_empty()) {
        return Err(format!("axis {axis} has no values"));
    }
    let steps = case.steps();
    steps.iter().try_for_each(step)?;
    if !steps.iter().any(|step| step.launch.is_some()) {
        return Err("no step launches anything".into());
    }
    expectation(&case.expect)
}

fn step(step: &Step) -> Result<(), String> {
    match (&step.host, &step.launch) {
        (Some(_), None) => Ok(()),
        (None, Some(launch)) => launch_is_clear(launch),
        _ => Err("a step states either host or launch".into()),
    }
}

fn launch_is_clear(launch: &LaunchSpec) -> Result<(), String> {
    if launch.streams.output.is_some() && launch.proves_start {
        return Err("a command whose output is not the runner's pipe cannot prove that it started; state \"proves_start\": false".into());
    }
    if launch.tries == 0 || launch.copies == 0 {
        return Err("tries and copies are 1 or more".into());
    }
    launch.during.iter().try_for_each(|during: &During| {
        let stated = [
            during.signal.is_some(),
            during.host.is_some(),
            during.typed.is_some(),
            during.kill_parent,
            during.end_thread,
        ];
        match stated.iter().filter(|stated| **stated).count() {
            1 => Ok(()),
            _ => Err(
                "an entry of during states one of signal, host, type, kill_parent, end_thread"
                    .into(),
            ),
        }
    })
}

fn expectation(expect: &Expect) -> Result<(), String> {
    match expect.outcome {
        Outcome::Refused => {
            if !expect.effect.is_empty() {
                return Err(
                    "the effect of a refusal is that the command starts; leave it out".into(),
                );
            }
            if expect.control.is_none() {
                return Err("a refusal has a control: the mended launch, which must start".into());
            }
        }
        Outcome::Allowed | Outcome::Denied => {
            if expect.effect.is_empty() {
                return Err("state the effect that must or must not show".into());
            }
        }
    }
    let texts = [
        &expect.claim,
        &expect.output,
        &expect.error_output,
        &expect.effect.output,
    ];
    texts
        .into_iter()
        .flatten()
        .try_for_each(|pattern| pattern.check().map_err(|error| error.to_string()))
}

/// Every placeholder must be known, and every service that the fixture makes
/// must be of some use.
fn placeholders(topic: &Topic, case: &Case) -> Result<(), String> {
    let fixture = topic.content.fixture.with(&case.fixture);
    let mut known: HashSet<String> = FIXED_NAMES.iter().map(|name| (*name).to_owned()).collect();
    known.extend(case.axes.keys().map(|axis| format!("axis.{axis}")));
    known.extend(fixture.sockets.keys().map(|name| format!("socket.{name}")));
    known.extend(fixture.listeners.keys().map(|name| format!("port.{name}")));
    known.extend(fixture.processes.keys().map(|name| format!("pid.{name}")));
    known.extend(
        fixture
            .shared_memory
            .keys()
            .map(|name| format!("shm.{name}")),
    );
    let secrets = secrets_of(&fixture);
    known.extend(secrets.iter().map(|name| format!("secret.{name}")));
    let mut meaning = case.clone();
    meaning.title.clear();
    meaning.why.clear();
    let mut texts = texts_of(&meaning);
    texts.extend(texts_of(&topic.content.fixture));
    texts.extend(texts_of(&topic.content.policy));
    // A document is JSON, whose braces are its own; its placeholders count all
    // the same.
    if let Some(EnvironmentSpec::Document(text)) = &case.environment {
        texts.push(text.clone());
    }
    for text in &texts {
        for name in names_in(text) {
            if !known.contains(name) {
                return Err(format!(
                    "unknown placeholder {{{name}}}; write {{{{{name}}}}} if the text itself is meant"
                ));
            }
        }
    }
    let used: HashSet<&str> = texts.iter().flat_map(|text| names_in(text)).collect();
    let idle = case
        .axes
        .keys()
        .filter(|axis| *axis != super::trial::POSTURE_AXIS)
        .map(|axis| format!("axis.{axis}"))
        .find(|name| !used.contains(name.as_str()));
    if let Some(name) = idle {
        return Err(format!("nothing uses {{{name}}}"));
    }
    let revealed = case
        .expect
        .reveals
        .iter()
        .chain(&case.expect.effect.reveals)
        .find(|name| !secrets.contains(*name));
    if let Some(name) = revealed {
        return Err(format!("reveals {name}, which is no secret of the fixture"));
    }
    let unheard = case.expect.effect.heard.iter().find(|name| {
        !fixture.sockets.contains_key(*name) && !fixture.listeners.contains_key(*name)
    });
    match unheard {
        Some(name) => Err(format!(
            "{name} can hear nothing: it is no socket or listener"
        )),
        None => Ok(()),
    }
}

/// The names of the secrets that a fixture holds.
pub(crate) fn secrets_of(fixture: &super::fixture::FixtureSpec) -> HashSet<String> {
    fn gather(value: &serde_json::Value, secrets: &mut HashSet<String>) {
        match value {
            serde_json::Value::Object(fields) => {
                for (key, item) in fields {
                    match item {
                        serde_json::Value::String(name) if key == "secret" => {
                            secrets.insert(name.clone());
                        }
                        other => gather(other, secrets),
                    }
                }
            }
            serde_json::Value::Array(items) => {
                items.iter().for_each(|item| gather(item, secrets));
            }
            _ => {}
        }
    }
    let mut secrets = HashSet::new();
    if let Ok(value) = serde_json::to_value(fixture) {
        gather(&value, &mut secrets);
    }
    secrets
}
