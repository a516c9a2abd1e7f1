//! The mistakes of the wrong launchers that prove the corpus.
//!
//! A case that no launcher fails is worth nothing, so each wrong launcher is the
//! reference launcher with one protection removed or one mistake made, and some case has
//! to fail under it. The program `perimeter-faulty` is all of them. It is built with the
//! cargo feature `faults` alone; without the feature every function here does nothing and
//! says that every protection is there, and with it that holds until a mistake is made.
//!
//! The launcher calls these at the places where one line decides: what a policy is once
//! it is read, what a view is once it is built, and so on. The mistakes themselves are
//! all in here.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::launcher::Stdio;

#[cfg(all(feature = "faults", target_os = "linux"))]
mod command;
#[cfg(all(feature = "faults", target_os = "linux"))]
mod document;
#[cfg(all(feature = "faults", target_os = "linux"))]
mod filter;
#[cfg(all(feature = "faults", target_os = "linux"))]
mod hidden;
#[cfg(all(feature = "faults", target_os = "linux"))]
mod made;
#[cfg(all(feature = "faults", target_os = "linux"))]
mod mistake;
#[cfg(all(feature = "faults", target_os = "linux"))]
mod policy;
#[cfg(all(feature = "faults", target_os = "linux"))]
mod protection;
#[cfg(all(feature = "faults", target_os = "linux"))]
mod variables;
#[cfg(all(feature = "faults", target_os = "linux"))]
mod view;

#[cfg(all(feature = "faults", target_os = "linux"))]
pub(crate) use made::*;
#[cfg(all(feature = "faults", target_os = "linux"))]
pub use mistake::{Mistake, UnknownMistake, make};

#[cfg(not(all(feature = "faults", target_os = "linux")))]
mod none;
#[cfg(not(all(feature = "faults", target_os = "linux")))]
pub(crate) use none::*;

/// What was asked of the launcher, before anything was done about it.
#[derive(Debug)]
#[cfg_attr(
    not(all(feature = "faults", target_os = "linux")),
    expect(dead_code, reason = "mistakes alone read it")
)]
pub(crate) struct Asked<'a> {
    /// The command and its arguments.
    pub(crate) words: &'a mut Vec<OsString>,
    /// The variables that it is to have besides those of its posture.
    pub(crate) variables: &'a mut Vec<(OsString, OsString)>,
    /// The directory to start in; the workspace where absent.
    pub(crate) directory: &'a mut Option<PathBuf>,
    /// Its standard streams.
    pub(crate) streams: &'a mut [Stdio; 3],
    /// Whether it gets a terminal of its own.
    pub(crate) terminal: &'a mut bool,
}

/// A protection that is there or not, with nothing in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "the launchers that are wrong are Linux's")
)]
pub(crate) enum Protection {
    /// No descriptor reaches the sandbox that was not asked for.
    Descriptors,
    /// A standard stream is no directory.
    Streams,
    /// No signal is ignored in the sandbox because the caller ignores it.
    SignalDispositions,
    /// No signal is blocked in the sandbox because the caller blocks it.
    SignalMask,
    /// The caller's session keyring stays out of reach.
    Keyring,
    /// The sandbox is in a process group of its own.
    ProcessGroup,
    /// A reported process is looked at, whether it is in a sandbox.
    Apart,
    /// Mounts are looked at, whether they are where they belong.
    Mounted,
    /// A hidden path is hidden wherever else it is mounted.
    Elsewhere,
    /// A process cleans up after a launcher that is killed.
    Janitor,
    /// What was made to hold a name is removed.
    Removal,
    /// Signals to the launcher reach the command.
    Forwarding,
    /// The end of the launcher's caller is the end of the command.
    Caller,
    /// The end of the thread that started the launcher is not taken for the caller's.
    CallerAlive,
    /// What is too wide to be writable, or governs the next command, is refused.
    Width,
    /// The host's processes and devices cannot be granted.
    Interfaces,
    /// Grants that overlap one another or the workspace are refused.
    Overlap,
    /// A directory to start in is looked at, whether it is there inside.
    Directory,
    /// A program is looked for inside before anything is started.
    Lookup,
}
