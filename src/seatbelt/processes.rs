//! Processes, their memory and what the kernel says of them.

use super::text::{Action, Text};

/// Settings of the kernel that name other processes: their arguments with their
/// environment (`kern.procargs2`, sysctl(3); h5i denies it too), and lists of them.
/// Looking up one's own by its number (`kern.proc.pid`) stays open.
const OTHERS: [&str; 5] = [
    "(sysctl-name-prefix \"kern.procargs\")",
    "(sysctl-name-prefix \"kern.proc.ruid\")",
    "(sysctl-name-prefix \"kern.proc.tty\")",
    "(sysctl-name-prefix \"kern.proc.uid\")",
    "(sysctl-name-prefix \"kern.proc.all\")",
];

/// Settings that runtimes write to for themselves alone: Java on Apple silicon (codex,
/// agent-safehouse), and V8, for its compiled code (Firefox, sandbox-runtime).
const OWN_SETTINGS: [&str; 3] = [
    "(sysctl-name \"kern.grade_cputype\")",
    "(sysctl-name \"kern.tcsm_available\")",
    "(sysctl-name \"kern.tcsm_enable\")",
];

pub(super) fn add(text: &mut Text) {
    text.section(
        "Processes. What may be executed is said with the files: a program that cannot be \
         read cannot be executed either.",
    );
    text.line("(allow process-fork)");
    text.comment(
        "A shell's job control, a timeout, a build tool all signal their children. Only \
         the process itself is always allowed to.",
    );
    text.line("(allow signal (target same-sandbox))");
    text.comment(
        "(deny default) leaves what the kernel says of other processes open, their \
         arguments and open files among it.",
    );
    text.line("(deny process-info*)");
    text.line("(allow process-info* (target same-sandbox))");

    text.section("Settings of the kernel: how many processors, which release.");
    text.line("(allow sysctl-read)");
    text.comment(
        "Not the arguments and environments of other processes of this user, secrets \
         among them, and no list of processes.",
    );
    rules(text, Action::Deny, &["sysctl-read"], &OTHERS);
    text.comment("Java and V8 do not start without setting these for themselves.");
    rules(text, Action::Allow, &["sysctl-write"], &OWN_SETTINGS);

    text.section(
        "Semaphores and memory that processes share: Python's multiprocessing and what \
         builds on it. The system's own are for reading.",
    );
    text.line("(allow ipc-posix-sem*)");
    text.line("(allow ipc-posix-shm*)");
    rules(
        text,
        Action::Deny,
        &[
            "ipc-posix-shm-write-create",
            "ipc-posix-shm-write-data",
            "ipc-posix-shm-write-unlink",
        ],
        &["(ipc-posix-name-prefix \"apple.\")"],
    );

    text.section(
        "Further things that (deny default) leaves open: variables of the firmware, and \
         serial numbers and addresses of the hardware.",
    );
    text.line("(deny nvram*)");
    text.line("(deny iokit-get-properties)");
}

/// A rule about filters that are written in this program.
pub(super) fn rules(text: &mut Text, action: Action, operations: &[&str], filters: &[&str]) {
    let filters: Vec<String> = filters.iter().map(|filter| (*filter).to_owned()).collect();
    text.rule(action, operations, &filters);
}
