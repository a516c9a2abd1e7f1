//! Facts of the host: what it offers to cases, found by looking and not by
//! asking for a version.

use std::collections::BTreeSet;
use std::net::{Ipv6Addr, TcpListener};

use crate::corpus::vocabulary::Fact;

/// What this host offers to this user.
pub fn of_this_host() -> BTreeSet<Fact> {
    let programs = [
        (Fact::Git, "git"),
        (Fact::Python3, "python3"),
        (Fact::CCompiler, "cc"),
        (Fact::Node, "node"),
        (Fact::Make, "make"),
        (Fact::Bubblewrap, "bwrap"),
    ];
    let mut facts: BTreeSet<Fact> = programs
        .into_iter()
        .filter(|(_, program)| on_launch_path(program))
        .map(|(fact, _)| fact)
        .collect();
    // Rust is often the user's own, and stands where no system directory is.
    if which::which("cargo").is_ok() && which::which("rustc").is_ok() {
        facts.insert(Fact::Cargo);
    }
    facts.insert(if nix::unistd::geteuid().is_root() {
        Fact::Root
    } else {
        Fact::Unprivileged
    });
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
        facts.insert(Fact::Ipv6Loopback);
    }
    facts.extend(of_the_system());
    facts
}

/// PATH as every launcher of a run gets it: the system's own directories, so
/// that a result does not hang on who ran it.
pub const LAUNCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

fn on_launch_path(program: &str) -> bool {
    which::which_in(program, Some(LAUNCH_PATH), "/").is_ok()
}

#[cfg(target_os = "linux")]
fn of_the_system() -> Vec<Fact> {
    let mut facts = Vec::new();
    // Kernels before 6.2 have no such setting and always allow it; see
    // https://docs.kernel.org/admin-guide/sysctl/ and tty_ioctl(4) on TIOCSTI.
    if read("/proc/sys/dev/tty/legacy_tiocsti").is_none_or(|text| text.trim() != "0") {
        facts.push(Fact::TerminalInjection);
    }
    if std::path::Path::new("/proc/keys").exists() {
        facts.push(Fact::SessionKeyring);
    }
    let none = |path: &str| read(path).is_some_and(|text| text.trim() == "0");
    let restricted = read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
        .is_some_and(|text| text.trim() == "1");
    let root = nix::unistd::geteuid().is_root();
    if !none("/proc/sys/user/max_user_namespaces")
        && (root || !none("/proc/sys/kernel/unprivileged_userns_clone"))
        && (root || !restricted)
    {
        facts.push(Fact::UserNamespaces);
    }
    facts
}

#[cfg(target_os = "macos")]
fn of_the_system() -> Vec<Fact> {
    // TIOCSTI is there for one's own terminal (tty(4)); the rest is Linux's.
    vec![Fact::TerminalInjection]
}

#[cfg(target_os = "linux")]
fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}
