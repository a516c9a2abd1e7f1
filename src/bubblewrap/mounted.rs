//! Whether what bubblewrap mounted is where it belongs.
//!
//! bubblewrap mounts by name. Where the place of a mount is in the caller's own files, as
//! that of a grant below a readable directory is, another process can put a symbolic link
//! there for a moment: the mount then comes to lie over the link's target, and everything
//! that the link leads to is writable, or what was to be hidden is not. bubblewrap's own
//! comparison of a mount with its source (since the mend of CVE-2024-42472) does not
//! notice it where the link is gone again. So each such mount is looked at, from outside,
//! before the command is let go.

use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::{FileStat, Mode, fstat};
use nix::sys::statvfs::{FsFlags, fstatvfs};

use super::Features;
use crate::view::{Access, Content, Mount, View, open_without_links, open_without_links_at};

/// The mounts of a view whose place or source a name decides that others may change.
fn contested(view: &View, features: Features) -> impl Iterator<Item = &Mount> {
    let mounts = view.mounts();
    mounts.iter().enumerate().filter_map(move |(index, mount)| {
        let is_last = !mounts[index + 1..].iter().any(|later| later.at == mount.at);
        let by_path = matches!(mount.content, Content::Host { pin: Some(_), .. })
            && !features.bind_descriptor;
        (mount.asked && is_last && (by_path || lies_in_host(view, &mount.at))).then_some(mount)
    })
}

/// Whether a view has any of them.
pub(crate) fn is_contested(view: &View, features: Features) -> bool {
    contested(view, features).next().is_some()
}

/// Whether a mount is made below a directory of the host.
fn lies_in_host(view: &View, at: &Path) -> bool {
    at.parent()
        .and_then(|parent| view.covering(parent))
        .is_some_and(|above| matches!(above.content, Content::Host { .. }))
}

/// The first of the contested mounts that is not as planned in the sandbox whose first
/// process this is, and which has not gone on from its mounts.
///
/// A bubblewrap with the set-user-id bit cannot be looked at, and none is found.
///
/// # Errors
/// What the kernel says where the sandbox's files cannot be reached.
pub(super) fn displaced(
    view: &View,
    features: Features,
    first: i32,
) -> Result<Option<PathBuf>, Errno> {
    // The old root and the new one are beside each other until all is mounted.
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let root = format!("/proc/{first}/root/newroot");
    let root = match open(root.as_str(), flags, Mode::empty()) {
        Ok(root) => root,
        Err(Errno::EACCES | Errno::EPERM) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(contested(view, features)
        .find(|mount| !stands(&root, view, mount).unwrap_or(false))
        .map(|mount| mount.at.clone()))
}

/// Whether a mount is at its place; nothing where its place cannot be reached.
fn stands(root: &OwnedFd, view: &View, mount: &Mount) -> Option<bool> {
    let place = mount.at.parent()?;
    let inside = place.strip_prefix("/").ok()?;
    let above = match inside.as_os_str().is_empty() {
        true => open_without_links_at(root.as_fd(), Path::new(".")).ok()?,
        false => open_without_links_at(root.as_fd(), inside).ok()?,
    };
    let name = Path::new(mount.at.file_name()?);
    let there = open_without_links_at(above.descriptor.as_fd(), name).ok()?;
    if mount_of(&there.descriptor)? == mount_of(&above.descriptor)? {
        return Some(false);
    }
    if let Content::Host { access, pin, .. } = &mount.content {
        let own = fstat(pin.as_ref()?).ok()?;
        let flags = fstatvfs(&there.descriptor).ok()?.flags();
        let writable = !flags.contains(FsFlags::ST_RDONLY);
        return Some(is_same(&own, &there.status) && (writable || *access == Access::ReadOnly));
    }
    // What covers a path has nothing of it. It has to lie in the very directory that the
    // path is in.
    let Mount { at, content, .. } = view.covering(place)?;
    let is_own = matches!(content, Content::Host { source, .. } if source == at);
    Some(!is_own || is_same(&open_without_links(place).ok()?.status, &above.status))
}

fn is_same(one: &FileStat, other: &FileStat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// The number of the mount that an open file is on (proc_pid_fdinfo(5)).
fn mount_of(file: &OwnedFd) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix("mnt_id:"))?
        .trim()
        .parse()
        .ok()
}
