//! Blanking the hidden paths, so that neither this command nor the next can undo it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};

use super::elsewhere::Mounted;
use super::open::{Opened, open_without_links};
use super::resolve::locate;
use super::{Access, Content, Grants, Mount, Pin, Placeholder, View, ViewError};
use crate::faults::{self, Protection};

/// The permission bits that mark a directory as made to hold a name: the owner can
/// list it, nobody can write it, and the sticky bit, which means nothing there, makes
/// the combination one that nobody chooses.
pub(crate) const PLACEHOLDER_MODE: u32 = 0o1500;

/// Adds what hides each path, ancestors first.
pub(super) fn add(view: &mut View, hidden: &[PathBuf], grants: &Grants) -> Result<(), ViewError> {
    if hidden.is_empty() {
        return Ok(());
    }
    let mut hidden: Vec<&PathBuf> = hidden.iter().collect();
    hidden.sort_by_cached_key(|path| match open_without_links(path) {
        // A link may lead to what lies above another hidden path.
        Err(Errno::ELOOP) => locate(path).map_or(0, |real| super::depth(&real)),
        _ => super::depth(path),
    });
    for path in &hidden {
        if *path == grants.workspace() {
            return Err(cannot(
                path,
                "it is the workspace: hide what is in it, or choose another workspace",
            ));
        }
        hide(view, path)?;
    }
    drop_covered(view, &hidden);
    if faults::has(Protection::Elsewhere) {
        let mounted = Mounted::read();
        for path in hidden {
            let Some(real) = locate(path) else { continue };
            for other in mounted.others(&real) {
                // What a grant names by this path is granted.
                if !grants.list.iter().any(|grant| grant.path == other) {
                    hide(view, &other)?;
                }
            }
        }
    }
    Ok(())
}

/// Takes away what the posture shows or covers beneath a hidden path, which would come to
/// lie over what hides it. What a grant shows there is left as it is.
fn drop_covered(view: &mut View, hidden: &[&PathBuf]) {
    let beneath = |path: &Path, above: &Path| path != above && path.starts_with(above);
    let grants: Vec<PathBuf> = view
        .mounts
        .iter()
        .filter(|mount| mount.asked && matches!(mount.content, Content::Host { .. }))
        .map(|mount| mount.at.clone())
        .collect();
    view.mounts.retain(|mount| {
        let shown = matches!(
            mount.content,
            Content::Host { .. }
                | Content::Link { .. }
                | Content::Blank
                | Content::Private { sealed: true, .. }
        );
        mount.asked
            || !shown
            || !hidden.iter().any(|path| {
                beneath(&mount.at, path)
                    && !grants
                        .iter()
                        .any(|grant| grant.starts_with(path) && mount.at.starts_with(grant))
            })
    });
}

fn hide(view: &mut View, path: &Path) -> Result<(), ViewError> {
    if path == Path::new("/") {
        return Err(cannot(path, "it is everything: name what is to be hidden"));
    }
    if is_of_one_process(path) {
        return Err(cannot(
            path,
            "it is another one for each process, and those of the host are not there: hide /proc",
        ));
    }
    let real = match open_without_links(path) {
        Ok(opened) => return cover(view, path, opened),
        // A link, or nothing: where would it be?
        Err(Errno::ELOOP | Errno::ENOENT) => match locate(path) {
            Some(real) => real,
            None => return Ok(()),
        },
        Err(Errno::ENOTDIR) => return beneath_a_file(view, path, path),
        Err(Errno::EACCES) => return close(view, path),
        Err(error) => return Err(cannot(path, &error.desc().to_lowercase())),
    };
    match open_without_links(&real) {
        Ok(opened) => cover(view, &real, opened),
        Err(Errno::ENOENT) => hold(view, path, &real),
        Err(Errno::ENOTDIR) => beneath_a_file(view, path, &real),
        Err(Errno::EACCES) => close(view, &real),
        Err(Errno::ELOOP) => Err(cannot(path, "it changed while it was looked at: try again")),
        Err(error) => Err(cannot(path, &error.desc().to_lowercase())),
    }
}

/// Covers what exists at a path without links.
fn cover(view: &mut View, path: &Path, opened: Opened) -> Result<(), ViewError> {
    let Some(root) = visible_root(view, path) else {
        return Ok(());
    };
    if root.access == Access::ReadWrite {
        if let (true, Some(parent), Some(name)) = (
            is_placeholder(path, &opened),
            path.parent(),
            path.file_name(),
        ) {
            return add_placeholder(view, path, &root.at, parent, name.to_owned());
        }
        pin_between(view, path, &root.at, path)?;
    }
    let content = if opened.is_directory() {
        Content::Private {
            mode: 0o755,
            sealed: true,
        }
    } else {
        Content::Blank
    };
    view.insert_asked(path.to_owned(), content);
    Ok(())
}

/// Whether a path names a process's own files (proc(5)).
fn is_of_one_process(path: &Path) -> bool {
    let mut names = path.components().skip(1);
    let first = names.next().map(|name| name.as_os_str().as_encoded_bytes());
    let second = names.next().map(|name| name.as_os_str().as_encoded_bytes());
    first == Some(b"proc")
        && second.is_some_and(|name| {
            matches!(name, b"self" | b"thread-self") || name.iter().all(u8::is_ascii_digit)
        })
}

/// What the caller cannot reach, the command could open up: in a writable place, the
/// directory that cannot be entered is covered itself.
fn close(view: &mut View, path: &Path) -> Result<(), ViewError> {
    let closed = path
        .ancestors()
        .skip(1)
        .find_map(|part| Some((part, open_without_links(part).ok()?)));
    match closed {
        Some((part, opened))
            if visible_root(view, part).is_some_and(|root| root.access == Access::ReadWrite) =>
        {
            cover(view, part, opened)
        }
        _ => Ok(()),
    }
}

/// Keeps an absent path absent: in a writable directory the command could create it,
/// and find it unhidden next time.
fn hold(view: &mut View, asked: &Path, real: &Path) -> Result<(), ViewError> {
    // What another launcher holds, now or before it was killed, is as good as absent.
    let existing = real.ancestors().skip(1).find_map(|part| {
        let opened = open_without_links(part);
        match opened {
            Err(Errno::ENOENT) => None,
            Ok(opened) if is_placeholder(part, &opened) => None,
            found => Some((part, found)),
        }
    });
    let Some((parent, opened)) = existing else {
        return Ok(());
    };
    let Some(name) = real
        .strip_prefix(parent)
        .ok()
        .and_then(|rest| rest.components().next())
    else {
        return Ok(());
    };
    let Some(root) = visible_root(view, parent) else {
        return Ok(());
    };
    if root.access == Access::ReadOnly {
        return Ok(());
    }
    match opened {
        Ok(opened) if opened.is_directory() => {}
        _ => return beneath_a_file(view, asked, real),
    }
    let name = name.as_os_str().to_owned();
    if access(parent, AccessFlags::W_OK).is_err() && !exists(&parent.join(&name)) {
        return freeze(view, asked, &root.at, &parent.join(&name));
    }
    add_placeholder(view, asked, &root.at, parent, name)
}

/// Keeps a directory that the caller cannot write, but may own, from being made writable:
/// it is mounted read-only, and what it holds as it was.
fn freeze(view: &mut View, asked: &Path, root: &Path, absent: &Path) -> Result<(), ViewError> {
    let cannot = |error: &dyn std::fmt::Display| cannot(asked, &error.to_string());
    pin_between(view, asked, root, absent)?;
    let Some(path) = absent.parent() else {
        return Ok(());
    };
    let mounted = view.mounts.iter_mut().rev().find(|mount| mount.at == path);
    if let Some(Content::Host { access, .. }) = mounted.map(|mount| &mut mount.content) {
        *access = Access::ReadOnly;
    }
    for entry in fs::read_dir(path).map_err(|error| cannot(&error))? {
        let entry = entry.map_err(|error| cannot(&error))?;
        let at = entry.path();
        let kind = entry.file_type().map_err(|error| cannot(&error))?;
        if kind.is_symlink() || view.mounts.iter().any(|mount| mount.at == at) {
            continue;
        }
        let opened = open_without_links(&at).map_err(|error| cannot(&error.desc()))?;
        let content = Content::Host {
            source: at.clone(),
            access: Access::ReadWrite,
            pin: Some(Pin::new(opened.descriptor)),
        };
        view.insert_asked(at, content);
    }
    Ok(())
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn add_placeholder(
    view: &mut View,
    asked: &Path,
    root: &Path,
    parent: &Path,
    name: OsString,
) -> Result<(), ViewError> {
    let at = parent.join(&name);
    pin_between(view, asked, root, &at)?;
    let placeholder = Placeholder {
        parent: parent.to_owned(),
        name,
    };
    if !view.placeholders.contains(&placeholder) {
        view.insert_asked(
            at,
            Content::Private {
                mode: 0o755,
                sealed: true,
            },
        );
        view.placeholders.push(placeholder);
    }
    Ok(())
}

/// A hidden path beneath what is a file is not there. The file is held to its place, so
/// that the command puts no directory there for the next one to find the path in.
fn beneath_a_file(view: &mut View, asked: &Path, real: &Path) -> Result<(), ViewError> {
    let Some(root) = visible_root(view, real) else {
        return Ok(());
    };
    if root.access == Access::ReadOnly {
        return Ok(());
    }
    let beneath = real.ancestors().find(|part| {
        part.parent()
            .is_some_and(|above| open_without_links(above).is_ok())
    });
    match beneath {
        Some(beneath) => pin_between(view, asked, &root.at, beneath),
        None => Ok(()),
    }
}

struct Root {
    at: PathBuf,
    access: Access,
}

/// The mount of the host that shows a path at its own place.
fn visible_root(view: &View, path: &Path) -> Option<Root> {
    match view.covering(path)? {
        Mount {
            at,
            content: Content::Host { source, access, .. },
            ..
        } if source == at => {
            // A pin is part of the writable directory that it stands in.
            Some(Root {
                at: at.clone(),
                access: *access,
            })
        }
        // The kernel's own files have no host directory behind them.
        Mount {
            at,
            content: Content::Processes,
            ..
        } => Some(Root {
            at: at.clone(),
            access: Access::ReadOnly,
        }),
        _ => None,
    }
}

/// Binds every directory between a writable directory and what is hidden in it onto
/// itself: a mount point cannot be renamed, and if it could, the next command would
/// find the secret under another name.
fn pin_between(view: &mut View, asked: &Path, root: &Path, leaf: &Path) -> Result<(), ViewError> {
    let mut between: Vec<&Path> = leaf
        .ancestors()
        .skip(1)
        // Where the writable place itself is hidden, nothing lies between.
        .take_while(|part| *part != root && part.starts_with(root))
        .collect();
    between.reverse();
    for part in between {
        if view.mounts.iter().any(|mount| mount.at == part) {
            continue;
        }
        let opened = open_without_links(part)
            .map_err(|error| cannot(asked, &error.desc().to_lowercase()))?;
        view.insert_asked(
            part.to_owned(),
            Content::Host {
                source: part.to_owned(),
                access: Access::ReadWrite,
                pin: Some(Pin::new(opened.descriptor)),
            },
        );
    }
    Ok(())
}

/// Whether this is a directory that a launcher made to hold a name, now or in a run
/// that was killed.
fn is_placeholder(path: &Path, opened: &Opened) -> bool {
    opened.is_directory()
        && opened.status.st_mode & 0o7777 == PLACEHOLDER_MODE
        && fs::symlink_metadata(path)
            .is_ok_and(|status| status.permissions().mode() & 0o7777 == PLACEHOLDER_MODE)
        && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

fn cannot(path: &Path, reason: &str) -> ViewError {
    ViewError::CannotHide {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}
