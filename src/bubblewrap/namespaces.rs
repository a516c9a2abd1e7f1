//! Whether a process really is in a sandbox.

use std::fs;
use std::path::PathBuf;

/// The namespaces that tell most: users, processes and mounts.
const CHECKED: [&str; 3] = ["user", "pid", "mnt"];

/// Whether the process with this id is the first of a process namespace of its own,
/// in user and mount namespaces that are not ours (namespaces(7)).
pub(super) fn is_apart(pid: i32) -> bool {
    let compared = CHECKED.iter().try_fold(true, |apart, kind| {
        let theirs = fs::read_link(format!("/proc/{pid}/ns/{kind}")).ok()?;
        let ours: PathBuf = fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
        Some(apart && theirs != ours)
    });
    // A bubblewrap with the set-user-id bit may not be looked at that closely.
    compared.unwrap_or_else(|| is_first_of_its_namespace(pid))
}

/// `NSpid` lists the id in each namespace, ours first (proc_pid_status(5)).
fn is_first_of_its_namespace(pid: i32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else {
        return false;
    };
    status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))
        .is_some_and(|ids| {
            let ids: Vec<&str> = ids.split_whitespace().collect();
            ids.len() > 1 && ids.last() == Some(&"1")
        })
}
