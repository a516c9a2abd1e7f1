//! Runs a command under a sandbox policy: bubblewrap on Linux, Seatbelt on macOS.
//!
//! ```no_run
//! use perimeter::{Launcher, Policy};
//!
//! let launcher = Launcher::prepare(&Policy::strict(), "/home/user/project")?;
//! let exit = launcher.shell("make test").status()?;
//! println!("{}", exit.shell_status());
//! # Ok::<(), perimeter::LaunchError>(())
//! ```
//!
//! The road is short, and each step of it is a value that can be printed and tested
//! alone: a [`Policy`] says what a command may reach, a [`View`] what it will see,
//! and a [`Child`] is the command itself. What cannot be confined is not launched:
//! every way to fail is a [`LaunchError`], with its cause and what to do about it.
//! Commands run without a sandbox if the policy's `enabled` is false or the caller
//! asks for [`Enforcement::Off`], and in no other case.

#[cfg(target_os = "linux")]
pub mod bubblewrap;
pub mod diagnosis;
pub mod environment;
#[cfg(all(feature = "faults", target_os = "linux"))]
pub mod faults;
#[cfg(not(all(feature = "faults", target_os = "linux")))]
mod faults;
pub mod guard;
pub mod launcher;
mod links;
pub mod policy;
pub mod seatbelt;
mod unsafe_calls;
#[cfg_attr(target_os = "macos", path = "unsafe_spawn_macos.rs")]
mod unsafe_spawn;
pub mod view;

pub use launcher::{Child, Command, Enforcement, Exit, LaunchError, Launcher, Output, Stdio};
pub use policy::{Network, Policy, Posture};
pub use view::View;
