//! Whether a command's program is there to be executed, found out before a launch.
//!
//! bubblewrap ends with 1 for a program that it cannot execute, as for a sandbox that
//! it cannot make. A shell tells the two apart, so this does.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::{AccessFlags, access};

use super::Exit;
use crate::view::{Place, View};

/// Where execvp(3) looks when there is no PATH.
const DEFAULT_SEARCH: &str = "/bin:/usr/bin";

/// As much of a file as the kernel reads to find an interpreter (BINPRM_BUF_SIZE).
const FIRST_LINE: usize = 256;

/// Why a command was not started: the words that a shell would say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    program: OsString,
    reason: &'static str,
    exit: Exit,
}

impl Refusal {
    /// [`Exit::NotFound`] or [`Exit::NotExecutable`].
    #[must_use]
    pub fn exit(&self) -> Exit {
        self.exit
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{}: {}",
            Path::new(&self.program).display(),
            self.reason
        )
    }
}

/// Finds a program as execvp(3) would from inside.
pub(super) fn check(
    view: &View,
    program: &OsStr,
    directory: &Path,
    search: Option<&OsStr>,
) -> Result<(), Refusal> {
    let refused = |exit, reason| Refusal {
        program: program.to_owned(),
        reason,
        exit,
    };
    if program.is_empty() {
        return Err(refused(Exit::NotFound, "no such program"));
    }
    if program.as_bytes().contains(&b'/') {
        return examine(view, &directory.join(program))
            .and_then(|()| {
                // A name that ends so is that of a directory.
                if program.as_bytes().ends_with(b"/") {
                    Err((Exit::NotExecutable, "not a directory"))
                } else {
                    Ok(())
                }
            })
            .map_err(|(exit, reason)| refused(exit, reason));
    }
    let search = search.unwrap_or(OsStr::new(DEFAULT_SEARCH));
    let mut worst = refused(Exit::NotFound, "no such program on the PATH inside");
    for entry in std::env::split_paths(search) {
        // An empty entry is the current directory.
        match examine(view, &directory.join(entry).join(program)) {
            Ok(()) => return Ok(()),
            // The search goes on, and remembers.
            Err((Exit::NotExecutable, reason)) => worst = refused(Exit::NotExecutable, reason),
            Err(_) => {}
        }
    }
    Err(worst)
}

fn examine(view: &View, path: &Path) -> Result<(), (Exit, &'static str)> {
    let host = match view.resolve(path) {
        Ok(Place::Host { host }) => host,
        Ok(Place::Made { .. }) => return Err((Exit::NotExecutable, "not a program")),
        Err(_) => return Err((Exit::NotFound, "no such program inside")),
    };
    let Ok(status) = fs::metadata(&host) else {
        return Err((Exit::NotFound, "no such program inside"));
    };
    if status.is_dir() {
        return Err((Exit::NotExecutable, "is a directory"));
    }
    if !status.is_file() || !is_executable(&host, &status) {
        return Err((Exit::NotExecutable, "permission denied"));
    }
    match interpreter(&host) {
        // One level: an interpreter that is itself a script is rare, and then fails
        // as any failure to execute does.
        Some(interpreter) => match view.resolve(Path::new(&interpreter)) {
            Ok(_) => Ok(()),
            Err(_) => Err((Exit::NotFound, "its interpreter is not there inside")),
        },
        None => Ok(()),
    }
}

/// The program that a script's first line names (execve(2)).
fn interpreter(path: &Path) -> Option<OsString> {
    let mut start = Vec::with_capacity(FIRST_LINE);
    File::open(path)
        .ok()?
        .take(FIRST_LINE as u64)
        .read_to_end(&mut start)
        .ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let name = line.split(blank).find(|word| !word.is_empty())?;
    name.starts_with(b"/")
        .then(|| OsStr::from_bytes(name).to_owned())
}

/// Whether the caller may execute a file.
#[cfg(target_os = "macos")]
fn is_executable(path: &Path, status: &fs::Metadata) -> bool {
    // Inside, user 0 is as mighty as outside where files are concerned.
    status.mode() & 0o111 != 0 && access(path, AccessFlags::X_OK).is_ok()
}

/// Whether the caller may execute a file, without a capability.
#[cfg(target_os = "linux")]
fn is_executable(path: &Path, status: &fs::Metadata) -> bool {
    use nix::unistd::{getegid, geteuid, getgroups};
    if !geteuid().is_root() {
        return access(path, AccessFlags::X_OK).is_ok();
    }
    // Inside, user 0 has no capability that would pass over the permission bits.
    let bit = if status.uid() == 0 {
        0o100
    } else if status.gid() == getegid().as_raw()
        || getgroups().is_ok_and(|all| all.iter().any(|each| each.as_raw() == status.gid()))
    {
        0o010
    } else {
        0o001
    };
    status.mode() & bit != 0 && access(path, AccessFlags::X_OK).is_ok()
}
