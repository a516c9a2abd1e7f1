//! One launch of a launcher: started with nothing of the harness's own, watched
//! to its end by events, its whole tree gone when the launch returns.

mod capture;
mod child;
mod error;
mod exit;
mod request;
mod script;
mod start;
mod terminal;
pub mod tree;
mod watch;

pub use error::LaunchError;
pub use exit::ExitWatch;
pub use request::{GRACE, LaunchRequest, Launched};
pub use watch::launch;
