//! The other paths at which the same files are mounted.
//!
//! A host may show a directory twice: by a bind mount, as image-based systems have their
//! /var, by a file system's top level beside one of its parts, by the tree of a chroot. A
//! path that is hidden by one of its names alone is not hidden.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::open::open_without_links;

/// The file systems that are mounted, and where (proc_pid_mountinfo(5)).
#[derive(Debug, Default)]
pub(super) struct Mounted {
    list: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    /// Which file system, as the kernel numbers them.
    device: OsString,
    /// What of it is mounted.
    root: PathBuf,
    at: PathBuf,
}

impl Mounted {
    /// Those of this process; none where /proc does not say.
    pub(super) fn read() -> Mounted {
        fs::read("/proc/self/mountinfo").map_or_else(|_| Mounted::default(), |text| parse(&text))
    }

    /// Every other path at which the file at a path is found, or would be if it were
    /// there.
    pub(super) fn others(&self, path: &Path) -> Vec<PathBuf> {
        // Of several at one place, the last is on top.
        let own = self
            .list
            .iter()
            .filter(|entry| path.starts_with(&entry.at))
            .max_by_key(|entry| entry.at.components().count());
        let Some((own, rest)) = own.and_then(|own| Some((own, path.strip_prefix(&own.at).ok()?)))
        else {
            return Vec::new();
        };
        let within = own.root.join(rest);
        let mut found: Vec<PathBuf> = self
            .list
            .iter()
            .filter(|entry| entry.device == own.device)
            .filter_map(|entry| Some(entry.at.join(within.strip_prefix(&entry.root).ok()?)))
            // Rebuilt, which drops the slash that an empty rest leaves.
            .map(|other| other.components().collect::<PathBuf>())
            .filter(|other| other != path && is_same(path, other))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Whether two paths lead to one file; where nothing is there, whether it would be in one
/// directory. What is mounted over one of them makes them differ.
fn is_same(one: &Path, other: &Path) -> bool {
    let (mut one, mut other) = (one, other);
    loop {
        match (open_without_links(one), open_without_links(other)) {
            (Ok(one), Ok(other)) => {
                let identity = |status: &nix::sys::stat::FileStat| (status.st_dev, status.st_ino);
                return identity(&one.status) == identity(&other.status);
            }
            (Err(_), Err(_)) if one.file_name() == other.file_name() => {}
            _ => return false,
        }
        match (one.parent(), other.parent()) {
            (Some(above_one), Some(above_other)) => (one, other) = (above_one, above_other),
            _ => return false,
        }
    }
}

fn parse(text: &[u8]) -> Mounted {
    let list = text.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut fields = line.split(|byte| *byte == b' ').skip(2);
        Some(Entry {
            device: OsStr::from_bytes(fields.next()?).to_owned(),
            root: unescaped(fields.next()?),
            at: unescaped(fields.next()?),
        })
    });
    Mounted {
        list: list.collect(),
    }
}

/// A blank, a tab, a newline or a backslash is written in three octal digits.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        let escaped = after
            .get(..3)
            .filter(|_| *byte == b'\\')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(escaped.unwrap_or(*byte));
        rest = if escaped.is_some() {
            &after[3..]
        } else {
            after
        };
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_wherever_its_file_system_shows_it() {
        let root = std::env::temp_dir();
        let shown = root.display();
        // Two mounts of one place are one file, whatever is there.
        let text = format!(
            "1 0 8:1 / / rw - ext4 /dev/x rw\n2 1 8:2 / /srv rw - ext4 /dev/y rw\n\
             3 1 8:1 {shown} {shown} rw - ext4 /dev/x rw\n"
        );
        let mounted = parse(text.as_bytes());
        assert_eq!(mounted.list.len(), 3);
        // By both it is the very path, which is no other.
        assert!(mounted.others(&root.join("x")).is_empty());
        assert!(mounted.others(Path::new("/srv/x")).is_empty());
    }

    #[test]
    fn a_place_may_have_blanks_and_backslashes() {
        assert_eq!(unescaped(br"/a\040b\134c\x"), Path::new(r"/a b\c\x"));
    }
}
