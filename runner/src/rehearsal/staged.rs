//! A rehearsal on a real fixture: for who must see the files of a case to say
//! what a launcher would do with them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Launch, RehearsalError, Setting, Step, rehearse};
use crate::corpus::Trial;
use crate::fixture::{self, Fixture, FixtureError, Layout, Names, Secrets};
use crate::launcher::file::LauncherFile;
use crate::pipeline::expand_known;
use crate::probe;

/// Why a fixture could not be staged.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The fixture could not be made.
    #[error(transparent)]
    Fixture(#[from] FixtureError),
    /// A text names something that has no value.
    #[error(transparent)]
    Placeholder(#[from] crate::corpus::placeholder::PlaceholderError),
    /// The trial cannot be rehearsed.
    #[error(transparent)]
    Rehearsal(#[from] RehearsalError),
    /// A file that the launcher is given could not be written.
    #[error("{path}: {error}; make room there, or see its mode", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
}

/// The directories that the fixture is made in; both are the caller's to remove.
#[derive(Debug, Clone, Copy)]
pub struct Stage<'a> {
    /// Where the fixture's root is made.
    pub root: &'a Path,
    /// A directory in the host's own /tmp.
    pub host_temporary: &'a Path,
}

/// Makes the fixture of a trial, and shows each launch, the control included, at
/// the moment when it would be started: the files that it needs are written, the
/// host's commands before it have run. Nothing is launched.
///
/// Paths are the real ones. What is no path (secrets, ports, process ids and the
/// like) has the texts of `setting`, since no launcher decides by it.
///
/// # Errors
/// [`StageError`].
pub fn rehearse_on(
    stage: Stage<'_>,
    trial: &Trial,
    launcher: &LauncherFile,
    setting: &Setting,
    mut show: impl FnMut(&Launch),
) -> Result<(), StageError> {
    let layout = Layout::create(stage.root, |_| true)?;
    let mut places = layout.names();
    let probe = layout.workspace.join(probe::NAME);
    places.insert("probe", probe.to_string_lossy());
    places.insert("host-temporary", stage.host_temporary.to_string_lossy());
    let known = with_nonce(&places, &setting.names);
    let early: Trial = expand_known(trial, &known)?;
    let fixture = Fixture::build(&layout, &early.fixture, &mut Secrets::default())?;
    let mut names = setting.names.clone();
    names.extend(&places);
    for (name, text) in fixture.names().iter() {
        if name.starts_with("socket.") && text.starts_with('/') {
            names.insert(name, text);
        }
    }
    let setting = Setting {
        names,
        ..setting.clone()
    };
    let rehearsal = rehearse(trial, launcher, &setting)?;
    let mut prepared = |launch: &Launch| -> Result<(), StageError> {
        for file in &launch.files {
            write(&file.path, file.text.as_deref())?;
        }
        show(launch);
        Ok(())
    };
    for step in &rehearsal.steps {
        match step {
            // What it needs of an earlier launch is not there; the rest is done.
            Step::Host(command) => {
                let _ = fixture::run_on_host(command, &layout);
            }
            Step::Launch(launch) => prepared(launch)?,
        }
    }
    if let Some(control) = &rehearsal.control {
        prepared(control)?;
    }
    Ok(())
}

/// The places, and the word that is new in every run.
fn with_nonce(places: &Names, names: &Names) -> Names {
    let mut known = places.clone();
    if let Some(nonce) = names.get("nonce") {
        known.insert("nonce", nonce);
    }
    known
}

fn write(path: &Path, text: Option<&str>) -> Result<(), StageError> {
    let done = match text {
        Some(text) => fs::write(path, text),
        None => match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    };
    done.map_err(|error| StageError::File {
        path: path.to_owned(),
        error,
    })
}
