//! The places that a guard opens things in: the workspace and the policy's grants.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use super::error::GuardError;
use super::platform::Handle;
use crate::policy::{Policy, describe};

/// A directory or file that was opened once, when the guard was made. Whatever is
/// put in its place later is not this.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) handle: Handle,
    /// Where it really is.
    pub(super) location: PathBuf,
    /// How the caller or the policy spells it.
    pub(super) spelling: PathBuf,
    pub(super) writable: bool,
}

impl Root {
    pub(super) fn workspace(path: &Path) -> Result<Root, GuardError> {
        let refuse = |problem: String| GuardError::Workspace {
            path: path.to_owned(),
            problem,
        };
        let spelling = std::path::absolute(path).map_err(|error| refuse(describe(&error)))?;
        let handle = Handle::directory(&spelling)
            .map_err(|errno| refuse(format!("cannot be opened: {}", describe(&errno.into()))))?;
        let location = handle
            .location()
            .map_err(|errno| refuse(format!("cannot be located: {}", describe(&errno.into()))))?;
        if location.parent().is_none() {
            return Err(refuse("is the whole file system".to_owned()));
        }
        Ok(Root {
            handle,
            location,
            spelling,
            writable: true,
        })
    }

    pub(super) fn grant(path: &Path, writable: bool) -> Result<Root, GuardError> {
        let refuse = |problem: String, remedy: &str| GuardError::Grant {
            path: path.to_owned(),
            problem,
            remedy: remedy.to_owned(),
        };
        let handle = Handle::literal(path).map_err(|errno| match errno {
            Errno::ELOOP => {
                let remedy = match path.canonicalize() {
                    Ok(real) => format!("write the real path, {}", real.display()),
                    Err(_) => "write the real path".to_owned(),
                };
                refuse("is, or passes, a symbolic link".to_owned(), &remedy)
            }
            Errno::EMFILE => refuse(
                "is one too many to hold open".to_owned(),
                "grant a directory above several, or raise `ulimit -n`",
            ),
            errno => refuse(
                format!("cannot be opened: {}", describe(&errno.into())),
                "make it, or remove it from the policy",
            ),
        })?;
        let location = handle.location().map_err(|errno| {
            refuse(
                format!("cannot be located: {}", describe(&errno.into())),
                "check that /proc is mounted",
            )
        })?;
        Ok(Root {
            handle,
            location,
            spelling: path.to_owned(),
            writable,
        })
    }

    /// The rest of an absolute path that lies in this root, by components, in
    /// either of the root's spellings.
    pub(super) fn rest_of<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.strip_prefix(&self.location)
            .or_else(|_| path.strip_prefix(&self.spelling))
            .ok()
    }
}

/// Refuses roots that contain one another: which of the two rules would count?
pub(super) fn refuse_overlap(roots: &[Root]) -> Result<(), GuardError> {
    let mut places = HashMap::with_capacity(roots.len());
    let overlap = |outer: &Path, inner: &Path| {
        Err(GuardError::Overlap {
            outer: outer.to_owned(),
            inner: inner.to_owned(),
        })
    };
    for root in roots {
        if places.insert(root.location.as_path(), root).is_some() {
            return overlap(&root.location, &root.location);
        }
    }
    for root in roots {
        let above = root.location.ancestors().skip(1);
        if let Some(outer) = above.filter_map(|ancestor| places.get(ancestor)).next() {
            return overlap(&outer.location, &root.location);
        }
    }
    Ok(())
}

/// Refuses a policy that the guarded tools could rewrite.
pub(super) fn refuse_policy(roots: &[Root], policy: &Policy) -> Result<(), GuardError> {
    let Some(source) = &policy.source else {
        return Ok(());
    };
    let real = source.canonicalize().ok();
    let inside = |root: &&Root| {
        root.writable
            && (root.rest_of(source).is_some()
                || policy.links.iter().any(|link| root.rest_of(link).is_some())
                || real
                    .as_ref()
                    .is_some_and(|real| root.rest_of(real).is_some()))
    };
    match roots.iter().find(inside) {
        None => Ok(()),
        Some(root) => Err(GuardError::PolicyInside {
            path: source.clone(),
            writable: root.location.clone(),
        }),
    }
}
