//! The directory that a command starts in: exactly the one asked for, or none.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::LaunchError;
use crate::view::{Content, Place, Unreachable, View};

/// The directory as the command will spell it.
pub(super) fn spelled(asked: Option<&Path>, workspace: &Path) -> PathBuf {
    match asked {
        None => workspace.to_owned(),
        Some(asked) if asked.is_absolute() => asked.components().collect(),
        Some(asked) => workspace
            .join(asked)
            .components()
            .filter(|part| *part != Component::CurDir)
            .collect(),
    }
}

/// Checks that a directory is there inside and is the one that the host has there.
pub(super) fn check(view: &View, directory: &Path) -> Result<(), LaunchError> {
    let refused = |reason: &str| LaunchError::Directory {
        directory: directory.to_owned(),
        reason: reason.to_owned(),
    };
    let host = match view.resolve(directory) {
        Ok(Place::Host { host }) => host,
        Ok(Place::Made { path }) => {
            let writable = view.mounts().iter().any(|mount| {
                mount.at == path
                    && matches!(
                        mount.content,
                        Content::Private { sealed: false, .. } | Content::Directory { .. }
                    )
            });
            return if writable {
                Ok(())
            } else {
                Err(refused(
                    "a command cannot see it: choose one in the workspace or in a grant",
                ))
            };
        }
        Err(Unreachable::Circle) => return Err(refused("its symbolic links go in a circle")),
        Err(_) if directory.exists() => {
            return Err(refused(
                "a command cannot see it: choose one in the workspace or in a grant",
            ));
        }
        Err(_) => return Err(refused("it does not exist")),
    };
    match fs::metadata(&host) {
        Ok(status) if !status.is_dir() => Err(refused("it is not a directory")),
        Err(error) => Err(refused(&error.to_string())),
        Ok(_) => match fs::canonicalize(directory) {
            Ok(real) if real == host => Ok(()),
            _ => Err(refused("it would be another directory inside")),
        },
    }
}

/// Checks a directory that a command starts in without a sandbox.
pub(super) fn check_unconfined(directory: &Path) -> Result<(), LaunchError> {
    let refused = |reason: String| LaunchError::Directory {
        directory: directory.to_owned(),
        reason,
    };
    match fs::metadata(directory) {
        Ok(status) if status.is_dir() => Ok(()),
        Ok(_) => Err(refused("it is not a directory".to_owned())),
        Err(error) => Err(refused(error.to_string())),
    }
}
