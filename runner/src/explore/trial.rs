//! A scenario as a trial of the corpus, which is how it is run.

use indexmap::IndexMap;

use super::scenario::{LISTENER, Scenario};
use crate::corpus::Trial;
use crate::corpus::case::{Case, LaunchSpec, Run, Step, Tty};
use crate::corpus::expect::{Effect, Expect, Outcome};
use crate::corpus::fixture::{FixtureSpec, ListenerSpec, Protocol, SocketKind, SocketSpec};
use crate::corpus::streams::Streams;
use crate::corpus::vocabulary::{Level, Platform, Strength};

/// Seconds that a launch may take; none of its operations waits.
const TIMEOUT: u32 = 20;

impl Scenario {
    /// The fixture.
    pub fn fixture(&self) -> FixtureSpec {
        let mut fixture = FixtureSpec {
            files: self.files.clone(),
            setup: self.setup(),
            ..FixtureSpec::default()
        };
        for (name, path) in &self.sockets {
            let socket = SocketSpec {
                path: Some(path.clone()),
                kind: SocketKind::Stream,
                replies: None,
            };
            fixture.sockets.insert(name.clone(), socket);
        }
        if self.speaks() {
            let listener = ListenerSpec {
                protocol: Protocol::Tcp,
                address: "127.0.0.1".to_owned(),
                replies: None,
            };
            fixture.listeners.insert(LISTENER.to_owned(), listener);
        }
        fixture
    }

    /// A case of it that asserts nothing yet.
    pub fn case(&self, id: String) -> Case {
        Case {
            decided_by: Vec::new(),
            host_paths: indexmap::IndexMap::new(),
            modelled: None,
            modelled_by: IndexMap::new(),
            unmodelled: None,
            sibling_reason: None,
            id,
            rev: 1,
            title: String::new(),
            why: String::new(),
            covers: Vec::new(),
            level: Level::Launch,
            strength: Strength::Must,
            platforms: Platform::unix(),
            needs: Vec::new(),
            facts: Vec::new(),
            sibling: None,
            references: Vec::new(),
            axes: IndexMap::new(),
            fixture: FixtureSpec::default(),
            policy: None,
            run: (!self.again).then(|| Run::Arguments(self.command())),
            workspace: self.other_workspace(),
            cwd: None,
            environment: None,
            stdin: None,
            tty: Tty::None,
            streams: Streams::default(),
            during: Vec::new(),
            tries: 1,
            meanwhile: None,
            copies: 1,
            proves_start: true,
            steps: self.steps(),
            expect: Expect {
                outcome: Outcome::Allowed,
                effect: Effect::default(),
                claim: None,
                absorbed: Default::default(),
                refusal: Default::default(),
                control: None,
                reveals: Vec::new(),
                changes: Vec::new(),
                exit: None,
                output: None,
                error_output: None,
            },
            timeout: TIMEOUT,
        }
    }

    /// The workspace, where it is not the usual one.
    fn other_workspace(&self) -> Option<String> {
        (self.workspace != Scenario::plain_workspace()).then(|| self.workspace.clone())
    }

    /// The launches, where there are two.
    fn steps(&self) -> Vec<Step> {
        if !self.again {
            return Vec::new();
        }
        let walk = Scenario {
            operations: vec![Scenario::walk()],
            ..self.clone()
        };
        [self.command(), walk.command()]
            .into_iter()
            .map(|command| Step {
                host: None,
                modelled: Vec::new(),
                launch: Some(LaunchSpec {
                    workspace: self.other_workspace(),
                    ..launch(command)
                }),
            })
            .collect()
    }

    /// The trial that runs it.
    pub fn trial(&self) -> Trial {
        let name = format!("explore.seed.{}", self.seed);
        Trial {
            name: name.clone(),
            topic: "Exploration".to_owned(),
            file: String::new(),
            digest: String::new(),
            axes: IndexMap::new(),
            case: self.case(name),
            fixture: self.fixture(),
            policy: self.policy.clone(),
            unmodelled: None,
        }
    }
}

/// A launch of a command, and nothing else said of it.
pub(super) fn launch(command: Vec<String>) -> LaunchSpec {
    LaunchSpec {
        run: Run::Arguments(command),
        policy: None,
        workspace: None,
        cwd: None,
        environment: None,
        stdin: None,
        tty: Tty::None,
        streams: Streams::default(),
        during: Vec::new(),
        modelled: None,
        modelled_by: IndexMap::new(),
        tries: 1,
        meanwhile: None,
        copies: 1,
        proves_start: true,
    }
}
