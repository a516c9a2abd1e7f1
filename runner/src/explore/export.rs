//! What differs, as a file of cases that the corpus's own runner runs.

use serde_json::Value;

use super::compare::{Class, Comparison, Difference, unlike};
use super::meaning::Meaning;
use super::operation::{Call, Operation};
use super::perform::{Shows, perform};
use super::predict::Prediction;
use super::scenario::{LISTENER, Scenario};
use super::seen::escaped;
use super::sighting::{Report, Sighting};
use super::trial::launch;
use super::world::{Kind, Layer, PLACES, World, is_within};
use crate::corpus::case::{Case, LaunchSpec, Run, TopicFile};
use crate::corpus::expect::{Absorbed, HostFact, Outcome, PathKind, TextMatch, TextParts};
use crate::corpus::fixture::Entry;
use crate::corpus::policy::PolicySpec;
use crate::corpus::vocabulary::{Feature, Level, Platform};

/// A file with two cases: what differs, and its allowed twin.
pub fn topic(scenario: &Scenario, comparison: &Comparison, seen: &Sighting) -> TopicFile {
    let id = format!("explore.found.seed-{}", scenario.seed);
    let mut case = scenario.case(id.clone());
    if let Some(difference) = comparison.differences.first() {
        case.why = format!("Found from seed {}: {}.", scenario.seed, difference.words);
        Asserting {
            scenario,
            comparison,
            seen,
        }
        .assert(&mut case, difference);
    }
    case.platforms = vec![Platform::Linux];
    case.needs = needs(scenario);
    case.covers = vec![covers(&scenario.policy, case.level).to_owned()];
    case.expect.reveals = revealed(comparison, &case.expect.effect.reveals);
    case.expect.changes = changed(scenario, comparison);
    let mut twin = scenario.case(format!("{id}-twin"));
    twin.title = "A command can look at its workspace where all else is the same".to_owned();
    twin.why = "What differs is one operation, and not the launch.".to_owned();
    twin.covers = vec!["B-IO-1".to_owned()];
    twin.platforms = vec![Platform::Linux];
    let look = Scenario {
        operations: vec![Operation::on(Call::Look, ".")],
        again: false,
        ..scenario.clone()
    };
    twin.steps = Vec::new();
    twin.run = Some(Run::Arguments(look.command()));
    twin.expect.effect.output = line("0 ok directory".to_owned());
    let mut cases = vec![case];
    if cases[0].expect.outcome != Outcome::Allowed {
        if cases[0].expect.outcome == Outcome::Refused {
            twin.policy = Some(mended(scenario));
            twin.workspace = None;
            let plain = Scenario {
                workspace: Scenario::plain_workspace(),
                ..look
            };
            twin.run = Some(Run::Arguments(plain.command()));
        }
        cases[0].sibling = Some(twin.id.clone());
        cases.push(twin);
    }
    let topic = TopicFile {
        unmodelled: None,
        schema: Some("../schema/topic.schema.json".to_owned()),
        topic: format!("Found from seed {}", scenario.seed),
        about: "A difference between what a policy means and what a launcher did, made small."
            .to_owned(),
        fixture: scenario.fixture(),
        policy: Some(scenario.policy.clone()),
        cases,
    };
    readable(&topic).unwrap_or(topic)
}

struct Asserting<'a> {
    scenario: &'a Scenario,
    comparison: &'a Comparison,
    seen: &'a Sighting,
}

impl Asserting<'_> {
    fn assert(&self, case: &mut Case, difference: &Difference) {
        let operation = difference
            .operation
            .and_then(|number| Some((number, self.scenario.operations.get(number)?)));
        let words = operation.map(|(_, it)| it.words().join(" "));
        let words = words.unwrap_or_else(|| "the launch".to_owned());
        case.level = operation.map_or(Level::Launch, |(_, it)| level(it.call));
        case.title = match difference.class {
            Class::Succeeded => format!("`{words}` is denied under this policy"),
            Class::Failed => format!("`{words}` works under this policy"),
            Class::Saw => format!("`{words}` shows what is there, and nothing else"),
            Class::NotRefused => "The launch is refused under this policy".to_owned(),
            Class::NotStarted => "The command starts under this policy".to_owned(),
            Class::Again => {
                "The next command sees what the policy says, and nothing else".to_owned()
            }
            _ => "The host is afterwards as the policy says".to_owned(),
        };
        match (difference.class, operation) {
            (Class::Succeeded, Some((number, operation))) => {
                self.denied(case, number, operation);
            }
            (Class::Failed | Class::Saw, Some((number, operation))) => {
                self.allowed(case, number, operation);
            }
            (Class::NotRefused | Class::Manner, _) => self.refused(case),
            (Class::Again, _) => self.next(case),
            (Class::Secret, _) => {
                let shown = self.seen.leaks.iter().map(|leak| leak.secret.clone());
                case.level = Level::ConfinedReads;
                case.expect.outcome = Outcome::Denied;
                case.expect.effect.reveals = shown.take(1).collect();
            }
            (Class::Heard, _) => {
                case.level = Level::Offline;
                let heard = self.seen.heard.contains(&LISTENER.to_owned());
                if heard {
                    case.expect.outcome = Outcome::Denied;
                }
                case.expect.effect.heard = vec![LISTENER.to_owned()];
            }
            _ => self.started(case, difference),
        }
    }

    /// What must not show: what the operation does where nothing is in its way.
    fn denied(&self, case: &mut Case, number: usize, operation: &Operation) {
        let open = Meaning::unconfined_in(self.scenario.real_workspace());
        let effect = &mut case.expect.effect;
        case.expect.outcome = Outcome::Denied;
        let mut after = self.comparison.before.clone();
        let done = perform(&mut after, &open, operation);
        let told = match self.seen.report(number) {
            Report::Succeeded(detail) => format!("{number} ok {detail}"),
            _ => format!("{number} ok"),
        };
        let told = told.trim_end().to_owned();
        if operation.call == Call::Connect {
            effect.heard = vec![LISTENER.to_owned()];
            return;
        }
        let facts = facts(&self.comparison.before, &after);
        if facts.is_empty() {
            let shown = match done.map(|done| done.shows) {
                Ok(Shows::Text(text)) => secrets_in(&text),
                _ => Vec::new(),
            };
            if shown.is_empty() {
                effect.output = line(told);
            } else {
                effect.reveals = shown;
            }
            return;
        }
        let reached = facts.iter().all(|fact| {
            let seen = self.seen.entry(&fact.path);
            match (after.get(Layer::Host, &fact.path), seen) {
                (None, None) => true,
                (Some(node), Some(entry)) => unlike(node, entry).is_none(),
                _ => false,
            }
        });
        effect.host = facts;
        if !reached {
            case.expect.claim = line(told);
            case.expect.absorbed = Absorbed::Rejected;
        }
    }

    /// What must show.
    fn allowed(&self, case: &mut Case, number: usize, operation: &Operation) {
        let mut after = self.comparison.before.clone();
        let done = perform(&mut after, &self.comparison.meaning, operation);
        let effect = &mut case.expect.effect;
        effect.host = facts(&self.comparison.before, &after);
        let absorbed = self.comparison.predictions.get(number) == Some(&Prediction::Absorbed);
        if !effect.host.is_empty() && !absorbed {
            return;
        }
        effect.host.clear();
        match done.map(|done| done.shows) {
            Ok(Shows::Text(text)) if !text.is_empty() => {
                effect.output = line(format!("{number} ok {}", escaped(&text)));
                effect.reveals = secrets_in(&text);
            }
            Ok(Shows::Names(mut sure, possible)) if possible.is_empty() && !sure.is_empty() => {
                sure.sort();
                let names: Vec<String> = sure.iter().map(|name| escaped(name)).collect();
                effect.output = line(format!("{number} ok {}", names.join("/")));
            }
            _ => {
                effect.output = matches(format!("(?m)^{number} ok"));
            }
        }
    }

    fn refused(&self, case: &mut Case) {
        case.expect.outcome = Outcome::Refused;
        let plain = Scenario {
            workspace: Scenario::plain_workspace(),
            operations: vec![Operation::on(Call::Look, ".")],
            ..self.scenario.clone()
        };
        case.expect.control = Some(Box::new(LaunchSpec {
            policy: Some(mended(self.scenario)),
            workspace: Some(Scenario::plain_workspace()),
            ..launch(plain.command())
        }));
    }

    /// The next command: what it must not see where secrets show, else that it starts.
    fn next(&self, case: &mut Case) {
        let shown = &self.comparison.shown;
        let seen = self
            .seen
            .again
            .as_ref()
            .map(|again| secrets_in(&again.output));
        let mut secrets = seen.unwrap_or_default();
        secrets.retain(|secret| {
            !shown
                .iter()
                .any(|text| text.contains(&format!("{{secret.{secret}}}")))
        });
        if secrets.is_empty() {
            case.expect.effect.output = matches("(?m)^0 ok".to_owned());
            return;
        }
        case.level = Level::ConfinedReads;
        case.expect.outcome = Outcome::Denied;
        case.expect.effect.reveals = secrets;
    }

    /// The command starts, and a path of the host is as it should be.
    fn started(&self, case: &mut Case, difference: &Difference) {
        let effect = &mut case.expect.effect;
        let path = difference
            .path
            .as_deref()
            .filter(|path| !path.starts_with("{host"));
        match path {
            Some(path) if difference.class == Class::Host => {
                case.level = Level::ConfinedWrites;
                effect.host = vec![fact(&self.comparison.world, path)];
            }
            _ => {
                effect.output = matches("(?m)^0 (ok|no)".to_owned());
            }
        }
    }
}

/// The policy that asks for nothing but the same posture and network.
fn mended(scenario: &Scenario) -> PolicySpec {
    PolicySpec {
        posture: scenario.policy.posture,
        network: scenario.policy.network,
        ..PolicySpec::default()
    }
}

fn line(text: String) -> Option<TextMatch> {
    Some(TextMatch::Parts(TextParts {
        line: Some(text),
        ..TextParts::default()
    }))
}

fn matches(pattern: String) -> Option<TextMatch> {
    Some(TextMatch::Parts(TextParts {
        matches: Some(pattern),
        ..TextParts::default()
    }))
}

/// How the host differs between two states.
fn facts(before: &World, after: &World) -> Vec<HostFact> {
    let mut paths: Vec<&str> = before.paths(Layer::Host).collect();
    paths.extend(after.paths(Layer::Host));
    paths.sort_unstable();
    paths.dedup();
    let mut facts = Vec::new();
    for path in paths {
        let (old, new) = (before.get(Layer::Host, path), after.get(Layer::Host, path));
        let renewed = before.number(Layer::Host, path) != after.number(Layer::Host, path);
        if old == new && !renewed {
            continue;
        }
        let mut fact = fact(after, path);
        if let (Some(old), Some(new), false) = (old, new, renewed) {
            if old.mode != new.mode {
                fact.mode = Some(format!("{:04o}", new.mode));
            }
            if new.dated && !old.dated {
                fact.changed = Some(true);
            }
        }
        facts.push(fact);
    }
    facts
}

/// What is at a path.
fn fact(world: &World, path: &str) -> HostFact {
    let mut fact = HostFact {
        path: path.to_owned(),
        is: Some(PathKind::Absent),
        content: None,
        contains: None,
        mode: None,
        target: None,
        changed: None,
    };
    if let Some(node) = world.get(Layer::Host, path) {
        fact.is = Some(match &node.kind {
            Kind::File(content) => {
                fact.content = Some(content.clone());
                PathKind::File
            }
            Kind::Directory => PathKind::Directory,
            Kind::Link(target) => {
                fact.target = Some(target.clone());
                PathKind::Symlink
            }
            Kind::Pipe | Kind::Socket => PathKind::Present,
        });
    }
    fact
}

fn level(call: Call) -> Level {
    match call {
        Call::Connect => Level::Offline,
        Call::ConnectSocket => Level::Isolated,
        call if call.is_look() => Level::ConfinedReads,
        _ => Level::ConfinedWrites,
    }
}

/// A requirement that the policy is about.
fn covers(policy: &PolicySpec, level: Level) -> &'static str {
    match level {
        Level::Offline => "A-NET-2",
        _ if !policy.hidden.is_empty() => "B-FS-4",
        _ if !policy.read_only.is_empty() => "A-GRANT-1",
        _ if !policy.read_write.is_empty() => "A-GRANT-2",
        _ => "B-FS-5",
    }
}

fn needs(scenario: &Scenario) -> Vec<Feature> {
    let mentions = |wanted: &str| {
        let paths = scenario.operations.iter().map(|it| &it.path);
        paths.into_iter().any(|path| path.starts_with(wanted))
    };
    let mut needs = Vec::new();
    if mentions("{host-temporary}") {
        needs.push(Feature::PrivateTemporary);
    }
    if mentions("~") {
        needs.push(Feature::PrivateHome);
    }
    needs
}

/// The secrets that a text holds.
fn secrets_in(text: &str) -> Vec<String> {
    let names = crate::corpus::placeholder::names_in(text);
    let names = names.iter().filter_map(|name| name.strip_prefix("secret."));
    names.map(str::to_owned).collect()
}

/// Secrets that may show: those that operations see, and those in files that they
/// make or change.
fn revealed(comparison: &Comparison, effect: &[String]) -> Vec<String> {
    let world = &comparison.world;
    let files = world
        .touched
        .iter()
        .filter_map(|path| match &world.get(Layer::Host, path)?.kind {
            Kind::File(content) => Some(content),
            _ => None,
        });
    let texts = comparison.shown.iter().chain(files);
    let mut secrets: Vec<String> = texts.flat_map(|text| secrets_in(text)).collect();
    secrets.sort();
    secrets.dedup();
    secrets.retain(|secret| !effect.contains(secret));
    secrets
}

/// Paths outside the writable places that change all the same: other names of
/// files that lie in one.
fn changed(scenario: &Scenario, comparison: &Comparison) -> Vec<String> {
    let workspace = scenario.real_workspace();
    let writable = |path: &str| {
        let grants = scenario.policy.read_write.iter();
        is_within(path, &workspace) || grants.into_iter().any(|grant| is_within(path, grant))
    };
    let touched = comparison.world.touched.iter();
    touched.filter(|path| !writable(path)).cloned().collect()
}

/// The same with the places' own placeholders, which say more than paths.
fn readable(topic: &TopicFile) -> Option<TopicFile> {
    fn of(value: &mut Value) {
        match value {
            Value::String(text) => *text = named(text),
            Value::Array(items) => items.iter_mut().for_each(of),
            Value::Object(fields) => {
                let old = std::mem::take(fields);
                for (key, mut item) in old {
                    of(&mut item);
                    fields.insert(named(&key), item);
                }
            }
            _ => {}
        }
    }
    let mut value = serde_json::to_value(topic).ok()?;
    of(&mut value);
    serde_json::from_value(value).ok()
}

fn named(text: &str) -> String {
    let mut text = text.to_owned();
    for place in PLACES {
        let path = format!("{{root}}/{place}");
        while let Some(start) = text.find(&path) {
            let end = start + path.len();
            if !matches!(text[end..].bytes().next(), None | Some(b'/' | b' ' | b'`')) {
                break;
            }
            text.replace_range(start..end, &format!("{{{place}}}"));
        }
    }
    text
}

/// Whether a scenario's files can be made at all: shrinking may take a directory
/// away that another entry needs to be something else.
pub fn is_sound(scenario: &Scenario) -> bool {
    let files = &scenario.files;
    let is_directory = |path: &str| match files.get(path) {
        None => true,
        Some(Entry::Detailed(entry)) => entry.directory,
        Some(Entry::Content(_)) => false,
    };
    let all = files.keys().chain(scenario.sockets.values());
    let parents = all
        .into_iter()
        .all(|path| is_directory(super::world::parent(path)));
    let world = World::of(scenario);
    let workspace = world.get(Layer::Host, &scenario.real_workspace());
    parents && workspace.is_some_and(|node| node.kind == Kind::Directory)
}
