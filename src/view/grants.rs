//! The workspace and the policy's grants: checked, opened, and kept open.

use std::fs;
use std::os::fd::OwnedFd;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::sys::stat::SFlag;

use super::open::{as_io, open_without_links};
use super::{Access, Facts, Pin, ViewError};
use crate::faults::{self, Protection};
use crate::policy::Policy;
#[cfg(target_os = "linux")]
use crate::policy::Posture;

/// Directories of a Mac whose change would reach far beyond one project.
pub(crate) const MAC_SYSTEM: [&str; 24] = [
    "/",
    "/Applications",
    "/Library",
    "/Network",
    "/System",
    "/Users",
    "/Users/Shared",
    "/Volumes",
    "/bin",
    "/cores",
    "/dev",
    "/nix",
    "/nix/store",
    "/opt",
    "/opt/homebrew",
    "/opt/local",
    "/private",
    "/private/etc",
    "/private/tmp",
    "/private/var",
    "/private/var/folders",
    "/private/var/tmp",
    "/sbin",
    "/usr",
];

/// Directories whose change would reach far beyond one project.
#[cfg(target_os = "macos")]
const SYSTEM: [&str; 24] = MAC_SYSTEM;

/// Directories whose change would reach far beyond one project.
#[cfg(target_os = "linux")]
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
    pub(super) workspace: PathBuf,
    pub(super) spelling: PathBuf,
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
    #[cfg(target_os = "linux")]
    pub(crate) fn pins(&self) -> Vec<RawFd> {
        self.list
            .iter()
            .map(|grant| grant.pin.as_fd().as_raw_fd())
            .collect()
    }

    /// Whether the posture alone shows the directory that one of them is in.
    #[cfg(target_os = "linux")]
    pub(crate) fn lie_in_system(&self, posture: Posture) -> bool {
        let mut list = self.list.iter();
        list.any(|grant| super::base::shows(posture, &grant.path))
    }

    /// Their paths.
    #[cfg(all(feature = "faults", target_os = "linux"))]
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.list.iter().map(|grant| grant.path.clone())
    }

    /// Checks that each path still is what was opened. Rules go by path here, so one that
    /// was swapped for another since would give that away.
    #[cfg(target_os = "macos")]
    pub(crate) fn in_place(&self) -> Result<(), ViewError> {
        use nix::fcntl::{FcntlArg, fcntl};
        for grant in &self.list {
            let mut now = PathBuf::new();
            let found = fcntl(&grant.pin, FcntlArg::F_GETPATH(&mut now));
            // What is no file and no directory is held by the directory that it is in.
            let same = found.is_ok() && (now == grant.path || grant.path.parent() == Some(&now));
            if !same {
                return Err(ViewError::Moved {
                    path: grant.path.clone(),
                });
            }
        }
        Ok(())
    }

    /// The paths that a command may reach with this access, the workspace not among them.
    #[cfg(target_os = "macos")]
    pub(crate) fn paths(&self, access: Access) -> Vec<PathBuf> {
        self.list
            .iter()
            .filter(|grant| grant.access == access && grant.path != self.workspace)
            .map(|grant| grant.path.clone())
            .collect()
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
    // Rules go by the spelling that the directory has: on a disk that does not tell
    // `Src` from `src`, the other one would be no rule about it.
    if cfg!(target_os = "macos") {
        if let Some(real) = fs::canonicalize(path).ok().filter(|real| real != path) {
            let path = path_of();
            return Err(ViewError::SymbolicLink { role, path, real });
        }
    }
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
    #[cfg(target_os = "linux")]
    if access == Access::ReadOnly && super::base::is_temporary(path) {
        return Err(ViewError::Temporary {
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
#[cfg(target_os = "linux")]
fn is_processes(file: &OwnedFd) -> bool {
    use nix::sys::statfs::{PROC_SUPER_MAGIC, fstatfs};
    fstatfs(file).is_ok_and(|system| system.filesystem_type() == PROC_SUPER_MAGIC)
}

/// There is no such list here.
#[cfg(target_os = "macos")]
fn is_processes(_: &OwnedFd) -> bool {
    false
}

/// Whether a path lies in the one directory of /dev that holds data.
fn is_shared_memory(path: &Path) -> bool {
    path.starts_with(SHARED_MEMORY) && path != Path::new(SHARED_MEMORY)
}

pub(crate) fn refuse_overlap(
    path: &Path,
    role: &'static str,
    workspace: &Path,
) -> Result<(), ViewError> {
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
    refuse_too_wide_among(&SYSTEM, path, role, policy, facts)
}

/// The same for a system of these directories.
pub(crate) fn refuse_too_wide_among(
    system: &[&str],
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
    if system.iter().any(|system| path == Path::new(system)) {
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
