//! Fixtures: what the runner makes on the host is there for a command or a check.

use std::collections::HashSet;

use super::Finding;
use super::material::{CaseAt, Material, in_file};
use crate::corpus::check::secrets_of;
use crate::corpus::fixture::FixtureSpec;
use crate::corpus::place::At;
use crate::corpus::placeholder::texts_of;
use crate::corpus::read::Topic;

/// Variables that a shell, a loader or a launcher looks at without being told.
const IMPLIED: [&str; 15] = [
    "XDG_RUNTIME_DIR",
    "PATH",
    "HOME",
    "SHELL",
    "TMPDIR",
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "IFS",
    "CDPATH",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "TZ",
    "TERM",
];

/// Every entry of a fixture is used: an entry of a case by that case, one of a
/// topic by any case of it.
pub(crate) fn used(material: &Material) -> Vec<Finding> {
    let mut findings = Vec::new();
    for topic in &material.read.topics {
        let own: Vec<CaseAt<'_>> = material
            .cases()
            .filter(|at| std::ptr::eq(at.topic, topic))
            .collect();
        let mut texts = Texts::default();
        own.iter().for_each(|at| texts.add_case(at));
        texts.add_entries(&topic.content.fixture);
        for (kind, name) in idle(&topic.content.fixture, &texts) {
            findings.push(in_file(
                &topic.source,
                &[At::Field("fixture"), At::Field(kind), At::Field(&name)],
                format!("nothing uses {name} of the fixture's {kind}"),
                "leave it out, or move it to the case that it is meant for",
            ));
        }
        for at in &own {
            let mut texts = Texts::default();
            texts.add_case(at);
            for (kind, name) in idle(&at.case.fixture, &texts) {
                findings.push(at.finding(
                    &[At::Field("fixture"), At::Field(kind), At::Field(&name)],
                    format!("nothing uses {name} of the fixture's {kind}"),
                    "leave it out, or let the command or the expectation name it",
                ));
            }
        }
    }
    findings
}

/// The texts that can name an entry, and the secrets that are looked for.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    revealed: HashSet<String>,
}

impl Texts {
    fn add_case(&mut self, at: &CaseAt<'_>) {
        // As it stands, since an entry may be named by an axis too.
        let mut case = at.case.clone();
        let fixture = std::mem::take(&mut case.fixture);
        case.title.clear();
        case.why.clear();
        case.references.clear();
        self.all.extend(texts_of(&case));
        self.add_entries(&fixture);
        for trial in at.trials {
            let mut case = trial.case.clone();
            let fixture = std::mem::take(&mut case.fixture);
            case.title.clear();
            case.why.clear();
            case.references.clear();
            self.all.extend(texts_of(&case));
            self.all.extend(texts_of(&trial.policy));
            self.add_entries(&fixture);
            let effect = &case.expect.effect;
            for names in [&case.expect.reveals, &effect.reveals] {
                self.revealed.extend(names.iter().cloned());
            }
            self.all.extend(effect.heard.iter().cloned());
        }
        self.add_shared(at.topic);
    }

    fn add_shared(&mut self, topic: &Topic) {
        self.add_entries(&topic.content.fixture);
        self.all.extend(texts_of(&topic.content.policy));
    }

    /// What entries say of one another: the target of a link, a socket's path.
    fn add_entries(&mut self, fixture: &FixtureSpec) {
        for entry in fixture.files.values() {
            self.all.extend(texts_of(entry).into_iter().filter(|text| {
                ![
                    "symlink",
                    "hard_link",
                    "directory",
                    "secret",
                    "content",
                    "mode",
                    "fifo",
                ]
                .contains(&text.as_str())
            }));
        }
        // A path that lies below a directory uses it.
        let below = fixture.files.keys().chain(
            fixture
                .sockets
                .values()
                .filter_map(|socket| socket.path.as_ref()),
        );
        self.all.extend(below.filter_map(|path| {
            let (directory, _) = path.rsplit_once('/')?;
            Some(format!("{directory}/"))
        }));
        for descriptor in fixture.descriptors.values() {
            self.all.extend(texts_of(descriptor));
        }
        self.all.extend(fixture.setup.iter().cloned());
    }

    fn name(&self, word: &str) -> bool {
        self.all.iter().any(|text| text.contains(word))
    }

    /// Whether a text names a path: its last name, or a directory above it as a
    /// whole.
    fn reach(&self, path: &str) -> bool {
        let last = path.rsplit('/').next().unwrap_or(path);
        if self.name(last) {
            return true;
        }
        let mut directory = path;
        while let Some((above, _)) = directory.rsplit_once('/') {
            directory = above;
            if self.all.iter().any(|text| ends_at(text, above)) {
                return true;
            }
        }
        false
    }
}

/// Whether a text names this path, and nothing particular below it.
fn ends_at(text: &str, path: &str) -> bool {
    text.match_indices(path).any(|(place, _)| {
        let rest = &text[place + path.len()..];
        let mut after = rest.strip_prefix('/').unwrap_or(rest).chars();
        after
            .next()
            .is_none_or(|letter| letter.is_whitespace() || "*\"';|&)<>".contains(letter))
            && !path.is_empty()
    })
}

/// The entries that no text names, by kind and name.
fn idle<'a>(fixture: &'a FixtureSpec, texts: &Texts) -> Vec<(&'static str, String)> {
    let revealed = |entry: &dyn Fn() -> FixtureSpec| {
        secrets_of(&entry()).iter().any(|secret| {
            texts.revealed.contains(secret) || texts.name(&format!("{{secret.{secret}}}"))
        })
    };
    let mut idle: Vec<(&'static str, String)> = Vec::new();
    let mut add = |kind: &'static str, name: &'a str, used: bool| {
        if !used {
            idle.push((kind, name.to_owned()));
        }
    };
    for (path, entry) in &fixture.files {
        let alone = || FixtureSpec {
            files: [(path.clone(), entry.clone())].into_iter().collect(),
            ..FixtureSpec::default()
        };
        add("files", path, texts.reach(path) || revealed(&alone));
    }
    for (name, socket) in &fixture.sockets {
        let path = socket.path.as_deref();
        let used = texts.name(&format!("{{socket.{name}}}"))
            || texts.all.contains(name)
            || path.is_some_and(|path| texts.reach(path));
        add("sockets", name, used);
    }
    for name in fixture.listeners.keys() {
        let used = texts.name(&format!("{{port.{name}}}")) || texts.all.contains(name);
        add("listeners", name, used);
    }
    for (name, process) in &fixture.processes {
        let alone = || FixtureSpec {
            processes: [(name.clone(), process.clone())].into_iter().collect(),
            ..FixtureSpec::default()
        };
        // A process is found by looking through all of them, too.
        let used = texts.name(&format!("{{pid.{name}}}"))
            || texts.name("/proc/")
            || texts.name("ps ")
            || revealed(&alone);
        add("processes", name, used);
    }
    for (name, value) in &fixture.environment {
        let alone = || FixtureSpec {
            environment: [(name.clone(), value.clone())].into_iter().collect(),
            ..FixtureSpec::default()
        };
        let used = IMPLIED.contains(&name.as_str()) || texts.name(name) || revealed(&alone);
        add("environment", name, used);
    }
    for name in fixture.descriptors.keys() {
        add("descriptors", name, texts.name(name));
    }
    for (name, key) in &fixture.keyring {
        let alone = || FixtureSpec {
            keyring: [(name.clone(), key.clone())].into_iter().collect(),
            ..FixtureSpec::default()
        };
        add("keyring", name, texts.name(name) || revealed(&alone));
    }
    for (name, segment) in &fixture.shared_memory {
        let alone = || FixtureSpec {
            shared_memory: [(name.clone(), segment.clone())].into_iter().collect(),
            ..FixtureSpec::default()
        };
        let used = texts.name(&format!("{{shm.{name}}}")) || revealed(&alone);
        add("shared_memory", name, used);
    }
    idle
}
