//! The signals that ask a run to end: Ctrl-C, SIGTERM and SIGHUP.

use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

use nix::sys::signal::{SigSet, Signal};

/// The signal that came, if any.
static CAME: AtomicI32 = AtomicI32::new(0);

/// Waits for signals on a thread of its own.
#[derive(Debug)]
pub struct Interrupts;

impl Interrupts {
    /// Begins to wait. To be called before any other thread is started: each
    /// has the mask of its maker (sigprocmask(2)), and a signal goes to any
    /// thread that does not block it. At the first signal `ask` is called, with
    /// the exit status that the signal stands for; a second exits at once.
    /// What is started afterwards inherits the mask; workers empty theirs.
    pub fn watch(ask: impl FnOnce(i32) + Send + 'static) -> nix::Result<()> {
        let mut signals = SigSet::empty();
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            // What nohup(1) or a shell's `&` has made us ignore stays ignored.
            if !crate::probe::is_ignored(signal as i32) {
                signals.add(signal);
            }
        }
        signals.thread_block()?;
        thread::spawn(move || {
            let mut ask = Some(ask);
            while let Ok(signal) = signals.wait() {
                let status = exit_status(signal);
                CAME.store(status, Ordering::SeqCst);
                match ask.take() {
                    // On a thread of its own, so that the second is not kept
                    // waiting by what the first has set off.
                    Some(ask) => drop(thread::spawn(move || ask(status))),
                    None => std::process::exit(status),
                }
            }
        });
        Ok(())
    }

    /// The exit status of the first signal, once one has come.
    pub fn exit_status() -> Option<i32> {
        match CAME.load(Ordering::SeqCst) {
            0 => None,
            status => Some(status),
        }
    }
}

/// The exit status that a shell gives a program which such a signal has ended.
fn exit_status(signal: Signal) -> i32 {
    128 + signal as i32
}
