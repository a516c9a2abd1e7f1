//! Runs a command under a sandbox policy: bubblewrap on Linux.

pub mod environment;
pub mod policy;

pub use policy::{Network, Policy, Posture};
