//! Starting a program with nothing inherited that was not asked for.
//!
//! This and its one part are the files of the launcher that need `unsafe`: what happens between
//! `clone` and `execve`, and the few system calls that no safe interface offers.
//!
//! The child shares the launcher's memory until it executes (`CLONE_VM | CLONE_VFORK`,
//! what `posix_spawn` does), so that a start costs the same from a program of a
//! gigabyte as from one of a megabyte. Therefore the child makes plain system calls
//! on memory that was laid out before, allocates nothing and takes no lock.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use crate::faults::{self, Protection};

mod janitor;

pub(crate) use janitor::{Litter, start_janitor};

/// Where the new process stands among sessions and process groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// A process group of its own, so that a terminal's keys reach the launcher alone.
    Own,
    /// A session of its own, without a controlling terminal.
    Session,
}

/// What to start, and all that it is given.
#[derive(Debug)]
pub(crate) struct Spawn {
    /// The program's path.
    pub(crate) program: CString,
    /// Its arguments, the name first.
    pub(crate) arguments: Vec<CString>,
    /// What becomes descriptors 0, 1 and 2; the launcher's own where absent.
    pub(crate) streams: [Option<OwnedFd>; 3],
    /// Further descriptors that stay open, under the same numbers.
    pub(crate) inherited: Vec<RawFd>,
    /// Its session or process group.
    pub(crate) group: Group,
    /// Where it says its process id before it executes, so that whoever listens knows
    /// of it from the first moment on.
    pub(crate) announce: Option<RawFd>,
}

/// The child's stack. It calls a handful of functions, none of them deep.
const STACK: usize = 64 * 1024;

/// keyctl(2): leave the session keyring for a new, empty one.
const KEYCTL_JOIN_SESSION_KEYRING: c_int = 1;

/// The highest signal number of Linux.
const LAST_SIGNAL: c_int = 64;

/// The size of the kernel's set of signals, in bytes.
const SIGNAL_SET: usize = LAST_SIGNAL as usize / 8;

/// Everything that the child needs, laid out before it exists.
struct Plan {
    program: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    streams: [RawFd; 3],
    inherited: *const RawFd,
    inherited_count: usize,
    group: Group,
    announce: RawFd,
    parent: libc::pid_t,
    /// What the launcher itself has blocked.
    blocked: MaybeUninit<libc::sigset_t>,
    failure: c_int,
}

/// Starts the program with an empty environment, `/` as its directory, default
/// signal dispositions, no blocked signal, a new session keyring and no descriptor
/// but the named ones. It is killed when the calling *thread* ends.
///
/// Returns its process id once it executes.
pub(crate) fn spawn(request: &Spawn) -> io::Result<libc::pid_t> {
    let mut arguments: Vec<*const c_char> =
        request.arguments.iter().map(|each| each.as_ptr()).collect();
    arguments.push(ptr::null());
    let variables = faults::environment();
    let mut environment: Vec<*const c_char> = variables.iter().map(|each| each.as_ptr()).collect();
    environment.push(ptr::null());
    let streams = [0, 1, 2].map(|number: usize| {
        request.streams[number]
            .as_ref()
            .map_or(number as RawFd, AsRawFd::as_raw_fd)
    });
    let mut plan = Plan {
        program: request.program.as_ptr(),
        arguments: arguments.as_ptr(),
        environment: environment.as_ptr(),
        streams,
        inherited: request.inherited.as_ptr(),
        inherited_count: request.inherited.len(),
        group: request.group,
        announce: request.announce.unwrap_or(-1),
        // SAFETY: getpid has no preconditions.
        parent: unsafe { libc::getpid() },
        blocked: MaybeUninit::zeroed(),
        failure: 0,
    };
    let mut stack: Vec<MaybeUninit<u8>> = Vec::with_capacity(STACK);
    // SAFETY: `stack` has STACK bytes of capacity; the top, rounded down to 16, lies
    // within it. The child runs `child` on that stack while this thread waits
    // (CLONE_VFORK), so `plan`, what it points to and the stack outlive the child's
    // use of them. All signals are blocked meanwhile, so that no handler of this
    // program runs in the child on shared memory.
    let pid = unsafe {
        let mut every = MaybeUninit::<libc::sigset_t>::uninit();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(every.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, every.as_ptr(), before.as_mut_ptr());
        plan.blocked = before;
        let top = stack.as_mut_ptr().add(STACK).cast::<c_void>();
        let top = top.map_addr(|address| address & !15);
        let pid = libc::clone(
            child,
            top,
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            ptr::from_mut(&mut plan).cast::<c_void>(),
        );
        let result = if pid < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(pid)
        };
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
        result
    }?;
    // The child wrote to this through its own pointer.
    // SAFETY: `plan` is alive and the child is done with it.
    let failure = unsafe { ptr::read_volatile(&raw const plan.failure) };
    if failure != 0 {
        // SAFETY: waits for the child that has just failed to execute.
        unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
        return Err(io::Error::from_raw_os_error(failure));
    }
    Ok(pid)
}

/// Runs in the child, on memory shared with the launcher.
extern "C" fn child(plan: *mut c_void) -> c_int {
    let plan = plan.cast::<Plan>();
    // SAFETY: `spawn` passes a live `Plan`, and waits until this process has executed
    // or ended; the functions called are system calls on that memory alone.
    unsafe {
        if let Err(number) = prepare(&*plan) {
            ptr::write_volatile(&raw mut (*plan).failure, number);
            libc::_exit(127);
        }
        libc::execve((*plan).program, (*plan).arguments, (*plan).environment);
        ptr::write_volatile(&raw mut (*plan).failure, errno());
        libc::_exit(127)
    }
}

/// Everything between `clone` and `execve`.
///
/// # Safety
/// `plan` and all that it points to are alive.
unsafe fn prepare(plan: &Plan) -> Result<(), c_int> {
    // SAFETY: system calls on values and on memory that the caller vouches for.
    unsafe {
        // A launcher killed before bubblewrap could arm this would leave it behind.
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0))?;
        if libc::getppid() != plan.parent {
            return Err(libc::ESRCH);
        }
        match plan.group {
            _ if !faults::has(Protection::ProcessGroup) => 0,
            Group::Own => check(libc::setpgid(0, 0))?,
            Group::Session => check(libc::setsid())?,
        };
        if plan.announce >= 0 {
            let pid = libc::getpid().to_ne_bytes();
            let flags = libc::MSG_NOSIGNAL;
            let sent = libc::send(plan.announce, pid.as_ptr().cast(), pid.len(), flags);
            if sent < 0 {
                return Err(errno());
            }
        }
        check(libc::chdir(c"/".as_ptr()))?;
        place_streams(plan.streams)?;
        if faults::has(Protection::Descriptors) {
            mark_close_on_exec()?;
        }
        for index in 0..plan.inherited_count {
            check(libc::fcntl(*plan.inherited.add(index), libc::F_SETFD, 0))?;
        }
        // By the system call: the C library keeps two signals for itself and refuses to
        // touch them, and a program without it may have had them ignored. All zeros is
        // the default in every architecture's layout; the sizes are those of the kernel.
        let default = [0u64; 8];
        let null = ptr::null_mut::<c_void>();
        for signal in 1..=LAST_SIGNAL {
            if !faults::has(Protection::SignalDispositions) {
                break;
            }
            // Refused for SIGKILL and SIGSTOP, which nobody can ignore.
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                null,
                SIGNAL_SET,
            );
        }
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        if !faults::has(Protection::SignalMask) {
            none = plan.blocked;
        }
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
        // The caller's session keyring stays out of reach. A kernel without keyrings,
        // or a container that forbids the call, has nothing to be reached.
        if faults::has(Protection::Keyring) {
            libc::syscall(libc::SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0);
        }
    }
    Ok(())
}

/// Makes the three descriptors 0, 1 and 2.
///
/// # Safety
/// Only valid in the child: it replaces descriptors.
unsafe fn place_streams(mut streams: [RawFd; 3]) -> Result<(), c_int> {
    // SAFETY: system calls on numbers.
    unsafe {
        for (target, source) in streams.iter_mut().enumerate() {
            // One that stands where another is to go moves out of the way first.
            if *source < 3 && *source != target as RawFd {
                *source = check(libc::fcntl(*source, libc::F_DUPFD_CLOEXEC, 3))?;
            }
        }
        for (target, source) in streams.into_iter().enumerate() {
            if source == target as RawFd {
                // It may be closed, which is the caller's choice.
                libc::fcntl(source, libc::F_SETFD, 0);
            } else {
                check(libc::dup2(source, target as RawFd))?;
            }
        }
    }
    Ok(())
}

/// Lets no descriptor above 2 reach the program.
///
/// # Safety
/// Only valid in the child.
unsafe fn mark_close_on_exec() -> Result<(), c_int> {
    // SAFETY: system calls on numbers and on a local buffer, whose entries the kernel
    // fills as getdents64(2) says: 8 bytes inode, 8 bytes offset, 2 bytes length,
    // 1 byte type, then the name, ended by a zero.
    unsafe {
        let flags = libc::CLOSE_RANGE_CLOEXEC;
        if libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, flags) == 0 {
            return Ok(());
        }
        // Linux before 5.11: the descriptors that there are, from /proc.
        let list = check(libc::open(
            c"/proc/self/fd".as_ptr(),
            libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC,
        ))?;
        let mut buffer = [0u64; 512];
        loop {
            let size = size_of_val(&buffer);
            let length = libc::syscall(libc::SYS_getdents64, list, buffer.as_mut_ptr(), size);
            if length < 0 {
                return Err(errno());
            }
            if length == 0 {
                return Ok(());
            }
            let start = buffer.as_ptr().cast::<u8>();
            let mut offset = 0usize;
            while offset < length as usize {
                let entry = start.add(offset);
                let entry_length = ptr::read_unaligned(entry.add(16).cast::<u16>());
                let name = CStr::from_ptr(entry.add(19).cast::<c_char>());
                let mut number: RawFd = 0;
                for digit in name.to_bytes() {
                    number = number
                        .wrapping_mul(10)
                        .wrapping_add(RawFd::from(*digit) - 48);
                }
                if number > 2 && name.to_bytes()[0].is_ascii_digit() {
                    libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC);
                }
                offset += usize::from(entry_length);
            }
        }
    }
}

fn check(result: c_int) -> Result<c_int, c_int> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}

fn errno() -> c_int {
    // SAFETY: the location is valid for the calling thread, always.
    unsafe { *libc::__errno_location() }
}

/// A descriptor that becomes readable when the process has ended, and with it, where
/// it is the first of a PID namespace, every process of that namespace: the kernel
/// reports the first process's end only when the others are gone (pid_namespaces(7)).
pub(crate) fn open_process(pid: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: a system call on numbers; the descriptor that it returns is new and ours.
    unsafe {
        let descriptor = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(descriptor as RawFd))
    }
}

/// Sends a signal to exactly the process that `process` was opened for.
pub(crate) fn signal_process(process: BorrowedFd<'_>, signal: c_int) -> io::Result<()> {
    let info = ptr::null::<libc::siginfo_t>();
    // SAFETY: a system call on numbers and a null pointer, which it allows.
    let result = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            process.as_raw_fd(),
            signal,
            info,
            0,
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Has this signal sent to the program when the thread that started it ends
/// (`PR_SET_PDEATHSIG`, prctl(2)).
pub(crate) fn signal_when_parent_ends(signal: c_int) {
    // SAFETY: a system call on numbers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal, 0, 0, 0) };
}
