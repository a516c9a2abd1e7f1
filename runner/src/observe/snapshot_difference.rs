//! How two states of a tree differ, in words.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::observation::Change;
use super::snapshot::{Content, EntryState, Kind, Snapshot};

/// How much of a content the words show.
const SHOWN: usize = 60;

/// One path that is not as it was.
struct Difference<'a> {
    path: &'a Path,
    before: Option<&'a EntryState>,
    after: Option<&'a EntryState>,
    what: String,
    /// Whether only times or the like tell; for a directory whose entries
    /// changed they say nothing more.
    slight: bool,
}

impl Snapshot {
    /// Every difference between this state and a later one of the same tree.
    pub fn differences(&self, after: &Snapshot) -> Vec<Change> {
        self.differences_except(after, &[])
    }

    /// Every difference, but those in the subtrees of `except`; of such a
    /// subtree's own top it counts only what it is: kind, mode, owner, inode.
    /// With this, one snapshot of everything serves for all questions.
    pub fn differences_except(&self, after: &Snapshot, except: &[PathBuf]) -> Vec<Change> {
        let except: Vec<&Path> = except
            .iter()
            .filter_map(|path| path.strip_prefix(&self.root).ok())
            .collect();
        let found = self.compare(after, &except);
        // An entry that came, went or was replaced explains its directory's times.
        let explained: BTreeSet<&Path> = found
            .iter()
            .filter(|it| it.before.map(EntryState::being) != it.after.map(EntryState::being))
            .filter_map(|it| it.path.parent())
            .collect();
        found
            .iter()
            .filter(|it| !(it.slight && is_directory(it.after) && explained.contains(it.path)))
            .map(|it| Change {
                path: self.absolute(it.path).to_string_lossy().into_owned(),
                what: it.what.clone(),
            })
            .collect()
    }

    /// What differs at a path or below it; `None` if all is as it was.
    pub fn difference_at(&self, after: &Snapshot, path: &Path) -> Option<String> {
        let relative = path.strip_prefix(&self.root).ok()?;
        let mut found = self.compare(after, &[]);
        found.retain(|it| it.path.starts_with(relative));
        // What is more than a time tells more.
        let telling = found.iter().position(|it| !it.slight).unwrap_or(0);
        found
            .into_iter()
            .nth(telling)
            .map(|it| match it.path.strip_prefix(relative) {
                Ok(below) if !below.as_os_str().is_empty() => {
                    format!("{}: {}", below.display(), it.what)
                }
                _ => it.what,
            })
    }

    /// Whether the path lies in the tree that this is the state of.
    pub fn covers(&self, path: &Path) -> bool {
        path.starts_with(&self.root)
    }

    /// The paths in the subtrees of `within` that are new, or whose kind,
    /// content or target is another: where a command may have put something.
    pub fn written(&self, after: &Snapshot, within: &[PathBuf]) -> Vec<PathBuf> {
        after
            .entries
            .iter()
            .filter(|(path, state)| match self.entries.get(*path) {
                None => true,
                Some(before) => {
                    before.kind != state.kind
                        || before.content != state.content
                        || before.identity != state.identity
                }
            })
            .map(|(path, _)| self.absolute(path))
            .filter(|path| within.iter().any(|top| path.starts_with(top)))
            .collect()
    }

    fn absolute(&self, relative: &Path) -> PathBuf {
        if relative.as_os_str().is_empty() {
            self.root.clone()
        } else {
            self.root.join(relative)
        }
    }

    fn compare<'a>(&'a self, after: &'a Snapshot, except: &[&Path]) -> Vec<Difference<'a>> {
        let mut paths: BTreeMap<&Path, (Option<&EntryState>, Option<&EntryState>)> = self
            .entries
            .iter()
            .map(|(path, state)| (path.as_path(), (Some(state), None)))
            .collect();
        for (path, state) in &after.entries {
            paths.entry(path).or_default().1 = Some(state);
        }
        let mut found = Vec::new();
        for (path, (before, after)) in paths {
            if except
                .iter()
                .any(|top| path != *top && path.starts_with(top))
            {
                continue;
            }
            let (what, slight) = match (before, after) {
                (Some(before), Some(after)) => {
                    let bare = except.contains(&path) || before.excepted || after.excepted;
                    match before.difference(after, bare) {
                        Some(difference) => difference,
                        None => continue,
                    }
                }
                (None, Some(after)) => (format!("created as {}", after.kind.name()), false),
                (Some(before), None) => (format!("removed; it was {}", before.kind.name()), false),
                (None, None) => continue,
            };
            found.push(Difference {
                path,
                before,
                after,
                what,
                slight,
            });
        }
        found
    }
}

fn is_directory(state: Option<&EntryState>) -> bool {
    state.is_some_and(|state| state.kind == Kind::Directory)
}

impl EntryState {
    /// What cannot change without the directory. An inode's number alone may
    /// be given to what comes in its place.
    fn being(&self) -> (Kind, (u64, u64), Option<&Content>) {
        let target = (self.kind == Kind::Symlink).then_some(&self.content);
        (self.kind, self.identity, target)
    }

    /// The difference in words, and whether only times or the like tell. With
    /// `bare`, only what the entry is counts.
    fn difference(&self, after: &EntryState, bare: bool) -> Option<(String, bool)> {
        let mut words = Vec::new();
        if self.kind != after.kind {
            let (from, to) = (self.kind.name(), after.kind.name());
            return Some((format!("changed from {from} to {to}"), false));
        }
        if self.identity != after.identity {
            words.push("replaced by another".to_owned());
        }
        if self.mode != after.mode {
            let (from, to) = (self.mode, after.mode);
            words.push(format!("mode changed from {from:04o} to {to:04o}"));
        }
        if self.owner != after.owner {
            let ((user, group), (new_user, new_group)) = (self.owner, after.owner);
            words.push(format!(
                "owner changed from {user}:{group} to {new_user}:{new_group}"
            ));
        }
        if !bare {
            if self.content != after.content {
                words.push(content_words(self, after));
            } else if self.kind == Kind::File && self.size != after.size {
                words.push(format!("size changed from {} to {}", self.size, after.size));
            }
            // A directory has a link for each directory in it.
            if self.kind != Kind::Directory && self.links != after.links {
                let (from, to) = (self.links, after.links);
                words.push(format!("number of hard links changed from {from} to {to}"));
            }
        }
        if !words.is_empty() {
            return Some((words.join(", "), false));
        }
        if bare {
            None
        } else if self.modified != after.modified {
            Some(("modification time changed".to_owned(), true))
        } else if self.status_changed != after.status_changed {
            Some((
                "status changed: attributes, or something set and set back".to_owned(),
                true,
            ))
        } else {
            None
        }
    }
}

fn content_words(before: &EntryState, after: &EntryState) -> String {
    let noun = match after.kind {
        Kind::Symlink => "target",
        _ => "content",
    };
    match (&before.content, &after.content) {
        (Content::Whole(from), Content::Whole(to)) => {
            format!("{noun} changed from {} to {}", quote(from), quote(to))
        }
        (_, Content::Unreadable) => format!("{noun} can no longer be read"),
        (Content::Unreadable, _) => format!("{noun} can now be read"),
        _ => format!("{noun} changed"),
    }
}

fn quote(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match text.char_indices().nth(SHOWN) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", &text[..end]),
    }
}
