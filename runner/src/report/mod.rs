//! What is told of a run: the records, and the reports that are derived from them.

pub mod console;
pub mod junit;
pub mod markdown;
pub mod progress;
pub mod reader;
pub mod results;
pub mod sarif;
pub mod summary;
pub mod tap;
pub mod writer;

mod closing;
mod remedy;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod text;

pub use text::wrapped;
pub(crate) use text::{acts, counted, harmless, word};
