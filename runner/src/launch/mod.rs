//! One launch of a launcher: started with nothing of the harness's own, watched
//! to its end by events, its whole tree gone when the launch returns.

mod beside;
mod capture;
mod child;
mod error;
mod exit;
mod request;
mod script;
mod start;
mod streams;
mod terminal;
mod thread;
pub mod tree;
mod watch;

pub use beside::Beside;
pub use error::LaunchError;
pub use exit::ExitWatch;
pub use request::{GRACE, LaunchRequest, Launched};
pub use watch::launch;
