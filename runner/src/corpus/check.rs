//! What a corpus must keep beyond its schema, checked whenever it is read.

use std::collections::HashSet;

use super::case::{Case, During, EnvironmentSpec, LaunchSpec, Step};
use super::error::CorpusError;
use super::expect::{Expect, Outcome};
use super::place::{self, At};
use super::placeholder::{names_in, texts_of};
use super::read::{Read, Topic};

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

/// Something that is wrong with a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The lint rule that is broken.
    pub(crate) rule: &'static str,
    /// Which topic of the corpus.
    pub(crate) topic: usize,
    /// Which case of the topic.
    pub(crate) case: usize,
    /// What is wrong, and what to write instead.
    pub(crate) text: String,
}

/// A case's fault, with its place.
pub(crate) fn inconsistent(topic: &Topic, index: usize, problem: impl Into<String>) -> CorpusError {
    CorpusError::Inconsistent {
        file: topic.source.shown.clone(),
        line: line_of(topic, index),
        case: topic.content.cases[index].id.clone(),
        problem: problem.into(),
    }
}

/// The line that a case's id stands at, from 1.
pub(crate) fn line_of(topic: &Topic, index: usize) -> usize {
    let text = String::from_utf8_lossy(&topic.source.bytes);
    let id = [At::Field("cases"), At::Item(index), At::Field("id")];
    place::of(&text, &id).line
}

/// Checks every case, alone and against the others.
pub(crate) fn all(corpus: &Read) -> Vec<Problem> {
    let mut found = Vec::new();
    for (topic, content) in corpus.topics.iter().enumerate() {
        for (index, case) in content.content.cases.iter().enumerate() {
            let mut add = |rule: &'static str, text: String| {
                found.push(Problem {
                    rule,
                    topic,
                    case: index,
                    text,
                });
            };
            named(corpus, topic, index, &mut add);
            alone(case, &mut add);
            placeholders(content, case, &mut add);
            names(content, case, &mut add);
            sibling(corpus, case, &mut add);
        }
    }
    found
}

/// Its id, and the ids that it covers.
fn named(corpus: &Read, topic: usize, index: usize, add: &mut dyn FnMut(&'static str, String)) {
    let case = &corpus.topics[topic].content.cases[index];
    let first = corpus.places.get(&case.id);
    if first.is_some_and(|first| *first != (topic, index)) {
        add(
            "id-unique",
            "another case has the same id; choose a new one".into(),
        );
    }
    if corpus.retired.retired.iter().any(|old| old.id == case.id) {
        add("id-retired", "this id is retired; choose a new one".into());
    }
    if !is_dotted(&case.id) {
        add(
            "id-form",
            "an id is area.topic.words, of lower-case letters, digits and hyphens".into(),
        );
    }
    let requirements = &corpus.requirements.requirements;
    if requirements.is_empty() {
        return;
    }
    for id in &case.covers {
        if !requirements.iter().any(|known| known.id == *id) {
            add(
                "requirement-known",
                format!(
                    "covers {id}, which requirements.json does not have; add it there, or name one that it has"
                ),
            );
        }
    }
}

fn is_dotted(id: &str) -> bool {
    id.split('.').count() >= 3
        && id.split('.').all(|word| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        })
}

fn sibling(corpus: &Read, case: &Case, add: &mut dyn FnMut(&'static str, String)) {
    let Some(sibling) = &case.sibling else {
        if case.expect.outcome != Outcome::Allowed {
            add(
                "sibling-named",
                "a denial or refusal names its allowed twin as sibling; add one".into(),
            );
        }
        return;
    };
    match corpus.case(sibling) {
        None => add(
            "sibling-exists",
            format!("sibling {sibling} is no case; name one that is allowed"),
        ),
        Some((_, twin)) if twin.expect.outcome != Outcome::Allowed => {
            add(
                "sibling-allows",
                format!("sibling {sibling} allows nothing; name one that is allowed"),
            );
        }
        Some(_) => {}
    }
}

/// What can be said of a case by itself.
fn alone(case: &Case, add: &mut dyn FnMut(&'static str, String)) {
    if case.title.trim().is_empty() || case.why.trim().is_empty() || case.covers.is_empty() {
        add("case-whole", "title, why and covers are never empty; write what the case asserts, why, and for which promise".into());
    }
    if let Some((axis, _)) = case.axes.iter().find(|(_, values)| values.is_empty()) {
        add(
            "case-whole",
            format!("axis {axis} has no values; add some, or leave it out"),
        );
    }
    if case.run.is_none() == case.steps.is_empty() {
        add("case-whole", "state either run or steps".into());
        return;
    }
    let steps = case.steps();
    let whole = steps.iter().try_for_each(step).and_then(|()| {
        if steps.iter().any(|step| step.launch.is_some()) {
            expectation(&case.expect)
        } else {
            Err("no step launches anything; add a launch".into())
        }
    });
    if let Err(problem) = whole {
        add("case-whole", problem);
    }
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

/// Every placeholder must be known, and every axis used.
fn placeholders(topic: &Topic, case: &Case, add: &mut dyn FnMut(&'static str, String)) {
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
    known.extend(
        secrets_of(&fixture)
            .iter()
            .map(|name| format!("secret.{name}")),
    );
    let mut meaning = case.clone();
    meaning.title.clear();
    meaning.why.clear();
    meaning.sibling_reason = None;
    meaning.host_paths.clear();
    let mut texts = texts_of(&meaning);
    texts.extend(texts_of(&topic.content.fixture));
    texts.extend(texts_of(&topic.content.policy));
    // A document is JSON, whose braces are its own; its placeholders count all
    // the same.
    if let Some(EnvironmentSpec::Document(text)) = &case.environment {
        texts.push(text.clone());
    }
    let used: Vec<&str> = texts.iter().flat_map(|text| names_in(text)).collect();
    let mut told = HashSet::new();
    for name in &used {
        if !known.contains(*name) && told.insert(*name) {
            add(
                "placeholder-known",
                format!(
                    "unknown placeholder {{{name}}}; write {{{{{name}}}}} if the text itself is meant"
                ),
            );
        }
    }
    let idle = case
        .axes
        .keys()
        .filter(|axis| *axis != super::trial::POSTURE_AXIS)
        .map(|axis| format!("axis.{axis}"))
        .filter(|name| !used.contains(&name.as_str()));
    for name in idle {
        add(
            "axis-used",
            format!("nothing uses {{{name}}}; use it, or leave it out"),
        );
    }
}

/// What the expectation names must be there.
fn names(topic: &Topic, case: &Case, add: &mut dyn FnMut(&'static str, String)) {
    let fixture = topic.content.fixture.with(&case.fixture);
    let secrets = secrets_of(&fixture);
    let effect = &case.expect.effect;
    for name in case.expect.reveals.iter().chain(&effect.reveals) {
        if !secrets.contains(name) {
            add(
                "name-known",
                format!(
                    "reveals {name}, which is no secret of the fixture; add the secret, or name one"
                ),
            );
        }
    }
    for name in &effect.heard {
        if !fixture.sockets.contains_key(name) && !fixture.listeners.contains_key(name) {
            add(
                "name-known",
                format!(
                    "{name} can hear nothing: it is no socket or listener; add one of that name"
                ),
            );
        }
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
