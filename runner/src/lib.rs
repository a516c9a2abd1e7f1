//! Drives any sandbox launcher through a conformance corpus and judges by what
//! happened on the host.

pub mod audit;
pub mod compare;
pub mod corpus;
pub mod exit;
pub mod expectations;
pub mod explain;
pub mod explore;
pub mod facts;
pub mod fixture;
pub mod harness;
pub mod judge;
pub mod launch;
pub mod launcher;
pub mod lint;
pub mod modelled;
pub mod observe;
pub mod pipeline;
pub mod probe;
pub mod rehearsal;
pub mod report;
pub mod repro;
pub mod schema;
pub mod seatbelt;
pub mod session;
pub mod shell;
pub mod target;
pub mod verdict;
pub mod worker;

/// To be called first in `main` of the command line and of every test target
/// that runs cases: their executable is started again as the workers of a run
/// and, inside a sandbox, as the probe. Those calls never return.
pub fn entry() {
    worker::enter(pipeline::run);
}
