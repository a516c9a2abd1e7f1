//! What the launcher needs of macOS that has no safe interface: the start of a process,
//! finding everything that is in its sandbox, and a process that outlives a launcher that
//! is killed.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};

// Of libSystem, without a header. sandbox_check answers 0 for what a process may do, 1
// for what its sandbox denies, and -1 where there is no such process; without an
// operation it tells whether the process is in a sandbox.
unsafe extern "C" {
    fn sandbox_check(pid: c_int, operation: *const c_char, kind: c_int, ...) -> c_int;
    static SANDBOX_CHECK_NO_REPORT: c_int;
}

/// The question is about a path.
const SANDBOX_FILTER_PATH: c_int = 1;

/// As many processes as are looked at; macOS has fewer by default (kern.maxproc).
const PROCESSES: usize = 16 * 1024;

/// As many descriptors as are listed at once.
const DESCRIPTORS: usize = 2048;

/// How often the processes are gone through for those that others started meanwhile.
const ROUNDS: usize = 100;

/// Whether this process is in a sandbox itself. What cannot be told counts as one.
pub(crate) fn is_sandboxed() -> bool {
    // SAFETY: a question about this process, without an operation or a filter.
    unsafe { sandbox_check(libc::getpid(), ptr::null(), 0) != 0 }
}

/// What tells the processes of one launch from all others: of two paths that it alone
/// knows, its sandbox allows to write one and denies to read the other. A process without
/// a sandbox may do both; one in a sandbox of its own may do both or neither.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) writable: CString,
    pub(crate) hidden: CString,
}

impl Mark {
    fn is_of(&self, pid: libc::pid_t) -> bool {
        // SAFETY: questions about a process, with strings that end.
        unsafe {
            let kind = SANDBOX_FILTER_PATH | SANDBOX_CHECK_NO_REPORT;
            let (write, read) = (c"file-write-data".as_ptr(), c"file-read-data".as_ptr());
            sandbox_check(pid, read, kind, self.hidden.as_ptr()) == 1
                && sandbox_check(pid, write, kind, self.writable.as_ptr()) == 0
        }
    }
}

/// Kills everything in the session of `leader` and in the sandbox of `mark`, whatever it
/// starts meanwhile, and waits for it to be gone. It allocates nothing, so that the
/// janitor can do it too.
pub(crate) fn end_all(leader: libc::pid_t, mark: &Mark) {
    let mut pids = [0 as libc::pid_t; PROCESSES];
    let size = c_int::try_from(size_of_val(&pids)).unwrap_or(c_int::MAX);
    // SAFETY: system calls on numbers, and on a buffer of the stated size.
    unsafe {
        let own = libc::getpid();
        let queue = libc::kqueue();
        for _ in 0..ROUNDS {
            let count = libc::proc_listallpids(pids.as_mut_ptr().cast(), size);
            let count = usize::try_from(count).unwrap_or(0).min(PROCESSES);
            let mut last = 0;
            for pid in &pids[..count] {
                let of_session =
                    leader > 0 && (libc::getsid(*pid) == leader || libc::getpgid(*pid) == leader);
                if *pid > 1 && *pid != own && (of_session || mark.is_of(*pid)) {
                    libc::kill(*pid, libc::SIGKILL);
                    last = *pid;
                }
            }
            if last == 0 {
                break;
            }
            wait_for(queue, last);
        }
        libc::close(queue);
    }
}

/// Waits a second at most for a process to end.
///
/// # Safety
/// `queue` is a kqueue or no descriptor.
unsafe fn wait_for(queue: RawFd, pid: libc::pid_t) {
    let second = libc::timespec {
        tv_sec: 1,
        tv_nsec: 0,
    };
    // SAFETY: zero is a value of every field, and the call fills a local.
    unsafe {
        let mut change: libc::kevent = std::mem::zeroed();
        change.ident = usize::try_from(pid).unwrap_or(0);
        change.filter = libc::EVFILT_PROC;
        change.flags = libc::EV_ADD | libc::EV_ONESHOT;
        change.fflags = libc::NOTE_EXIT;
        let mut told: libc::kevent = std::mem::zeroed();
        libc::kevent(queue, &raw const change, 1, &raw mut told, 1, &second);
    }
}

/// Has a command begin in a session of its own, with its standard input as the terminal
/// that controls it if it has one, default signals, and no descriptor but 0, 1 and 2. It
/// says its process id at `announce` before it executes.
pub(crate) fn prepare(command: &mut Command, terminal: bool, announce: BorrowedFd<'_>) {
    let announce = announce.as_raw_fd();
    // SAFETY: what runs between fork and exec makes system calls on numbers and locals,
    // allocates nothing and takes no lock. `announce` is open until the command has been
    // spawned: the caller holds it.
    unsafe {
        command.pre_exec(move || {
            check(libc::setsid())?;
            if terminal {
                check(libc::ioctl(0, libc::TIOCSCTTY.into(), 0))?;
            }
            let pid = libc::getpid().to_ne_bytes();
            if libc::write(announce, pid.as_ptr().cast(), pid.len()) < 0 {
                return Err(io::Error::last_os_error());
            }
            for signal in 1..libc::SIGUSR2 + 1 {
                // Refused for SIGKILL and SIGSTOP, which nobody can ignore.
                libc::signal(signal, libc::SIG_DFL);
            }
            each_descriptor(|number| {
                libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC);
            });
            Ok(())
        });
    }
}

/// Does something with the number of every descriptor above 2.
///
/// # Safety
/// The same as for what is done. For the moment between fork and exec.
unsafe fn each_descriptor(act: impl Fn(RawFd)) {
    let mut list = [const { MaybeUninit::<libc::proc_fdinfo>::uninit() }; DESCRIPTORS];
    let size = c_int::try_from(size_of_val(&list)).unwrap_or(c_int::MAX);
    // SAFETY: the call fills as many entries as it says (proc_pidinfo, `libproc.h`).
    unsafe {
        let buffer = list.as_mut_ptr().cast::<c_void>();
        let kind = libc::PROC_PIDLISTFDS;
        let filled = libc::proc_pidinfo(libc::getpid(), kind, 0, buffer, size);
        let count = usize::try_from(filled).unwrap_or(0) / size_of::<libc::proc_fdinfo>();
        if count == 0 || count == DESCRIPTORS {
            for number in 3..libc::getdtablesize() {
                act(number);
            }
            return;
        }
        for entry in &list[..count] {
            let number = entry.assume_init_ref().proc_fd;
            if number > 2 {
                act(number);
            }
        }
    }
}

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// A descriptor that becomes readable when the process has ended (kqueue(2)).
pub(crate) fn open_process(pid: libc::pid_t) -> io::Result<OwnedFd> {
    let queue = Kqueue::new()?;
    let ident = usize::try_from(pid).map_err(io::Error::other)?;
    let (filter, what) = (EventFilter::EVFILT_PROC, FilterFlag::NOTE_EXIT);
    let change = KEvent::new(ident, filter, EvFlags::EV_ADD, what, 0, 0);
    queue.kevent(&[change], &mut [], None)?;
    Ok(queue.into())
}

/// The path of a process's program; nothing for one that has ended.
pub(crate) fn program_of(pid: libc::pid_t) -> Option<Vec<u8>> {
    let mut path = vec![0u8; 4096];
    let size = u32::try_from(path.len()).unwrap_or(0);
    // SAFETY: the buffer is live and of the stated size.
    let length = unsafe { libc::proc_pidpath(pid, path.as_mut_ptr().cast(), size) };
    path.truncate(usize::try_from(length).ok().filter(|length| *length > 0)?);
    Some(path)
}

/// Takes a blocked signal that has come; false if it has not.
pub(crate) fn take_pending(signal: c_int) -> bool {
    // SAFETY: both sets are locals, filled before they are read. sigwait(2) does not wait
    // for a signal that is pending.
    unsafe {
        let mut pending = MaybeUninit::<libc::sigset_t>::uninit();
        if libc::sigpending(pending.as_mut_ptr()) != 0
            || libc::sigismember(pending.as_ptr(), signal) != 1
        {
            return false;
        }
        let mut one = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(one.as_mut_ptr());
        libc::sigaddset(one.as_mut_ptr(), signal);
        let mut taken = 0;
        libc::sigwait(one.as_ptr(), &raw mut taken) == 0
    }
}

/// Starts a process that ends a sandbox, and removes its private directory, when its
/// launcher is killed.
///
/// It waits for the other end of `orders`. Four bytes name the command's process; one
/// byte sends it home. If the end closes without that, the launcher is gone: it ends
/// everything, gives the terminal its settings back, and becomes rm(1).
pub(crate) fn start_janitor(
    orders: BorrowedFd<'_>,
    terminal: Option<(BorrowedFd<'_>, libc::termios)>,
    mark: &Mark,
    private: &CStr,
) -> io::Result<libc::pid_t> {
    let orders = orders.as_raw_fd();
    let terminal = terminal.map(|(terminal, settings)| (terminal.as_raw_fd(), settings));
    // SAFETY: the child makes system calls on memory that was laid out before, and runs
    // nothing of this program. What is sent to the launcher's group does not reach it:
    // signals are blocked until it is in a session of its own, and after.
    unsafe {
        let mut every = MaybeUninit::<libc::sigset_t>::uninit();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(every.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, every.as_ptr(), before.as_mut_ptr());
        let result = match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => clean_up(orders, terminal.as_ref(), mark, private),
            pid => Ok(pid),
        };
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
        result
    }
}

/// # Safety
/// Only valid in the janitor.
unsafe fn clean_up(
    orders: RawFd,
    terminal: Option<&(RawFd, libc::termios)>,
    mark: &Mark,
    private: &CStr,
) -> ! {
    // SAFETY: system calls on numbers, on locals and on strings that end.
    unsafe {
        libc::setsid();
        let kept = [orders, terminal.map_or(-1, |(terminal, _)| *terminal)];
        each_descriptor(|number| {
            if !kept.contains(&number) {
                libc::close(number);
            }
        });
        // Whoever waits for the launcher's streams to end does not wait for this.
        for number in 0..3 {
            if !kept.contains(&number) {
                libc::close(number);
            }
        }
        let mut leader: libc::pid_t = 0;
        loop {
            let mut message = [0u8; 4];
            match libc::read(orders, message.as_mut_ptr().cast(), message.len()) {
                4 => leader = libc::pid_t::from_ne_bytes(message),
                0 => break,
                -1 if io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => {}
                _ => libc::_exit(0),
            }
        }
        end_all(leader, mark);
        if let Some((terminal, settings)) = terminal {
            libc::tcsetattr(*terminal, libc::TCSANOW, settings);
        }
        let words = [
            c"rm".as_ptr(),
            c"-rf".as_ptr(),
            private.as_ptr(),
            ptr::null(),
        ];
        libc::execv(c"/bin/rm".as_ptr(), words.as_ptr());
        libc::_exit(1)
    }
}
