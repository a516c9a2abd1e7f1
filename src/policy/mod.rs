//! What a command may reach: the policy, its document and where documents are kept.

mod document;
mod error;
mod json;
mod model;
mod read;
mod render;
mod rules;
mod store;
mod suggest;

pub use error::{PolicyError, Refusal, Unreadable};
pub use model::{Network, Policy, Posture};
pub use store::Store;

#[cfg(all(feature = "faults", target_os = "linux"))]
pub(crate) use document::FIELDS;
pub(crate) use error::{Fault, describe, quote};
pub(crate) use json::Text;
pub(crate) use read::{ReadError, contents, open_document};
pub(crate) use rules::variable_name;
