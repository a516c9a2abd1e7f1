//! The symbolic links that a path goes through.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows (path_resolution(7)).
const MOST: usize = 40;

/// What the symbolic link at a path says; nothing where there is none. Of this system's
/// files, or of some that are only thought of.
pub(crate) type ReadLink<'a> = &'a dyn Fn(&Path) -> Option<PathBuf>;

/// What the symbolic link at a path of this system says.
pub(crate) fn read_link(path: &Path) -> Option<PathBuf> {
    fs::read_link(path).ok()
}

/// The symbolic links that a path goes through, each where it really is. Whoever can
/// replace one of them decides where the path leads.
pub(crate) fn links(path: &Path) -> Vec<PathBuf> {
    let found = links_among(path, &read_link);
    found.into_iter().map(|(link, _)| link).collect()
}

/// The same among links that need not be there, with what each says.
pub(crate) fn links_among(path: &Path, read_link: ReadLink<'_>) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    let Ok(path) = std::path::absolute(path) else {
        return found;
    };
    let mut left: VecDeque<OsString> = names(&path).collect();
    let mut here = PathBuf::from("/");
    while let Some(name) = left.pop_front() {
        if name == ".." {
            here.pop();
            continue;
        }
        here.push(name);
        let Some(target) = read_link(&here) else {
            continue;
        };
        found.push((here.clone(), target.clone()));
        if found.len() == MOST {
            break;
        }
        here.pop();
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        for name in names(&target).rev() {
            left.push_front(name);
        }
    }
    found
}

/// The names of a path, `..` among them.
fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}
