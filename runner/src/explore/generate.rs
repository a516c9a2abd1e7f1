//! Scenarios from seeds: the same seed gives the same scenario, whatever the host
//! and the time.

use fastrand::Rng;
use indexmap::IndexMap;

use super::choose::{among, chance, weighted};
use super::generate_operations::operations;
use super::refusal::{Start, start};
use super::scenario::{Scenario, Surroundings};
use super::world::{Kind, Layer, ROOT, World, is_within, last, parent};
use crate::corpus::fixture::{DetailedEntry, Entry};
use crate::corpus::policy::{NetworkSpec, PolicySpec, PostureSpec};
use crate::corpus::vocabulary::Feature;
use crate::launcher::file::LauncherFile;

/// What may be asked of a launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    postures: Vec<PostureSpec>,
    networks: Vec<NetworkSpec>,
    read_only: bool,
    read_write: bool,
    hidden: bool,
    /// Grants within one another.
    pub nested: bool,
    /// A /tmp of the command's own.
    pub temporary: bool,
    /// A HOME of the command's own, in the posture that has one.
    pub home: bool,
}

impl Claims {
    /// What a launcher claims.
    pub fn of(launcher: &LauncherFile) -> Claims {
        let has = |feature| launcher.features.contains(&feature);
        let postures = [
            (Feature::PostureStrict, PostureSpec::Strict),
            (Feature::PostureHostReadable, PostureSpec::HostReadable),
        ];
        let networks = [
            (Feature::NetworkHost, NetworkSpec::Host),
            (Feature::NetworkNone, NetworkSpec::None),
        ];
        Claims {
            postures: postures
                .iter()
                .filter(|it| has(it.0))
                .map(|it| it.1)
                .collect(),
            networks: networks
                .iter()
                .filter(|it| has(it.0))
                .map(|it| it.1)
                .collect(),
            read_only: has(Feature::ReadOnlyGrants),
            read_write: has(Feature::ReadWriteGrants),
            hidden: has(Feature::HiddenPaths),
            nested: has(Feature::NestedGrants),
            temporary: has(Feature::PrivateTemporary),
            home: has(Feature::PrivateHome),
        }
    }

    /// Whether there is any launch that such a launcher can be asked for.
    pub fn can_launch(&self) -> bool {
        !self.postures.is_empty() && !self.networks.is_empty()
    }
}

/// Names that programs have taken apart, and plain ones.
const NAMES: [&str; 26] = [
    "a", "b", "c", "d", "e", "f", "key", "data", "sub", ".conf", ".git", "x.y", "a b", " ", "-n",
    "--", "'", "\"", "\\", "$HOME", "*", "[a]", "#", "%s", "é", "...",
];

/// What may be hidden in a directory, there or not.
const BENEATH: [&str; 4] = ["absent", "absent/deep", "a", "key"];

/// The scenario of a seed, for a launcher that claims this.
pub fn scenario(seed: u64, claims: &Claims, surroundings: Surroundings) -> Scenario {
    let mut rng = Rng::with_seed(seed);
    let mut scenario = Scenario {
        seed,
        files: IndexMap::new(),
        sockets: IndexMap::new(),
        workspace: Scenario::plain_workspace(),
        policy: PolicySpec::default(),
        operations: Vec::new(),
        again: false,
    };
    tree(&mut rng, &mut scenario);
    workspace(&mut rng, &mut scenario);
    scenario.policy = policy(&mut rng, &scenario, claims);
    let world = World::of(&scenario);
    // Most policies are ones that start; of the rest only the refusal is seen.
    for _ in 0..4 {
        let refused = start(&scenario, &world, claims.nested) != Start::Starts;
        if !refused || chance(&mut rng, 12) {
            break;
        }
        scenario.policy = policy(&mut rng, &scenario, claims);
    }
    scenario.operations = operations(&mut rng, &scenario, claims, surroundings);
    if chance(&mut rng, 50) {
        scenario.operations.push(Scenario::walk());
    }
    scenario.again = chance(&mut rng, 25);
    scenario
}

/// Files, directories and links in the places of the fixture.
fn tree(rng: &mut Rng, scenario: &mut Scenario) {
    let directory = || {
        Entry::Detailed(DetailedEntry {
            directory: true,
            ..DetailedEntry::default()
        })
    };
    let mut directories: Vec<String> = Vec::new();
    for place in [
        "workspace",
        "outside",
        "hidden",
        "readable",
        "writable",
        "home",
    ] {
        let path = format!("{ROOT}/{place}");
        scenario.files.insert(path.clone(), directory());
        directories.push(path);
    }
    for number in 0..rng.usize(6..22) {
        let above = if chance(rng, 35) {
            directories[0].clone()
        } else {
            among(rng, &directories).clone()
        };
        let path = format!("{above}/{}", among(rng, &NAMES));
        let taken =
            scenario.files.contains_key(&path) || scenario.sockets.values().any(|it| *it == path);
        if taken || path.len() > 60 {
            continue;
        }
        let mode = |rng: &mut Rng, modes: &[&str]| {
            chance(rng, 10).then(|| (*among(rng, modes)).to_owned())
        };
        let mut entry = DetailedEntry::default();
        match weighted(rng, &[40, 30, 16, 7, 3, 2]) {
            0 => {
                entry.secret = Some(format!("s{number}"));
                entry.mode = mode(rng, &["0600", "0444", "0400", "0200", "0000", "0755"]);
            }
            1 => {
                entry.directory = true;
                entry.mode = mode(rng, &["0700", "0555", "0500", "0300", "0000"]);
                directories.push(path.clone());
            }
            2 => entry.symlink = Some(target(rng, scenario, &path)),
            3 => {
                let files = scenario.files.iter().filter(|(_, entry)| is_file(entry));
                let files: Vec<&String> = files.map(|(path, _)| path).collect();
                if files.is_empty() {
                    continue;
                }
                entry.hard_link = Some((*among(rng, &files)).clone());
            }
            4 => entry.fifo = true,
            _ => {
                let name = format!("socket{}", scenario.sockets.len());
                scenario.sockets.insert(name, path);
                continue;
            }
        }
        scenario.files.insert(path, Entry::Detailed(entry));
    }
}

fn is_file(entry: &Entry) -> bool {
    matches!(entry, Entry::Detailed(entry) if entry.secret.is_some())
}

/// Where a link at `path` may lead: to something, or to nothing.
fn target(rng: &mut Rng, scenario: &Scenario, path: &str) -> String {
    let paths: Vec<&String> = scenario.files.keys().collect();
    let mut target = (*among(rng, &paths)).clone();
    if chance(rng, 20) {
        target = format!("{target}/absent");
    }
    if chance(rng, 50) {
        target
    } else {
        relative(parent(path), &target)
    }
}

/// A path as it is written from a directory; as it is where nothing is above both.
pub fn relative(from: &str, to: &str) -> String {
    let mut common = from;
    while !is_within(to, common) {
        if common.is_empty() {
            return to.to_owned();
        }
        common = parent(common);
    }
    let ups = from
        .get(common.len()..)
        .unwrap_or_default()
        .matches('/')
        .count();
    let rest = to
        .get(common.len()..)
        .unwrap_or_default()
        .trim_start_matches('/');
    let mut path = "../".repeat(ups);
    path.push_str(rest);
    let path = path.trim_end_matches('/');
    if path.is_empty() {
        ".".to_owned()
    } else {
        path.to_owned()
    }
}

/// Sometimes the workspace is another, or named through a link.
fn workspace(rng: &mut Rng, scenario: &mut Scenario) {
    if chance(rng, 12) {
        let world = World::of(scenario);
        let open: Vec<String> = world
            .paths(Layer::Host)
            .filter(|path| is_open_directory(&world, path))
            .filter(|path| parent(path) != ROOT && *path != ROOT)
            .map(str::to_owned)
            .collect();
        if !open.is_empty() {
            scenario.workspace.clone_from(among(rng, &open));
        }
    } else if chance(rng, 3) {
        scenario.workspace = format!("{ROOT}/home");
    }
    if chance(rng, 12) {
        let alias = format!("{ROOT}/alias");
        let target = if chance(rng, 50) {
            scenario.workspace.clone()
        } else {
            relative(ROOT, &scenario.workspace)
        };
        let entry = DetailedEntry {
            symlink: Some(target),
            ..DetailedEntry::default()
        };
        scenario.files.insert(alias.clone(), Entry::Detailed(entry));
        scenario.workspace = alias;
    }
}

/// A directory that can be entered, read and written, and so can all above it.
fn is_open_directory(world: &World, path: &str) -> bool {
    let is_open = |path: &str| {
        world
            .get(Layer::Host, path)
            .is_some_and(|node| node.kind == Kind::Directory && node.mode & 0o700 == 0o700)
    };
    let mut here = path;
    while !here.is_empty() {
        if !is_open(here) {
            return false;
        }
        here = parent(here);
    }
    true
}

/// A policy over what is there, and a little over what is not.
fn policy(rng: &mut Rng, scenario: &Scenario, claims: &Claims) -> PolicySpec {
    let world = World::of(scenario);
    let paths: Vec<&str> = world
        .paths(Layer::Host)
        .filter(|path| *path != ROOT)
        .collect();
    let mut policy = PolicySpec {
        posture: Some(*among(rng, &claims.postures)),
        network: Some(*among(rng, &claims.networks)),
        ..PolicySpec::default()
    };
    let place = |place: &str| format!("{ROOT}/{place}");
    if claims.read_only {
        if chance(rng, 50) {
            policy.read_only.push(place("readable"));
        }
        for _ in 0..weighted(rng, &[60, 30, 10]) {
            policy.read_only.extend(grant(rng, &world, &paths));
        }
    }
    if claims.read_write {
        if chance(rng, 50) {
            policy.read_write.push(place("writable"));
        }
        for _ in 0..weighted(rng, &[60, 30, 10]) {
            policy.read_write.extend(grant(rng, &world, &paths));
        }
    }
    if claims.hidden {
        if chance(rng, 40) {
            policy.hidden.push(place("hidden"));
        }
        for _ in 0..weighted(rng, &[30, 35, 20, 15]) {
            policy.hidden.extend(hidden(rng, scenario, &world, &paths));
        }
    }
    for list in [
        &mut policy.read_only,
        &mut policy.read_write,
        &mut policy.hidden,
    ] {
        let mut known: Vec<String> = Vec::new();
        list.retain(|path| {
            let new = !known.contains(path);
            known.push(path.clone());
            new
        });
    }
    policy
}

/// A path that may be granted: a file, a directory, rarely a link or nothing.
fn grant(rng: &mut Rng, world: &World, paths: &[&str]) -> Option<String> {
    let path = *among(rng, paths);
    let above = is_open_directory(world, parent(path));
    let node = world.get(Layer::Host, path)?;
    let common = match node.kind {
        Kind::File(_) | Kind::Directory => true,
        Kind::Link(_) => chance(rng, 10),
        Kind::Pipe | Kind::Socket => false,
    };
    if chance(rng, 3) {
        return Some(format!("{path}/absent"));
    }
    (above && common && last(path) != "state").then(|| path.to_owned())
}

/// A path that may be hidden: anything, or what is not there.
fn hidden(rng: &mut Rng, scenario: &Scenario, world: &World, paths: &[&str]) -> Option<String> {
    let inside: Vec<&str> = {
        let workspace = scenario.real_workspace();
        let paths = paths.iter().copied();
        paths
            .filter(|path| is_within(path, &workspace) && *path != workspace)
            .collect()
    };
    let path = if !inside.is_empty() && chance(rng, 50) {
        *among(rng, &inside)
    } else {
        *among(rng, paths)
    };
    let mut path = path.to_owned();
    if chance(rng, 20) {
        path.push('/');
        let beneath: &str = among::<&str>(rng, &BENEATH);
        path.push_str(beneath);
    }
    // That the workspace itself is hidden says nothing but that the launch is refused.
    let real = super::inside::located(&super::meaning::Meaning::unconfined(), world, &path);
    (real != scenario.real_workspace() || chance(rng, 10)).then_some(path)
}
