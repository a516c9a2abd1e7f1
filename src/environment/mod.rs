//! The variables of a command: what its posture begins with, and what the agent's
//! own file and the caller add.
//!
//! ```
//! use perimeter::environment::Environment;
//! use perimeter::Policy;
//!
//! let policy = Policy { host_environment: vec!["TOKEN".into()], ..Policy::strict() };
//! let text = r#"{ "environment": { "RUST_BACKTRACE": "1", "TOKEN": "${TOKEN}" } }"#;
//! let environment = Environment::from_json(text, "agent.json")?;
//! let host = |name: &str| (name == "TOKEN").then(|| "secret".into());
//! assert_eq!(
//!     environment.resolve(&policy, host)?,
//!     [("RUST_BACKTRACE".into(), "1".into()), ("TOKEN".into(), "secret".into())],
//! );
//! # Ok::<(), perimeter::environment::EnvironmentError>(())
//! ```

mod base;
mod document;
mod error;
mod value;

pub use base::{
    COPIED_VARIABLES, PrivateDirectories, STRICT_SEARCH_PATH, STRIPPED_VARIABLES, base,
};
pub use document::Environment;
pub use error::EnvironmentError;

pub(crate) use value::Value;
