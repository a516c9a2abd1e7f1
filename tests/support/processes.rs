//! A look at the processes of the host, through /proc.

use std::fs;
use std::time::{Duration, Instant};

/// How long what was killed may take to be gone.
const DEADLINE: Duration = Duration::from_secs(20);

/// A process, told apart from later ones with its number by when it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub id: i32,
    began: String,
}

/// An argument that no other process has.
pub fn marker() -> String {
    let name = tempfile::Builder::new().prefix("").tempfile().unwrap();
    let name = name.path().file_name().unwrap().to_string_lossy();
    format!("marker-{}-{name}", std::process::id())
}

/// The processes that have this text among their arguments.
pub fn with_argument(text: &str) -> Vec<i32> {
    ids()
        .filter(|id| {
            fs::read(format!("/proc/{id}/cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(text))
        })
        .collect()
}

/// Everything that a process has started, and what those have.
pub fn descendants(id: i32) -> Vec<Process> {
    let all: Vec<(i32, Process)> = ids().filter_map(status).collect();
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![id];
    while let Some(parent) = parents.pop() {
        for (_, process) in all.iter().filter(|(above, _)| *above == parent) {
            parents.push(process.id);
            found.push(process.clone());
        }
    }
    found
}

/// Waits until none of these processes is left, but for zombies.
pub fn wait_for_end(processes: &[Process]) {
    wait_until("a process is left", || {
        let left: Vec<_> = processes
            .iter()
            .filter(|process| status(process.id).is_some_and(|(_, now)| now == **process))
            .collect();
        if left.is_empty() {
            Ok(())
        } else {
            Err(format!("{left:?}"))
        }
    });
}

/// Waits until no process has this text among its arguments.
pub fn wait_for_no(text: &str) {
    wait_until("a process is left", || match with_argument(text) {
        ids if ids.is_empty() => Ok(()),
        ids => Err(format!("{ids:?} with {text}")),
    });
}

/// Waits for something that tells of itself in no other way.
pub fn wait_until(complaint: &str, done: impl Fn() -> Result<(), String>) {
    let start = Instant::now();
    while let Err(reason) = done() {
        assert!(start.elapsed() < DEADLINE, "{complaint}: {reason}");
        std::thread::yield_now();
    }
}

fn ids() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The parent of a process, and the process, unless it is a zombie (proc_pid_stat(5)).
fn status(id: i32) -> Option<(i32, Process)> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let rest = text.rsplit_once(')')?.1;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    let began = (*fields.get(19)?).to_owned();
    Some((fields.get(1)?.parse().ok()?, Process { id, began }))
}
