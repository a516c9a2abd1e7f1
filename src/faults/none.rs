//! No mistake: the launcher as it is.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use nix::errno::Errno;

use super::{Asked, Protection};
use crate::environment::Value;
use crate::launcher::LaunchError;
use crate::policy::{Fault, Policy, PolicyError, Refusal};
use crate::view::Opened;

#[cfg(target_os = "linux")]
pub(crate) use linux::*;

/// Whether the launcher has a protection.
#[inline]
pub(crate) const fn has(_: Protection) -> bool {
    true
}

/// A policy document, once it was read.
#[inline]
pub(crate) fn document(_: &Path, read: Result<Policy, PolicyError>) -> Result<Policy, PolicyError> {
    read
}

/// The variables of a document, once they were read.
#[inline]
pub(crate) fn variables<T>(read: Result<T, Refusal>) -> Result<T, Refusal> {
    read
}

/// What a variable's value stands for.
#[inline]
pub(crate) fn value(
    value: &Value,
    policy: &Policy,
    host: &impl Fn(&str) -> Option<OsString>,
) -> Result<OsString, Fault> {
    value.resolve(policy, host)
}

/// The policy of a launch.
#[inline]
pub(crate) fn policy<'policy>(policy: &'policy Policy, _: &Path) -> Cow<'policy, Policy> {
    Cow::Borrowed(policy)
}

/// What was found at the path of a grant.
#[inline]
pub(crate) fn opened(_: &Path, opened: Result<Opened, Errno>) -> Result<Opened, Errno> {
    opened
}

/// What was asked of the launcher.
#[inline]
pub(crate) fn asked(_: Asked<'_>) {}

/// What a launch came to, or what comes in its place.
#[inline]
pub(crate) fn launched<T>(
    launch: Result<T, LaunchError>,
    _: impl FnOnce() -> Result<T, LaunchError>,
) -> Result<T, LaunchError> {
    launch
}

/// The exit status of the launcher.
#[inline]
pub(crate) const fn status(status: u8) -> u8 {
    status
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{CString, OsStr, OsString};
    use std::io;
    use std::path::Path;

    use crate::bubblewrap::{BubblewrapError, Program, Setting};
    use crate::policy::Policy;
    use crate::unsafe_spawn::{Spawn, spawn};
    use crate::view::{Facts, Grants, View, ViewError};

    /// The bubblewrap that was found.
    #[inline]
    pub(crate) fn program(
        found: Result<Program, BubblewrapError>,
        _: Option<&Path>,
        _: Option<&OsStr>,
    ) -> Result<Program, BubblewrapError> {
        found
    }

    /// What the command will see.
    #[inline]
    pub(crate) fn view(
        view: View,
        _: &Policy,
        _: &Grants,
        _: &Facts,
        _: Option<&Path>,
    ) -> Result<View, ViewError> {
        Ok(view)
    }

    /// What a launch has besides its view.
    #[inline]
    pub(crate) fn setting(setting: Setting, _: &Policy) -> Setting {
        setting
    }

    /// The options of bubblewrap.
    #[inline]
    pub(crate) fn arguments(_: &mut Vec<OsString>) {}

    /// The words of bubblewrap's command line.
    #[inline]
    pub(crate) fn words(_: &mut Vec<OsString>) {}

    /// Starts bubblewrap.
    #[inline]
    pub(crate) fn start(what: Spawn) -> io::Result<i32> {
        spawn(&what)
    }

    /// The environment of bubblewrap itself.
    #[inline]
    pub(crate) fn environment() -> Vec<CString> {
        Vec::new()
    }
}
