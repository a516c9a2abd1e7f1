//! What the probe can do: one list, which also is its documentation.

use super::{Outcome, process, sequence, socket, terminal};
#[cfg(target_os = "linux")]
use super::{kernel, linux};

/// An operation.
#[derive(Debug)]
pub struct Operation {
    /// Its name.
    pub name: &'static str,
    /// Its arguments: optional ones in brackets, any number by dots.
    pub arguments: &'static str,
    /// What it does and prints.
    pub about: &'static str,
    pub(super) run: fn(&[&str]) -> Outcome,
}

impl Operation {
    /// Whether it can be given so many arguments.
    pub(super) fn takes(&self, count: usize) -> bool {
        let words = self.arguments.split_whitespace();
        let words = words.filter(|word| *word != "...");
        let optional = words.clone().filter(|word| word.starts_with('[')).count();
        let all = words.count();
        let endless = self.arguments.contains("...");
        count >= all - optional && (endless || count <= all)
    }
}

macro_rules! operations {
    ($($(#[$attribute:meta])* $name:literal $arguments:literal $run:expr, $about:literal;)*) => {
        &[$($(#[$attribute])* Operation {
            name: $name,
            arguments: $arguments,
            about: $about,
            run: $run,
        }),*]
    };
}

/// Every operation of this platform.
pub const OPERATIONS: &[Operation] = operations! {
    "connect-unix" "PATH [KIND]" socket::connect_unix,
        "sends hello to a socket (stream, datagram, seqpacket); prints connected and the reply";
    "bind-unix" "PATH" socket::bind_unix,
        "makes a listening socket at a path; prints bound";
    "send-unix" "PATH CALL" socket::send_unix,
        "sends a datagram to a socket without connecting, by sendto or sendmsg; prints sent";
    "map-write" "PATH TEXT" process::map_write,
        "writes to the start of a file through a shared mapping; prints written";
    "connect-tcp" "ADDRESS PORT" socket::connect_tcp,
        "sends hello over TCP; prints connected and the reply";
    "send-udp" "ADDRESS PORT" socket::send_udp,
        "sends hello over UDP; prints sent and the reply, if one comes at once";
    "serve-tcp" "" socket::serve_tcp,
        "listens on 127.0.0.1 and connects to itself; prints ok";
    "push-input" "TEXT" terminal::push_input,
        "types into the caller's terminal (TIOCSTI); prints pushed";
    "push-input-high-bits" "TEXT" terminal::push_input_high_bits,
        "the same by a request whose upper 32 bits are not zero";
    "steal-terminal" "" terminal::steal,
        "makes standard input the controlling terminal of a new session; prints stolen";
    "isatty" "" terminal::is_terminal,
        "prints yes or no for input, output, errors and controlling";
    "wait-line" "" terminal::wait_line,
        "prints waiting, reads one line of standard input and prints it";
    "attach-shared-memory" "ID" process::attach_shared_memory,
        "prints the text of a System V shared memory segment";
    "signal" "PID SIGNAL" process::signal,
        "sends a signal, by name without SIG; prints sent";
    "open-write" "PATH" process::open_write,
        "opens for writing and writes nothing; prints opened";
    "sequence" "OPERATION ..." sequence::sequence,
        "tries file operations, a `;` between each two; prints a line each: its number, ok or no, and what it saw";
    "descriptors" "" process::descriptors,
        "prints the number of each open descriptor beyond the standard streams";
    "signals" "" process::signals,
        "prints ignored NAME and blocked NAME for each signal, or none";
    "interfaces" "" process::interfaces,
        "prints the name of each network interface";
    "daemonize" "COMMAND ..." process::daemonize,
        "runs a command in a session of its own, its parents gone and its streams closed";
    #[cfg(target_os = "linux")]
    "connect-abstract" "NAME [KIND]" socket::connect_abstract,
        "the same as connect-unix with an abstract name, given without the leading @";
    #[cfg(target_os = "linux")]
    "connect-mptcp" "ADDRESS PORT" linux::connect_mptcp,
        "the same as connect-tcp over multipath TCP";
    #[cfg(target_os = "linux")]
    "tcp-fastopen" "ADDRESS PORT" linux::tcp_fast_open,
        "the same as connect-tcp by sendto with MSG_FASTOPEN";
    #[cfg(target_os = "linux")]
    "tioclinux" "" linux::console,
        "asks the terminal to paste the console's selection; prints pasted";
    #[cfg(target_os = "linux")]
    "read-key" "DESCRIPTION" linux::read_key,
        "prints a user key that the session keyring leads to";
    #[cfg(target_os = "linux")]
    "mount-tmpfs" "PATH" kernel::mount_tmpfs,
        "mounts a tmpfs; prints mounted";
    #[cfg(target_os = "linux")]
    "bind-mount" "SOURCE TARGET" kernel::bind_mount,
        "mounts a path at another; prints mounted";
    #[cfg(target_os = "linux")]
    "remount-writable" "PATH" kernel::remount_writable,
        "takes the read-only flag off a mount; prints remounted";
    #[cfg(target_os = "linux")]
    "unmount" "PATH" kernel::unmount,
        "detaches a mount; prints unmounted";
    #[cfg(target_os = "linux")]
    "new-user-namespace" "[then] [COMMAND] ..." kernel::new_user_namespace,
        "makes user and mount namespaces, as root in them; prints created, and runs the command";
    #[cfg(target_os = "linux")]
    "set-hostname" "NAME" kernel::set_hostname,
        "sets the host name; prints set";
    #[cfg(target_os = "linux")]
    "exchange" "A B" kernel::exchange,
        "swaps two paths at once (RENAME_EXCHANGE); prints exchanged";
    #[cfg(target_os = "linux")]
    "exchange-for-ever" "A B" kernel::exchange_for_ever,
        "swaps two paths again and again, until it is killed or two minutes have passed";
    #[cfg(target_os = "linux")]
    "kernel-call" "NAME" kernel::kernel_call,
        "makes a system call that changes nothing, to see whether it may; prints permitted";
    #[cfg(target_os = "linux")]
    "climb-root" "COMMAND ..." kernel::climb_root,
        "leaves a root that was changed by chroot(2); prints climbed, and runs the command";
    #[cfg(target_os = "linux")]
    "compare-descriptors" "PID NUMBER" linux::compare_descriptors,
        "compares a descriptor with another process's (kcmp); prints same or different";
    #[cfg(target_os = "linux")]
    "await-name" "DIRECTORY" linux::await_name,
        "prints watching, waits for a new name in a directory (inotify) and prints it";
    #[cfg(target_os = "linux")]
    "outlive-thread" "STATUS" linux::outlive_thread,
        "ends its first thread; the second then prints outlived and exits with this status";
    #[cfg(target_os = "linux")]
    "link-descriptor" "NUMBER PATH" kernel::link_descriptor,
        "gives an open file another name; prints linked";
    #[cfg(target_os = "linux")]
    "capabilities" "" kernel::capabilities,
        "prints effective, permitted, inheritable and bounding in hexadecimal, and no-new-privileges";
    #[cfg(target_os = "linux")]
    "socket" "FAMILY TYPE [PROTOCOL]" linux::socket,
        "makes a socket, all by name or number; prints created";
    #[cfg(target_os = "linux")]
    "trace" "PID" linux::trace,
        "attaches as a debugger (PTRACE_SEIZE) and lets go; prints attached";
    #[cfg(target_os = "linux")]
    "copy-descriptor" "PID NUMBER" linux::copy_descriptor,
        "takes a descriptor of another process (pidfd_getfd); prints copied";
    #[cfg(target_os = "linux")]
    "read-memory" "PID" linux::read_memory,
        "prints the texts on the stack of another process, its environment among them";
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_arguments_is_checked() {
        let takes = |name: &str, count| {
            let operation = OPERATIONS.iter().find(|operation| operation.name == name);
            operation.expect("an operation").takes(count)
        };
        assert!(!takes("connect-unix", 0) && takes("connect-unix", 1));
        assert!(takes("connect-unix", 2) && !takes("connect-unix", 3));
        assert!(takes("signals", 0) && !takes("signals", 1));
        assert!(!takes("daemonize", 0) && takes("daemonize", 1) && takes("daemonize", 9));
    }

    #[test]
    fn each_name_is_there_once() {
        let mut names: Vec<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
