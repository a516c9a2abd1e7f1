//! Two system calls that no safe interface offers, the same on both systems.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// Whether this program ignores a signal, as one started by nohup(1) does.
pub(crate) fn is_ignored(signal: c_int) -> bool {
    // SAFETY: asks for the disposition alone, into a local that is large enough.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Gives a terminal the size of another, if both are terminals.
pub(crate) fn copy_window_size(from: BorrowedFd<'_>, to: BorrowedFd<'_>) {
    // SAFETY: both calls take a window size, which is a local.
    unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        if libc::ioctl(from.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) == 0 {
            libc::ioctl(to.as_raw_fd(), libc::TIOCSWINSZ, &raw const size);
        }
    }
}
