//! What a launcher's process does between fork and exec, and the system calls
//! on processes that the standard library lacks.
//!
//! Unsafe code is confined to this file. Everything that runs in the forked
//! child makes async-signal-safe calls only (signal-safety(7)) and touches
//! memory that was laid out before the fork: no allocation, no lock.
#![allow(
    unsafe_code,
    reason = "pre_exec, fork, sessions, keyrings and pidfds have no safe interface"
)]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::ptr;

use libc::{c_char, c_int};

/// What the child does before it becomes the launcher.
#[derive(Debug, Default)]
pub(super) struct Preparation {
    /// Descriptors by the number they have and the number they are wanted
    /// under; no source number is another's wanted number.
    pub(super) descriptors: Vec<(RawFd, RawFd)>,
    /// Keys of a new session keyring: descriptions and payloads.
    pub(super) keys: Vec<(CString, Vec<u8>)>,
    /// File systems to mount, in a mount namespace of the launcher's own.
    pub(super) mounts: Mounts,
    /// Signals to ignore.
    pub(super) ignored: Vec<c_int>,
    /// Signals to block.
    pub(super) blocked: Vec<c_int>,
    /// Descriptors to close.
    pub(super) closed: Vec<RawFd>,
    /// Whether standard input is to be the controlling terminal.
    pub(super) terminal: bool,
    /// The parent process to put in between, if any.
    pub(super) parent: Option<Parent>,
}

/// A process between the runner and the launcher. It leads the session, as a
/// shell does, so that the terminal outlives the launcher (a session leader's
/// exit hangs its terminal up and empties the input queue: `disassociate_ctty`
/// in the kernel's `drivers/tty/tty_jobctrl.c`), and can be killed alone.
#[derive(Debug)]
pub(super) struct Parent {
    /// Where it writes the launcher's process id, then an error number if the
    /// program could not be executed, then the wait status.
    pub(super) report: RawFd,
    /// It stays until this reaches its end.
    pub(super) hold: RawFd,
    /// The program, its arguments and environment: the launcher is executed
    /// here rather than by the standard library, which would wait for the
    /// process in between when that fails.
    pub(super) program: CString,
    /// The arguments.
    pub(super) arguments: Vec<CString>,
    /// The environment.
    pub(super) environment: Vec<CString>,
}

/// Temporary file systems that only the launcher sees.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    targets: Vec<CString>,
    /// Directories at which others are mounted, and those.
    binds: Vec<(CString, CString)>,
    /// What maps this user, and this group, to themselves in a user namespace
    /// (user_namespaces(7)); a user without privileges needs one to mount.
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only Linux mounts for a launcher alone")
    )]
    maps: Option<[String; 2]>,
}

impl Mounts {
    /// With the directories to mount at; and with those at which others are mounted, and
    /// the others.
    pub(super) fn new(targets: Vec<CString>, binds: Vec<(CString, CString)>) -> Mounts {
        let user = nix::unistd::geteuid();
        let group = nix::unistd::getegid();
        let maps =
            (!user.is_root()).then(|| [format!("{user} {user} 1"), format!("{group} {group} 1")]);
        Mounts {
            targets,
            binds,
            maps,
        }
    }

    fn is_empty(&self) -> bool {
        self.targets.is_empty() && self.binds.is_empty()
    }

    /// Runs in the forked child: unshare(2) and mount(2).
    #[cfg(target_os = "linux")]
    unsafe fn make(&self) -> io::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        // SAFETY: as in `Preparation::run`.
        unsafe {
            if let Some([user, group]) = &self.maps {
                check(libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS))?;
                write_file(c"/proc/self/setgroups", b"deny")?;
                write_file(c"/proc/self/uid_map", user.as_bytes())?;
                write_file(c"/proc/self/gid_map", group.as_bytes())?;
            } else {
                check(libc::unshare(libc::CLONE_NEWNS))?;
            }
            let none = ptr::null();
            // Nothing of this must reach the host's own mounts.
            let private = libc::MS_REC | libc::MS_PRIVATE;
            check(libc::mount(none, c"/".as_ptr(), none, private, ptr::null()))?;
            for target in &self.targets {
                let kind = c"tmpfs".as_ptr();
                let mode = c"mode=0755".as_ptr().cast();
                check(libc::mount(kind, target.as_ptr(), kind, 0, mode))?;
            }
            for (at, shown) in &self.binds {
                let bind = libc::MS_BIND | libc::MS_REC;
                check(libc::mount(
                    shown.as_ptr(),
                    at.as_ptr(),
                    none,
                    bind,
                    ptr::null(),
                ))?;
            }
        }
        Ok(())
    }

    /// There are no mount namespaces.
    #[cfg(not(target_os = "linux"))]
    unsafe fn make(&self) -> io::Result<()> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(io::Error::from_raw_os_error(libc::ENOTSUP))
        }
    }
}

/// Writes a short text to a file of the kernel's.
#[cfg(target_os = "linux")]
unsafe fn write_file(path: &std::ffi::CStr, text: &[u8]) -> io::Result<()> {
    // SAFETY: the path and the text are live, and the descriptor is ours.
    unsafe {
        let number = check(libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC))?;
        let written = libc::write(number, text.as_ptr().cast(), text.len());
        let error = io::Error::last_os_error();
        libc::close(number);
        if written == -1 { Err(error) } else { Ok(()) }
    }
}

/// Makes the command's child prepare itself before it becomes the program.
pub(super) fn prepare(command: &mut Command, preparation: Preparation) {
    let vectors = preparation.parent.as_ref().map(|parent| Vectors {
        arguments: pointers(&parent.arguments),
        environment: pointers(&parent.environment),
    });
    // SAFETY: `run` makes only async-signal-safe calls and does not allocate;
    // all its memory was laid out above.
    unsafe {
        command.pre_exec(move || preparation.run(vectors.as_ref()));
    }
}

/// Null-terminated argument vectors, which point into a [`Parent`]'s strings.
struct Vectors {
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
}

// SAFETY: the pointers lead to the heap memory of strings that are owned, and
// never changed, by the closure that owns the vectors too.
unsafe impl Send for Vectors {}
// SAFETY: as above; they are only read.
unsafe impl Sync for Vectors {}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings
        .iter()
        .map(|string| string.as_ptr())
        .chain([ptr::null()])
        .collect()
}

impl Preparation {
    /// Runs in the forked child.
    fn run(&self, vectors: Option<&Vectors>) -> io::Result<()> {
        // SAFETY: each call is async-signal-safe, and every pointer leads to
        // live memory of this process: locals, or what was laid out before.
        unsafe {
            // Nothing may stop the steps: giving the terminal away from the
            // background would raise SIGTTOU.
            let mut all: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            check(libc::sigprocmask(libc::SIG_SETMASK, &all, ptr::null_mut()))?;
            check(libc::setsid())?;
            if self.terminal {
                check(libc::ioctl(0, libc::TIOCSCTTY as _, 0))?;
            }
            if let Some(parent) = &self.parent {
                stand_between(parent)?;
                check(libc::setpgid(0, 0))?;
                if self.terminal {
                    check(libc::tcsetpgrp(0, libc::getpid()))?;
                }
            }
            let outcome = self.become_launcher(vectors);
            match (&self.parent, outcome) {
                (Some(parent), Err(error)) => {
                    write_number(parent.report, error.raw_os_error().unwrap_or(libc::EIO));
                    libc::_exit(127)
                }
                (_, outcome) => outcome,
            }
        }
    }

    /// The steps that concern the launcher alone. With a parent in between it
    /// ends in the launcher's program.
    unsafe fn become_launcher(&self, vectors: Option<&Vectors>) -> io::Result<()> {
        // SAFETY: as in `run`.
        unsafe {
            for signal in 1..=64 {
                if signal != libc::SIGKILL && signal != libc::SIGSTOP {
                    libc::signal(signal, libc::SIG_DFL);
                }
            }
            for signal in &self.ignored {
                libc::signal(*signal, libc::SIG_IGN);
            }
            self.mounts.make()?;
            join_keyring(&self.keys)?;
            close_others_on_exec();
            for (source, wanted) in &self.descriptors {
                if source == wanted {
                    check(libc::fcntl(*source, libc::F_SETFD, 0))?;
                } else {
                    check(libc::dup2(*source, *wanted))?;
                }
            }
            for number in &self.closed {
                libc::close(*number);
            }
            let mut mask: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut mask);
            for signal in &self.blocked {
                libc::sigaddset(&mut mask, *signal);
            }
            check(libc::sigprocmask(libc::SIG_SETMASK, &mask, ptr::null_mut()))?;
            if let (Some(parent), Some(vectors)) = (&self.parent, vectors) {
                libc::execve(
                    parent.program.as_ptr(),
                    vectors.arguments.as_ptr(),
                    vectors.environment.as_ptr(),
                );
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }
}

/// Forks; the process in between never returns from here.
unsafe fn stand_between(parent: &Parent) -> io::Result<()> {
    // SAFETY: fork in the single thread of a forked child; what follows in the
    // parent are async-signal-safe calls.
    unsafe {
        let launcher = check(libc::fork())?;
        if launcher == 0 {
            return Ok(());
        }
        write_number(parent.report, launcher);
        let (low, high) = (
            parent.report.min(parent.hold),
            parent.report.max(parent.hold),
        );
        close_range(0, low - 1);
        close_range(low + 1, high - 1);
        close_range(high + 1, c_int::MAX);
        // The launcher stays a zombie until the runner lets go, so that its
        // process id is not used again meanwhile.
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOWAIT;
        while libc::waitid(libc::P_PID, launcher as libc::id_t, &mut info, flags) == -1
            && errno() == libc::EINTR
        {}
        let mut byte = 0u8;
        while libc::read(parent.hold, ptr::from_mut(&mut byte).cast(), 1) == -1
            && errno() == libc::EINTR
        {}
        let mut status = 0;
        if libc::waitpid(launcher, &mut status, 0) == launcher {
            write_number(parent.report, status);
        }
        libc::_exit(0)
    }
}

/// KEYCTL_JOIN_SESSION_KEYRING of the kernel's `linux/keyctl.h`.
#[cfg(target_os = "linux")]
const JOIN_SESSION_KEYRING: libc::c_long = 1;
/// KEY_SPEC_SESSION_KEYRING of the same.
#[cfg(target_os = "linux")]
const SESSION_KEYRING: libc::c_long = -3;

/// keyctl(2), KEYCTL_JOIN_SESSION_KEYRING and add_key(2): a session keyring is
/// inherited through fork and exec (session-keyring(7)).
#[cfg(target_os = "linux")]
unsafe fn join_keyring(keys: &[(CString, Vec<u8>)]) -> io::Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    // SAFETY: the pointers lead to live strings and buffers of stated length.
    unsafe {
        let anonymous = ptr::null::<c_char>();
        check_long(libc::syscall(
            libc::SYS_keyctl,
            JOIN_SESSION_KEYRING,
            anonymous,
        ))?;
        for (description, payload) in keys {
            check_long(libc::syscall(
                libc::SYS_add_key,
                c"user".as_ptr(),
                description.as_ptr(),
                payload.as_ptr(),
                payload.len(),
                SESSION_KEYRING,
            ))?;
        }
    }
    Ok(())
}

/// There are no kernel keyrings.
#[cfg(not(target_os = "linux"))]
unsafe fn join_keyring(keys: &[(CString, Vec<u8>)]) -> io::Result<()> {
    if keys.is_empty() {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::ENOTSUP))
    }
}

/// The highest descriptor that is looked at where no system call covers all:
/// above the soft limit that systems give a process by default.
const DESCRIPTORS: c_int = 4096;

/// Marks every descriptor from 3 to be closed by exec.
unsafe fn close_others_on_exec() {
    // SAFETY: plain calls with numbers; unused numbers are an error, ignored.
    unsafe {
        #[cfg(target_os = "linux")]
        if libc::syscall(
            libc::SYS_close_range,
            3,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        ) == 0
        {
            return;
        }
        for number in 3..DESCRIPTORS {
            libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

/// Closes the descriptors from `first` to `last`.
unsafe fn close_range(first: c_int, last: c_int) {
    if first > last {
        return;
    }
    // SAFETY: plain calls with numbers; unused numbers are an error, ignored.
    unsafe {
        #[cfg(target_os = "linux")]
        if libc::syscall(libc::SYS_close_range, first, last, 0) == 0 {
            return;
        }
        for number in first..=last.min(DESCRIPTORS) {
            libc::close(number);
        }
    }
}

unsafe fn write_number(descriptor: RawFd, number: c_int) {
    let bytes = number.to_ne_bytes();
    // SAFETY: four bytes of a local; a pipe takes them as one.
    unsafe {
        libc::write(descriptor, bytes.as_ptr().cast(), bytes.len());
    }
}

fn check(result: c_int) -> io::Result<c_int> {
    check_long(result.into()).map(|_| result)
}

fn check_long(result: libc::c_long) -> io::Result<libc::c_long> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn errno() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// A descriptor that polls as readable when the process has ended
/// (pidfd_open(2)); none when there is no such process.
#[cfg(target_os = "linux")]
pub(crate) fn open_process(pid: i32) -> io::Result<Option<OwnedFd>> {
    // SAFETY: a plain call with numbers.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    match check_long(descriptor) {
        // SAFETY: the kernel has just made this descriptor, for us alone.
        Ok(_) => Ok(Some(unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) })),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether this process has any child, alive or not yet waited for.
#[cfg(target_os = "linux")]
pub(super) fn has_children() -> bool {
    // SAFETY: the result goes to a local.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_ALL, 0, &mut info, flags) == 0 || errno() != libc::ECHILD
    }
}

/// Waits until a child has stopped or ended, and leaves it to be waited for. The
/// `nix` crate has waitid(2) on Linux alone.
pub(super) fn wait_for_stop(pid: i32) {
    let flags = libc::WSTOPPED | libc::WEXITED | libc::WNOWAIT;
    let id = libc::id_t::try_from(pid).unwrap_or(0);
    // SAFETY: the result goes to a local.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        while libc::waitid(libc::P_PID, id, &mut info, flags) == -1 && errno() == libc::EINTR {}
    }
}

/// The status of a child that has ended, which is then reaped; none when it
/// lives or is no child of ours. The `nix` crate's wait does not know
/// real-time signals.
pub(super) fn reap(pid: i32) -> Option<ExitStatus> {
    let mut status = 0;
    // SAFETY: the status goes to a local.
    let ended = unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) };
    (pid > 0 && ended == pid).then(|| ExitStatus::from_raw(status))
}

/// A duplicate whose number is this or more, closed by exec (fcntl(2),
/// F_DUPFD_CLOEXEC); the standard library does not let one choose.
pub(super) fn duplicate(descriptor: &OwnedFd, minimum: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the source is open for as long as it is borrowed, and the kernel
    // has just made the new descriptor, for us alone.
    unsafe {
        let command = libc::F_DUPFD_CLOEXEC;
        let number = check(libc::fcntl(descriptor.as_raw_fd(), command, minimum))?;
        Ok(OwnedFd::from_raw_fd(number))
    }
}
