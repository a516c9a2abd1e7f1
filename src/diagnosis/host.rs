//! The settings of a host that decide whether a sandbox can be made.

use std::fs;
use std::path::Path;

/// The settings of a host that decide whether a user may make namespaces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Host {
    /// `kernel.unprivileged_userns_clone`, of Debian's and Arch's kernels.
    pub(super) clone_allowed: Option<bool>,
    /// `user.max_user_namespaces` (namespaces(7)).
    pub(super) maximum: Option<u64>,
    /// `kernel.apparmor_restrict_unprivileged_userns`, of Ubuntu since 23.10.
    pub(super) apparmor_restricts: bool,
    /// Whether parts of /proc are covered, as container runtimes do, which forbids to
    /// mount a new one (user_namespaces(7), "mount restrictions").
    pub(super) proc_is_covered: bool,
    /// The container that this is, if its runtime says so.
    pub(super) container: Option<String>,
}

impl Host {
    /// Those of this host.
    pub(super) fn read() -> Host {
        let setting = |name: &str| {
            fs::read_to_string(Path::new("/proc/sys").join(name))
                .ok()
                .and_then(|text| text.trim().parse::<u64>().ok())
        };
        Host {
            clone_allowed: setting("kernel/unprivileged_userns_clone").map(|value| value != 0),
            maximum: setting("user/max_user_namespaces"),
            apparmor_restricts: setting("kernel/apparmor_restrict_unprivileged_userns")
                .is_some_and(|value| value != 0),
            proc_is_covered: fs::read_to_string("/proc/self/mountinfo")
                .is_ok_and(|text| covers_proc(&text)),
            container: container(),
        }
    }

    /// Why a user may not make namespaces here, and what to change.
    pub(super) fn namespaces_refused(&self) -> (String, String) {
        let (cause, remedy) = if self.clone_allowed == Some(false) {
            (
                "this kernel does not let users make namespaces \
                 (kernel.unprivileged_userns_clone is 0)",
                "run `sudo sysctl -w kernel.unprivileged_userns_clone=1`",
            )
        } else if self.maximum == Some(0) {
            (
                "no user namespace may be made (user.max_user_namespaces is 0)",
                "run `sudo sysctl -w user.max_user_namespaces=15000`",
            )
        } else if self.apparmor_restricts {
            (
                "AppArmor restricts user namespaces \
                 (kernel.apparmor_restrict_unprivileged_userns is 1)",
                "install an AppArmor profile that lets bubblewrap make them, or run \
                 `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`",
            )
        } else if let Some(container) = &self.container {
            return (
                format!("this {container} container may not make namespaces"),
                "start it with a seccomp profile that allows them (Docker: `--security-opt \
                 seccomp=unconfined --security-opt systempaths=unconfined`)"
                    .to_owned(),
            );
        } else {
            (
                "this user may not make namespaces, or has used up those that it may make",
                "look at user.max_user_namespaces, and at what confines this process \
                 (seccomp, a security module, another sandbox)",
            )
        };
        (cause.to_owned(), remedy.to_owned())
    }
}

/// Whether something is mounted over a part of /proc.
fn covers_proc(mounts: &str) -> bool {
    mounts.lines().any(|line| {
        // The fifth field is where it is mounted (proc_pid_mountinfo(5)).
        line.split(' ').nth(4).is_some_and(|at| {
            at.starts_with("/proc/") && !at.starts_with("/proc/sys/fs/binfmt_misc")
        })
    })
}

fn container() -> Option<String> {
    // As systemd-detect-virt(1) tells them.
    if Path::new("/run/.containerenv").exists() {
        return Some("Podman".to_owned());
    }
    if Path::new("/.dockerenv").exists() {
        return Some("Docker".to_owned());
    }
    let named = fs::read_to_string("/run/systemd/container").ok()?;
    Some(named.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_beneath_proc_covers_it() {
        let plain = "22 28 0:20 / /proc rw,relatime shared:1 - proc proc rw\n";
        let covered = format!("{plain}90 22 0:20 /sys /proc/sys ro - proc proc rw\n");
        assert!(!covers_proc(plain));
        assert!(covers_proc(&covered));
    }

    #[test]
    fn the_cause_is_the_setting_that_forbids() {
        let forbidden = Host {
            maximum: Some(0),
            ..Host::default()
        };
        assert!(
            forbidden
                .namespaces_refused()
                .1
                .contains("user.max_user_namespaces")
        );
        let restricted = Host {
            apparmor_restricts: true,
            ..Host::default()
        };
        assert!(restricted.namespaces_refused().1.contains("apparmor"));
    }
}
