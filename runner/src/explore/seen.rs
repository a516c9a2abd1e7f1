//! What a command told of directories, held against what is there for it.

use std::collections::BTreeMap;

use super::inside::Leaf;
use super::world::{PLACES, ROOT, is_within, last, parent};
use crate::probe;

/// The names of a listing.
pub fn names(detail: &str) -> Vec<String> {
    let names = detail.split('/').filter(|name| !name.is_empty());
    names
        .filter(|name| !is_ours(name))
        .map(str::to_owned)
        .collect()
}

/// The entries of a walk: path, kind and content of each.
pub fn entries(detail: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let mut fields = detail.split('\t');
    std::iter::from_fn(move || Some((fields.next()?, fields.next()?, fields.next()?)))
}

/// Whether the runner itself put it there.
pub fn is_ours(name: &str) -> bool {
    name == probe::NAME
}

/// What the runner keeps in a fixture.
pub fn is_furniture(path: &str) -> bool {
    let state = format!("{ROOT}/state");
    let place = parent(path) == ROOT && PLACES.contains(&last(path));
    path == ROOT || place || is_within(path, &state) || is_ours(last(path))
}

/// As the probe writes it.
pub fn escaped(text: &str) -> String {
    // A secret's placeholder stands for what needs no escape.
    text.as_bytes().escape_ascii().to_string()
}

/// What a command sees that finds these.
pub fn texts_of(leaves: &[Leaf]) -> impl Iterator<Item = String> + '_ {
    let known = leaves.iter().filter_map(|leaf| leaf.known.as_ref());
    known.map(|(_, content)| content.clone())
}

/// How a listing is unlike what must and may be in it.
pub fn unlike_names(sure: &[String], possible: &[String], detail: &str) -> Option<String> {
    let seen = names(detail);
    let known = |name: &String| {
        let is = |other: &String| escaped(other) == *name;
        sure.iter().any(is) || possible.iter().any(is)
    };
    if let Some(name) = sure.iter().find(|name| !seen.contains(&escaped(name))) {
        return Some(format!("had to show {name:?}, and showed {detail:?}"));
    }
    let extra = seen.iter().find(|name| !known(name))?;
    Some(format!("showed {extra:?}, which is not there for it"))
}

/// How a walk is unlike what is there.
pub fn unlike_tree(leaves: &[Leaf], detail: &str) -> Option<String> {
    let mut sure: BTreeMap<String, (&str, String)> = BTreeMap::new();
    let mut uncertain: Vec<String> = Vec::new();
    for leaf in leaves {
        match &leaf.known {
            Some((word, content)) => {
                sure.insert(escaped(&leaf.path), (word, escaped(content)));
            }
            None => uncertain.push(escaped(&leaf.path)),
        }
    }
    for (path, kind, content) in entries(detail) {
        let open = uncertain.iter().any(|top| is_within(path, top))
            || is_furniture(&format!("{ROOT}/{path}"));
        match sure.remove(path) {
            Some((word, text)) if word == kind && text == content => {}
            Some((word, text)) => {
                return Some(format!(
                    "showed {path} as a {kind} of {content:?}, and it is a {word} of {text:?}"
                ));
            }
            None if open => {}
            None => return Some(format!("showed {path}, which is not there for it")),
        }
    }
    let missing = sure.keys().next()?;
    Some(format!("did not show {missing}"))
}
