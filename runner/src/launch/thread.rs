//! A launcher that is started by a thread which ends before it: what is tied to
//! its parent's life (PR_SET_PDEATHSIG(2const)) is tied to that thread's.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

/// The thread that started a launcher. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Starter {
    release: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Starter {
    /// Starts the command in a thread of its own, which stays.
    pub(super) fn spawn(mut command: Command) -> (io::Result<Child>, Starter) {
        let (sender, receiver) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let thread = thread::Builder::new()
            .name("starter".to_owned())
            .spawn(move || {
                let child = command.spawn();
                drop(command);
                let _ = sender.send(child);
                // An error: the other end is gone, which is the sign.
                let _ = released.recv();
            });
        let thread = match thread {
            Ok(thread) => thread,
            Err(error) => {
                let none = Starter {
                    release: None,
                    thread: None,
                };
                return (Err(error), none);
            }
        };
        let child = receiver.recv().map_err(io::Error::other);
        let starter = Starter {
            release: Some(release),
            thread: Some(thread),
        };
        (child.and_then(|child| child), starter)
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        drop(self.release.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
