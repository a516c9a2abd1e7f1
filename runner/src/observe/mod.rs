//! What happened: the host's side of a run, and the command's own record.

pub mod effect;
mod encoded;
pub mod leak;
pub mod listing;
pub mod observation;
mod read;
pub mod snapshot;
mod snapshot_difference;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
pub mod text;
