//! Waking workers that something has stopped.
//!
//! A launcher under test may send signals to whatever it finds, its own parent among
//! them. A worker that is killed is noticed by the end of its output; one that is stopped
//! says nothing more, and would be waited for without an end.

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

/// Has a child go on whenever it is stopped, until it ends. Its end is left for others to
/// wait for.
pub(super) fn wake(pid: i32) {
    let pid = Pid::from_raw(pid);
    // Where no thread can be had, a stopped worker stays stopped.
    let _ = std::thread::Builder::new()
        .name("waking".to_owned())
        .spawn(move || while wake_once(pid) {});
}

/// Waits for the child to stop, and wakes it; false at its end.
fn wake_once(pid: Pid) -> bool {
    let either = WaitPidFlag::WSTOPPED | WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    match waitid(Id::Pid(pid), either) {
        Ok(WaitStatus::Stopped(..)) => {
            // Taken note of, so that it is not reported again.
            let taken = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG;
            let _ = waitid(Id::Pid(pid), taken);
            // It is a child that was not waited for: nobody else has its number.
            let _ = kill(pid, Signal::SIGCONT);
            true
        }
        Err(Errno::EINTR) => true,
        _ => false,
    }
}
