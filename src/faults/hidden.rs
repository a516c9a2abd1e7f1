//! Which hidden paths a wrong launcher passes over, and where it puts those that it hides.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};

use super::mistake::{Mistake, made};
use crate::policy::Policy;
use crate::view::{Content, Grants, Mount, Placeholder, View, open_without_links};

/// Whether a path is a link, or goes through one.
pub(super) fn is_linked(path: &Path) -> bool {
    matches!(open_without_links(path), Err(Errno::ELOOP))
}

/// Whether a path lies in a directory that this user cannot enter.
pub(super) fn is_closed(path: &Path) -> bool {
    matches!(open_without_links(path), Err(Errno::EACCES))
}

/// Whether a path is absent from a directory that this user cannot write.
pub(super) fn is_unwritable(path: &Path) -> bool {
    let there = path.ancestors().find(|part| part.exists());
    there.is_some_and(|part| part != path && access(part, AccessFlags::W_OK).is_err())
}

/// Changes how paths are hidden in a view. `plain` is the view without any hidden path.
pub(super) fn change(view: &mut View, plain: &View, policy: &Policy, grants: &Grants) {
    let before: HashSet<&Path> = plain.mounts().iter().map(|mount| &*mount.at).collect();
    let added = |mount: &Mount| !before.contains(&*mount.at);
    let covers = |mount: &Mount| {
        added(mount) && matches!(mount.content, Content::Private { .. } | Content::Blank)
    };
    match made() {
        Mistake::HiddenTakesWrites => {
            for mount in view.mounts.iter_mut().filter(|mount| added(mount)) {
                if let Content::Private { sealed, .. } = &mut mount.content {
                    *sealed = false;
                }
            }
        }
        Mistake::HiddenParentsMovable => {
            let granted: HashSet<PathBuf> = grants.paths().collect();
            let kept = |mount: &Mount| covers(mount) || granted.contains(&mount.at);
            view.mounts.retain(|mount| !added(mount) || kept(mount));
        }
        Mistake::HiddenBeforeGrants => {
            view.placeholders.clear();
            view.mounts.retain(|mount| {
                let exists = fs::symlink_metadata(&mount.at).is_ok();
                !added(mount) || covers(mount) && exists
            });
            // What is covered by then cannot be made read-only any more.
            for mount in view.mounts.iter_mut().filter(|mount| added(mount)) {
                if let Content::Private { sealed, .. } = &mut mount.content {
                    *sealed = false;
                }
            }
            let granted: HashSet<PathBuf> = grants.paths().collect();
            let (last, first): (Vec<Mount>, Vec<Mount>) = std::mem::take(&mut view.mounts)
                .into_iter()
                .partition(|mount| granted.contains(&mount.at));
            view.mounts = first;
            view.mounts.extend(last);
        }
        Mistake::HiddenCoversGrants => {
            let (last, first): (Vec<Mount>, Vec<Mount>) = std::mem::take(&mut view.mounts)
                .into_iter()
                .partition(|mount| covers(mount));
            view.mounts = first;
            view.mounts.extend(last);
        }
        Mistake::MountPointsLeft => {
            view.placeholders.clear();
            view.mounts
                .retain(|mount| !added(mount) || mount.at.exists());
            for path in absent(policy) {
                if grants.is_writable(path) {
                    let content = Content::Private {
                        mode: 0o755,
                        sealed: true,
                    };
                    view.insert(path.clone(), content);
                }
            }
        }
        Mistake::PlaceholdersEverywhere => {
            for path in absent(policy) {
                let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                    continue;
                };
                let placeholder = Placeholder {
                    parent: parent.to_owned(),
                    name: name.to_owned(),
                };
                let can = access(parent, AccessFlags::W_OK).is_ok() && !is_linked(parent);
                if can && !view.placeholders.contains(&placeholder) {
                    view.placeholders.push(placeholder);
                }
            }
        }
        _ => {}
    }
}

/// The hidden paths that do not exist.
fn absent(policy: &Policy) -> impl Iterator<Item = &PathBuf> {
    let hidden = policy.hidden.iter();
    hidden.filter(|path| fs::symlink_metadata(path).is_err())
}
