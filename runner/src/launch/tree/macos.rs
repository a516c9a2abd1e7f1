//! Descendants on macOS. Orphans fall to launchd there, and no call changes
//! that; a launch is a session of its own (setsid(2)), and an orphan is still
//! told by its session. A process that has left both its parents and the
//! session, and whose parents ended before anyone looked, is not found.
#![allow(unsafe_code, reason = "libproc(3) has no safe interface")]

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, PoisonError};

use nix::unistd::{Pid, getsid};

use super::Entry;

/// The sessions that launches began, or that their descendants were seen in.
static SESSIONS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Nothing adopts orphans here.
#[allow(clippy::unnecessary_wraps, reason = "the other system's can fail")]
pub fn adopt() -> io::Result<()> {
    Ok(())
}

/// Notes the session of a launch.
pub(crate) fn began(launcher: i32) {
    if let Ok(session) = getsid(Some(Pid::from_raw(launcher))) {
        note(session.as_raw());
    }
}

fn note(session: i32) {
    let own = getsid(None).map_or(0, Pid::as_raw);
    if session != 0 && session != own {
        let mut sessions = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.insert(session);
    }
}

/// Orphans are not children here, so there always can be.
pub(super) fn may_have_any() -> bool {
    true
}

/// Only the whole table tells here.
pub(super) fn all_have_ended(_exclude: &[i32]) -> bool {
    false
}

/// Whether the process is in a session that a launch began.
pub(super) fn is_ours(entry: &Entry) -> bool {
    let sessions = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    sessions.contains(&entry.session)
}

/// SZOMB of `sys/proc.h`.
const ENDED: u32 = 5;

/// Every process of the system (proc_listallpids, proc_pidinfo with
/// PROC_PIDTBSDINFO: `libproc.h`). Sessions of descendants are noted.
pub(super) fn table() -> Vec<Entry> {
    let mut pids = vec![0i32; 8192];
    let size = i32::try_from(size_of_val(pids.as_slice())).unwrap_or(i32::MAX);
    // SAFETY: the buffer is live and of the stated size.
    let count = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), size) };
    pids.truncate(usize::try_from(count).unwrap_or(0));
    let table: Vec<Entry> = pids.into_iter().filter_map(entry).collect();
    let own = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
    let mut parents = vec![own];
    while let Some(parent) = parents.pop() {
        for child in table.iter().filter(|entry| entry.parent == parent) {
            parents.push(child.pid);
            note(child.session);
        }
    }
    table
}

fn entry(pid: i32) -> Option<Entry> {
    // SAFETY: zero is a value of every field.
    let mut info: libc::proc_bsdinfo = unsafe { std::mem::zeroed() };
    let size = i32::try_from(size_of_val(&info)).ok()?;
    let target = std::ptr::from_mut(&mut info).cast();
    // SAFETY: the target is live and of the stated size.
    let filled = unsafe { libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, target, size) };
    (filled == size).then(|| Entry {
        pid,
        parent: i32::try_from(info.pbi_ppid).unwrap_or(0),
        group: i32::try_from(info.pbi_pgid).unwrap_or(0),
        session: getsid(Some(Pid::from_raw(pid))).map_or(0, Pid::as_raw),
        ended: info.pbi_status == ENDED,
    })
}

/// Whether a process is on its way out; here it is seen when it has gone.
pub(super) fn is_ending(_pid: i32) -> bool {
    false
}

/// The path of a process's program (proc_pidpath).
pub(super) fn command_line(pid: i32) -> String {
    let mut path = vec![0u8; 4096];
    let size = u32::try_from(path.len()).unwrap_or(0);
    // SAFETY: the buffer is live and of the stated size.
    let length = unsafe { libc::proc_pidpath(pid, path.as_mut_ptr().cast(), size) };
    path.truncate(usize::try_from(length).unwrap_or(0));
    String::from_utf8_lossy(&path).into_owned()
}
