//! What a command will see: an ordered list of mounts.
//!
//! A view knows nothing of the program that makes it real. It is a value that can be
//! printed and tested, and it answers questions about paths inside it before anything
//! is started.

#[cfg(target_os = "linux")]
mod base;
#[cfg(target_os = "linux")]
mod elsewhere;
mod error;
mod facts;
#[cfg(target_os = "linux")]
mod grant_mounts;
mod grants;
#[cfg(target_os = "linux")]
mod hidden;
mod mac;
#[cfg_attr(target_os = "macos", path = "open_macos.rs")]
mod open;
mod resolve;
#[cfg(target_os = "linux")]
mod root;

use std::ffi::OsString;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub use error::ViewError;
pub use facts::Facts;
pub use grants::Grants;
pub(crate) use grants::{MAC_SYSTEM, refuse_overlap, refuse_too_wide_among};
#[cfg(target_os = "linux")]
pub(crate) use hidden::PLACEHOLDER_MODE;
#[cfg(target_os = "macos")]
pub(crate) use mac::MARK;
pub use mac::MacRequest;
pub(crate) use mac::{NAME_SERVICE, hidden_on_mac};
pub(crate) use open::Opened;
#[cfg(target_os = "linux")]
pub(crate) use open::{open_without_links, open_without_links_at};
pub(crate) use resolve::locate_among;
pub use resolve::{Place, Unreachable};

use crate::environment::PrivateDirectories;
use crate::policy::Network;
#[cfg(target_os = "linux")]
use crate::policy::Policy;

/// Whether a mount can be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Readable alone.
    ReadOnly,
    /// Readable and writable.
    ReadWrite,
}

/// An open handle on what a path meant when it was checked, so that what is mounted is
/// what was checked.
#[derive(Debug, Clone)]
pub struct Pin(Arc<OwnedFd>);

impl Pin {
    fn new(descriptor: OwnedFd) -> Pin {
        Pin(Arc::new(descriptor))
    }
}

impl AsFd for Pin {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What stands at a path.
#[derive(Debug, Clone)]
pub enum Content {
    /// A file or directory of the host, with everything mounted beneath it.
    Host {
        /// Its path on the host.
        source: PathBuf,
        /// Whether it can be written to.
        access: Access,
        /// The handle that it was checked by, where it was.
        pin: Option<Pin>,
    },
    /// An empty temporary directory, which is gone with the command.
    Private {
        /// Its permission bits.
        mode: u32,
        /// Read-only once everything in it is in place, so that a write fails
        /// instead of vanishing.
        sealed: bool,
    },
    /// A directory made in a temporary one.
    Directory {
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link made in a temporary directory.
    Link {
        /// What it says.
        target: PathBuf,
    },
    /// The processes of the sandbox (`/proc`).
    Processes,
    /// The few harmless devices (`/dev`).
    Devices,
    /// A file that can neither be read nor written, in place of a hidden one.
    Blank,
}

/// One entry of a view.
#[derive(Debug, Clone)]
pub struct Mount {
    /// Where it is, inside.
    pub at: PathBuf,
    /// What it is.
    pub content: Content,
    /// Whether the policy asks for it, at a place that may be in the caller's files and
    /// not in the system's.
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only bubblewrap mounts")
    )]
    pub(crate) asked: bool,
}

/// A name that a command must not be able to create in a writable directory. It is
/// held by an empty directory while the command runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Placeholder {
    /// The writable directory, on the host.
    pub parent: PathBuf,
    /// The name in it.
    pub name: OsString,
}

/// What a command will see.
#[derive(Debug, Clone)]
pub struct View {
    pub(crate) mounts: Vec<Mount>,
    pub(crate) placeholders: Vec<Placeholder>,
    network: Network,
    private: PrivateDirectories,
    /// Writable directories that other programs use too. Only where a private one cannot
    /// take their place.
    shared: Vec<PathBuf>,
}

impl View {
    /// The view of a policy whose grants are open. The hidden paths are looked at
    /// anew each time, since an earlier command may have changed what they mean.
    ///
    /// # Errors
    /// [`ViewError`] where a hidden path cannot be hidden.
    #[cfg(target_os = "linux")]
    pub fn build(policy: &Policy, grants: &Grants, facts: &Facts) -> Result<View, ViewError> {
        let private = base::private_directories(policy, grants, facts);
        let mut view = View {
            mounts: Vec::with_capacity(32),
            placeholders: Vec::new(),
            network: policy.network,
            private,
            shared: Vec::new(),
        };
        base::add(&mut view, policy, grants, facts);
        grant_mounts::add(&mut view, grants);
        hidden::add(&mut view, &policy.hidden, grants)?;
        view.coalesce();
        grant_mounts::add_spelling(&mut view, grants);
        Ok(view)
    }

    /// The mounts, parents before what lies beneath them.
    #[must_use]
    pub fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    /// The names to hold for as long as the command runs.
    #[must_use]
    pub fn placeholders(&self) -> &[Placeholder] {
        &self.placeholders
    }

    /// Whether the host's network is there.
    #[must_use]
    pub fn network(&self) -> Network {
        self.network
    }

    /// Where HOME and the like are, in the posture that has private ones.
    #[must_use]
    pub fn private_directories(&self) -> &PrivateDirectories {
        &self.private
    }

    /// Whether other programs use this writable directory too.
    pub(crate) fn is_shared(&self, path: &Path) -> bool {
        self.shared.iter().any(|shared| shared == path)
    }

    /// Adds a mount after those that are no deeper: the most specific path decides,
    /// whatever the order of a policy's lists.
    pub(crate) fn insert(&mut self, at: PathBuf, content: Content) {
        self.add(at, content, false);
    }

    /// As [`View::insert`], for what the policy asks for.
    #[cfg(target_os = "linux")]
    fn insert_asked(&mut self, at: PathBuf, content: Content) {
        self.add(at, content, true);
    }

    fn add(&mut self, at: PathBuf, content: Content, asked: bool) {
        let depth = depth(&at);
        let index = self
            .mounts
            .partition_point(|mount| self::depth(&mount.at) <= depth);
        self.mounts.insert(index, Mount { at, content, asked });
    }

    /// Leaves out what another mount shows already: a readable grant where the mount
    /// above it shows the host's own file, readable. A hidden path between the two
    /// keeps the grant, so this comes after those.
    #[cfg(target_os = "linux")]
    fn coalesce(&mut self) {
        let shown = |mount: &Mount, above: Option<&Mount>| {
            let is_own = |mount: &Mount, wanted: Access| {
                matches!(&mount.content, Content::Host { source, access, .. }
                    if *source == mount.at && *access == wanted)
            };
            is_own(mount, Access::ReadOnly)
                && above.is_some_and(|above| is_own(above, Access::ReadOnly))
        };
        let mounts = std::mem::take(&mut self.mounts);
        for mount in mounts {
            if !shown(&mount, self.covering(&mount.at)) {
                self.mounts.push(mount);
            }
        }
    }

    /// The mount that decides about a path: the deepest one at or above it.
    pub(crate) fn covering(&self, path: &Path) -> Option<&Mount> {
        self.mounts
            .iter()
            .rev()
            .find(|mount| path.starts_with(&mount.at))
    }
}

impl fmt::Display for View {
    /// One mount a line: what it is, then where.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for mount in &self.mounts {
            let at = mount.at.display();
            match &mount.content {
                Content::Host { source, access, .. } => {
                    let word = match access {
                        Access::ReadOnly => "read-only",
                        Access::ReadWrite => "read-write",
                    };
                    write!(formatter, "{word:<12}{at}")?;
                    if *source != mount.at {
                        write!(formatter, " (from {})", source.display())?;
                    }
                    writeln!(formatter)?;
                }
                Content::Private {
                    mode,
                    sealed: false,
                } => {
                    writeln!(formatter, "{:<12}{at} ({mode:o})", "private")?;
                }
                Content::Private { .. } => writeln!(formatter, "{:<12}{at}", "empty")?,
                Content::Directory { mode } => {
                    writeln!(formatter, "{:<12}{at} ({mode:o})", "directory")?;
                }
                Content::Link { target } => {
                    writeln!(formatter, "{:<12}{at} -> {}", "link", target.display())?;
                }
                Content::Processes => writeln!(formatter, "{:<12}{at}", "processes")?,
                Content::Devices => writeln!(formatter, "{:<12}{at}", "devices")?,
                Content::Blank => writeln!(formatter, "{:<12}{at}", "blank")?,
            }
        }
        for placeholder in &self.placeholders {
            let path = placeholder.parent.join(&placeholder.name);
            writeln!(formatter, "{:<12}{}", "held", path.display())?;
        }
        let network = match self.network {
            Network::Host => "host",
            Network::None => "none",
        };
        writeln!(formatter, "{:<12}{network}", "network")
    }
}

/// How many names a path has.
fn depth(path: &Path) -> usize {
    path.components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .count()
}
