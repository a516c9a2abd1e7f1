//! The property test of the whole path: from a seed, files, a policy and
//! operations; a prediction from the policy's meaning alone; a launch; and any
//! difference made small.

mod choose;
pub mod compare;
mod drive;
mod export;
mod generate;
mod generate_operations;
mod inside;
pub mod meaning;
pub mod operation;
mod perform;
pub mod predict;
mod reduce;
mod refusal;
mod report;
pub mod scenario;
mod seen;
mod shrink;
pub mod sighting;
mod trial;
pub mod world;

pub use drive::{Exploration, ExploreError, Found, Limits, explore};
pub use generate::{Claims, scenario};
pub use reduce::{Reduced, reduce, save};
pub use report::{Line, closing, difference};

/// How long, as it is typed: `60s`, `5m`, `1h`.
///
/// # Errors
/// What is wrong with the text.
pub fn duration(text: &str) -> Result<std::time::Duration, String> {
    humantime::parse_duration(text).map_err(|error| format!("{error}; write such as 60s, 5m or 1h"))
}

/// A seed for those who name none.
///
/// # Errors
/// The system has no randomness.
pub fn random_seed() -> std::io::Result<u64> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(u32::from_le_bytes(bytes).into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
