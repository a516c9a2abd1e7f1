//! Tests on real processes: launches, trees, workers, the probe. They run one
//! after the other, for they watch all descendants of this one process, and
//! this executable is started again as worker and as probe.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod descent;
mod inheritance;
mod launching;
mod meanwhile;
mod on_terminal;
mod pool;
mod probing;
mod support;

use libtest_mimic::{Arguments, Trial};

fn main() {
    perimeter_runner::worker::enter(pool::handle);
    pool::enter();
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let tests: Vec<Trial> = [
        launching::tests(),
        inheritance::tests(),
        meanwhile::tests(),
        on_terminal::tests(),
        descent::tests(),
        pool::tests(),
        probing::tests(),
    ]
    .into_iter()
    .flatten()
    .collect();
    libtest_mimic::run(&arguments, tests).exit();
}
