//! A process that outlives a launcher that is killed, for long enough to clean up.

use std::ffi::{CStr, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr;

use super::errno;
use crate::view::PLACEHOLDER_MODE;

/// A directory that holds a name, for the janitor to remove.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Litter<'a> {
    /// The directory that the name is in.
    pub(crate) parent: BorrowedFd<'a>,
    /// The name.
    pub(crate) name: &'a CStr,
}

/// Starts a process that ends a sandbox, and removes what was made for it, when its
/// launcher is killed.
///
/// bubblewrap alone does not see to that: until its first process inside is armed against
/// the end of its parent, nothing would end it, and it would go on to the command.
///
/// It waits for the other end of `orders`. Four bytes name bubblewrap, which leads a
/// process group; four more, the sandbox's first process; one byte sends it home. If the
/// end closes without that, the launcher is gone: it ends both, waits for the sandbox to
/// be gone, gives the terminal its settings back, and removes every name that no other
/// launcher has locked. `open` is what has to stay open until then: bubblewrap takes the end of it for its cue.
///
/// It executes nothing, so that it depends on no program, and it is a copy of the whole
/// launcher, whose memory is shared until written to.
pub(crate) fn start_janitor(
    orders: BorrowedFd<'_>,
    ours: BorrowedFd<'_>,
    open: &[BorrowedFd<'_>],
    terminal: Option<(BorrowedFd<'_>, libc::termios)>,
    litter: &[Litter<'_>],
) -> io::Result<libc::pid_t> {
    let (orders, ours) = (orders.as_raw_fd(), ours.as_raw_fd());
    let terminal = terminal.map(|(terminal, settings)| (terminal.as_raw_fd(), settings));
    let mut kept: Vec<RawFd> = vec![orders];
    kept.extend(terminal.iter().map(|(terminal, _)| *terminal));
    kept.extend(open.iter().map(AsRawFd::as_raw_fd));
    for each in litter {
        kept.push(each.parent.as_raw_fd());
    }
    kept.sort_unstable();
    // SAFETY: the child makes system calls on memory that was laid out before, and ends
    // without running anything of this program. What is sent to the launcher's group
    // does not reach it: signals are blocked until it is in a session of its own, and
    // after.
    unsafe {
        let mut every = MaybeUninit::<libc::sigset_t>::uninit();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(every.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, every.as_ptr(), before.as_mut_ptr());
        let result = match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                libc::close(ours);
                clean_up(orders, &kept, terminal.as_ref(), litter);
                libc::_exit(0)
            }
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
    kept: &[RawFd],
    terminal: Option<&(RawFd, libc::termios)>,
    litter: &[Litter<'_>],
) {
    // SAFETY: system calls on numbers and on locals.
    unsafe {
        libc::setsid();
        close_others(kept);
        let mut group: libc::pid_t = 0;
        let mut sandbox: c_int = -1;
        loop {
            let mut message = [0u8; 4];
            match libc::read(orders, message.as_mut_ptr().cast(), message.len()) {
                4 => {
                    let pid = libc::pid_t::from_ne_bytes(message);
                    if group == 0 {
                        group = pid;
                    } else {
                        sandbox = libc::syscall(libc::SYS_pidfd_open, pid, 0) as c_int;
                    }
                }
                0 => break,
                -1 if errno() == libc::EINTR => {}
                _ => return,
            }
        }
        // The group first: until the first process is known, it is in there, and waits
        // for a cue that comes no more.
        if group > 0 {
            libc::kill(-group, libc::SIGKILL);
        }
        if sandbox >= 0 {
            let info = ptr::null::<libc::siginfo_t>();
            libc::syscall(libc::SYS_pidfd_send_signal, sandbox, libc::SIGKILL, info, 0);
            let mut watched = libc::pollfd {
                fd: sandbox,
                events: libc::POLLIN,
                revents: 0,
            };
            libc::poll(&raw mut watched, 1, -1);
        }
        if let Some((terminal, settings)) = terminal {
            libc::tcsetattr(*terminal, libc::TCSANOW, settings);
        }
        for each in litter {
            remove_from(each.parent.as_raw_fd(), each.name);
        }
    }
}

/// Removes it though the command may have closed the directory that it is in, which then
/// gets its mode back.
///
/// # Safety
/// Only valid in the janitor.
unsafe fn remove_from(parent: RawFd, name: &CStr) {
    let needed = libc::S_IWUSR | libc::S_IXUSR;
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: system calls on a number, and on a local that is read only where the call
    // says that it has filled it.
    unsafe {
        let known = libc::fstat(parent, status.as_mut_ptr()) == 0;
        let mode = known.then(|| status.assume_init().st_mode & 0o7777);
        let closed = mode.filter(|mode| mode & needed != needed);
        if let Some(mode) = closed {
            libc::fchmod(parent, mode | needed);
        }
        remove(parent, name);
        if let Some(mode) = closed {
            libc::fchmod(parent, mode);
        }
    }
}

/// Removes a directory that a launcher made to hold a name, once no other has it locked.
///
/// # Safety
/// Only valid in the janitor.
unsafe fn remove(parent: RawFd, name: &CStr) {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: system calls on numbers, on a string that ends, and on locals that are
    // read only where the call says that it has filled them.
    unsafe {
        let directory = libc::openat(parent, name.as_ptr(), flags);
        let mut held = MaybeUninit::<libc::stat>::uninit();
        let mut named = MaybeUninit::<libc::stat>::uninit();
        if directory < 0 || libc::fstat(directory, held.as_mut_ptr()) != 0 {
            return;
        }
        // Its mark, as far as it had been given it.
        let held = held.assume_init();
        let mode = held.st_mode & 0o7777;
        if mode & libc::S_ISVTX == 0 || mode & !PLACEHOLDER_MODE != 0 {
            return;
        }
        // The dead launcher's own lock may take a moment to go.
        if libc::flock(directory, libc::LOCK_EX) != 0 {
            return;
        }
        let flags = libc::AT_SYMLINK_NOFOLLOW;
        if libc::fstatat(parent, name.as_ptr(), named.as_mut_ptr(), flags) == 0 {
            let named = named.assume_init();
            if (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino) {
                libc::unlinkat(parent, name.as_ptr(), libc::AT_REMOVEDIR);
            }
        }
    }
}

/// Closes every descriptor but these, which are in order. Whoever waits for the
/// launcher's pipes to end does not wait for the janitor. On Linux before 5.9 they stay
/// open for as long as the launcher is there.
///
/// # Safety
/// Only valid in the janitor.
unsafe fn close_others(kept: &[RawFd]) {
    let mut first: libc::c_uint = 0;
    // SAFETY: system calls on numbers.
    unsafe {
        for descriptor in kept {
            let descriptor = *descriptor as libc::c_uint;
            if descriptor > first {
                libc::syscall(libc::SYS_close_range, first, descriptor - 1, 0);
            }
            first = descriptor + 1;
        }
        libc::syscall(libc::SYS_close_range, first, u32::MAX, 0);
    }
}
