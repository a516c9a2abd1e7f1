//! Where processes are started from.
//!
//! A sandbox is killed when the thread that started it ends (`PR_SET_PDEATHSIG`,
//! prctl(2), speaks of the thread). So all of them are started by one thread that
//! lives as long as the program.

use std::cell::Cell;
use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};

use nix::sys::signal::SigSet;

use crate::faults;
use crate::unsafe_spawn::{Spawn, spawn as spawn_here};

struct Request {
    what: Spawn,
    answer: SyncSender<io::Result<i32>>,
}

static SPAWNER: Mutex<Option<Sender<Request>>> = Mutex::new(None);

thread_local! {
    static STAYS: Cell<bool> = const { Cell::new(false) };
}

/// Promises that the calling thread outlives every sandbox that it starts, as the
/// main thread of a program that waits for its command does. Sandboxes that this
/// thread starts then need no further thread; they are killed when it ends.
pub fn this_thread_stays() {
    STAYS.set(true);
}

/// Starts a process, from a thread that stays.
pub(crate) fn spawn(what: Spawn) -> io::Result<i32> {
    if STAYS.get() {
        return faults::start(what);
    }
    let (answer, answered) = sync_channel(1);
    let mut request = Request { what, answer };
    {
        let mut spawner = SPAWNER
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(sender) = spawner.as_ref() {
            match sender.send(request) {
                Ok(()) => return wait(spawner, &answered),
                // Its thread is gone, as in a process that was forked.
                Err(refused) => request = refused.0,
            }
        }
        let sender = begin()?;
        sender.send(request).map_err(|_| gone())?;
        *spawner = Some(sender);
    }
    answered.recv().map_err(|_| gone())?
}

fn wait(
    spawner: std::sync::MutexGuard<'_, Option<Sender<Request>>>,
    answered: &std::sync::mpsc::Receiver<io::Result<i32>>,
) -> io::Result<i32> {
    drop(spawner);
    answered.recv().map_err(|_| gone())?
}

fn begin() -> io::Result<Sender<Request>> {
    let (sender, requests) = channel::<Request>();
    // The program's signals are for the program's own threads.
    let before = SigSet::all().thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_SETMASK)?;
    let begun = std::thread::Builder::new()
        .name("perimeter-spawner".to_owned())
        .stack_size(64 * 1024)
        .spawn(move || {
            for Request { what, answer } in requests {
                let result = spawn_here(&what);
                // Its descriptors are closed before the caller goes on: a pipe ends
                // when the last writer is gone.
                drop(what);
                let _ = answer.send(result);
            }
        });
    before.thread_set_mask()?;
    begun?;
    Ok(sender)
}

fn gone() -> io::Error {
    io::Error::other("the thread that starts processes is gone")
}
