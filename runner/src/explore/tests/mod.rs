//! The prediction, the generator and the shrinker, without a launch.

mod generate;
mod predict;
mod shrink;

use indexmap::IndexMap;

use super::scenario::Scenario;
use crate::corpus::fixture::{DetailedEntry, Entry};
use crate::corpus::policy::PolicySpec;

/// A scenario of these files: `path`, `path/` for a directory, `path -> target` for
/// a link, `path = other` for a hard link, and ` 0444` at the end for a mode.
fn scenario(files: &[&str], policy: PolicySpec) -> Scenario {
    let mut entries = IndexMap::new();
    for (number, file) in files.iter().enumerate() {
        let mut entry = DetailedEntry::default();
        let mut text = *file;
        if let Some((rest, mode)) = text.split_once(" 0") {
            entry.mode = Some(format!("0{mode}"));
            text = rest;
        }
        let path = if let Some((path, target)) = text.split_once(" -> ") {
            entry.symlink = Some(target.to_owned());
            path
        } else if let Some((path, other)) = text.split_once(" = ") {
            entry.hard_link = Some(format!("{{root}}/{other}"));
            path
        } else if let Some(path) = text.strip_suffix('/') {
            entry.directory = true;
            path
        } else {
            entry.secret = Some(format!("s{number}"));
            text
        };
        entries.insert(format!("{{root}}/{path}"), Entry::Detailed(entry));
    }
    Scenario {
        seed: 0,
        files: entries,
        sockets: IndexMap::new(),
        workspace: Scenario::plain_workspace(),
        policy,
        operations: Vec::new(),
        again: false,
    }
}
