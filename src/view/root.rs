//! What is covered when the caller is the super-user.
//!
//! Without capabilities, user 0 still owns the files of user 0, and their permission
//! bits let it write kernel settings and read what is kept from everyone else.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::{Access, Content, View};
use crate::policy::Posture;

/// Readable, never writable: what container runtimes hold read-only (the OCI runtime
/// specification's default `readonlyPaths`), and what else has writable files.
const SETTINGS: [&str; 6] = [
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/irq",
    "/proc/bus",
    "/proc/fs",
    "/proc/mtrr",
];

/// Not even readable: the specification's default `maskedPaths`, and the kernel's log.
const SECRETS: [&str; 9] = [
    "/proc/acpi",
    "/proc/asound",
    "/proc/kcore",
    "/proc/keys",
    "/proc/kmsg",
    "/proc/latency_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/timer_list",
];

/// Where root-only files of /etc are, besides /etc itself: keys and passwords, by the
/// packages that put them there. The directories are looked through one level deep.
const KEPT: [&str; 7] = [
    "/etc",
    "/etc/ssh",
    "/etc/ssl",
    "/etc/security",
    "/etc/pki/tls",
    "/etc/ppp",
    "/etc/wireguard",
];

/// Covers what user 0 owns and a command has no business with.
pub(super) fn add(view: &mut View, posture: Posture) {
    for path in SETTINGS {
        if Path::new(path).exists() {
            view.insert(
                path.into(),
                Content::Host {
                    source: path.into(),
                    access: Access::ReadOnly,
                    pin: None,
                },
            );
        }
    }
    for path in SECRETS {
        if let Ok(status) = fs::metadata(path) {
            view.insert(path.into(), covering(status.is_dir()));
        }
    }
    if posture == Posture::Strict {
        for (path, directory) in KEPT
            .iter()
            .flat_map(|directory| kept_in(Path::new(directory)))
        {
            view.insert(path, covering(directory));
        }
    }
}

fn covering(directory: bool) -> Content {
    if directory {
        Content::Private {
            mode: 0o755,
            sealed: true,
        }
    } else {
        Content::Blank
    }
}

/// The entries that others cannot read, and whether each is a directory.
fn kept_in(directory: &Path) -> Vec<(PathBuf, bool)> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let status = entry.metadata().ok()?;
            let kind = status.file_type();
            let others = if kind.is_dir() { 0o005 } else { 0o004 };
            let kept = status.permissions().mode() & others != others;
            // An empty file keeps nothing.
            (kept && !kind.is_symlink() && (kind.is_dir() || status.size() > 0))
                .then(|| (entry.path(), kind.is_dir()))
        })
        .collect()
}
