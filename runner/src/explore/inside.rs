//! What a command finds at a path: names looked up one after the other, links
//! followed, as far as the policy lets it see them (path_resolution(7)).

use std::collections::VecDeque;

use super::meaning::{Meaning, Reach};
use super::world::{Kind, Layer, Node, ROOT, World, is_within, parent};

/// As many links as the kernel follows.
const LINKS: usize = 40;

/// What a command finds at a path without links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'a> {
    /// A file, a directory or a link.
    Node(Layer, &'a Node),
    /// A directory that is there because something visible lies in it.
    Made,
    /// The link that the workspace was named by.
    Alias(&'a str),
    /// A hidden path: nothing, or something blank.
    Cover,
    /// What is not there, and has a hidden path beneath it: a launcher may hold
    /// the name.
    Held,
}

/// Why a path leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The system says no: nothing is there, or it may not be entered.
    Fails,
    /// It leaves what is known of the host.
    Beyond,
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The path without links; perhaps nothing is there.
    pub path: String,
    /// Whether it goes through what may be there or not.
    pub uncertain: bool,
}

/// What a command finds at a path without links.
pub fn found<'a>(meaning: &'a Meaning, world: &'a World, path: &str) -> Option<Found<'a>> {
    if meaning.alias.as_deref() == Some(path)
        && !matches!(meaning.reach(path), Reach::Read | Reach::Write)
    {
        return Some(Found::Alias(&meaning.workspace));
    }
    if meaning.is_hidden_top(path) && !meaning.leads_to_visible(path) {
        return Some(Found::Cover);
    }
    let layer = match meaning.reach(path) {
        Reach::Write | Reach::Read => Layer::Host,
        Reach::Private => Layer::Private,
        Reach::Hidden | Reach::Nothing => {
            return meaning.leads_to_visible(path).then_some(Found::Made);
        }
    };
    if let Some(node) = world.get(layer, path) {
        return Some(Found::Node(layer, node));
    }
    if layer == Layer::Private && meaning.leads_to_visible(path) || is_own_top(meaning, path) {
        return Some(Found::Made);
    }
    (layer == Layer::Host && meaning.is_above_hidden(path)).then_some(Found::Held)
}

/// HOME, where it is the command's own.
fn is_own_top(meaning: &Meaning, path: &str) -> bool {
    path == "~" && meaning.home == "~"
}

/// Where a text leads. The last name is followed if it is a link and that is asked for.
pub fn resolve(
    meaning: &Meaning,
    world: &World,
    text: &str,
    follow: bool,
) -> Result<Resolved, Stop> {
    let (mut here, rest) = start(meaning, text)?;
    let mut left: VecDeque<String> = steps(rest).collect();
    let (mut links, mut uncertain) = (0, false);
    while let Some(name) = left.pop_front() {
        match found(meaning, world, &here) {
            Some(Found::Made) => {}
            Some(Found::Node(_, node)) if node.kind == Kind::Directory => {
                if node.mode & 0o100 == 0 {
                    // One in which something is hidden may be covered, and open.
                    if !is_dots(&name) || !meaning.is_above_hidden(&here) {
                        return Err(Stop::Fails);
                    }
                    uncertain = true;
                }
            }
            // The cover of a hidden directory may be left again.
            Some(Found::Cover | Found::Held) if is_dots(&name) => uncertain = true,
            None if here.is_empty() => {}
            _ => return Err(Stop::Fails),
        }
        if name == "." {
            continue;
        }
        if name == ".." {
            if !here.contains('/') {
                return Err(Stop::Beyond);
            }
            here = parent(&here).to_owned();
            continue;
        }
        let next = format!("{here}/{name}");
        let target = match found(meaning, world, &next) {
            Some(Found::Node(_, node)) => match &node.kind {
                Kind::Link(target) => Some(target.as_str()),
                _ => None,
            },
            Some(Found::Alias(target)) => Some(target),
            _ => None,
        };
        let Some(target) = target.filter(|_| follow || !left.is_empty()) else {
            here = next;
            continue;
        };
        links += 1;
        if links > LINKS {
            return Err(Stop::Fails);
        }
        let rest = if target.starts_with(ROOT) {
            let (top, rest) = start(meaning, target)?;
            here = top;
            rest
        } else if target.starts_with('/') {
            return Err(Stop::Beyond);
        } else {
            target
        };
        for name in steps(rest).collect::<Vec<_>>().into_iter().rev() {
            left.push_front(name);
        }
    }
    Ok(Resolved {
        path: here,
        uncertain,
    })
}

/// Where a path of a policy leads on the host, links followed as far as it exists; the
/// rest is added. Where its links go in a circle it leads nowhere but to itself.
pub fn located(everything: &Meaning, world: &World, path: &str) -> String {
    follow(everything, world, path).0
}

/// Whether a path of a policy goes through a link in a directory that cannot be searched:
/// root finds out where it leads, and nobody else does.
pub fn is_obscured(everything: &Meaning, world: &World, path: &str) -> bool {
    follow(everything, world, path).1
}

/// Where a path leads, and whether a link on the way was in a closed directory.
fn follow(everything: &Meaning, world: &World, path: &str) -> (String, bool) {
    let itself = || path.to_owned();
    let Ok((mut here, rest)) = start(everything, path) else {
        return (itself(), false);
    };
    let mut left: VecDeque<String> = names(rest).collect();
    let (mut links, mut closed, mut obscured) = (0, false, false);
    while let Some(name) = left.pop_front() {
        closed |= world
            .get(Layer::Host, &here)
            .is_some_and(|node| node.mode & 0o100 == 0);
        if name == ".." {
            here = parent(&here).to_owned();
            continue;
        }
        here = format!("{here}/{name}");
        let Some(Kind::Link(target)) = world.get(Layer::Host, &here).map(|node| &node.kind) else {
            continue;
        };
        obscured |= closed;
        links += 1;
        if links > LINKS {
            return (itself(), obscured);
        }
        here = parent(&here).to_owned();
        let mut rest = target.as_str();
        if let (true, Ok((top, beneath))) = (target.starts_with('{'), start(everything, target)) {
            (here, rest) = (top, beneath);
        }
        for name in names(rest).collect::<Vec<_>>().into_iter().rev() {
            left.push_front(name);
        }
    }
    (here, obscured)
}

/// The directory that a text begins in, and the rest of it.
fn start<'a>(meaning: &Meaning, text: &'a str) -> Result<(String, &'a str), Stop> {
    let text = match text.strip_prefix("/proc/self/root") {
        Some(rest) => rest,
        None => text,
    };
    if let Some(rest) = text.strip_prefix("/proc/self/cwd") {
        return Ok((meaning.workspace.clone(), rest));
    }
    for top in [ROOT, "{host-temporary}"] {
        if is_within(text, top) {
            return Ok((top.to_owned(), &text[top.len()..]));
        }
    }
    if is_within(text, "~") {
        return Ok((meaning.home.clone(), &text[1..]));
    }
    if text.starts_with('/') || text.starts_with('{') {
        return Err(Stop::Beyond);
    }
    Ok((meaning.workspace.clone(), text))
}

/// The names of a path as the system takes them one by one: to pass by `.` is to
/// enter the directory too.
fn steps(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('/')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

fn is_dots(name: &str) -> bool {
    matches!(name, "." | "..")
}

fn names(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('/')
        .filter(|name| !matches!(*name, "" | "."))
        .map(str::to_owned)
}

/// The names that a command finds in a directory: those that it must, and those
/// that it may.
pub fn children(meaning: &Meaning, world: &World, path: &str) -> (Vec<String>, Vec<String>) {
    let (mut sure, mut possible) = (Vec::new(), Vec::new());
    let mut names: Vec<&str> = world
        .names(Layer::Host, path)
        .chain(world.names(Layer::Private, path))
        .collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        match found(meaning, world, &format!("{path}/{name}")) {
            Some(Found::Node(..) | Found::Made) => sure.push(name.to_owned()),
            Some(Found::Alias(_) | Found::Cover | Found::Held) => possible.push(name.to_owned()),
            None => {}
        }
    }
    possible.extend(meaning.next_hidden(path).map(str::to_owned));
    (sure, possible)
}

/// What a command finds somewhere beneath a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// The path from there on.
    pub path: String,
    /// What it must be: the probe's word, and what a file holds or where a link leads.
    /// Nothing where it, and what may be beneath it, is uncertain.
    pub known: Option<(&'static str, String)>,
}

/// Everything that a command finds beneath a directory, links not followed.
pub fn tree(meaning: &Meaning, world: &World, top: &str) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let mut left = vec![String::new()];
    while let Some(directory) = left.pop() {
        let joined = |name: &str| match directory.as_str() {
            "" => name.to_owned(),
            directory => format!("{directory}/{name}"),
        };
        let (sure, possible) = children(
            meaning,
            world,
            format!("{top}/{directory}").trim_end_matches('/'),
        );
        let uncertain = |name: &String| Leaf {
            path: joined(name),
            known: None,
        };
        leaves.extend(possible.iter().map(uncertain));
        for name in &sure {
            let path = format!("{top}/{}", joined(name));
            let (word, content, open) = match found(meaning, world, &path) {
                Some(Found::Made) => ("directory", String::new(), true),
                Some(Found::Node(_, node)) => {
                    let open = node.kind == Kind::Directory && node.mode & 0o500 == 0o500;
                    if node.kind == Kind::Directory && !open && meaning.is_above_hidden(&path) {
                        leaves.push(uncertain(name));
                        continue;
                    }
                    let content = match &node.kind {
                        Kind::File(_) if node.mode & 0o400 == 0 => "!".to_owned(),
                        Kind::File(content) | Kind::Link(content) => content.clone(),
                        _ => String::new(),
                    };
                    (node.kind.word(), content, open)
                }
                _ => continue,
            };
            if open {
                left.push(joined(name));
            }
            leaves.push(Leaf {
                path: joined(name),
                known: Some((word, content)),
            });
        }
    }
    leaves
}
