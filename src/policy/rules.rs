//! What makes a path, a name or a set of grants acceptable, wherever it came from.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::error::{Fault, quote};
use crate::faults::{self, Protection};

/// The longest path that a system call takes, with room for its final NUL
/// (`PATH_MAX`, path_resolution(7)).
const LONGEST_PATH: usize = 4095;
/// The longest name that the usual file systems hold (`NAME_MAX`).
const LONGEST_NAME: usize = 255;

/// A list of a policy that holds paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    ReadOnly,
    ReadWrite,
    Hidden,
}

impl List {
    /// The list's field in a document.
    pub(super) fn field(self) -> &'static str {
        match self {
            List::ReadOnly => "read_only",
            List::ReadWrite => "read_write",
            List::Hidden => "hidden",
        }
    }
}

/// A path of a policy, and which entry of which list it is.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) list: List,
    pub(super) index: usize,
    pub(super) path: PathBuf,
}

impl fmt::Display for Listed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}[{}]", self.list.field(), self.index)
    }
}

/// The path that `text` writes: absolute, literal, and in the one spelling that
/// can be compared component by component. A single trailing slash is dropped.
pub(super) fn path(text: &OsStr) -> Result<PathBuf, Fault> {
    let shown = text.to_string_lossy();
    let quoted = quote(&shown);
    let example = || format!("such as {}", quote(&suggestion(&shown)));
    if shown.is_empty() {
        return Err(Fault::new(
            "is empty",
            "write an absolute path, such as \"/home/user/data\", or remove the entry",
        ));
    }
    if shown.contains('\0') {
        return Err(Fault::new(
            format!("{quoted} holds a NUL, which no path can hold"),
            "write the path without it",
        ));
    }
    if shown.chars().any(char::is_control) {
        return Err(Fault::new(
            format!("{quoted} holds a control character"),
            "write the path without it, or rename the file",
        ));
    }
    if shown.starts_with('~') {
        return Err(Fault::new(
            format!("{quoted} begins with `~`, which is not expanded"),
            format!("write the home directory out, {}", example()),
        ));
    }
    if shown.starts_with('$') {
        return Err(Fault::new(
            format!("{quoted} begins with `$`, and variables are not expanded"),
            format!("write the value out, {}", example()),
        ));
    }
    let Some(rest) = text.as_bytes().strip_prefix(b"/") else {
        return Err(Fault::new(
            format!("{quoted} is relative"),
            format!("write an absolute path, {}", example()),
        ));
    };
    if rest.is_empty() {
        return Err(Fault::new(
            "\"/\" is the whole file system",
            "name the directories that are meant",
        ));
    }
    let rest = rest.strip_suffix(b"/").unwrap_or(rest);
    for name in rest.split(|byte| *byte == b'/') {
        match name {
            b"" => {
                return Err(Fault::new(
                    format!("{quoted} holds an empty component (`//`)"),
                    format!("write it with single slashes, {}", example()),
                ));
            }
            b"." => {
                return Err(Fault::new(
                    format!("{quoted} holds a `.` component"),
                    format!("write it without, {}", example()),
                ));
            }
            b".." => {
                return Err(Fault::new(
                    format!("{quoted} holds a `..` component"),
                    "write the absolute path that it leads to",
                ));
            }
            long if long.len() > LONGEST_NAME => {
                return Err(Fault::new(
                    format!("{quoted} holds a name of more than {LONGEST_NAME} bytes"),
                    "write a path that can exist",
                ));
            }
            _ => {}
        }
    }
    if rest.len() + 1 > LONGEST_PATH {
        return Err(Fault::new(
            format!("{quoted} is longer than {LONGEST_PATH} bytes"),
            "name a directory further up",
        ));
    }
    let path = PathBuf::from(OsStr::from_bytes(&text.as_bytes()[..=rest.len()]));
    // A file may well be called `[slug]` or `what?`. What exists is meant as it
    // stands; what does not would be a rule that silently matches nothing.
    // What the caller may not look at may be there.
    let is_absent = || {
        path.symlink_metadata().is_err_and(|error| {
            matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            )
        })
    };
    if is_pattern(&shown) && is_absent() {
        return Err(Fault::new(
            format!("{quoted} does not exist, and patterns are not supported"),
            format!(
                "write {}: a directory covers everything beneath it",
                quote(&suggestion(&shown))
            ),
        ));
    }
    Ok(path)
}

/// The name of an environment variable, as a shell has it.
pub(crate) fn variable_name(name: &str) -> Result<(), Fault> {
    let valid = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty();
    if valid {
        return Ok(());
    }
    let problem = if name.is_empty() {
        "is empty".to_owned()
    } else {
        format!("{} is not the name of a variable", quote(name))
    };
    Err(Fault::new(
        problem,
        "write letters, digits and `_`, not beginning with a digit, such as \"SSH_AUTH_SOCK\"",
    ))
}

/// The first entry that cannot stand beside the others, and why: a path given
/// twice, or a grant beneath another grant.
pub(super) fn conflict(entries: &[Listed]) -> Option<(usize, Fault)> {
    if !faults::has(Protection::Overlap) {
        return None;
    }
    let mut places: HashMap<&Path, usize> = HashMap::with_capacity(entries.len());
    for (place, entry) in entries.iter().enumerate() {
        if let Some(first) = places.insert(&entry.path, place) {
            let fault = Fault::new(
                format!("{} is already {}", show(&entry.path), entries[first]),
                "keep one of the two",
            );
            return Some((place, fault));
        }
    }
    let is_grant = |entry: &Listed| entry.list != List::Hidden;
    for (place, entry) in entries.iter().enumerate().filter(|(_, one)| is_grant(one)) {
        let above = entry
            .path
            .ancestors()
            .skip(1)
            .filter_map(|ancestor| places.get(ancestor).copied())
            .find(|above| is_grant(&entries[*above]));
        if let Some(above) = above {
            let outer = &entries[above];
            let fault = if above < place {
                Fault::new(
                    format!("{} lies beneath {outer}", show(&entry.path)),
                    overlap_remedy(outer, entry),
                )
            } else {
                Fault::new(
                    format!("{} contains {entry}", show(&outer.path)),
                    overlap_remedy(outer, entry),
                )
            };
            return Some((place.max(above), fault));
        }
    }
    None
}

/// A command that can write the sandbox program decides what its next sandbox is.
pub(super) fn bubblewrap(path: &Path, entries: &[Listed]) -> Result<(), Fault> {
    let grant = entries
        .iter()
        .find(|entry| entry.list == List::ReadWrite && path.starts_with(&entry.path));
    match grant {
        None => Ok(()),
        Some(grant) => Err(Fault::new(
            format!(
                "{} lies beneath {grant}, so a command could replace it",
                show(path)
            ),
            "name a program that commands cannot write, such as \"/usr/bin/bwrap\"",
        )),
    }
}

fn overlap_remedy(outer: &Listed, inner: &Listed) -> String {
    if outer.list == inner.list {
        format!("remove {inner}, which {outer} covers")
    } else {
        "grant directories that do not contain one another".to_owned()
    }
}

fn show(path: &Path) -> String {
    quote(&path.to_string_lossy())
}

fn is_pattern(text: &str) -> bool {
    let closed = |open: char, close: char| {
        text.find(open)
            .is_some_and(|start| text[start..].contains(close))
    };
    text.contains(['*', '?']) || closed('[', ']') || (closed('{', '}') && text.contains(','))
}

/// An absolute, literal path like the one that was probably meant.
fn suggestion(text: &str) -> String {
    let mut path = String::from(if text.starts_with('/') {
        ""
    } else {
        "/home/user"
    });
    for (index, name) in text.split('/').enumerate() {
        if is_pattern(name) {
            break;
        }
        let expands = index == 0 && name.starts_with(['~', '$']);
        if !expands && !matches!(name, "" | "." | "..") {
            path.push('/');
            path.push_str(name);
        }
    }
    if path.is_empty() || path == "/home/user" && !text.starts_with('~') {
        path = "/home/user/data".to_owned();
    }
    path
}
