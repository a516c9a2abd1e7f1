//! Files: what can be read, written, or neither.

use std::collections::BTreeSet;
use std::path::Path;

use super::SeatbeltError;
use super::text::{Action, Text, beneath, literal};
use crate::view::{Access, Content, View};

/// What reading is. `file-map-executable` and `file-test-existence` are not under
/// `file*`, and `(deny default)` leaves them open (simbple's tables; Firefox says so
/// too); copying without reading (`file-clone`) is open as well, and would fetch what
/// cannot be read.
const READING: [&str; 9] = [
    "file-read*",
    "file-read-data",
    "file-read-metadata",
    "file-read-xattr",
    "file-test-existence",
    "file-map-executable",
    "file-clone",
    "process-exec*",
    "process-exec-interpreter",
];

/// What writing is. `file-link` is open under `(deny default)`: a hard link has another
/// path and is the same file, so one in the workspace would open what the rules about
/// the file's own path keep (unslothai/unsloth 10526, nubjs/nub 449). Both ends of a new
/// link are looked at, so a link within what is writable is harmless.
const WRITING: [&str; 10] = [
    "file-write*",
    "file-write-create",
    "file-write-data",
    "file-write-flags",
    "file-write-mode",
    "file-write-owner",
    "file-write-times",
    "file-write-unlink",
    "file-write-xattr",
    "file-link",
];

/// What is denied wherever writing is. Making nodes is no part of `file-write*`; of all
/// kinds, named pipes alone are allowed, each in a directory that may be written: a device
/// that user 0 makes in its workspace would be the disk itself.
const NODES: &str = "file-mknod";

/// Finding one's way: what a path leads through.
const LOOKING: [&str; 2] = ["file-read-metadata", "file-test-existence"];

/// What a path of a view is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Readable,
    Writable,
    /// Writable, and by other programs too.
    Shared,
    Hidden,
}

/// The view's paths by kind, in an order in which the later ones decide.
///
/// Only where a path lies beneath another does the order matter. So paths beneath none
/// come first, a kind at a time, then those beneath one other, and so on.
pub(super) fn kinds(view: &View) -> Vec<(Kind, Vec<&Path>)> {
    let mut ruled: Vec<(usize, Kind, &Path)> = Vec::new();
    for mount in view.mounts() {
        let path = mount.at.as_path();
        let kind = match &mount.content {
            Content::Host {
                access: Access::ReadOnly,
                ..
            } => Kind::Readable,
            Content::Host { .. } if view.is_shared(path) => Kind::Shared,
            Content::Host { .. } => Kind::Writable,
            Content::Private { .. } | Content::Blank if path != Path::new("/") => Kind::Hidden,
            _ => continue,
        };
        // Mounts come parents first.
        let above = ruled
            .iter()
            .filter(|(_, _, above)| path.starts_with(above))
            .count();
        ruled.push((above, kind, path));
    }
    ruled.sort_by_key(|(above, kind, _)| (*above, *kind));
    let mut list: Vec<(usize, Kind, Vec<&Path>)> = Vec::new();
    for (above, kind, path) in ruled {
        match list.last_mut() {
            Some((last, same, paths)) if (*last, *same) == (above, kind) => paths.push(path),
            _ => list.push((above, kind, vec![path])),
        }
    }
    list.into_iter()
        .map(|(_, kind, paths)| (kind, paths))
        .collect()
}

pub(super) fn add(text: &mut Text, view: &View) -> Result<(), SeatbeltError> {
    text.section(
        "Files. Hard links and copies that (deny default) leaves open are denied first, \
         and allowed again where both ends of them are.",
    );
    text.line("(deny file-link)");
    text.line("(deny file-clone)");
    text.line("(deny file-map-executable)");
    text.line("(deny file-test-existence)");
    text.comment(
        "The root directory itself, and nothing beneath it: without it no program starts \
         (akitaonrails/ai-jail 77; h5i: file-read-data of /).",
    );
    text.line("(allow file-read* file-test-existence (literal \"/\"))");
    add_links(text, view)?;
    let mut writable: Vec<&Path> = Vec::new();
    let mut shown = BTreeSet::new();
    for (kind, paths) in kinds(view) {
        let filters = filters(&paths)?;
        match kind {
            Kind::Readable => {
                add_way(text, &paths, &mut shown)?;
                text.comment("Readable.");
                text.rule(Action::Allow, &READING, &filters);
                let inside: Vec<&Path> = paths
                    .iter()
                    .copied()
                    .filter(|path| writable.iter().any(|above| path.starts_with(above)))
                    .collect();
                text.rule(Action::Deny, &unwritable(), &self::filters(&inside)?);
            }
            Kind::Writable | Kind::Shared => {
                add_way(text, &paths, &mut shown)?;
                text.comment("Readable and writable.");
                text.rule(Action::Allow, &[&READING[..], &WRITING].concat(), &filters);
                text.rule(Action::Allow, &[NODES], &pipes(&filters));
                writable.extend(&paths);
            }
            Kind::Hidden => {
                text.comment(
                    "Neither. The children of each operation by name: a rule about a child \
                     would outweigh one about its parent.",
                );
                text.rule(
                    Action::Deny,
                    &[&READING[..], &unwritable()[..]].concat(),
                    &filters,
                );
                // What is deeper has to show its way anew.
                shown.retain(|path: &&Path| !paths.iter().any(|hidden| path.starts_with(hidden)));
                // A directory that is shared may be hidden as a whole.
                writable.retain(|path| !paths.contains(path));
            }
        }
    }
    add_pins(text, view, &writable)?;
    text.comment(
        "A directory is not copied by reference: clonefile(2) takes everything beneath it \
         along and asks about none of it, so that what is hidden in it would show under \
         another name (bfulton/localmost saw it). A file is, which asks about the file.",
    );
    text.line("(deny file-clone (vnode-type DIRECTORY))");
    Ok(())
}

/// Writing and what goes with it, where it is denied.
fn unwritable() -> Vec<&'static str> {
    [&WRITING[..], &[NODES]].concat()
}

/// The same filters for named pipes alone.
fn pipes(filters: &[String]) -> Vec<String> {
    filters
        .iter()
        .map(|filter| format!("(require-all (vnode-type FIFO) {filter})"))
        .collect()
}

fn filters(paths: &[&Path]) -> Result<Vec<String>, SeatbeltError> {
    let mut list = Vec::with_capacity(paths.len() * 2);
    for path in paths {
        list.extend(beneath(path)?);
    }
    Ok(list)
}

fn literals<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<Vec<String>, SeatbeltError> {
    paths.into_iter().map(literal).collect()
}

/// The links that paths go through. A path is compared where it leads, but every link
/// on the way is looked at by its own name (a matrix of runs on macOS 14.4.1,
/// Protonk/sandbox-boostrap; archie-judd/agent-sandbox.nix 159).
fn add_links(text: &mut Text, view: &View) -> Result<(), SeatbeltError> {
    let links: Vec<&Path> = view
        .mounts()
        .iter()
        .filter(|mount| matches!(mount.content, Content::Link { .. }))
        .map(|mount| mount.at.as_path())
        .collect();
    text.comment("Links that paths go through, and the directories that these are in.");
    let mut way = ancestors(&links);
    way.extend(links);
    text.rule(Action::Allow, &LOOKING, &literals(way)?);
    Ok(())
}

/// Every directory above paths can be looked at, and not be listed: realpath(3) looks at
/// each, and node, bun, ruby and others begin with it (nikvdp/cco 50, jdx/mise 13039).
fn add_way<'a>(
    text: &mut Text,
    paths: &[&'a Path],
    shown: &mut BTreeSet<&'a Path>,
) -> Result<(), SeatbeltError> {
    let mut way = ancestors(paths);
    way.retain(|path| shown.insert(path));
    if !way.is_empty() {
        text.comment("The way there: to be looked at, not to be listed.");
        text.rule(Action::Allow, &LOOKING, &literals(way)?);
    }
    Ok(())
}

/// The directories above, without the root.
fn ancestors<'a>(paths: &[&'a Path]) -> BTreeSet<&'a Path> {
    paths
        .iter()
        .flat_map(|path| path.ancestors().skip(1))
        .filter(|path| *path != Path::new("/"))
        .collect()
}

/// What the rules name, and what leads there within a writable directory, stays where it
/// is: rules go by path, so a hidden file would show once its directory had another name
/// (anthropic-experimental/sandbox-runtime 8), and a link in a workspace's place would
/// lead the next command elsewhere.
fn add_pins(text: &mut Text, view: &View, writable: &[&Path]) -> Result<(), SeatbeltError> {
    let pinned: BTreeSet<&Path> = view
        .mounts()
        .iter()
        .flat_map(|mount| mount.at.ancestors())
        .filter(|part| writable.iter().any(|above| part.starts_with(above)))
        .collect();
    text.comment("These stay where they are: what rules name, and what leads there.");
    text.rule(Action::Deny, &["file-write-unlink"], &literals(pinned)?);
    Ok(())
}
