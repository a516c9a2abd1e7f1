//! The processes that descend from this one, adopted orphans included: finding
//! what outlives a launcher, and ending it.

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod platform;
#[cfg(target_os = "macos")]
#[path = "macos.rs"]
mod platform;

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::child;
use super::exit::{ExitWatch, timeout_until};
use crate::observe::observation::Leftover;

pub use platform::adopt;
pub(super) use platform::began;

/// How long the killed may take to go before they count as unkillable: another
/// user's, or stuck in the kernel.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest command line that is shown of a process.
const SHOWN: usize = 200;

/// A process of the tree that is alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) group: i32,
    command_line: String,
}

impl From<Process> for Leftover {
    fn from(process: Process) -> Leftover {
        Leftover {
            pid: process.pid,
            command_line: process.command_line,
        }
    }
}

/// Held while a process is started, so that none is started behind the back
/// of [`end_all`].
static STARTING: Mutex<()> = Mutex::new(());

/// To be held while a process is started.
pub fn starting() -> MutexGuard<'static, ()> {
    STARTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The descendants, beyond the excluded and theirs, that are still there after
/// this long. It returns as soon as there is none.
pub fn leftovers(exclude: &[i32], grace: Duration) -> Vec<Leftover> {
    survivors(exclude, grace)
        .into_iter()
        .map(Leftover::from)
        .collect()
}

pub(super) fn survivors(exclude: &[i32], grace: Duration) -> Vec<Process> {
    let limit = Instant::now() + grace;
    loop {
        let found = living(exclude, None);
        // What has given its memory back runs no more; how long a busy host takes to
        // reap it says nothing of the launcher.
        let gone = found.iter().all(|process| platform::is_ending(process.pid));
        let until = if gone { limit + PATIENCE } else { limit };
        if found.is_empty() || !any_ends(&found, until) {
            return found.into_iter().map(described).collect();
        }
    }
}

/// Kills every descendant beyond the excluded and theirs, whatever they start
/// meanwhile, and waits until they are gone. What cannot be killed is returned.
pub fn kill_descendants(exclude: &[i32]) -> Vec<Leftover> {
    kill_all(&|| living(exclude, None))
}

/// Kills the descendants beyond the excluded and theirs that are in another
/// session than this process, such as those of a worker that has died: what
/// this program has started for other ends is in its own session.
pub(crate) fn kill_strays(exclude: &[i32]) {
    let own = nix::unistd::getsid(None).map_or(-1, Pid::as_raw);
    kill_all(&|| living(exclude, Some(own)));
}

fn kill_all(living: &dyn Fn() -> Vec<Process>) -> Vec<Leftover> {
    let limit = Instant::now() + PATIENCE;
    loop {
        let mut found = living();
        if found.is_empty() {
            return Vec::new();
        }
        if Instant::now() >= limit {
            return found
                .into_iter()
                .map(described)
                .map(Leftover::from)
                .collect();
        }
        // Stopped processes start no others: stop all until no new ones show.
        let mut stopped: Vec<i32> = Vec::new();
        loop {
            let known = stopped.len();
            for process in &found {
                if !stopped.contains(&process.pid) {
                    signal(process.pid, Signal::SIGSTOP);
                    stopped.push(process.pid);
                }
            }
            if stopped.len() == known {
                break;
            }
            found = living();
        }
        for pid in &stopped {
            signal(*pid, Signal::SIGKILL);
        }
        any_ends(&found, limit);
    }
}

/// Ends every descendant, and lets nothing more be started through
/// [`starting`], nor any launch return. For a process that is about to exit.
pub fn end_all() {
    std::mem::forget(starting());
    kill_descendants(&[]);
}

fn signal(pid: i32, signal: Signal) {
    // An error means that it is gone, or another user's: the next look tells.
    let _ = kill(Pid::from_raw(pid), signal);
}

/// The living descendants beyond the excluded and those in a session to be
/// spared; children that have ended are reaped on the way.
///
/// The table is no picture of one moment. Yet every descendant has an ancestor
/// among our children, and those stay in the table until they are reaped here:
/// a table that shows none of them, alive or ended, was read when there was no
/// descendant. One that shows only ended ones may have missed what these
/// started last, so it is read anew.
fn living(exclude: &[i32], spared: Option<i32>) -> Vec<Process> {
    loop {
        // Children to be spared may be awaited by others, so none is reaped blindly.
        let none =
            !platform::may_have_any() || (spared.is_none() && platform::all_have_ended(exclude));
        if none {
            return Vec::new();
        }
        let (found, reaped) = look(exclude, spared);
        if !found.is_empty() || !reaped {
            return found;
        }
    }
}

/// One look at the table: who lives, and whether anyone was reaped.
fn look(exclude: &[i32], spared: Option<i32>) -> (Vec<Process>, bool) {
    let table = platform::table();
    let own = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
    let mut found = Vec::new();
    let mut reaped = false;
    let mut parents = vec![own];
    let mut seen = vec![own];
    while let Some(parent) = parents.pop() {
        for entry in &table {
            let descends = entry.parent == parent || (parent == own && platform::is_ours(entry));
            let is_kept = exclude.contains(&entry.pid) || spared == Some(entry.session);
            if !descends || is_kept || seen.contains(&entry.pid) {
                continue;
            }
            seen.push(entry.pid);
            // What has ended may have had children when they were read.
            parents.push(entry.pid);
            if entry.ended {
                reaped |= child::reap(entry.pid).is_some();
            } else {
                found.push(Process {
                    pid: entry.pid,
                    group: entry.group,
                    command_line: String::new(),
                });
            }
        }
    }
    (found, reaped)
}

/// A line of the system's table of processes.
struct Entry {
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
    ended: bool,
}

fn described(process: Process) -> Process {
    let text = platform::command_line(process.pid);
    Process {
        command_line: text.trim().chars().take(SHOWN).collect(),
        ..process
    }
}

/// Waits until any of the processes ends, if there are any; false when the limit
/// has passed.
fn any_ends(processes: &[Process], limit: Instant) -> bool {
    if processes.is_empty() {
        return true;
    }
    let watches: io::Result<Vec<ExitWatch>> = processes
        .iter()
        .map(|process| ExitWatch::new(process.pid))
        .collect();
    let Ok(watches) = watches else {
        return Instant::now() < limit;
    };
    let mut polled = Vec::with_capacity(watches.len());
    for watch in &watches {
        match watch.as_fd() {
            Some(descriptor) => polled.push(PollFd::new(descriptor, PollFlags::POLLIN)),
            None => return true,
        }
    }
    loop {
        match poll(&mut polled, timeout_until(limit)) {
            Ok(count) => return count > 0,
            Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}
