//! What this host offers a sandbox, and what to change where it does not.

mod examine;
mod failure;
mod host;

pub use examine::{Finding, Report, State, examine};
pub(crate) use failure::failure;
