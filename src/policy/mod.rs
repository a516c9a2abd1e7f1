//! What a command may reach: the policy, its document and where documents are kept.

mod model;

pub use model::{Network, Policy, Posture};
