//! What was seen, held against what was predicted.

use std::collections::BTreeMap;

use super::inside::is_obscured;
use super::meaning::Meaning;
use super::operation::{Call, Operation};
use super::perform::{Shows, perform};
use super::predict::{Prediction, predict};
use super::refusal::{Start, start};
use super::scenario::{LISTENER, Scenario, Surroundings};
use super::seen::{
    entries, escaped, is_furniture, is_ours, names, texts_of, unlike_names, unlike_tree,
};
use super::sighting::{Report, SeenEntry, Sighting, report_in};
use super::world::{Kind, Layer, Node, ROOT, World, is_within, last};
use crate::observe::observation::Ending;
use crate::probe::sequence::MODIFIED;

/// What a difference is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A launch that had to be refused started.
    NotRefused,
    /// A launch that had to start did not.
    NotStarted,
    /// It refused in the wrong manner, or hung.
    Manner,
    /// An operation that had to fail succeeded.
    Succeeded,
    /// An operation that had to succeed failed.
    Failed,
    /// An operation saw something else than what is there.
    Saw,
    /// Something of the host is not as predicted.
    Host,
    /// A secret showed that no operation may see.
    Secret,
    /// A listener heard what it must not, or nothing.
    Heard,
    /// A process outlived the launcher.
    Leftover,
    /// The next launch did not start, or its command saw something else.
    Again,
}

/// One difference between what was predicted and what was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is about.
    pub class: Class,
    /// The operation, where it is about one.
    pub operation: Option<usize>,
    /// The path of the host, where it is about one.
    pub path: Option<String>,
    /// In words.
    pub words: String,
}

/// What came of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The files as they should be afterwards.
    pub world: World,
    /// The files as they should be before the operation that differs.
    pub before: World,
    /// What the policy means.
    pub meaning: Meaning,
    /// Everything that operations may have seen.
    pub shown: Vec<String>,
    /// What differs; the first is what the rest may follow from.
    pub differences: Vec<Difference>,
    /// What was predicted of each operation that was tried.
    pub predictions: Vec<Prediction>,
    /// Whether a refusal was predicted.
    pub refused: bool,
}

/// Compares.
pub fn compare(
    scenario: &Scenario,
    surroundings: Surroundings,
    nested: bool,
    refusal_status: Option<u8>,
    seen: &Sighting,
) -> Comparison {
    let world = World::of(scenario);
    let meaning = Meaning::of(scenario, &world, surroundings);
    let mut comparing = Comparing {
        seen,
        meaning: &meaning,
        world: world.clone(),
        shown: Vec::new(),
        comparison: Comparison {
            world: world.clone(),
            before: world,
            meaning: meaning.clone(),
            shown: Vec::new(),
            differences: Vec::new(),
            predictions: Vec::new(),
            refused: false,
        },
    };
    let predicted = start(scenario, &comparing.world, nested);
    comparing.comparison.refused = matches!(predicted, Start::Refused(_));
    let goes_on = comparing.start(&predicted, refusal_status);
    if goes_on {
        comparing.operations(&scenario.operations);
    }
    if goes_on {
        comparing.again(scenario, surroundings, nested);
    }
    comparing.afterwards(scenario, goes_on);
    let Comparing {
        world,
        shown,
        comparison,
        ..
    } = comparing;
    Comparison {
        world,
        shown,
        ..comparison
    }
}

struct Comparing<'a> {
    seen: &'a Sighting,
    meaning: &'a Meaning,
    world: World,
    /// Everything that operations may have seen.
    shown: Vec<String>,
    comparison: Comparison,
}

impl Comparing<'_> {
    fn add(&mut self, class: Class, operation: Option<usize>, path: Option<&str>, words: String) {
        self.comparison.differences.push(Difference {
            class,
            operation,
            path: path.map(str::to_owned),
            words,
        });
    }

    /// Whether the operations are to be looked at.
    fn start(&mut self, predicted: &Start, refusal_status: Option<u8>) -> bool {
        let seen = self.seen;
        if seen.ending == Ending::TimedOut {
            let words = "the deadline passed, and the whole tree was killed".to_owned();
            self.add(Class::Manner, None, None, words);
            return false;
        }
        if !seen.leftovers.is_empty() {
            let words = "a process outlived the launcher".to_owned();
            self.add(Class::Leftover, None, None, words);
        }
        match (predicted, seen.started) {
            (Start::Refused(why), true) => {
                let words = format!("the launch had to be refused ({why}), and it started");
                self.add(Class::NotRefused, None, None, words);
                return false;
            }
            (Start::Starts, false) => {
                let said = seen.error_output.trim();
                let words = format!("the launch had to start, and it did not: {said}");
                self.add(Class::NotStarted, None, None, words);
                return false;
            }
            (_, true) => return true,
            (Start::Refused(_) | Start::Either, false) => {}
        }
        let status = seen.ending.shell_status();
        let wrong = match refusal_status {
            _ if seen.ending == Ending::Exited(0) => Some("it reports success"),
            Some(expected) if status != Some(expected) => Some("its exit status is another"),
            _ if seen.error_output.trim().is_empty() => Some("it does not say why"),
            _ => None,
        };
        if let Some(wrong) = wrong {
            let words = format!("the launch was refused, and {wrong}");
            self.add(Class::Manner, None, None, words);
        }
        false
    }

    fn operations(&mut self, operations: &[Operation]) {
        for (number, operation) in operations.iter().enumerate() {
            let prediction = predict(self.meaning, &self.world, operation);
            self.comparison.predictions.push(prediction);
            let report = self.seen.report(number);
            let differs = self.comparison.differences.len();
            self.comparison.before = self.world.clone();
            self.operation(number, operation, prediction, &report);
            // What comes after a difference may follow from it alone.
            if self.comparison.differences.len() > differs {
                return;
            }
        }
    }

    fn operation(
        &mut self,
        number: usize,
        operation: &Operation,
        prediction: Prediction,
        report: &Report,
    ) {
        let words = operation.words().join(" ");
        let (succeeded, detail) = match report {
            Report::Succeeded(detail) => (true, detail.as_str()),
            Report::Failed(_) => (false, ""),
            Report::Missing => {
                let words = format!("`{words}`: the command ended before it");
                return self.add(Class::Failed, Some(number), None, words);
            }
        };
        match (prediction, report) {
            (Prediction::Allowed | Prediction::Absorbed, Report::Failed(error)) => {
                let words = format!("`{words}` had to succeed, and failed with {error}");
                self.add(Class::Failed, Some(number), None, words);
            }
            (Prediction::Denied | Prediction::Blank, Report::Succeeded(detail))
                if prediction == Prediction::Denied || !self.is_blank(operation, detail) =>
            {
                let detail = if detail.is_empty() {
                    String::new()
                } else {
                    format!(", and showed {detail:?}")
                };
                let words = format!("`{words}` had to fail, and succeeded{detail}");
                self.add(Class::Succeeded, Some(number), None, words);
            }
            _ if succeeded => {
                if let Ok(done) = perform(&mut self.world, self.meaning, operation) {
                    let exact = prediction != Prediction::Either;
                    self.shows(number, &words, &done.shows, detail, exact);
                }
            }
            _ => {}
        }
    }

    /// Whether nothing of the host shows in what a look at a blank path saw.
    fn is_blank(&self, operation: &Operation, detail: &str) -> bool {
        if !matches!(operation.call, Call::List | Call::Walk) {
            return detail.is_empty();
        }
        let resolved = super::inside::resolve(self.meaning, &self.world, &operation.path, true);
        let hidden: Vec<&str> = resolved.as_ref().map_or_else(
            |_| Vec::new(),
            |found| self.meaning.next_hidden(&found.path).collect(),
        );
        let is_hidden = |name: &str| hidden.contains(&name);
        match operation.call {
            Call::List => names(detail).iter().all(|name| is_hidden(name)),
            _ => {
                entries(detail).all(|(path, ..)| is_hidden(path.split('/').next().unwrap_or(path)))
            }
        }
    }

    fn shows(&mut self, number: usize, words: &str, shows: &Shows, detail: &str, exact: bool) {
        match shows {
            Shows::Nothing => {}
            Shows::Text(text) => {
                self.shown.push(text.clone());
                if exact && escaped(text) != detail {
                    let words = format!("`{words}` had to show {text:?}, and showed {detail:?}");
                    self.add(Class::Saw, Some(number), None, words);
                }
            }
            Shows::Tree(leaves) => {
                self.shown.extend(texts_of(leaves));
                if let (Some(problem), true) = (unlike_tree(leaves, detail), exact) {
                    let words = format!("`{words}` {problem}");
                    self.add(Class::Saw, Some(number), None, words);
                }
            }
            Shows::Names(sure, possible) => {
                if let (Some(problem), true) = (unlike_names(sure, possible, detail), exact) {
                    let words = format!("`{words}` {problem}");
                    self.add(Class::Saw, Some(number), None, words);
                }
            }
        }
    }

    /// What the next launch, with the same policy, finds of what this one left.
    fn again(&mut self, scenario: &Scenario, surroundings: Surroundings, nested: bool) {
        let (Some(again), true) = (&self.seen.again, self.comparison.differences.is_empty()) else {
            return;
        };
        self.world.end_command();
        let everything = Meaning::unconfined();
        let mut hidden = scenario.policy.hidden.iter();
        if hidden.any(|path| is_obscured(&everything, &self.world, path)) {
            // A command that can replace a link can close the directory that it is in:
            // a known limit, and no promise.
            self.shown.extend(self.world.texts());
            return;
        }
        let meaning = Meaning::of(scenario, &self.world, surroundings);
        let words = match (start(scenario, &self.world, nested), again.started) {
            (Start::Starts, false) => format!(
                "the next launch did not start: {}",
                again.error_output.trim()
            ),
            (Start::Refused(why), true) => format!("the next launch had to be refused ({why})"),
            (_, false) => return,
            (_, true) => {
                let walk = Scenario::walk();
                let prediction = predict(&meaning, &self.world, &walk);
                let done = perform(&mut self.world.clone(), &meaning, &walk);
                let (Ok(Shows::Tree(leaves)), Report::Succeeded(detail)) =
                    (done.map(|done| done.shows), report_in(&again.output, 0))
                else {
                    return;
                };
                self.shown.extend(texts_of(&leaves));
                match unlike_tree(&leaves, &detail) {
                    Some(problem) if prediction != Prediction::Either => {
                        format!("the next command, `{}`, {problem}", walk.words().join(" "))
                    }
                    _ => return,
                }
            }
        };
        self.add(Class::Again, None, None, words);
    }

    /// What the host is like afterwards.
    fn afterwards(&mut self, scenario: &Scenario, started: bool) {
        self.host();
        for change in &self.seen.changes {
            let path = change.path.as_str();
            let known = self.world.touched.contains(path) && started;
            if !known && !is_ours(last(path)) {
                let words = format!("{path}: {}", change.what);
                self.add(Class::Host, None, Some(path), words);
            }
        }
        if let Some(name) = self.seen.temporary.first() {
            let words = format!("{name} is in the host's own temporary directory");
            let path = format!("{{host-temporary}}/{name}");
            self.add(Class::Host, None, Some(&path), words);
        }
        self.secrets();
        self.heard(scenario);
    }

    fn host(&mut self) {
        let seen: BTreeMap<&str, &SeenEntry> = self
            .seen
            .entries
            .iter()
            .map(|entry| (entry.path.as_str(), entry))
            .collect();
        let mut found = Vec::new();
        let mut closed: Vec<&str> = Vec::new();
        let mut identities: BTreeMap<u64, usize> = BTreeMap::new();
        for (path, entry) in &seen {
            if entry.kind == "directory" && entry.content.is_none() {
                closed.push(path);
            }
            let Some(node) = self.world.get(Layer::Host, path) else {
                if !is_furniture(path) {
                    found.push((*path, format!("{path}: there is a {} now", entry.kind)));
                }
                continue;
            };
            if let Some(words) = unlike(node, entry) {
                found.push((*path, format!("{path}: {words}")));
            }
            if node.kind != Kind::Directory {
                let number = self.world.number(Layer::Host, path).unwrap_or(usize::MAX);
                if *identities.entry(entry.identity).or_insert(number) != number {
                    let words = format!("{path}: it is another name of a different file");
                    found.push((*path, words));
                }
            }
        }
        for path in self.world.paths(Layer::Host) {
            let hidden = closed.iter().any(|top| is_within(path, top));
            if path != ROOT && !seen.contains_key(path) && !hidden {
                found.push((path, format!("{path}: it is no longer there")));
            }
        }
        let found: Vec<(String, String)> = found
            .into_iter()
            .map(|(path, words)| (path.to_owned(), words))
            .collect();
        for (path, words) in found {
            self.add(Class::Host, None, Some(&path), words);
        }
    }

    fn secrets(&mut self) {
        for leak in &self.seen.leaks {
            let streamed = leak.place.starts_with("standard") || leak.place.starts_with("what ");
            let token = format!("{{secret.{}}}", leak.secret);
            let seen = self.shown.iter().any(|text| text.contains(&token));
            // What files hold is compared as a whole.
            if streamed && !seen {
                let words = format!("the secret {} shows in {}", leak.secret, leak.place);
                self.add(Class::Secret, None, None, words);
            }
        }
    }

    fn heard(&mut self, scenario: &Scenario) {
        // Where a difference came first, what follows was not looked at.
        if !self.comparison.differences.is_empty() {
            return;
        }
        let seen = self.seen;
        let spoke = |call: Call| {
            let operations = scenario.operations.iter().enumerate();
            let succeeded = |number| matches!(seen.report(number), Report::Succeeded(_));
            operations
                .filter(|(number, operation)| operation.call == call && succeeded(*number))
                .count()
        };
        let spoken = spoke(Call::Connect);
        let sockets = spoke(Call::ConnectSocket);
        let heard = &seen.heard;
        let web = heard.iter().any(|name| name == LISTENER);
        let others = heard.iter().filter(|name| *name != LISTENER).count();
        let words = if web != (spoken > 0) {
            format!(
                "the listener heard {}",
                if web { "something" } else { "nothing" }
            )
        } else if (others > 0) != (sockets > 0) {
            format!("{others} sockets heard something, and {sockets} operations spoke to one")
        } else {
            return;
        };
        self.add(Class::Heard, None, None, words);
    }
}

/// How what was seen is unlike what it should be.
pub(super) fn unlike(node: &Node, entry: &SeenEntry) -> Option<String> {
    let kind = node.kind.word();
    if kind != entry.kind {
        return Some(format!("it is a {}, and should be a {kind}", entry.kind));
    }
    if !matches!(node.kind, Kind::Link(_)) && node.mode != entry.mode {
        let (seen, expected) = (entry.mode, node.mode);
        return Some(format!(
            "its mode is {seen:04o}, and should be {expected:04o}"
        ));
    }
    let expected = match &node.kind {
        Kind::File(content) => content,
        Kind::Link(target) => target,
        _ => return None,
    };
    if let Some(content) = entry
        .content
        .as_ref()
        .filter(|content| *content != expected)
    {
        return Some(format!(
            "it holds {content:?}, and should hold {expected:?}"
        ));
    }
    let dated = node.dated && matches!(node.kind, Kind::File(_));
    (dated && entry.modified != MODIFIED).then(|| "its time is not the one set".to_owned())
}
