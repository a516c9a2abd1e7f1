//! Whether standard output was open when this program was started.
//!
//! The standard library opens /dev/null in the place of a closed standard stream
//! before `main`, so that what is written there is lost without an error. This
//! looks before that.
#![allow(unsafe_code, reason = "nothing safe runs before `main`")]

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Called by the system's loader before the standard library's own start.
// SAFETY: both sections are lists of functions without arguments or results, and
// this one needs nothing of the standard library to be set up.
#[used]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: it reads the flags of a descriptor, which need not be there.
    if unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1 {
        CLOSED.store(true, Ordering::Relaxed);
    }
}

/// Whether it was closed.
pub fn was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}
