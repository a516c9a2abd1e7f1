//! What this host offers a sandbox, and what to change where it does not.

mod examine;
#[cfg(target_os = "linux")]
mod failure;
#[cfg(target_os = "linux")]
mod host;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(target_os = "macos", path = "macos.rs")]
mod platform;

pub use examine::{Finding, Report, State, examine};
#[cfg(target_os = "linux")]
pub(crate) use failure::failure;
