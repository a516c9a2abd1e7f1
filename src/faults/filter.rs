//! Filters of system calls that forbid too much (seccomp(2)).

use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use libc::c_long;
use nix::sys::memfd::{MFdFlags, memfd_create};

use super::mistake::{Mistake, made};

/// Instructions of a filter: load a word, compare, return (linux/bpf_common.h).
const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

/// The call is let through (SECCOMP_RET_ALLOW).
const ALLOW: u32 = 0x7fff_0000;
/// The call fails (SECCOMP_RET_ERRNO) with EPERM.
const REFUSE: u32 = 0x0005_0000 | libc::EPERM as u32;

/// A file that holds the filter, for as long as the launcher is there.
pub(super) fn descriptor() -> Option<BorrowedFd<'static>> {
    static FILTER: OnceLock<Option<OwnedFd>> = OnceLock::new();
    FILTER.get_or_init(make).as_ref().map(AsFd::as_fd)
}

fn make() -> Option<OwnedFd> {
    let calls = forbidden()?;
    let mut program = Vec::new();
    let mut add = |code: u16, on_true: u8, value: u32| {
        program.extend_from_slice(&code.to_ne_bytes());
        program.extend_from_slice(&[on_true, 0]);
        program.extend_from_slice(&value.to_ne_bytes());
    };
    // The number of the call comes first in what a filter sees.
    add(LOAD, 0, 0);
    for (index, call) in calls.iter().enumerate() {
        let to_refusal = u8::try_from(calls.len() - index).ok()?;
        add(EQUAL, to_refusal, u32::try_from(*call).ok()?);
    }
    add(RETURN, 0, ALLOW);
    add(RETURN, 0, REFUSE);
    let mut file = File::from(memfd_create(c"filter", MFdFlags::MFD_CLOEXEC).ok()?);
    file.write_all(&program).ok()?;
    file.rewind().ok()?;
    Some(file.into())
}

/// The calls that a mistake forbids.
fn forbidden() -> Option<Vec<c_long>> {
    let mut calls = match made() {
        Mistake::IpcForbidden => vec![
            libc::SYS_shmget,
            libc::SYS_shmat,
            libc::SYS_msgget,
            libc::SYS_semget,
            libc::SYS_mq_open,
        ],
        Mistake::LinksForbidden => {
            vec![libc::SYS_linkat, libc::SYS_symlinkat, libc::SYS_mknodat]
        }
        Mistake::SocketsForbidden => vec![libc::SYS_socket, libc::SYS_socketpair],
        Mistake::SignalsForbidden => vec![libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill],
        Mistake::MetadataForbidden => {
            vec![libc::SYS_fchmod, libc::SYS_fchmodat, libc::SYS_utimensat]
        }
        Mistake::RenamesForbidden => vec![libc::SYS_renameat, libc::SYS_renameat2],
        Mistake::LocksForbidden => vec![libc::SYS_flock],
        _ => return None,
    };
    // Older calls that newer architectures never had.
    #[cfg(target_arch = "x86_64")]
    calls.extend_from_slice(match made() {
        Mistake::LinksForbidden => &[libc::SYS_link, libc::SYS_symlink, libc::SYS_mknod],
        Mistake::MetadataForbidden => &[libc::SYS_chmod, libc::SYS_utimes, libc::SYS_utime],
        Mistake::RenamesForbidden => &[libc::SYS_rename],
        _ => &[],
    });
    #[cfg(not(target_arch = "x86_64"))]
    calls.dedup();
    Some(calls)
}
