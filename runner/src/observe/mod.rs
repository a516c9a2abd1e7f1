//! What happened: the host's side of a run, and the command's own record.

pub mod effect;
pub mod leak;
pub mod observation;
mod read;
pub mod snapshot;
mod snapshot_difference;
pub mod text;
