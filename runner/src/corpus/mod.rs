//! The corpus: cases as data, and how they are read.

pub mod case;
pub(crate) mod check;
pub mod digest;
#[cfg(feature = "corpus")]
mod embedded;
pub mod error;
pub mod expect;
pub mod expectation;
pub mod fault;
pub mod fixture;
pub mod history;
pub mod load;
pub mod matrix;
pub mod partition;
pub(crate) mod place;
pub mod placeholder;
pub mod policy;
pub(crate) mod read;
pub mod requirement;
pub mod source;
pub mod streams;
pub mod trial;
pub mod vocabulary;

pub use check::FIXED_NAMES;
pub(crate) use check::secrets_of;
pub use error::CorpusError;
pub use fault::Fault;
pub use load::Corpus;
pub use source::Source;
pub use trial::Trial;
