//! The system calls of the probe that have no safe interface, each with plain
//! numbers and texts in and an `io::Result` out.
//!
//! Unsafe code is confined to this file. No function keeps a pointer past its
//! return, and each hands the kernel only live memory of the stated size.
#![allow(
    unsafe_code,
    reason = "raw system calls are what the probe is there for"
)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
#[cfg(target_os = "linux")]
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use libc::c_int;

/// Whether SIGPIPE was ignored when the process began.
static PIPE_WAS_IGNORED: AtomicBool = AtomicBool::new(false);

/// Runs before `main`: the standard library ignores SIGPIPE on its way there,
/// and what the process had inherited could not be told any more.
extern "C" fn note_pipe() {
    PIPE_WAS_IGNORED.store(has_ignored(libc::SIGPIPE), Ordering::Relaxed);
}

// SAFETY: the sections hold pointers to functions that the loader calls before
// `main` (`DT_INIT_ARRAY` of the ELF specification, `S_MOD_INIT_FUNC_POINTERS`
// of Mach-O); this one makes a single async-signal-safe call.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static NOTE_PIPE: extern "C" fn() = note_pipe;

/// Whether a signal was ignored when the process began.
pub(crate) fn is_ignored(signal: c_int) -> bool {
    if signal == libc::SIGPIPE {
        PIPE_WAS_IGNORED.load(Ordering::Relaxed)
    } else {
        has_ignored(signal)
    }
}

fn has_ignored(signal: c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: the action is filled when the call succeeds, and only then read.
    unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Whether a signal is blocked.
pub(super) fn is_blocked(signal: c_int) -> bool {
    let mut mask = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the mask is filled when the call succeeds, and only then read.
    unsafe {
        libc::sigprocmask(libc::SIG_SETMASK, ptr::null(), mask.as_mut_ptr()) == 0
            && libc::sigismember(mask.as_ptr(), signal) == 1
    }
}

/// Whether a descriptor is open.
pub(super) fn is_open(number: RawFd) -> bool {
    // SAFETY: plain numbers.
    unsafe { libc::fcntl(number, libc::F_GETFD) != -1 }
}

/// A duplicate of a descriptor that was inherited.
#[cfg(target_os = "linux")]
pub(super) fn duplicate(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the kernel has just made the descriptor, for us alone.
    unsafe {
        let copy = check(libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3))?;
        Ok(OwnedFd::from_raw_fd(copy))
    }
}

/// fork(2), for a process of one thread; true in the child.
pub(super) fn fork() -> io::Result<bool> {
    // SAFETY: the probe has one thread, so that the child may do anything.
    check(unsafe { libc::fork() }).map(|pid| pid == 0)
}

/// Closes the standard streams and every other descriptor.
pub(super) fn close_all() {
    for number in 0..4096 {
        // SAFETY: nothing of this process owns a descriptor by now but the
        // standard library, which does not mind when its streams are closed.
        unsafe {
            libc::close(number);
        }
    }
}

/// TIOCSTI (TIOCSTI(2const)): a byte as if typed. The bits above the request's
/// 32 are the kernel's to ignore, and a filter's to overlook.
pub(super) fn push_byte(terminal: RawFd, byte: u8, high_bits: bool) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    // SAFETY: the kernel reads one byte.
    let result = unsafe {
        let request = u64::from(u32::try_from(libc::TIOCSTI).unwrap_or(0));
        let request = request | if high_bits { 1 << 32 } else { 0 };
        libc::syscall(libc::SYS_ioctl, terminal, request, &raw const byte)
    };
    #[cfg(not(target_os = "linux"))]
    // SAFETY: the kernel reads one byte.
    let result = unsafe {
        let _ = high_bits;
        libc::ioctl(terminal, libc::TIOCSTI, &raw const byte).into()
    };
    check_long(result).map(drop)
}

/// TIOCSCTTY (TIOCSCTTY(2const)), with the argument that takes the terminal
/// from another session.
pub(super) fn take_terminal(terminal: RawFd) -> io::Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { libc::ioctl(terminal, libc::TIOCSCTTY as _, 1) }).map(drop)
}

/// A socket of any family.
#[cfg(target_os = "linux")]
pub(super) fn socket(family: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    // SAFETY: the kernel has just made the descriptor, for us alone.
    unsafe {
        let number = check(libc::socket(family, kind, protocol))?;
        Ok(OwnedFd::from_raw_fd(number))
    }
}

/// The text of a System V shared memory segment (shmop(2)).
pub(super) fn shared_memory(id: c_int) -> io::Result<Vec<u8>> {
    // SAFETY: the segment's size is the kernel's, and it stays attached while
    // it is copied. Whoever writes to it meanwhile changes single bytes.
    unsafe {
        let mut about: libc::shmid_ds = std::mem::zeroed();
        check(libc::shmctl(id, libc::IPC_STAT, &mut about))?;
        let address = libc::shmat(id, ptr::null(), libc::SHM_RDONLY);
        if address as isize == -1 {
            return Err(io::Error::last_os_error());
        }
        let mut bytes = vec![0; about.shm_segsz];
        ptr::copy_nonoverlapping(address.cast(), bytes.as_mut_ptr(), bytes.len());
        libc::shmdt(address);
        Ok(bytes)
    }
}

/// Writes to the start of a file through a shared mapping (mmap(2)).
pub(super) fn map_write(file: &std::fs::File, bytes: &[u8]) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: the mapping is ours, of the stated length, and gone before the
    // return. A file that is shorter than the text raises SIGBUS, which ends us.
    unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let number = file.as_raw_fd();
        let length = bytes.len();
        let start = libc::mmap(ptr::null_mut(), length, access, libc::MAP_SHARED, number, 0);
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        ptr::copy_nonoverlapping(bytes.as_ptr(), start.cast(), length);
        let written = check(libc::msync(start, length, libc::MS_SYNC));
        libc::munmap(start, length);
        written.map(drop)
    }
}

#[cfg(target_os = "linux")]
pub(super) use linux::*;

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::CStr;
    use std::net::SocketAddr;
    use std::os::fd::AsRawFd;

    use super::{FromRawFd, OwnedFd, RawFd, c_int, check, check_long, io};

    /// `linux/keyctl.h`: KEY_SPEC_SESSION_KEYRING, KEYCTL_SEARCH, KEYCTL_READ.
    const SESSION_KEYRING: libc::c_long = -3;
    const SEARCH: libc::c_long = 10;
    const READ: libc::c_long = 11;

    /// The payload of a user key that the session keyring leads to (keyctl(2)).
    pub(crate) fn read_key(description: &CStr) -> io::Result<Vec<u8>> {
        // SAFETY: the texts end in zero, and the buffer is of the stated size.
        unsafe {
            let kind = c"user".as_ptr();
            let text = description.as_ptr();
            let key = libc::syscall(libc::SYS_keyctl, SEARCH, SESSION_KEYRING, kind, text, 0);
            let key = check_long(key)?;
            let mut bytes = vec![0u8; 65536];
            let target = bytes.as_mut_ptr();
            let length = libc::syscall(libc::SYS_keyctl, READ, key, target, bytes.len());
            bytes.truncate(usize::try_from(check_long(length)?).unwrap_or(0));
            Ok(bytes)
        }
    }

    /// TIOCLINUX (ioctl_console(2)) with one of its subcodes.
    pub(crate) fn console(terminal: RawFd, subcode: u8) -> io::Result<()> {
        let mut argument = [subcode, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        // SAFETY: no subcode reads or writes more than the buffer has.
        check(unsafe { libc::ioctl(terminal, libc::TIOCLINUX as _, argument.as_mut_ptr()) })
            .map(drop)
    }

    /// Another process's descriptor (pidfd_getfd(2)).
    pub(crate) fn copy_descriptor(pid: c_int, number: RawFd) -> io::Result<OwnedFd> {
        // SAFETY: the kernel has just made the descriptors, for us alone.
        unsafe {
            let process = check_long(libc::syscall(libc::SYS_pidfd_open, pid, 0))?;
            let process = OwnedFd::from_raw_fd(process as RawFd);
            let handle = process.as_raw_fd();
            let copy = check_long(libc::syscall(libc::SYS_pidfd_getfd, handle, number, 0))?;
            Ok(OwnedFd::from_raw_fd(copy as RawFd))
        }
    }

    /// The effective, permitted and inheritable capabilities (capget(2)).
    pub(crate) fn capabilities() -> io::Result<[u64; 3]> {
        // _LINUX_CAPABILITY_VERSION_3 of `linux/capability.h`: two words each.
        let mut header = [0x2008_0522u32, 0];
        let mut data = [0u32; 6];
        // SAFETY: the buffers are laid out as that version asks.
        check_long(unsafe {
            libc::syscall(libc::SYS_capget, header.as_mut_ptr(), data.as_mut_ptr())
        })?;
        Ok([0, 1, 2].map(|set| u64::from(data[set]) | u64::from(data[set + 3]) << 32))
    }

    /// Whether a capability is in the bounding set; none beyond the last.
    pub(crate) fn is_bounding(capability: c_int) -> Option<bool> {
        // SAFETY: plain numbers.
        match unsafe { libc::prctl(libc::PR_CAPBSET_READ, capability, 0, 0, 0) } {
            -1 => None,
            answer => Some(answer == 1),
        }
    }

    /// Sends the first bytes with the connection itself (tcp(7), TCP_FASTOPEN).
    pub(crate) fn send_fast_open(
        socket: &OwnedFd,
        address: SocketAddr,
        bytes: &[u8],
    ) -> io::Result<()> {
        with_address(address, |address, length| {
            // SAFETY: buffer and address are live and of the stated sizes.
            let sent = unsafe {
                let start = bytes.as_ptr().cast();
                let flags = libc::MSG_FASTOPEN | libc::MSG_NOSIGNAL;
                libc::sendto(
                    socket.as_raw_fd(),
                    start,
                    bytes.len(),
                    flags,
                    address,
                    length,
                )
            };
            check_long(libc::c_long::try_from(sent).unwrap_or(-1)).map(drop)
        })
    }

    /// connect(2) of any socket of an Internet family.
    pub(crate) fn connect(socket: &OwnedFd, address: SocketAddr) -> io::Result<()> {
        with_address(address, |address, length| {
            // SAFETY: the address is live and of the stated size.
            check(unsafe { libc::connect(socket.as_raw_fd(), address, length) }).map(drop)
        })
    }

    fn with_address<T>(
        address: SocketAddr,
        call: impl FnOnce(*const libc::sockaddr, libc::socklen_t) -> T,
    ) -> T {
        let address = nix::sys::socket::SockaddrStorage::from(address);
        let address: &dyn nix::sys::socket::SockaddrLike = &address;
        call(address.as_ptr(), address.len())
    }

    /// sethostname(2).
    pub(crate) fn set_hostname(name: &str) -> io::Result<()> {
        // SAFETY: the text is live and of the stated length.
        check(unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) }).map(drop)
    }

    /// kcmp(2), KCMP_FILE of `linux/kcmp.h`: whether a descriptor of ours and one
    /// of another process are one open file.
    pub(crate) fn compare_descriptors(pid: c_int, number: RawFd) -> io::Result<bool> {
        // SAFETY: plain numbers.
        let order = unsafe {
            let own = libc::getpid();
            libc::syscall(libc::SYS_kcmp, own, pid, 0, number, number)
        };
        check_long(order).map(|order| order == 0)
    }

    /// Waits for a new name in a directory (inotify(7)), once `ready` was called.
    pub(crate) fn await_name(directory: &CStr, ready: impl FnOnce()) -> io::Result<Vec<u8>> {
        // SAFETY: the kernel has just made the descriptor, for us alone, and the
        // buffer is live and of the stated size.
        unsafe {
            let watch = OwnedFd::from_raw_fd(check(libc::inotify_init1(libc::IN_CLOEXEC))?);
            let number = watch.as_raw_fd();
            check(libc::inotify_add_watch(
                number,
                directory.as_ptr(),
                libc::IN_CREATE,
            ))?;
            ready();
            let mut buffer = vec![0u8; 4096];
            let length = libc::read(number, buffer.as_mut_ptr().cast(), buffer.len());
            check_long(libc::c_long::try_from(length).unwrap_or(-1))?;
            // The name follows the event's four numbers, and ends in zeros.
            let name = buffer.split_off(size_of::<libc::inotify_event>());
            let end = name.iter().position(|byte| *byte == 0).unwrap_or(0);
            Ok(name[..end].to_vec())
        }
    }

    /// Ends the calling thread alone (_exit(2)), whichever it is.
    pub(crate) fn exit_thread() -> ! {
        // SAFETY: the process goes on in its other threads; nothing of this
        // one's stack is borrowed by them.
        unsafe {
            libc::syscall(libc::SYS_exit, 0);
        }
        unreachable!("a thread that has ended does not go on")
    }

    /// One call of the kernel that a sandbox may keep from its commands, with
    /// arguments by which it changes nothing but this process: it succeeds, or
    /// fails with another error than for want of a right. None for a call that
    /// this processor does not have.
    pub(crate) fn harmless(call: &str) -> Option<io::Result<()>> {
        let zeros = [0u64; 32];
        let zeros = zeros.as_ptr();
        let here = libc::c_long::from(libc::AT_FDCWD);
        let root = c"/".as_ptr();
        let absent = c"/perimeter-absent".as_ptr();
        // A handle of eight bytes that leads to no file (open_by_handle_at(2)).
        let handle = [8u32, 1, 0, 0];
        // perf_event_open(2): a software event, counted in this process alone.
        let mut event = [0u64; 16];
        event[0] = 1 | 128 << 32;
        event[5] = 1 << 5 | 1 << 6;
        // SAFETY: every pointer leads to live memory of at least the size that
        // the call reads or writes, or is null where the call allows it.
        let result = unsafe {
            match call {
                "bpf" => libc::syscall(libc::SYS_bpf, 0, zeros, 72),
                "perf-event-open" => {
                    libc::syscall(libc::SYS_perf_event_open, event.as_ptr(), 0, -1, -1, 0)
                }
                "userfaultfd" => libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | 1),
                "io-uring-setup" => {
                    let mut parameters = [0u64; 32];
                    libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr())
                }
                "add-key" => {
                    let (kind, name) = (c"user".as_ptr(), c"perimeter-probe".as_ptr());
                    let process_keyring = -2;
                    libc::syscall(libc::SYS_add_key, kind, name, root, 1, process_keyring)
                }
                "personality" => libc::syscall(libc::SYS_personality, 0x0004_0000),
                #[cfg(target_arch = "x86_64")]
                "modify-ldt" => {
                    let mut table = [0u64; 32];
                    libc::syscall(libc::SYS_modify_ldt, 0, table.as_mut_ptr(), 256)
                }
                "fanotify-init" => libc::syscall(libc::SYS_fanotify_init, 0, libc::O_CLOEXEC),
                "open-by-handle" => {
                    libc::syscall(libc::SYS_open_by_handle_at, here, handle.as_ptr(), 0)
                }
                "open-tree" => {
                    let clone = 1 | libc::O_CLOEXEC;
                    libc::syscall(libc::SYS_open_tree, here, root, clone)
                }
                "fsopen" => libc::syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), 1),
                "mount-setattr" => libc::syscall(libc::SYS_mount_setattr, here, root, 0, zeros, 32),
                "swapon" => libc::syscall(libc::SYS_swapon, absent, 0),
                "acct" => libc::syscall(libc::SYS_acct, absent),
                // Its magic numbers are wrong, so that nothing restarts.
                "reboot" => libc::syscall(libc::SYS_reboot, 0, 0, 0, 0),
                "securebits" => {
                    let bits = libc::prctl(libc::PR_GET_SECUREBITS, 0, 0, 0, 0);
                    libc::prctl(libc::PR_SET_SECUREBITS, bits, 0, 0, 0).into()
                }
                "unshare-mounts" => libc::unshare(libc::CLONE_NEWNS).into(),
                "unshare-network" => libc::unshare(libc::CLONE_NEWNET).into(),
                "setgroups" => libc::setgroups(0, std::ptr::null()).into(),
                "chroot" => libc::chroot(root).into(),
                "set-priority" => libc::setpriority(libc::PRIO_PROCESS, 0, -5).into(),
                _ => return None,
            }
        };
        Some(match check_long(result) {
            Err(error)
                if !matches!(
                    error.raw_os_error(),
                    Some(libc::EPERM | libc::EACCES | libc::ENOSYS)
                ) =>
            {
                Ok(())
            }
            result => result.map(drop),
        })
    }

    /// PR_GET_NO_NEW_PRIVS(2const).
    pub(crate) fn has_no_new_privileges() -> bool {
        // SAFETY: plain numbers.
        unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 }
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
