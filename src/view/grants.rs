//! The workspace and the policy's grants: checked, opened, and kept open.

use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::sys::stat::SFlag;
use nix::sys::statfs::{PROC_SUPER_MAGIC, fstatfs};

use super::open::{as_io, open_without_links};
use super::{Access, Content, Facts, Pin, View, ViewError};
use crate::faults::{self, Protection};
use crate::policy::Policy;

/// Directories whose change would reach far beyond one project.
const SYSTEM: [&str; 26] = [
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/nix/store",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/sys",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/local",
    "/usr/sbin",
    "/usr/share",
    "/var",
    "/var/tmp",
];

/// File systems that are no place for data, save for one directory of the latter.
const INTERFACES: [&str; 3] = ["/proc", "/sys", "/dev"];
const SHARED_MEMORY: &str = "/dev/shm";

/// One path of the host that a command may reach.
#[derive(Debug, Clone)]
pub(super) struct Grant {
    pub(super) path: PathBuf,
    pub(super) access: Access,
    pub(super) pin: Pin,
}

/// The workspace and the grants of a policy, each opened without following a
/// symbolic link and held open, so that a later change of a path does not widen it.
#[derive(Debug, Clone)]
pub struct Grants {
    workspace: PathBuf,
    spelling: PathBuf,
    pub(super) list: Vec<Grant>,
}

impl Grants {
    /// Checks and opens the workspace and the policy's grants.
    ///
    /// The workspace may be named through symbolic links, since the caller names it;
    /// a path of the policy may not.
    ///
    /// # Errors
    /// [`ViewError`] for a path that is missing, goes through a link, overlaps
    /// another, or is too wide to be writable.
    pub fn open(policy: &Policy, workspace: &Path, facts: &Facts) -> Result<Grants, ViewError> {
        const WORKSPACE: &str = "workspace";
        let spelling = absolute(workspace, WORKSPACE)?;
        let real = fs::canonicalize(&spelling).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => ViewError::Missing {
                role: WORKSPACE,
                path: spelling.clone(),
            },
            _ => ViewError::Open {
                role: WORKSPACE,
                path: spelling.clone(),
                source: error,
            },
        })?;
        let mut list = Vec::with_capacity(1 + policy.read_only.len() + policy.read_write.len());
        let opened = open_grant(&real, WORKSPACE, Access::ReadWrite)?;
        if !opened.1 {
            return Err(ViewError::NotDirectory {
                role: WORKSPACE,
                path: spelling,
            });
        }
        list.push(opened.0);
        refuse_too_wide(&real, WORKSPACE, policy, facts)?;
        for path in &policy.read_only {
            refuse_overlap(path, "read-only path", &real)?;
            list.push(open_grant(path, "read-only path", Access::ReadOnly)?.0);
        }
        for path in &policy.read_write {
            refuse_overlap(path, "writable path", &real)?;
            list.push(open_grant(path, "writable path", Access::ReadWrite)?.0);
            refuse_too_wide(path, "writable path", policy, facts)?;
        }
        Ok(Grants {
            workspace: real,
            spelling,
            list,
        })
    }

    /// The workspace's real path.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The workspace's path as the caller wrote it.
    #[must_use]
    pub fn workspace_spelling(&self) -> &Path {
        &self.spelling
    }

    /// The descriptors that hold them open.
    pub(crate) fn pins(&self) -> Vec<RawFd> {
        self.list
            .iter()
            .map(|grant| grant.pin.as_fd().as_raw_fd())
            .collect()
    }

    /// Their paths.
    #[cfg(feature = "faults")]
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.list.iter().map(|grant| grant.path.clone())
    }

    /// Whether a command can write to a path of the host, the path being real.
    #[must_use]
    pub fn is_writable(&self, path: &Path) -> bool {
        self.list
            .iter()
            .any(|grant| grant.access == Access::ReadWrite && path.starts_with(&grant.path))
    }
}

/// An absolute path in which every component counts. A relative one is taken from
/// the current directory, and `.` and `..` are not guessed at.
fn absolute(path: &Path, role: &'static str) -> Result<PathBuf, ViewError> {
    let refused = || ViewError::NotAbsolute {
        role,
        path: path.to_owned(),
    };
    if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
        return Err(refused());
    }
    // Rebuilt, which drops repeated and trailing slashes.
    Ok(path.components().collect())
}

fn open_grant(path: &Path, role: &'static str, access: Access) -> Result<(Grant, bool), ViewError> {
    let path_of = || path.to_owned();
    let opened = faults::opened(path, open_without_links(path)).map_err(|error| match error {
        Errno::EMFILE | Errno::ENFILE => ViewError::TooMany,
        Errno::ENOENT => ViewError::Missing {
            role,
            path: path_of(),
        },
        Errno::ELOOP => ViewError::SymbolicLink {
            role,
            path: path_of(),
            real: fs::canonicalize(path).unwrap_or_else(|_| path_of()),
        },
        error => ViewError::Open {
            role,
            path: path_of(),
            source: as_io(error),
        },
    })?;
    if matches!(opened.kind(), SFlag::S_IFCHR | SFlag::S_IFBLK) {
        return Err(ViewError::Device {
            role,
            path: path_of(),
        });
    }
    let devices = access == Access::ReadOnly && path.starts_with("/dev") && !is_shared_memory(path);
    // What is writable is held to its place first.
    let elsewhere = access == Access::ReadOnly || !path.starts_with("/proc");
    let interface = devices || elsewhere && is_processes(&opened.descriptor);
    if interface && faults::has(Protection::Interfaces) {
        return Err(ViewError::Interface {
            role,
            path: path_of(),
        });
    }
    let directory = opened.is_directory();
    let pin = Pin::new(opened.descriptor);
    Ok((
        Grant {
            path: path_of(),
            access,
            pin,
        },
        directory,
    ))
}

/// Whether a file is one of a list of processes, wherever that is mounted.
fn is_processes(file: &OwnedFd) -> bool {
    fstatfs(file).is_ok_and(|system| system.filesystem_type() == PROC_SUPER_MAGIC)
}

/// Whether a path lies in the one directory of /dev that holds data.
fn is_shared_memory(path: &Path) -> bool {
    path.starts_with(SHARED_MEMORY) && path != Path::new(SHARED_MEMORY)
}

fn refuse_overlap(path: &Path, role: &'static str, workspace: &Path) -> Result<(), ViewError> {
    let overlaps = path.starts_with(workspace) || workspace.starts_with(path);
    if overlaps && faults::has(Protection::Overlap) {
        return Err(ViewError::Overlap {
            role,
            path: path.to_owned(),
            other_role: "the workspace",
            other: workspace.to_owned(),
        });
    }
    Ok(())
}

/// Refuses to make writable what governs the next command, or far more than one
/// project.
fn refuse_too_wide(
    path: &Path,
    role: &'static str,
    policy: &Policy,
    facts: &Facts,
) -> Result<(), ViewError> {
    if !faults::has(Protection::Width) {
        return Ok(());
    }
    let refuse = |reason: String| {
        Err(ViewError::TooWide {
            role,
            path: path.to_owned(),
            reason,
        })
    };
    if SYSTEM.iter().any(|system| path == Path::new(system)) {
        return refuse("is a directory of the system".to_owned());
    }
    let interface = INTERFACES
        .iter()
        .any(|interface| path.starts_with(interface));
    if interface && !is_shared_memory(path) {
        return refuse("is an interface of the kernel".to_owned());
    }
    if let Some(home) = facts.homes.iter().find(|home| home.starts_with(path)) {
        return refuse(format!("holds the home directory {}", home.display()));
    }
    let governing = [
        ("the policy", policy.source.as_ref()),
        ("the user's policies", facts.policy_store.as_ref()),
        ("this program", facts.executable.as_ref()),
    ];
    let links = policy
        .links
        .iter()
        .map(|link| ("a link to the policy", Some(link)));
    for (what, governed) in governing.into_iter().chain(links) {
        let Some(governed) = governed else { continue };
        if governed.starts_with(path)
            || existing_part(governed).is_some_and(|real| real.starts_with(path))
        {
            return refuse(format!("holds {what}, {}", governed.display()));
        }
    }
    Ok(())
}

/// The real path of the deepest part of a path that exists.
fn existing_part(path: &Path) -> Option<PathBuf> {
    path.ancestors()
        .find_map(|part| fs::canonicalize(part).ok())
}

/// Adds the mounts of the grants.
pub(super) fn add(view: &mut View, grants: &Grants) {
    for grant in &grants.list {
        view.insert(
            grant.path.clone(),
            Content::Host {
                source: grant.path.clone(),
                access: grant.access,
                pin: Some(grant.pin.clone()),
            },
        );
    }
}

/// Makes the workspace's own spelling work inside, where it goes through a link.
pub(super) fn add_spelling(view: &mut View, grants: &Grants) {
    if grants.spelling == grants.workspace {
        return;
    }
    let made = view.covering(&grants.spelling).is_some_and(|mount| {
        matches!(
            mount.content,
            Content::Private { .. } | Content::Directory { .. }
        )
    });
    if made {
        let target = grants.workspace.clone();
        view.insert(grants.spelling.clone(), Content::Link { target });
    }
}
