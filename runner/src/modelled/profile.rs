//! The profile that a launcher would use on a Mac.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::corpus::Trial;
use crate::corpus::case::{LaunchSpec, Tty};
use crate::launcher::file::LauncherFile;
use crate::launcher::request::Request;
use crate::launcher::template::{Places, render_on};
use crate::pipeline::{arguments, own_environment};

use super::places::{ModelledHost, ROOT};

/// Asks a launcher for its profiles, each once.
#[derive(Debug)]
pub(super) struct Profiles {
    /// The launcher, its command line replaced by the one that prints a profile.
    launcher: LauncherFile,
    perimeter: PathBuf,
    faulty: Option<PathBuf>,
    state: tempfile::TempDir,
    known: HashMap<(Vec<String>, String), Result<String, String>>,
}

impl Profiles {
    pub(super) fn new(
        launcher: &LauncherFile,
        perimeter: PathBuf,
        faulty: Option<PathBuf>,
    ) -> std::io::Result<Profiles> {
        let mut launcher = launcher.clone();
        launcher.arguments = std::mem::take(&mut launcher.profile);
        Ok(Profiles {
            launcher,
            perimeter,
            faulty,
            state: tempfile::tempdir()?,
            known: HashMap::new(),
        })
    }

    /// The text of the profile of a launch, or why there is none.
    pub(super) fn of(&mut self, trial: &Trial, launch: &LaunchSpec) -> Result<String, String> {
        let policy = launch.policy.as_ref().unwrap_or(&trial.policy).clone();
        let workspace = launch
            .workspace
            .clone()
            .unwrap_or_else(|| format!("{ROOT}/workspace"));
        let home = Path::new(ROOT).join("home");
        let request = Request {
            policy,
            cwd: PathBuf::from(launch.cwd.as_ref().unwrap_or(&workspace)),
            workspace: PathBuf::from(&workspace),
            cwd_asked: launch.cwd.is_some(),
            environment: launch.environment.clone(),
            command: arguments(&launch.run, None),
            terminal: launch.tty == Tty::Command,
            own_environment: own_environment(&home, "tester", std::iter::empty()),
        };
        let places = Places {
            program: None,
            perimeter: self.perimeter.clone(),
            faulty: self.faulty.clone(),
            root: PathBuf::from(ROOT),
            state: self.state.path().to_owned(),
        };
        let host = ModelledHost::new(&trial.fixture, self.state.path());
        let rendered = render_on(&host, &self.launcher, &request, &places)
            .map_err(|error| error.to_string())?;
        // All that the launcher's files and arguments can hang on.
        let key = (
            rendered.command_line.clone(),
            serde_json::to_string(&Request {
                command: Vec::new(),
                environment: None,
                ..request
            })
            .unwrap_or_default(),
        );
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let printed = print(
            &rendered.command_line,
            &rendered.environment,
            self.state.path(),
        );
        self.known.insert(key, printed.clone());
        printed
    }
}

/// What a command line prints.
fn print(
    words: &[String],
    environment: &[(String, String)],
    directory: &Path,
) -> Result<String, String> {
    let mut rest = words.iter();
    let program = rest.next().map_or("", String::as_str);
    let output = Command::new(program)
        .args(rest)
        .env_clear()
        .envs(environment.iter().cloned())
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return String::from_utf8(output.stdout)
            .map_err(|_| format!("{program} prints what is no text"));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} makes no profile: {}", said.trim()))
}
