//! Which program is bubblewrap.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use super::{BubblewrapError, Features};
use crate::links::links;
use crate::view::Grants;

/// A bubblewrap that a command cannot have put there.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its path, without links.
    pub path: PathBuf,
    /// What it can do.
    pub features: Features,
}

/// Finds bubblewrap: the named program, or the first `bwrap` on a search path.
///
/// What lies in a writable directory is passed over, and so is an entry that is not
/// absolute: a command could have put a program there for the next launch to find.
///
/// # Errors
/// [`BubblewrapError`] where there is none that can be used.
pub fn find(
    named: Option<&Path>,
    search: Option<&OsStr>,
    grants: &Grants,
) -> Result<Program, BubblewrapError> {
    if let Some(path) = named {
        return examine(path, grants);
    }
    let mut skipped = Vec::new();
    for directory in std::env::split_paths(search.unwrap_or_default()) {
        let candidate = directory.join("bwrap");
        if !directory.is_absolute() || fs::metadata(&candidate).is_err() {
            continue;
        }
        match examine(&candidate, grants) {
            Ok(program) => return Ok(program),
            Err(BubblewrapError::Writable { path }) => skipped.push(path),
            Err(BubblewrapError::Unusable { .. } | BubblewrapError::NotExecutable { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Err(BubblewrapError::NotFound { skipped })
}

fn examine(path: &Path, grants: &Grants) -> Result<Program, BubblewrapError> {
    let unusable = |source: io::Error| BubblewrapError::Unusable {
        path: path.to_owned(),
        source,
    };
    let real = fs::canonicalize(path).map_err(unusable)?;
    let links = links(path);
    if [path, &real]
        .into_iter()
        .chain(links.iter().map(PathBuf::as_path))
        .any(|place| grants.is_writable(place))
    {
        return Err(BubblewrapError::Writable {
            path: path.to_owned(),
        });
    }
    let regular = fs::metadata(&real).map_err(unusable)?.is_file();
    if !regular || access(&real, AccessFlags::X_OK).is_err() {
        return Err(BubblewrapError::NotExecutable {
            path: path.to_owned(),
        });
    }
    let features = Features::of(&real)?;
    Ok(Program {
        path: real,
        features,
    })
}
