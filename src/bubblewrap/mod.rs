//! Makes a view real with bubblewrap.

mod arguments;
mod error;
mod features;
mod find;
mod mounted;
mod mounting;
mod namespaces;
mod process;
mod status;
mod waiting;

pub use arguments::{LIMIT, Setting};
pub(crate) use arguments::{Sources, arguments};
pub use error::BubblewrapError;
pub use features::Features;
pub use find::{Program, find};
pub(crate) use mounted::is_contested;
pub(crate) use process::{End, Run, pins};
pub(crate) use waiting::Waiting;
