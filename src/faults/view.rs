//! Mistakes about what a command sees.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::hidden;
use super::mistake::{Mistake, made};
use crate::policy::{Policy, Posture};
use crate::view::{Access, Content, Facts, Grants, Mount, View, ViewError};

/// What the command will see.
pub(crate) fn view(
    mut view: View,
    policy: &Policy,
    grants: &Grants,
    facts: &Facts,
    directory: Option<&Path>,
) -> Result<View, ViewError> {
    let nothing_hidden = Policy {
        hidden: Vec::new(),
        ..policy.clone()
    };
    let plain = View::build(&nothing_hidden, grants, facts)?;
    hidden::change(&mut view, &plain, policy, grants);
    give_more(&mut view, policy, grants, directory);
    share(&mut view, policy, facts);
    give_less(&mut view, policy, grants);
    Ok(view)
}

/// What should not be writable.
fn give_more(view: &mut View, policy: &Policy, grants: &Grants, directory: Option<&Path>) {
    let writable = |view: &mut View, path: &Path| {
        view.mounts.retain(|mount| mount.at != path);
        view.insert(path.to_owned(), host(path, Access::ReadWrite));
    };
    match made() {
        Mistake::WorkspaceParentWritable => {
            // Over the workspace's own mount: what is beside it is on the same one.
            let own = view.mounts.iter();
            let place = own.take_while(|mount| mount.at != grants.workspace());
            let place = (place.count() + 1).min(view.mounts.len());
            if let Some(parent) = grants.workspace().parent() {
                let mount = Mount {
                    at: parent.to_owned(),
                    content: host(parent, Access::ReadWrite),
                    asked: false,
                };
                view.mounts.insert(place, mount);
            }
        }
        Mistake::SystemWritable => {
            for mount in &mut view.mounts {
                if let Content::Host { access, .. } = &mut mount.content {
                    if !policy.read_only.contains(&mount.at) {
                        *access = Access::ReadWrite;
                    }
                }
            }
        }
        Mistake::ReadableGrantsWritable => {
            for path in &policy.read_only {
                writable(view, path);
            }
        }
        Mistake::FileGrantsWidened => {
            for (list, access) in [
                (&policy.read_only, Access::ReadOnly),
                (&policy.read_write, Access::ReadWrite),
            ] {
                for parent in list
                    .iter()
                    .filter(|path| path.is_file())
                    .filter_map(|path| path.parent())
                {
                    view.insert(parent.to_owned(), host(parent, access));
                }
            }
        }
        Mistake::DirectoryGranted => {
            if let Some(directory) = directory.and_then(|path| path.canonicalize().ok()) {
                writable(view, &directory);
            }
        }
        Mistake::NamesSplit => {
            let bytes = grants.workspace().as_os_str().as_bytes();
            if let Some(place) = bytes.iter().position(|byte| *byte == b':') {
                let first = PathBuf::from(OsStr::from_bytes(&bytes[..place]));
                let second = first
                    .with_file_name("")
                    .join(OsStr::from_bytes(&bytes[place + 1..]));
                view.mounts.retain(|mount| mount.at != grants.workspace());
                for path in [first, second] {
                    if let Ok(real) = path.canonicalize() {
                        writable(view, &real);
                    }
                }
            }
        }
        _ => {}
    }
}

/// What should be the command's own.
fn share(view: &mut View, policy: &Policy, facts: &Facts) {
    let strict = policy.posture == Posture::Strict;
    let shared = |view: &mut View, path: &str, access| {
        view.mounts.retain(|mount| mount.at != Path::new(path));
        view.insert(path.into(), host(Path::new(path), access));
    };
    match made() {
        Mistake::TemporaryShared => {
            // The private directories cannot be made in the host's.
            for mount in &mut view.mounts {
                if matches!(mount.content, Content::Directory { .. }) {
                    mount.at = elsewhere(&mount.at);
                }
            }
            shared(view, "/tmp", Access::ReadWrite);
            if strict {
                let content = Content::Private {
                    mode: 0o700,
                    sealed: false,
                };
                view.insert("/private".into(), content);
            }
        }
        Mistake::SharedMemoryShared => shared(view, "/dev/shm", Access::ReadWrite),
        Mistake::HostProcesses => shared(view, "/proc", Access::ReadOnly),
        Mistake::SysWritable => shared(view, "/sys", Access::ReadWrite),
        Mistake::KernelSettingsWritable => {
            view.mounts
                .retain(|mount| mount.at == Path::new("/proc") || !mount.at.starts_with("/proc"));
        }
        Mistake::KeptFilesShown => {
            view.mounts
                .retain(|mount| mount.at == Path::new("/etc") || !mount.at.starts_with("/etc"));
        }
        Mistake::OldRootKept if strict => {
            view.insert("/oldroot".into(), host(Path::new("/"), Access::ReadOnly));
        }
        Mistake::HomeShared if strict => {
            let inside = view.private_directories().home.clone();
            view.mounts.retain(|mount| !mount.at.starts_with(&inside));
            if let Some(home) = facts.homes.first() {
                view.insert(inside, host(home, Access::ReadWrite));
            }
        }
        Mistake::RootTakesWrites => {
            for mount in &mut view.mounts {
                if let Content::Private { sealed, .. } = &mut mount.content {
                    *sealed &= mount.at != Path::new("/");
                }
            }
        }
        _ => {}
    }
}

/// Where a private directory is when /tmp is not the command's.
pub(super) fn elsewhere(path: &Path) -> PathBuf {
    match path.strip_prefix("/tmp") {
        Ok(rest) => Path::new("/private").join(rest),
        Err(_) => path.to_owned(),
    }
}

/// What should be there.
fn give_less(view: &mut View, policy: &Policy, grants: &Grants) {
    let strict = policy.posture == Posture::Strict;
    let without = |view: &mut View, gone: &[&str]| {
        view.mounts
            .retain(|mount| !gone.iter().any(|path| mount.at.starts_with(path)));
    };
    match made() {
        Mistake::WorkspaceReadOnly => {
            for mount in &mut view.mounts {
                if let Content::Host { access, .. } = &mut mount.content {
                    if mount.at == grants.workspace() {
                        *access = Access::ReadOnly;
                    }
                }
            }
        }
        Mistake::TemporaryOverWorkspace => {
            let is_private = |mount: &Mount| {
                mount.at.starts_with("/tmp") && !matches!(mount.content, Content::Host { .. })
            };
            let (last, first): (Vec<Mount>, Vec<Mount>) = std::mem::take(&mut view.mounts)
                .into_iter()
                .partition(is_private);
            view.mounts = first;
            view.mounts.extend(last);
        }
        Mistake::SpellingLost => {
            view.mounts.retain(|mount| {
                mount.at != grants.workspace_spelling() || mount.at == grants.workspace()
            });
        }
        Mistake::ConfigurationLost if strict => without(view, &["/etc"]),
        Mistake::ShellPathLost if strict => without(view, &["/bin"]),
        Mistake::SharedMemoryLost => without(view, &["/dev/shm"]),
        Mistake::ProcessesLost => without(view, &["/proc"]),
        Mistake::TemporaryReadOnly => {
            for mount in &mut view.mounts {
                if let Content::Private { sealed, .. } = &mut mount.content {
                    *sealed |= mount.at == Path::new("/tmp");
                }
            }
        }
        _ => {}
    }
}

fn host(path: &Path, access: Access) -> Content {
    Content::Host {
        source: path.to_owned(),
        access,
        pin: None,
    }
}
