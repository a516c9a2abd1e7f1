//! Makes a scenario small, as long as what differs stays.

use super::operation::{Call, Operation};
use super::scenario::Scenario;
use super::world::{ROOT, is_within, last, parent};
use crate::corpus::fixture::Entry;
use crate::corpus::policy::NetworkSpec;

/// How many smaller scenarios are tried at most: a few seconds of launches.
const TRIES: usize = 400;

/// The smallest scenario that is found in which it is `still` so.
///
/// # Errors
/// Those of `still`.
pub fn shrink<E>(
    mut scenario: Scenario,
    mut still: impl FnMut(&Scenario) -> Result<bool, E>,
) -> Result<Scenario, E> {
    let mut tries = 0;
    loop {
        let mut smaller = false;
        for step in STEPS {
            // The candidates of a step are made anew after each that holds.
            let mut place = 0;
            while let Some(candidate) = step(&scenario).into_iter().nth(place) {
                if candidate == scenario {
                    place += 1;
                    continue;
                }
                if tries >= TRIES {
                    return Ok(scenario);
                }
                tries += 1;
                if still(&candidate)? {
                    scenario = candidate;
                    smaller = true;
                } else {
                    place += 1;
                }
            }
        }
        if !smaller {
            return Ok(scenario);
        }
    }
}

type Step = fn(&Scenario) -> Vec<Scenario>;

/// Ways to make a scenario smaller, those that take away the most first. Each way
/// must make it smaller, or none would end.
const STEPS: [Step; 7] = [
    fewer_operations,
    less_policy,
    fewer_files,
    plain_workspace,
    plain_entries,
    plain_operations,
    shorter_paths,
];

fn with(scenario: &Scenario, change: impl FnOnce(&mut Scenario)) -> Scenario {
    let mut changed = scenario.clone();
    change(&mut changed);
    changed
}

fn fewer_operations(scenario: &Scenario) -> Vec<Scenario> {
    let count = scenario.operations.len();
    let mut candidates = Vec::new();
    let mut part = count / 2;
    while part > 0 {
        // From the end, since what comes after a difference is idle.
        for start in (0..count).step_by(part).rev() {
            let end = (start + part).min(count);
            if end - start < count {
                candidates.push(with(scenario, |it| drop(it.operations.drain(start..end))));
            }
        }
        part /= 2;
    }
    if scenario.again {
        candidates.push(with(scenario, |it| it.again = false));
    }
    let idle = Operation::on(Call::Look, ".");
    if scenario.operations != [idle.clone()] && count == 1 {
        candidates.push(with(scenario, |it| it.operations = vec![idle]));
    }
    candidates
}

fn less_policy(scenario: &Scenario) -> Vec<Scenario> {
    let mut candidates = Vec::new();
    let policy = &scenario.policy;
    for place in 0..policy.hidden.len() {
        candidates.push(with(scenario, |it| drop(it.policy.hidden.remove(place))));
    }
    for place in 0..policy.read_only.len() {
        candidates.push(with(scenario, |it| drop(it.policy.read_only.remove(place))));
    }
    for place in 0..policy.read_write.len() {
        candidates.push(with(scenario, |it| {
            drop(it.policy.read_write.remove(place))
        }));
    }
    if policy.network == Some(NetworkSpec::None) {
        candidates.push(with(scenario, |it| {
            it.policy.network = Some(NetworkSpec::Host)
        }));
    }
    candidates
}

fn fewer_files(scenario: &Scenario) -> Vec<Scenario> {
    let mut candidates = Vec::new();
    for path in scenario.files.keys() {
        candidates.push(with(scenario, |it| {
            it.files.retain(|other, entry| {
                let linked = matches!(entry, Entry::Detailed(entry)
                    if entry.hard_link.as_ref().is_some_and(|other| is_within(other, path)));
                !is_within(other, path) && !linked
            });
            it.sockets.retain(|_, other| !is_within(other, path));
        }));
    }
    for name in scenario.sockets.keys() {
        candidates.push(with(scenario, |it| drop(it.sockets.shift_remove(name))));
    }
    candidates
}

fn plain_workspace(scenario: &Scenario) -> Vec<Scenario> {
    [scenario.real_workspace(), Scenario::plain_workspace()]
        .into_iter()
        .filter(|workspace| workspace.len() != scenario.workspace.len())
        .map(|workspace| with(scenario, |it| it.workspace = workspace))
        .filter(|it| it.workspace == it.real_workspace())
        .collect()
}

fn plain_entries(scenario: &Scenario) -> Vec<Scenario> {
    let mut candidates = Vec::new();
    for (path, entry) in &scenario.files {
        if matches!(entry, Entry::Detailed(entry) if entry.mode.is_some()) {
            candidates.push(with(scenario, |it| {
                if let Some(Entry::Detailed(entry)) = it.files.get_mut(path) {
                    entry.mode = None;
                }
            }));
        }
    }
    candidates
}

fn plain_operations(scenario: &Scenario) -> Vec<Scenario> {
    let mut candidates = Vec::new();
    for place in 0..scenario.operations.len() {
        let mut plainer = |change: fn(&mut Operation)| {
            candidates.push(with(scenario, |it| change(&mut it.operations[place])));
        };
        plainer(|it| it.by_descriptor = false);
        plainer(|it| it.paths_mut().for_each(|path| *path = plain(path)));
    }
    candidates
}

/// A path without detours, as far as its text says.
fn plain(path: &str) -> String {
    let path = path.strip_prefix("/proc/self/root").unwrap_or(path);
    let path = path.strip_prefix("/proc/self/cwd/").unwrap_or(path);
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if names
                .last()
                .is_some_and(|last| !matches!(*last, ".." | ROOT)) =>
            {
                names.pop();
            }
            name => names.push(name),
        }
    }
    if names.is_empty() {
        return ".".to_owned();
    }
    names.join("/")
}

/// Names that are easy to read, and directories left out of paths.
fn shorter_paths(scenario: &Scenario) -> Vec<Scenario> {
    const EASY: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut candidates = Vec::new();
    let mut paths: Vec<&String> = scenario.files.keys().collect();
    paths.sort_by_key(|path| std::cmp::Reverse(path.matches('/').count()));
    for path in paths {
        let (above, name) = (parent(path), last(path));
        if above == ROOT || above.is_empty() {
            continue;
        }
        candidates.push(moved(scenario, path, above));
        if !EASY.contains(&name) {
            let free = |name: &&&str| {
                let path = format!("{above}/{name}");
                !scenario.files.contains_key(&path)
            };
            if let Some(easy) = EASY.iter().find(free) {
                candidates.push(moved(scenario, path, &format!("{above}/{easy}")));
            }
        }
    }
    candidates
}

/// The scenario with one path written as another, wherever it stands in full.
fn moved(scenario: &Scenario, from: &str, to: &str) -> Scenario {
    let rewritten = |text: &str| match text.find(from) {
        Some(place) if is_within(&text[place..], from) => {
            format!("{}{to}{}", &text[..place], &text[place + from.len()..])
        }
        _ => text.to_owned(),
    };
    let mut changed = scenario.clone();
    changed.files.clear();
    for (path, entry) in &scenario.files {
        if to == parent(from) && path == from {
            continue;
        }
        let mut entry = entry.clone();
        if let Entry::Detailed(entry) = &mut entry {
            for text in [&mut entry.symlink, &mut entry.hard_link]
                .into_iter()
                .flatten()
            {
                *text = rewritten(text);
            }
        }
        changed.files.insert(rewritten(path), entry);
    }
    for path in changed.sockets.values_mut() {
        *path = rewritten(path);
    }
    changed.workspace = rewritten(&changed.workspace);
    let policy = &mut changed.policy;
    let lists = [
        &mut policy.read_only,
        &mut policy.read_write,
        &mut policy.hidden,
    ];
    for path in lists.into_iter().flatten() {
        *path = rewritten(path);
    }
    for operation in &mut changed.operations {
        operation
            .paths_mut()
            .for_each(|path| *path = rewritten(path));
    }
    // What would stand twice at one path cannot be made.
    if changed.files.len() + usize::from(to == parent(from)) < scenario.files.len() {
        return scenario.clone();
    }
    changed
}
