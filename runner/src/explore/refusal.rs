//! Whether a launch must start, from the meaning of the policy alone.

use super::inside::located;
use super::meaning::Meaning;
use super::scenario::Scenario;
use super::world::{Kind, Layer, ROOT, World, is_within, parent};

/// What must come of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// It starts.
    Starts,
    /// It is refused, and nothing is started.
    Refused(&'static str),
    /// The documents do not say.
    Either,
}

/// What must come of a launch. `nested` is for a launcher that takes grants within
/// one another and within the workspace.
pub fn start(scenario: &Scenario, world: &World, nested: bool) -> Start {
    let everything = Meaning::unconfined();
    let workspace = located(&everything, world, &scenario.workspace);
    let policy = &scenario.policy;
    let home = format!("{ROOT}/home");
    if is_within(&home, &workspace) {
        return Start::Refused("the workspace is the home directory, or holds it and the policy");
    }
    let real = |path: &str| located(&everything, world, path);
    if policy.hidden.iter().any(|path| real(path) == workspace) {
        return Start::Refused("the workspace is hidden");
    }
    let paths: Vec<&String> = scenario.policy_paths().collect();
    let twice = |path: &&&String| paths.iter().filter(|other| other == path).count() > 1;
    if paths.iter().any(|path| twice(&path)) {
        return Start::Refused("a path stands in two lists");
    }
    let grants: Vec<&str> = policy
        .read_only
        .iter()
        .chain(&policy.read_write)
        .map(String::as_str)
        .collect();
    let overlap = |one: &str, other: &str| is_within(one, other) || is_within(other, one);
    let overlaps = grants.iter().enumerate().any(|(number, grant)| {
        overlap(grant, &workspace) || grants[..number].iter().any(|other| overlap(grant, other))
    });
    if overlaps && !nested {
        return Start::Refused("grants overlap one another or the workspace");
    }
    let is_link = |path: &str| {
        let node = world.get(Layer::Host, path);
        node.is_some_and(|node| matches!(node.kind, Kind::Link(_)))
    };
    if grants
        .iter()
        .any(|grant| is_link(grant) || real(grant) != **grant)
    {
        return Start::Refused("a grant is a symbolic link, or goes through one");
    }
    // A grant of what is not there may grant nothing or be refused, and so may one
    // by which the command could write the home directory itself.
    let missing = |grant: &&str| world.get(Layer::Host, grant).is_none();
    let wide = policy
        .read_write
        .iter()
        .any(|grant| is_within(&home, grant));
    // What looks like a pattern and is not there may be taken for a mistake.
    let pattern = |path: &String| {
        let listed = |(open, rest): (&str, &str)| !open.is_empty() && rest.contains(']');
        let looks = path.contains(['*', '?']) || path.split_once('[').is_some_and(listed);
        looks && world.get(Layer::Host, path).is_none()
    };
    let odd = policy.hidden.iter().any(pattern);
    // A granted directory that cannot be entered may be of no use to the launcher.
    let closed = |path: &str| {
        let mut here = path;
        while !here.is_empty() {
            let node = world.get(Layer::Host, here);
            if node.is_some_and(|node| node.kind == Kind::Directory && node.mode & 0o500 != 0o500) {
                return true;
            }
            here = parent(here);
        }
        false
    };
    let closed = closed(&workspace) || grants.iter().any(|grant| closed(grant));
    if grants.iter().any(missing) || wide || odd || closed {
        return Start::Either;
    }
    Start::Starts
}
