//! File operations for the caller's own tools, that stay where the policy lets them.
//!
//! A tool that checks a path and then opens it opens whatever stands there by then.
//! A [`Guard`] has no such moment: it holds the workspace and the grants open, finds
//! a file beneath them without a way out, decides by where that very file is, and
//! opens that very file.
//!
//! ```
//! use std::io::{Read, Write};
//! use perimeter::Policy;
//! use perimeter::guard::{Guard, GuardError};
//!
//! let workspace = tempfile::tempdir()?;
//! let guard = Guard::for_tools(&Policy::strict(), workspace.path())?;
//! guard.create("note")?.write_all(b"hello")?;
//!
//! let mut text = String::new();
//! guard.open("note")?.read_to_string(&mut text)?;
//! assert_eq!(text, "hello");
//! assert!(matches!(guard.open("/etc/passwd"), Err(GuardError::Outside { .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Links
//!
//! On Linux a symbolic link is followed as long as it stays beneath the root that
//! it is in: no absolute link, and none from the workspace into a grant, since
//! openat2(2) with `RESOLVE_BENEATH` refuses them. Where openat2 is missing (before
//! Linux 5.6, under an old filter of system calls, on macOS), and after
//! [`Guard::without_links`], no link is followed at all.
//!
//! A hard link is a name like any other: a file that has one in the workspace is in
//! the workspace, wherever else it has names. Only a second name of a hidden *file*
//! is recognised; one of a file within a hidden directory is not.
//!
//! # Limits
//!
//! What a guard does not defend against is someone who can write outside of the
//! workspace and its grants, and moves a directory from the one to the other at the
//! right moment. On Linux the guard needs `/proc`.

mod change;
mod entry;
mod error;
mod hidden;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod platform;
#[cfg(not(target_os = "linux"))]
#[path = "macos.rs"]
mod platform;
mod root;
mod walk;

use std::fs::{File, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::OFlag;

pub use entry::{Entry, EntryKind};
pub use error::GuardError;

use crate::policy::Policy;
use hidden::Hidden;
use platform::Handle;
use root::{Root, refuse_overlap, refuse_policy};

/// How an existing file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// For reading.
    Read,
    /// For writing from the start, over what is there; nothing is cut off.
    Write,
    /// For writing at the end, always.
    Append,
    /// For reading and for writing over what is there.
    ReadWrite,
}

impl Access {
    fn flags(self) -> OFlag {
        match self {
            Access::Read => OFlag::O_RDONLY,
            Access::Write => OFlag::O_WRONLY,
            Access::Append => OFlag::O_WRONLY | OFlag::O_APPEND,
            Access::ReadWrite => OFlag::O_RDWR,
        }
    }
}

/// The places that a caller's tools may use, held open.
///
/// A relative path is taken from the workspace; an absolute one has to lie in the
/// workspace or a grant, by whole components, in the spelling that was given or
/// the real one. See the [module](self) for links and limits.
#[derive(Debug)]
pub struct Guard {
    /// The workspace first.
    roots: Vec<Root>,
    hidden: Hidden,
    links: bool,
}

/// A path, as far as its text goes.
struct Target<'a> {
    path: &'a Path,
    root: &'a Root,
    rest: &'a Path,
}

/// A file that was found, and may be used.
struct Found {
    handle: Handle,
    metadata: Metadata,
    location: PathBuf,
}

/// How often something that moves is looked for again.
const ATTEMPTS: usize = 16;

impl Guard {
    /// For the caller's built-in tools: the workspace and the policy's grants. What
    /// is granted for reading cannot be written; what is hidden is not there.
    ///
    /// The workspace may be reached through a link; a grant may not, because a
    /// command could have put the link there.
    ///
    /// # Errors
    ///
    /// [`GuardError::Workspace`] and [`GuardError::Grant`] for what cannot be
    /// opened, [`GuardError::Overlap`] for places that contain one another, and
    /// [`GuardError::PolicyInside`] if the policy's own file could be written.
    pub fn for_tools(policy: &Policy, workspace: impl AsRef<Path>) -> Result<Guard, GuardError> {
        let mut roots = vec![Root::workspace(workspace.as_ref())?];
        for path in &policy.read_only {
            roots.push(Root::grant(path, false)?);
        }
        for path in &policy.read_write {
            roots.push(Root::grant(path, true)?);
        }
        Guard::new(policy, roots)
    }

    /// For plug-ins: the workspace alone, whatever else the policy grants.
    ///
    /// # Errors
    ///
    /// As for [`Guard::for_tools`].
    pub fn for_plugins(policy: &Policy, workspace: impl AsRef<Path>) -> Result<Guard, GuardError> {
        Guard::new(policy, vec![Root::workspace(workspace.as_ref())?])
    }

    fn new(policy: &Policy, roots: Vec<Root>) -> Result<Guard, GuardError> {
        refuse_overlap(&roots)?;
        refuse_policy(&roots, policy)?;
        Ok(Guard {
            roots,
            hidden: Hidden::new(&policy.hidden),
            links: true,
        })
    }

    /// The same guard, following no symbolic link at all: what it does anyway where
    /// the system offers nothing better.
    pub fn without_links(mut self) -> Guard {
        self.links = false;
        self
    }

    /// The workspace's real location.
    pub fn workspace(&self) -> &Path {
        &self.roots[0].location
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// As for [`Guard::open_with`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<File, GuardError> {
        self.open_with(path, Access::Read)
    }

    /// Opens an existing file. [`Guard::create`] makes one.
    ///
    /// # Errors
    ///
    /// [`GuardError::Outside`], [`GuardError::Hidden`] and [`GuardError::ReadOnly`]
    /// for what the policy does not allow; [`GuardError::Directory`] and
    /// [`GuardError::Special`] for what is no regular file, without waiting for
    /// anything; [`GuardError::System`] for a file that is absent or whose
    /// permissions forbid it; [`GuardError::Link`], [`GuardError::Moved`] and
    /// [`GuardError::Path`] as described there.
    pub fn open_with(&self, path: impl AsRef<Path>, access: Access) -> Result<File, GuardError> {
        let target = self.target(path.as_ref())?;
        if access != Access::Read {
            target.refuse_read_only()?;
        }
        let found = self.find(&target)?;
        found.open(target.path, access.flags())
    }

    /// The names in a directory, in order, without those that are hidden.
    ///
    /// # Errors
    ///
    /// As for [`Guard::open_with`], and [`GuardError::NotDirectory`].
    pub fn list(&self, path: impl AsRef<Path>) -> Result<Vec<Entry>, GuardError> {
        let target = self.target(path.as_ref())?;
        let found = self.find(&target)?;
        if !found.metadata.is_dir() {
            return Err(GuardError::NotDirectory {
                path: target.path.to_owned(),
            });
        }
        let mut entries = entry::entries(&found.handle)
            .map_err(|errno| GuardError::system(target.path, "list", errno.into()))?;
        entries.retain(|entry| {
            let location = found.location.join(&entry.name);
            !self.hidden.covers(&location, &target.root.location)
        });
        Ok(entries)
    }

    /// What the system knows of a file, a link followed. Pipes, sockets and devices
    /// are looked at, and not opened.
    ///
    /// # Errors
    ///
    /// As for [`Guard::open_with`]; on macOS also for pipes, sockets and devices.
    pub fn metadata(&self, path: impl AsRef<Path>) -> Result<Metadata, GuardError> {
        let target = self.target(path.as_ref())?;
        Ok(self.find(&target)?.metadata)
    }

    /// The root that a path lies in, by its text alone.
    fn target<'a>(&'a self, path: &'a Path) -> Result<Target<'a>, GuardError> {
        let bytes = path.as_os_str().as_bytes();
        let refuse = |problem| {
            Err(GuardError::Path {
                path: path.to_owned(),
                problem,
            })
        };
        if bytes.is_empty() {
            return refuse("is empty");
        }
        if bytes.contains(&0) {
            return refuse("holds a NUL");
        }
        if !path.is_absolute() {
            return Ok(Target {
                path,
                root: &self.roots[0],
                rest: path,
            });
        }
        // Two spellings can nest even though no two roots do, so the longest counts.
        self.roots
            .iter()
            .filter_map(|root| root.rest_of(path).map(|rest| Target { path, root, rest }))
            .min_by_key(|target| target.rest.as_os_str().len())
            .ok_or_else(|| GuardError::Outside {
                path: path.to_owned(),
            })
    }

    /// What a path leads to, held, and allowed to be used where it is.
    fn find(&self, target: &Target<'_>) -> Result<Found, GuardError> {
        self.find_at(target, target.rest)
    }

    /// As [`Guard::find`], for `rest` of the target's root.
    fn find_at(&self, target: &Target<'_>, rest: &Path) -> Result<Found, GuardError> {
        let refuse = |errno| GuardError::from_errno(target.path, "open", errno);
        let root = target.root;
        // Said of a path that does not exist, too: a name that is hidden is not told
        // apart from one that is not there.
        if !rest.components().any(|one| one == Component::ParentDir) {
            self.refuse_hidden(target, &root.location.join(rest))?;
        }
        for _ in 0..ATTEMPTS {
            let handle = if rest.as_os_str().is_empty() {
                root.handle
                    .again()
                    .map_err(|error| GuardError::system(target.path, "open", error))?
            } else {
                root.handle.beneath(rest, self.links).map_err(refuse)?
            };
            match self.admit(target, handle) {
                Err(GuardError::Moved { .. }) => {}
                other => return other,
            }
        }
        Err(refuse(Errno::ESTALE))
    }

    /// Decides about a file by where it is, not by how it was found.
    fn admit(&self, target: &Target<'_>, handle: Handle) -> Result<Found, GuardError> {
        let location = handle
            .location()
            .map_err(|errno| GuardError::from_errno(target.path, "locate", errno))?;
        if !location.starts_with(&target.root.location) {
            return Err(GuardError::Moved {
                path: target.path.to_owned(),
            });
        }
        self.refuse_hidden(target, &location)?;
        let metadata = handle
            .metadata()
            .map_err(|error| GuardError::system(target.path, "examine", error))?;
        if self.hidden.is_second_name(&metadata) {
            return Err(GuardError::Hidden {
                path: target.path.to_owned(),
            });
        }
        Ok(Found {
            handle,
            metadata,
            location,
        })
    }

    fn refuse_hidden(&self, target: &Target<'_>, location: &Path) -> Result<(), GuardError> {
        if self.hidden.covers(location, &target.root.location) {
            return Err(GuardError::Hidden {
                path: target.path.to_owned(),
            });
        }
        Ok(())
    }
}

impl Target<'_> {
    fn refuse_read_only(&self) -> Result<(), GuardError> {
        if self.root.writable {
            return Ok(());
        }
        Err(GuardError::ReadOnly {
            path: self.path.to_owned(),
        })
    }
}

impl Found {
    /// Opens the file that was found, and nothing else.
    fn open(&self, path: &Path, flags: OFlag) -> Result<File, GuardError> {
        let kind = self.metadata.file_type();
        let path_buf = || path.to_owned();
        if kind.is_dir() {
            return Err(GuardError::Directory { path: path_buf() });
        }
        if kind.is_symlink() {
            return Err(GuardError::Link { path: path_buf() });
        }
        if !kind.is_file() {
            return Err(GuardError::Special { path: path_buf() });
        }
        let file = self
            .handle
            .reopen(flags)
            .map_err(|errno| GuardError::from_errno(path, "open", errno))?;
        let opened = file
            .metadata()
            .map_err(|error| GuardError::system(path, "examine", error))?;
        if (opened.dev(), opened.ino()) != (self.metadata.dev(), self.metadata.ino()) {
            return Err(GuardError::Moved { path: path_buf() });
        }
        Ok(file)
    }
}
