//! What each posture shows before any grant.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Access, Content, Facts, Grants, View, root};
use crate::environment::PrivateDirectories;
use crate::policy::{Policy, Posture};

/// The private temporary directory.
const TEMPORARY: &str = "/tmp";
/// Its other name, where a host keeps for longer what is in it.
const LASTING: &str = "/var/tmp";

/// The programs and the configuration of the system.
const SYSTEM: [&str; 2] = ["/usr", "/etc"];

/// Where programs and libraries are: one of each pair on a merged system is a link
/// into /usr, and stays one (the UsrMerge of systemd's file-hierarchy(7)).
const PROGRAMS: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Stores that hold a whole system's programs under world-readable, immutable names.
/// /opt is not among them: it holds whatever was put there, data too.
const STORES: [&str; 2] = ["/nix/store", "/gnu/store"];

/// The links that a Nix system's search path goes through.
const STORE_LINKS: [&str; 1] = ["/run/current-system"];

/// What programs need of /etc and what may be a link to elsewhere: into /run
/// (systemd-resolved, NetworkManager), /mnt/wsl, /var, /nix or /etc/static. Each is
/// made to work by showing the one file that it means, never its directory.
const LINKED: [&str; 10] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/localtime",
    "/etc/machine-id",
    "/etc/passwd",
    "/etc/group",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
];

/// The private directories of a command, where no grant is in their way.
pub(super) fn private_directories(
    policy: &Policy,
    grants: &Grants,
    _facts: &Facts,
) -> PrivateDirectories {
    let _ = policy;
    let usual = PrivateDirectories::default();
    let taken = |directories: &PrivateDirectories| {
        grants
            .list
            .iter()
            .map(|grant| grant.path.as_path())
            .chain([grants.workspace_spelling()])
            .any(|path| {
                [&directories.home, &directories.runtime]
                    .into_iter()
                    .any(|private| path.starts_with(private) || private.starts_with(path))
            })
    };
    if !taken(&usual) {
        return usual;
    }
    // A workspace of the host stands there. Its number cannot be on every name.
    (1..=grants.list.len() + 2)
        .map(|number| {
            PrivateDirectories::new(
                format!("{TEMPORARY}/home-{number}"),
                TEMPORARY,
                format!("{TEMPORARY}/runtime-{number}"),
            )
        })
        .find(|directories| !taken(directories))
        .unwrap_or(usual)
}

/// Adds the mounts of the policy's posture.
pub(super) fn add(view: &mut View, policy: &Policy, grants: &Grants, facts: &Facts) {
    match policy.posture {
        Posture::Strict => add_system(view),
        Posture::HostReadable => view.insert("/".into(), host("/")),
    }
    view.insert("/proc".into(), Content::Processes);
    view.insert("/dev".into(), Content::Devices);
    view.insert(
        temporary(policy.posture),
        Content::Private {
            mode: 0o1777,
            sealed: false,
        },
    );
    // POSIX has it writable for all (shm_open(3) on Linux).
    view.insert(
        "/dev/shm".into(),
        Content::Private {
            mode: 0o1777,
            sealed: false,
        },
    );
    if policy.posture == Posture::Strict {
        if let Some(lasting) = lasting(grants) {
            view.insert(LASTING.into(), lasting);
        }
        let private = view.private.clone();
        for (_, directory) in private.variables() {
            if directory != Path::new(TEMPORARY) {
                view.insert(directory.clone(), Content::Directory { mode: 0o700 });
            }
        }
        add_linked(view);
    }
    if facts.user == 0 {
        root::add(view, policy.posture);
    }
}

/// Where the private temporary directory is: a view of the whole host has its link, where
/// /tmp is one.
fn temporary(posture: Posture) -> PathBuf {
    match posture {
        Posture::Strict => TEMPORARY.into(),
        Posture::HostReadable => fs::canonicalize(TEMPORARY).unwrap_or_else(|_| TEMPORARY.into()),
    }
}

/// What a strict command has for the other temporary directory: a link, unless something
/// is to be mounted beneath it, or it is in what is granted.
fn lasting(grants: &Grants) -> Option<Content> {
    let private = Content::Private {
        mode: 0o1777,
        sealed: false,
    };
    let mut granted = grants
        .list
        .iter()
        .map(|grant| grant.path.as_path())
        .chain([grants.workspace_spelling()]);
    if granted.clone().any(|path| path.starts_with(LASTING)) {
        return Some(private);
    }
    if granted.any(|path| Path::new(LASTING).starts_with(path)) {
        // Where the host has none, or a link, that is what the grant shows.
        let directory = fs::symlink_metadata(LASTING).is_ok_and(|status| status.is_dir());
        return directory.then_some(private);
    }
    Some(Content::Link {
        target: TEMPORARY.into(),
    })
}

/// Whether a path is the directory in whose place a command has one of its own.
pub(super) fn is_temporary(path: &Path) -> bool {
    path == Path::new(TEMPORARY) || path == temporary(Posture::HostReadable)
}

/// Whether a posture shows the host's directories where this path is.
pub(super) fn shows(posture: Posture, path: &Path) -> bool {
    let mut shown = SYSTEM.iter().chain(&PROGRAMS).chain(&STORES);
    posture == Posture::HostReadable || shown.any(|system| path.starts_with(system))
}

fn host(path: &str) -> Content {
    Content::Host {
        source: path.into(),
        access: Access::ReadOnly,
        pin: None,
    }
}

/// An empty root with the system's programs and configuration.
fn add_system(view: &mut View) {
    view.insert(
        "/".into(),
        Content::Private {
            mode: 0o755,
            sealed: true,
        },
    );
    for path in SYSTEM {
        view.insert(path.into(), host(path));
    }
    for path in PROGRAMS {
        if let Ok(target) = fs::read_link(path) {
            view.insert(path.into(), Content::Link { target });
        } else if Path::new(path).is_dir() {
            view.insert(path.into(), host(path));
        }
    }
    for path in STORES {
        if Path::new(path).is_dir() {
            view.insert(path.into(), host(path));
        }
    }
    for path in STORE_LINKS {
        if let Ok(target) = fs::read_link(path) {
            view.insert(path.into(), Content::Link { target });
        }
    }
}

/// Shows the files that the configuration's links mean.
fn add_linked(view: &mut View) {
    for path in LINKED {
        let Ok(link) = fs::read_link(path) else {
            continue;
        };
        let Ok(real) = fs::canonicalize(path) else {
            continue;
        };
        if view.resolve(Path::new(path)).is_ok() {
            continue;
        }
        if view.resolve(&real).is_err() {
            view.insert(
                real.clone(),
                Content::Host {
                    source: real.clone(),
                    access: Access::ReadOnly,
                    pin: None,
                },
            );
        }
        // A further link on the way, such as /var/run for /run.
        let first = lexical(&Path::new(path).with_file_name("").join(link));
        if first != real && view.resolve(&first).is_err() {
            view.insert(first, Content::Link { target: real });
        }
    }
}

/// The path without `.` and `..`, as far as its text says.
fn lexical(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                result.pop();
            }
            std::path::Component::CurDir => {}
            part => result.push(part),
        }
    }
    result
}
