//! The processes that run trials, and where they keep their things.
//!
//! A run starts this program again as its workers. A worker is small, so that
//! its forks are cheap; it runs one trial at a time and adopts every orphan of
//! it; and it outlives the runner by just as long as it takes to end what it
//! has started and to remove what it has made.

mod pool;
mod roots;
mod scratch;
mod serve;
mod signals;
#[cfg(target_os = "linux")]
mod stopped;

use std::os::unix::ffi::OsStrExt;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use pool::{Pool, PoolError};
pub use roots::{InUse, in_use};
pub use scratch::{Scratch, ScratchError};
pub use signals::Interrupts;

/// The first argument by which this program becomes a worker.
pub const WORKER: &str = "--perimeter-worker";
/// The first argument by which this program becomes the probe.
pub const PROBE: &str = "--perimeter-probe";

/// To be called first in `main` of every program whose executable is started
/// as a worker or as the probe; those calls never return. `handle` is what a
/// worker does with a request.
pub fn enter<Request, Response>(handle: fn(&Request) -> Response)
where
    Request: DeserializeOwned,
    Response: Serialize,
{
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    if name.as_bytes().ends_with(crate::probe::PROGRAM.as_bytes()) {
        crate::probe::main(arguments.collect());
    }
    match arguments.next() {
        Some(first) if first == WORKER => serve::serve(handle),
        Some(first) if first == PROBE => crate::probe::main(arguments.collect()),
        _ => {}
    }
}
