//! Tests on real processes: launches, trees, workers, the probe. They run one
//! after the other, for they watch all descendants of this one process, and
//! this executable is started again as worker and as probe. Where a test looks
//! through /proc or at orphans, it is Linux's alone.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(target_os = "linux")]
mod descent;
#[cfg(target_os = "linux")]
mod inheritance;
mod launching;
#[cfg(target_os = "linux")]
mod meanwhile;
#[cfg(target_os = "linux")]
mod on_terminal;
mod pool;
#[cfg(target_os = "linux")]
mod probing;
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "most of it serves tests of Linux alone")
)]
mod support;

use libtest_mimic::{Arguments, Trial};

fn main() {
    perimeter_runner::worker::enter(pool::handle);
    #[cfg(target_os = "linux")]
    pool::enter();
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let mut tests: Vec<Trial> = launching::tests();
    tests.extend(pool::tests());
    #[cfg(target_os = "linux")]
    for more in [
        inheritance::tests(),
        meanwhile::tests(),
        on_terminal::tests(),
        descent::tests(),
        probing::tests(),
    ] {
        tests.extend(more);
    }
    libtest_mimic::run(&arguments, tests).exit();
}
