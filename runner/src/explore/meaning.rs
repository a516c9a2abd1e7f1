//! What a policy says of a path: the most specific entry decides, whatever the
//! order of the lists.

use super::inside;
use super::scenario::{Scenario, Surroundings};
use super::world::{Layer, ROOT, World, is_within, parent};
use crate::corpus::policy::{NetworkSpec, PostureSpec};

/// How far a command reaches what is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It can read and change it.
    Write,
    /// It can read it.
    Read,
    /// A directory of its own stands there, which goes with the command.
    Private,
    /// It is hidden.
    Hidden,
    /// Nothing of the host is there.
    Nothing,
}

/// An entry of a policy, or of its posture.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    path: String,
    reach: Reach,
    /// Whether the policy or the launch names it, and not the posture alone.
    named: bool,
    /// Whether something is there when the command starts.
    exists: bool,
}

/// What a policy means for the files of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    rules: Vec<Rule>,
    /// Grants that are hidden by another name: each is still in its place.
    covered: Vec<String>,
    /// Hidden paths in whose place the command has a directory of its own anyway.
    veiled: Vec<String>,
    /// The workspace, links followed.
    pub workspace: String,
    /// The link that the workspace was named by.
    pub alias: Option<String>,
    /// What HOME is.
    pub home: String,
    /// Whether the host's network is there.
    pub network: bool,
}

impl Meaning {
    /// What the scenario's policy means where its fixture lies.
    pub fn of(scenario: &Scenario, world: &World, surroundings: Surroundings) -> Meaning {
        let policy = &scenario.policy;
        let strict = policy.posture.unwrap_or_default() == PostureSpec::Strict;
        let everything = Meaning::unconfined();
        let real = |path: &str| inside::located(&everything, world, path);
        let workspace = real(&scenario.workspace);
        let around = match (strict, surroundings) {
            (_, found) if found.temporary || strict && found.lasting => Reach::Private,
            (true, _) => Reach::Nothing,
            (false, _) => Reach::Read,
        };
        let mut meaning = Meaning {
            rules: Vec::new(),
            veiled: Vec::new(),
            covered: Vec::new(),
            alias: (workspace != scenario.workspace).then(|| scenario.workspace.clone()),
            workspace: workspace.clone(),
            home: if strict {
                "~".to_owned()
            } else {
                format!("{ROOT}/home")
            },
            network: policy.network == Some(NetworkSpec::Host),
        };
        meaning.add(ROOT, around, false, world);
        meaning.add("~", Reach::Private, false, world);
        meaning.add("{host-temporary}", Reach::Private, false, world);
        for path in &policy.read_only {
            meaning.add_grant(path, Reach::Read, world);
        }
        for path in &policy.read_write {
            meaning.add_grant(path, Reach::Write, world);
        }
        meaning.add(&workspace, Reach::Write, true, world);
        for path in &policy.hidden {
            let path = real(path);
            if meaning.reach(&path) == Reach::Private {
                meaning.veiled.push(path);
            } else {
                meaning.add(&path, Reach::Hidden, true, world);
            }
        }
        meaning
    }

    /// No sandbox.
    pub fn unconfined() -> Meaning {
        let rule = |path: &str| Rule {
            path: path.to_owned(),
            reach: Reach::Write,
            named: false,
            exists: true,
        };
        Meaning {
            rules: vec![rule(ROOT), rule("{host-temporary}")],
            veiled: Vec::new(),
            covered: Vec::new(),
            workspace: Scenario::plain_workspace(),
            alias: None,
            home: format!("{ROOT}/home"),
            network: true,
        }
    }

    /// No sandbox, with another workspace.
    pub fn unconfined_in(workspace: String) -> Meaning {
        Meaning {
            workspace,
            ..Meaning::unconfined()
        }
    }

    fn add(&mut self, path: &str, reach: Reach, named: bool, world: &World) {
        let rule = Rule {
            path: path.to_owned(),
            reach,
            named,
            exists: world.get(Layer::Host, path).is_some(),
        };
        let (same, others) = self
            .rules
            .drain(..)
            .partition(|other| other.path == rule.path);
        self.rules = others;
        let same: Vec<Rule> = same;
        let is_grant = |rule: &Rule| rule.named && rule.reach != Reach::Hidden;
        if same.iter().any(is_grant) {
            self.covered.push(rule.path.clone());
        }
        self.rules.push(rule);
    }

    /// A grant of what is not there grants nothing.
    fn add_grant(&mut self, path: &str, reach: Reach, world: &World) {
        if world.get(Layer::Host, path).is_some() {
            self.add(path, reach, true, world);
        }
    }

    /// How far a command reaches what is at a path without links.
    pub fn reach(&self, path: &str) -> Reach {
        self.rules
            .iter()
            .filter(|rule| is_within(path, &rule.path))
            .max_by_key(|rule| rule.path.len())
            .map_or(Reach::Nothing, |rule| rule.reach)
    }

    /// Whether the policy names this very path.
    pub fn is_named(&self, path: &str) -> bool {
        self.rules
            .iter()
            .any(|rule| rule.named && rule.path == path)
    }

    /// Whether the policy hides this very path.
    pub fn is_hidden_top(&self, path: &str) -> bool {
        self.rules
            .iter()
            .any(|rule| rule.reach == Reach::Hidden && rule.path == path)
    }

    /// Whether a path is hidden, or lies in what is hidden, where nothing of the host
    /// would be anyway: to hide it may close it, or change nothing.
    pub fn is_veiled(&self, path: &str) -> bool {
        let mut veiled = self.veiled.iter();
        self.reach(path) == Reach::Private
            && veiled.any(|top| is_within(path, top) || is_within(top, path))
    }

    /// Whether something lies beneath a path that a command reaches.
    pub fn leads_to_visible(&self, path: &str) -> bool {
        let visible = |rule: &&Rule| {
            rule.named
                && rule.exists
                && matches!(rule.reach, Reach::Write | Reach::Read)
                && rule.path != path
                && is_within(&rule.path, path)
        };
        let mut others = self.alias.iter().chain(&self.covered);
        let leads = others.any(|other| other != path && is_within(other, path));
        self.rules.iter().any(|rule| visible(&rule)) || leads
    }

    /// Whether a path that the policy names lies beneath this one.
    pub fn is_above_named(&self, path: &str) -> bool {
        self.named_beneath(path).next().is_some()
    }

    /// Whether something that is there and is hidden lies beneath a path.
    pub fn is_above_secret(&self, path: &str) -> bool {
        self.named_beneath(path)
            .any(|rule| rule.reach == Reach::Hidden && rule.exists)
    }

    /// Whether a hidden path, there or not, lies beneath this one.
    pub fn is_above_hidden(&self, path: &str) -> bool {
        self.named_beneath(path)
            .any(|rule| rule.reach == Reach::Hidden)
    }

    fn named_beneath<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Rule> {
        self.rules
            .iter()
            .filter(move |rule| rule.named && rule.path != path && is_within(&rule.path, path))
    }

    /// The first names, from a directory on, of the hidden paths beneath it.
    pub fn next_hidden<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        self.named_beneath(path)
            .filter(|rule| rule.reach == Reach::Hidden)
            .filter_map(move |rule| rule.path.strip_prefix(path)?.get(1..)?.split('/').next())
    }

    /// The innermost directory around a path that the policy names, or in which
    /// something lies that it names: a launcher may make each of these a place of
    /// its own, between which nothing can be moved or linked.
    pub fn place<'a>(&self, path: &'a str) -> &'a str {
        let mut place = path;
        while !place.is_empty() && !self.is_named(place) && !self.is_above_named(place) {
            place = parent(place);
        }
        place
    }
}
