//! The hooks, with the mistakes that they lead to.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel, sync_channel};
use std::time::Duration;

use nix::errno::Errno;

use super::filter;
use super::mistake::{Mistake, made};
use crate::bubblewrap::{BubblewrapError, Features, Program};
use crate::launcher::LaunchError;
use crate::unsafe_spawn::{Spawn, spawn};
use crate::view::{Opened, open_without_links};

pub(crate) use super::command::{arguments, asked, words};
pub(crate) use super::document::document;
pub(crate) use super::policy::policy;
pub(crate) use super::protection::has;
pub(crate) use super::variables::{setting, value, variables};
pub(crate) use super::view::view;

/// Where bubblewrap usually is.
const USUAL_PLACE: &str = "/usr/bin/bwrap";

/// How long a thread of a pool waits for more to do.
const IDLE: Duration = Duration::from_millis(250);

/// What was found at the path of a grant.
pub(crate) fn opened(path: &Path, opened: Result<Opened, Errno>) -> Result<Opened, Errno> {
    match opened {
        Err(Errno::ELOOP) if made() == Mistake::LinksFollowed => {
            open_without_links(&std::fs::canonicalize(path).map_err(|_| Errno::ENOENT)?)
        }
        opened => opened,
    }
}

/// The bubblewrap that was found.
pub(crate) fn program(
    found: Result<Program, BubblewrapError>,
    named: Option<&Path>,
    search: Option<&OsStr>,
) -> Result<Program, BubblewrapError> {
    let first = || -> Option<PathBuf> {
        std::env::split_paths(search?)
            .map(|directory| directory.join("bwrap"))
            .find(|path| path.exists())
    };
    let taken = |path: Option<PathBuf>| path.and_then(|path| naive(&path));
    match made() {
        Mistake::FirstOnPathTaken => {
            taken(named.map(Path::to_owned).or_else(first)).map_or(found, Ok)
        }
        Mistake::NamedProgramIgnored => taken(first()).map_or(found, Ok),
        Mistake::UsualPlaceTried => {
            found.or_else(|error| naive(Path::new(USUAL_PLACE)).ok_or(error))
        }
        Mistake::LinkedProgramRefused => match named {
            Some(path) if path.is_symlink() => Err(BubblewrapError::NotExecutable {
                path: path.to_owned(),
            }),
            _ => found,
        },
        Mistake::CheckedThenMounted => found.map(|mut program| {
            program.features.bind_descriptor = false;
            program
        }),
        _ => found,
    }
}

/// A program as it is named, with what any bubblewrap can do.
fn naive(path: &Path) -> Option<Program> {
    let path = path.to_owned();
    path.exists().then(|| Program {
        features: Features::of(&path).unwrap_or_default(),
        path,
    })
}

/// What a launch came to, or what comes in its place.
pub(crate) fn launched<T>(
    launch: Result<T, LaunchError>,
    unconfined: impl FnOnce() -> Result<T, LaunchError>,
) -> Result<T, LaunchError> {
    match launch {
        Err(_) if made() == Mistake::FallsBackToNone => unconfined(),
        launch => launch,
    }
}

/// Starts bubblewrap.
pub(crate) fn start(mut what: Spawn) -> io::Result<i32> {
    if let Some(filter) = filter::descriptor() {
        what.inherited.push(filter.as_raw_fd());
    }
    if made() != Mistake::StartingThreadEnds {
        return spawn(&what);
    }
    let (answer, answered) = sync_channel(1);
    std::thread::spawn(move || {
        let _ = answer.send(spawn(&what));
        drop(what);
        // As one of a pool does, it waits for more to do, and then it ends.
        let (more, waiting) = channel::<()>();
        let idle = waiting.recv_timeout(IDLE) == Err(RecvTimeoutError::Timeout);
        drop(more);
        idle
    });
    answered.recv().map_err(io::Error::other)?
}

/// The environment of bubblewrap itself.
pub(crate) fn environment() -> Vec<CString> {
    if made() != Mistake::EnvironmentClearedInside {
        return Vec::new();
    }
    std::env::vars_os()
        .filter_map(|(mut name, value): (OsString, OsString)| {
            name.push("=");
            name.push(value);
            CString::new(name.into_vec()).ok()
        })
        .collect()
}

/// The exit status of the launcher.
pub(crate) fn status(status: u8) -> u8 {
    match made() {
        Mistake::FailureIsOne => status.min(1),
        Mistake::FailureIsSuccess => 0,
        Mistake::StatusSigned if status > 127 => u8::MAX,
        Mistake::StatusSigned => status,
        _ => status,
    }
}
