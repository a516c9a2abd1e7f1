//! Makes a view real with Seatbelt, the sandbox of macOS.
//!
//! A [`View`](crate::View) becomes the text of a profile, and `sandbox-exec -p` applies
//! it. The text is made the same everywhere, so that it can be read, checked and judged
//! by a model where there is no Mac; only what starts a process is macOS's alone.
//!
//! Sources that the rules name: Apple's own profiles and the Scheme library that compiles
//! them (`sbpl1.scm`, `system.sb`, as published by knightsc/sandbox_profiles and
//! 0xbf00/simbple), `sandbox(7)` and `sandbox-exec(1)`, the profiles of codex, Chromium,
//! Firefox, Nix, h5i and agent-safehouse, and reports of what real Macs did.

mod devices;
mod error;
mod files;
mod network;
mod places;
mod preview;
mod processes;
mod profile;
mod services;
mod text;

#[cfg(target_os = "macos")]
mod janitor_macos;
#[cfg(target_os = "macos")]
mod private_macos;
#[cfg(target_os = "macos")]
mod run_macos;

pub use error::SeatbeltError;
pub(crate) use places::PRIVATE_LINKS;
pub use places::{Places, real_spelling};
pub use preview::{ImaginedMac, PreviewError, preview, preview_on};
pub use profile::profile;

#[cfg(target_os = "macos")]
pub(crate) use private_macos::Private;
#[cfg(target_os = "macos")]
pub(crate) use run_macos::{End, Run, Start, check};

/// The program that applies a profile and becomes the command. Never searched: what a
/// search path finds could be anything.
pub const PROGRAM: &str = "/usr/bin/sandbox-exec";
