//! Where a path leads inside a view, found before anything is started.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;

use super::open::open_without_links;
use super::{Content, View};
use crate::links::ReadLink;

/// As many links as the kernel follows (path_resolution(7)).
pub(super) const LINKS: usize = 40;

/// What a path leads to, inside a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A file or directory of the host.
    Host {
        /// Its path on the host, without links.
        host: PathBuf,
    },
    /// Something that the sandbox makes: a temporary directory, `/dev`, `/proc`.
    Made {
        /// Its path inside, without links.
        path: PathBuf,
    },
}

/// Why a path leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreachable {
    /// Nothing is there.
    Missing,
    /// It goes through what is hidden or no directory.
    Closed,
    /// Its links go in a circle.
    Circle,
}

impl View {
    /// Follows a path, and the links on its way, as a command inside would.
    ///
    /// # Errors
    /// [`Unreachable`] where a command would not reach it.
    pub fn resolve(&self, path: &Path) -> Result<Place, Unreachable> {
        match self.direct(path) {
            Some(found) => found,
            None => self.walk(path),
        }
    }

    /// The short way: most paths have no links beneath their mount, and one system call
    /// says so.
    fn direct(&self, path: &Path) -> Option<Result<Place, Unreachable>> {
        let mount = self.covering(path)?;
        let Content::Host { source, .. } = &mount.content else {
            return None;
        };
        if path.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let host = join(source, path.strip_prefix(&mount.at).ok()?);
        match open_without_links(&host) {
            Ok(_) => Some(Ok(Place::Host { host })),
            Err(Errno::EACCES) => Some(Err(Unreachable::Closed)),
            Err(_) => None,
        }
    }

    fn walk(&self, path: &Path) -> Result<Place, Unreachable> {
        let mut left: VecDeque<OsString> = names(path);
        let mut here = PathBuf::from("/");
        let mut links = 0;
        while let Some(name) = left.pop_front() {
            if name == ".." {
                here.pop();
                continue;
            }
            let next = here.join(&name);
            let Some(target) = self.link_at(&next)? else {
                here = next;
                continue;
            };
            links += 1;
            if links > LINKS {
                return Err(Unreachable::Circle);
            }
            if target.is_absolute() {
                here = PathBuf::from("/");
            }
            for name in names(&target).into_iter().rev() {
                left.push_front(name);
            }
        }
        let Some(mount) = self.covering(&here) else {
            return Err(Unreachable::Missing);
        };
        match (&mount.content, here.strip_prefix(&mount.at)) {
            (Content::Host { source, .. }, Ok(rest)) => Ok(Place::Host {
                host: join(source, rest),
            }),
            _ => Ok(Place::Made { path: here }),
        }
    }

    /// What the link at a path says; nothing if something else is there.
    fn link_at(&self, path: &Path) -> Result<Option<PathBuf>, Unreachable> {
        let mount = self.covering(path).ok_or(Unreachable::Missing)?;
        let exact = mount.at == path;
        match &mount.content {
            Content::Link { target } if exact => Ok(Some(target.clone())),
            Content::Link { .. } | Content::Blank if !exact => Err(Unreachable::Closed),
            Content::Host { source, .. } => {
                let Ok(rest) = path.strip_prefix(&mount.at) else {
                    return Ok(None);
                };
                let host = join(source, rest);
                let status = fs::symlink_metadata(&host).map_err(|error| match error.kind() {
                    std::io::ErrorKind::NotFound => Unreachable::Missing,
                    _ => Unreachable::Closed,
                })?;
                if status.file_type().is_symlink() {
                    return fs::read_link(&host)
                        .map(Some)
                        .map_err(|_| Unreachable::Missing);
                }
                Ok(None)
            }
            Content::Private { .. } | Content::Directory { .. } if !exact => {
                // Only what other mounts need is there.
                let made = self.mounts.iter().any(|other| other.at.starts_with(path));
                if made {
                    Ok(None)
                } else {
                    Err(Unreachable::Missing)
                }
            }
            _ => Ok(None),
        }
    }
}

/// `source` and what is beneath it, without the slash that an empty rest would leave.
fn join(source: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() {
        source.to_owned()
    } else {
        source.join(rest)
    }
}

/// The names of a path, `..` among them.
pub(super) fn names(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        })
        .collect()
}

/// Where a path leads, links followed, as far as it exists; the rest is appended.
/// Nowhere, if its links go in a circle.
#[cfg(target_os = "linux")]
pub(crate) fn locate(path: &Path) -> Option<PathBuf> {
    locate_among(path, &crate::links::read_link)
}

/// The same among links that need not be there.
pub(crate) fn locate_among(path: &Path, read_link: ReadLink<'_>) -> Option<PathBuf> {
    let mut left: VecDeque<OsString> = names(path);
    let mut here = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = left.pop_front() {
        if name == ".." {
            here.pop();
            continue;
        }
        here.push(&name);
        let Some(target) = read_link(&here) else {
            continue;
        };
        links += 1;
        if links > LINKS {
            return None;
        }
        here.pop();
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        for name in names(&target).into_iter().rev() {
            left.push_front(name);
        }
    }
    Some(here)
}
