//! Descendants on Linux: the process is a child subreaper, so that an orphan
//! of any depth becomes its child (PR_SET_CHILD_SUBREAPER(2const)).

use std::io;
use std::sync::OnceLock;

use super::{Entry, child};

/// Makes this process the one that orphaned descendants fall to.
pub fn adopt() -> io::Result<()> {
    static ADOPTED: OnceLock<Result<(), nix::errno::Errno>> = OnceLock::new();
    let result = ADOPTED.get_or_init(|| nix::sys::prctl::set_child_subreaper(true));
    result.map_err(io::Error::from)
}

/// Notes a launch; here the parents tell enough.
pub(crate) fn began(_launcher: i32) {}

/// Whether there can be any: a descendant's line of parents ends in a child.
pub(super) fn may_have_any() -> bool {
    child::has_children()
}

/// Whether all but the excluded and theirs have surely ended. Children that have are
/// reaped, as the first process of a sandbox is after each launch.
pub(super) fn all_have_ended(exclude: &[i32]) -> bool {
    loop {
        let Some(mut found) = children() else {
            return false;
        };
        found.retain(|pid| !exclude.contains(pid));
        if found.is_empty() {
            return true;
        }
        // The children of one that had ended had become ours before the look.
        if !found.into_iter().all(|pid| child::reap(pid).is_some()) {
            return false;
        }
    }
}

/// The children of this process, the ended among them too, for a fraction of what the
/// whole table costs; none where the kernel does not tell, or not surely.
///
/// proc_pid_task_tid_children(5) warns that it may leave one out while another is reaped,
/// and a thread that ends hands its children on. So two looks have to agree.
fn children() -> Option<Vec<i32>> {
    let first = children_by_thread()?;
    let agreed = children_by_thread()? == first;
    agreed.then(|| {
        first
            .into_iter()
            .flat_map(|(_, children)| children)
            .collect()
    })
}

fn children_by_thread() -> Option<Vec<(i32, Vec<i32>)>> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?;
    threads
        .map(|entry| {
            let thread = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let text =
                std::fs::read_to_string(format!("/proc/self/task/{thread}/children")).ok()?;
            let children: Result<_, _> = text.split_ascii_whitespace().map(str::parse).collect();
            Some((thread, children.ok()?))
        })
        .collect()
}

/// Whether a process is ours though its parents do not lead to us.
pub(super) fn is_ours(_entry: &Entry) -> bool {
    false
}

/// Every process that /proc shows (proc_pid_stat(5)).
pub(super) fn table() -> Vec<Entry> {
    let Ok(directory) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    directory
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid: i32| {
            let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
            parse(pid, &String::from_utf8_lossy(&text))
        })
        .collect()
}

/// The fields follow the name, which is in parentheses and may hold any.
fn parse(pid: i32, text: &str) -> Option<Entry> {
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // Of a process whose first thread alone has ended, others may live.
    let threads: i64 = fields.get(17)?.parse().ok()?;
    Some(Entry {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        ended: matches!(*fields.first()?, "Z" | "X" | "x") && threads <= 1,
    })
}

/// Whether a process is on its way out: the kernel has taken its memory from it, which
/// it does before anything else (proc_pid_stat(5): `vsize`).
pub(super) fn is_ending(pid: i32) -> bool {
    std::fs::read(format!("/proc/{pid}/stat"))
        .is_ok_and(|text| has_no_memory(&String::from_utf8_lossy(&text)))
}

fn has_no_memory(text: &str) -> bool {
    let fields: Option<Vec<&str>> = text
        .rsplit_once(')')
        .map(|(_, rest)| rest.split_ascii_whitespace().collect());
    // The first thread alone may have ended.
    fields.is_some_and(|fields| fields.get(17) == Some(&"1") && fields.get(20) == Some(&"0"))
}

/// A process's command line, or its name in brackets.
pub(super) fn command_line(pid: i32) -> String {
    let read = |file| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let arguments = read("cmdline");
    if arguments.is_empty() {
        return format!("[{}]", String::from_utf8_lossy(&read("comm")).trim());
    }
    String::from_utf8_lossy(&arguments).replace('\0', " ")
}

#[cfg(test)]
mod tests {
    use super::{children, has_no_memory, parse};

    #[test]
    fn a_process_without_memory_is_ending_unless_it_has_other_threads() {
        let line = |threads, size| {
            format!("5 (a) 0) R 7 8 9 0 -1 0 1 0 0 0 0 0 0 0 20 0 {threads} 0 5 {size} 0 0")
        };
        assert!(has_no_memory(&line(1, 0)));
        assert!(!has_no_memory(&line(2, 0)));
        assert!(!has_no_memory(&line(1, 4096)));
        let own = std::process::id().try_into().expect("a small number");
        assert!(!super::is_ending(own));
    }

    #[test]
    fn children_are_told_whichever_thread_started_them() {
        let start = || {
            std::process::Command::new("cat")
                .stdin(std::process::Stdio::piped())
                .spawn()
                .expect("cat starts")
        };
        let mut first = start();
        let mut second = std::thread::spawn(start).join().expect("it started one");
        let pids = [&first, &second].map(|child| i32::try_from(child.id()).expect("a pid"));
        // Threads of other tests come and go.
        let found = loop {
            if let Some(found) = children() {
                break found;
            }
        };
        assert!(pids.iter().all(|pid| found.contains(pid)), "{found:?}");
        for child in [&mut first, &mut second] {
            drop(child.stdin.take());
            child.wait().expect("it ends");
        }
    }

    #[test]
    fn a_name_may_hold_parentheses_and_spaces() {
        let fields = "S 7 8 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 5";
        let entry = parse(5, &format!("5 (a) Z 1 (b)) {fields}")).expect("a line");
        assert_eq!((entry.parent, entry.group, entry.ended), (7, 8, false));
    }

    #[test]
    fn a_process_has_ended_only_with_its_last_thread() {
        let line = |threads| format!("5 (a) Z 7 8 9 0 -1 0 1 0 0 0 0 0 0 0 20 0 {threads} 0 5");
        assert!(parse(5, &line(1)).expect("a line").ended);
        assert!(!parse(5, &line(2)).expect("a line").ended);
    }
}
