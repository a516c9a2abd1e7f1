//! The operations of a scenario: each is chosen with an eye to what the ones
//! before it have made.

use fastrand::Rng;

use super::choose::{among, chance, weighted};
use super::generate::{Claims, relative};
use super::inside::{Found, found};
use super::meaning::Meaning;
use super::operation::{Call, Operation};
use super::perform::perform;
use super::predict::{Prediction, predict};
use super::scenario::{LISTENER, Scenario, Surroundings};
use super::world::{Kind, Layer, ROOT, World, is_within, last, parent};
use crate::probe;

/// How often each kind is tried, in the order of [`Call::ALL`].
const WEIGHTS: [u32; 23] = [
    16, 8, 1, 4, 3, 2, 10, 9, 5, 4, 7, 3, 7, 0, 1, 12, 3, 8, 7, 5, 4, 2, 2,
];
const MODES: [&str; 7] = ["0600", "0644", "0444", "0000", "0700", "0755", "0500"];
const NEW: [&str; 6] = ["new", "new2", "absent", "deep", "n w", "-new"];

struct Choosing<'a> {
    rng: &'a mut Rng,
    scenario: &'a Scenario,
    claims: &'a Claims,
    meaning: Meaning,
    world: World,
}

/// Operations, whose outcome is predicted, in the order in which they run.
pub fn operations(
    rng: &mut Rng,
    scenario: &Scenario,
    claims: &Claims,
    surroundings: Surroundings,
) -> Vec<Operation> {
    let world = World::of(scenario);
    let meaning = Meaning::of(scenario, &world, surroundings);
    let wanted = rng.usize(8..25);
    let mut choosing = Choosing {
        rng,
        scenario,
        claims,
        meaning,
        world,
    };
    let mut chosen: Vec<Operation> = Vec::with_capacity(wanted);
    for number in 0..3 * wanted {
        if chosen.len() >= wanted {
            break;
        }
        for operation in choosing.next(number) {
            match predict(&choosing.meaning, &choosing.world, &operation) {
                Prediction::Unknown => break,
                // What the documents leave open is tried less often than it comes up.
                Prediction::Either if chance(choosing.rng, 70) => break,
                Prediction::Allowed | Prediction::Absorbed => {
                    let _ = perform(&mut choosing.world, &choosing.meaning, &operation);
                }
                _ => {}
            }
            chosen.push(operation);
        }
    }
    chosen
}

impl Choosing<'_> {
    /// One operation, or a few that belong together.
    fn next(&mut self, number: usize) -> Vec<Operation> {
        let call = Call::ALL[weighted(self.rng, &WEIGHTS)];
        let text = format!("w{number}");
        if chance(self.rng, 3) {
            return self.private(&text);
        }
        let operation = match call {
            Call::Append | Call::Write => {
                let path = self.path(call);
                Operation::with(call, path, text)
            }
            Call::Create => Operation::with(call, self.new_path(), text),
            Call::MakeDirectory | Call::MakeDirectories | Call::MakePipe => {
                Operation::on(call, self.new_path())
            }
            Call::Symlink => {
                let path = self.new_path();
                let paths = self.paths();
                let target = among(self.rng, &paths).clone();
                let target = if chance(self.rng, 50) {
                    target
                } else {
                    relative(parent(&self.real(&path)), &target)
                };
                Operation::with(call, path, target)
            }
            Call::Rename => {
                let from = self.path(call);
                let to = if chance(self.rng, 30) {
                    self.path(call)
                } else {
                    self.new_path()
                };
                Operation::with(call, from, to)
            }
            Call::Exchange if !cfg!(target_os = "linux") => return Vec::new(),
            Call::Exchange => {
                let one = self.path(call);
                Operation::with(call, one, self.path(call))
            }
            Call::Link => {
                let from = self.path(call);
                Operation::with(call, from, self.new_path())
            }
            Call::Mode => {
                let path = self.path(call);
                Operation::with(call, path, *among(self.rng, &MODES))
            }
            Call::Connect => Operation::on(call, format!("{{port.{LISTENER}}}")),
            Call::ConnectSocket => {
                let sockets: Vec<&String> = self.scenario.sockets.values().collect();
                if sockets.is_empty() {
                    return Vec::new();
                }
                Operation::on(call, (*among(self.rng, &sockets)).clone())
            }
            _ => Operation::on(call, self.path(call)),
        };
        vec![self.spelled(operation)]
    }

    /// What stays in the command's own directories.
    fn private(&mut self, text: &str) -> Vec<Operation> {
        if self.claims.home && chance(self.rng, 50) {
            return vec![
                Operation::with(Call::Write, "~/note", text),
                Operation::on(Call::Read, "~/note"),
            ];
        }
        if !self.claims.temporary {
            return Vec::new();
        }
        let file = "{host-temporary}/note";
        vec![
            Operation::on(Call::MakeDirectories, "{host-temporary}"),
            Operation::with(Call::Write, file, text),
            Operation::on(Call::Read, file),
        ]
    }

    /// Paths that something is or was at, by what the policy says of them.
    fn paths(&self) -> Vec<String> {
        // What the runner keeps there is not known.
        let state = format!("{ROOT}/state");
        let mut paths: Vec<String> = self
            .world
            .paths(Layer::Host)
            .filter(|path| last(path) != probe::NAME && *path != ROOT && *path != state)
            .map(str::to_owned)
            .collect();
        paths.extend(self.scenario.policy_paths().cloned());
        paths
    }

    /// A path that suits a kind of operation, or one that does not.
    fn path(&mut self, call: Call) -> String {
        let mut paths = self.paths();
        let suits = |world: &World, path: &str| {
            let Some(node) = world.get(Layer::Host, path) else {
                return false;
            };
            match call {
                Call::Read | Call::Append | Call::Write | Call::Truncate | Call::Link => {
                    !matches!(node.kind, Kind::Directory)
                }
                Call::List | Call::Walk | Call::RemoveDirectory => {
                    !matches!(node.kind, Kind::File(_))
                }
                Call::Target => matches!(node.kind, Kind::Link(_)),
                Call::Remove => node.kind != Kind::Directory,
                _ => true,
            }
        };
        if chance(self.rng, 85) {
            let suited: Vec<String> = paths
                .iter()
                .filter(|path| suits(&self.world, path))
                .cloned()
                .collect();
            if !suited.is_empty() {
                paths = suited;
            }
        }
        let change = !call.is_look();
        if change && chance(self.rng, 50) {
            let inside: Vec<String> = paths
                .iter()
                .filter(|path| is_within(path, &self.meaning.workspace))
                .cloned()
                .collect();
            if !inside.is_empty() {
                paths = inside;
            }
        }
        among(self.rng, &paths).clone()
    }

    /// A path that something may be made at.
    fn new_path(&mut self) -> String {
        if chance(self.rng, 15) {
            let paths = self.paths();
            return among(self.rng, &paths).clone();
        }
        let mut directories: Vec<String> = self
            .world
            .paths(Layer::Host)
            .filter(|path| {
                let node = self.world.get(Layer::Host, path);
                node.is_some_and(|node| matches!(node.kind, Kind::Directory | Kind::Link(_)))
            })
            .map(str::to_owned)
            .collect();
        if chance(self.rng, 50) {
            directories.retain(|path| is_within(path, &self.meaning.workspace));
        }
        if directories.is_empty() {
            directories.push(self.meaning.workspace.clone());
        }
        let above = among(self.rng, &directories).clone();
        format!("{above}/{}", among(self.rng, &NEW))
    }

    /// The path without links, as far as it is known.
    fn real(&self, path: &str) -> String {
        super::inside::located(&Meaning::unconfined(), &self.world, path)
    }

    /// The operation with its paths written in one of many ways.
    fn spelled(&mut self, mut operation: Operation) -> Operation {
        if operation.call == Call::Connect {
            return operation;
        }
        if operation.call.takes_descriptor() && chance(self.rng, 6) && cfg!(target_os = "linux") {
            operation.by_descriptor = true;
        }
        operation.path = self.spelling(&operation.path);
        if operation.call.has_two_paths() {
            operation.second = operation.second.as_deref().map(|path| self.spelling(path));
        }
        operation
    }

    fn spelling(&mut self, path: &str) -> String {
        let from = self.meaning.workspace.clone();
        let linux = cfg!(target_os = "linux");
        match weighted(self.rng, &[58, 24, 6, 4, 4, 4]) {
            0 => path.to_owned(),
            1 => relative(&from, path),
            2 => self.detour(path),
            3 if linux => format!("/proc/self/root{path}"),
            4 if linux => format!("/proc/self/cwd/{}", relative(&from, path)),
            _ => path.replacen('/', "//./", 1),
        }
    }

    /// Through another directory and back.
    fn detour(&mut self, path: &str) -> String {
        let above = parent(path);
        let names: Vec<&str> = self.world.names(Layer::Host, above).collect();
        let Some(name) = (!names.is_empty()).then(|| (*among(self.rng, &names)).to_owned()) else {
            return path.to_owned();
        };
        let through = format!("{above}/{name}");
        let directory = match found(&self.meaning, &self.world, &through) {
            Some(Found::Node(_, node)) => node.kind == Kind::Directory,
            Some(Found::Made) => true,
            _ => false,
        };
        if directory {
            format!("{through}/../{}", last(path))
        } else {
            path.to_owned()
        }
    }
}
