//! A path followed name by name, where the kernel cannot be asked to stay beneath a
//! directory. No symbolic link is followed, so there is nothing to lead it out.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{Mode, SFlag, fstatat};

use super::platform::HANDLE;

/// Where a walk ended.
#[derive(Debug)]
pub(super) struct Walked {
    /// What the path leads to.
    pub(super) found: OwnedFd,
    /// The directory and the name that it was found under; absent where the path
    /// ends in `..` or is empty.
    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "a handle is enough"))]
    pub(super) entry: Option<(OwnedFd, OsString)>,
}

/// What is at `rest`, a relative path, beneath `root`. A `..` goes back to the
/// directory that was come from, and `EXDEV` says that there is none; `ELOOP` says
/// that a name is a symbolic link.
pub(super) fn walk(root: BorrowedFd<'_>, rest: &Path) -> Result<Walked, Errno> {
    let directory = HANDLE | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
    // Ends with the directory that the walk has come to.
    let mut stack = vec![openat(root, ".", directory, Mode::empty())?];
    let mut components = rest.components().peekable();
    while let Some(component) = components.next() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if stack.len() > 1 => drop(stack.pop()),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(Errno::EXDEV);
            }
            Component::Normal(name) => {
                let here = stack.last().ok_or(Errno::EXDEV)?;
                if components.peek().is_none() {
                    let found = last(here.as_fd(), name)?;
                    let parent = stack.pop().ok_or(Errno::EXDEV)?;
                    return Ok(Walked {
                        found,
                        entry: Some((parent, name.to_owned())),
                    });
                }
                match openat(here, name, directory, Mode::empty()) {
                    Ok(next) => stack.push(next),
                    Err(Errno::ENOTDIR) if is_link(here.as_fd(), name) => {
                        return Err(Errno::ELOOP);
                    }
                    Err(errno) => return Err(errno),
                }
            }
        }
    }
    Ok(Walked {
        found: stack.pop().ok_or(Errno::EXDEV)?,
        entry: None,
    })
}

fn last(here: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    #[cfg(not(target_os = "linux"))]
    super::platform::refuse_special(here, name)?;
    let found = openat(here, name, HANDLE | OFlag::O_NOFOLLOW, Mode::empty())?;
    // Linux hands out a link itself, as something to hold.
    if is_link(found.as_fd(), OsStr::new("")) {
        return Err(Errno::ELOOP);
    }
    Ok(found)
}

/// Whether the name is a link; with an empty name, whether the descriptor is one.
fn is_link(here: BorrowedFd<'_>, name: &OsStr) -> bool {
    let status = if name.is_empty() {
        nix::sys::stat::fstat(here)
    } else {
        fstatat(here, name, AtFlags::AT_SYMLINK_NOFOLLOW)
    };
    status.is_ok_and(|status| {
        SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT == SFlag::S_IFLNK
    })
}
