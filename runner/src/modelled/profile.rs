//! The profile that a launcher would use on a Mac.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::corpus::Trial;
use crate::corpus::case::{LaunchSpec, Tty};
use crate::corpus::fixture::Text;
use crate::launcher::file::LauncherFile;
use crate::launcher::request::Request;
use crate::launcher::template::{Places, render_on};
use crate::pipeline::{arguments, own_environment};

use super::places::{ModelledHost, ROOT};

/// Why there is no profile.
#[derive(Debug, Clone)]
pub(super) enum NoProfile {
    /// The launcher refuses the launch, and says why.
    Refused(String),
    /// It could not be asked, or failed in another way.
    Failed(String),
}

/// Asks a launcher for its profiles, each once.
#[derive(Debug)]
pub(super) struct Profiles {
    /// The launcher, its command line replaced by the one that prints a profile.
    launcher: LauncherFile,
    perimeter: PathBuf,
    faulty: Option<PathBuf>,
    state: tempfile::TempDir,
    known: HashMap<(Vec<String>, String), Result<String, NoProfile>>,
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

    /// The text of the profile of a launch on a Mac with these links, or why there is none.
    pub(super) fn of(
        &mut self,
        trial: &Trial,
        launch: &LaunchSpec,
        links: BTreeMap<String, String>,
    ) -> Result<String, NoProfile> {
        let policy = launch.policy.as_ref().unwrap_or(&trial.policy).clone();
        let workspace = launch
            .workspace
            .clone()
            .unwrap_or_else(|| format!("{ROOT}/workspace"));
        let home = Path::new(ROOT).join("home");
        let variables = trial.fixture.environment.iter();
        let variables = variables.map(|(name, text)| {
            let value = match text {
                Text::Plain(text) => text.clone(),
                Text::Secret(secret) => secret.secret.clone(),
            };
            (name.clone(), value)
        });
        let request = Request {
            policy,
            cwd: PathBuf::from(launch.cwd.as_ref().unwrap_or(&workspace)),
            workspace: PathBuf::from(&workspace),
            cwd_asked: launch.cwd.is_some(),
            environment: launch.environment.clone(),
            command: arguments(&launch.run, None),
            terminal: launch.tty == Tty::Command,
            own_environment: own_environment(&home, "tester", variables),
            links,
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
            .map_err(|error| NoProfile::Failed(error.to_string()))?;
        // All that the launcher's files and arguments can hang on.
        let key = (
            rendered.command_line.clone(),
            serde_json::to_string(&Request {
                command: Vec::new(),
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
            self.launcher.refusal_status,
        );
        self.known.insert(key, printed.clone());
        printed
    }
}

/// What a command line prints; `refusal` is the status by which it says that it refuses.
fn print(
    words: &[String],
    environment: &[(String, String)],
    directory: &Path,
    refusal: Option<u8>,
) -> Result<String, NoProfile> {
    let mut rest = words.iter();
    let program = rest.next().map_or("", String::as_str);
    let output = Command::new(program)
        .args(rest)
        .env_clear()
        .envs(environment.iter().cloned())
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| NoProfile::Failed(format!("{program}: {error}")))?;
    if output.status.success() {
        return String::from_utf8(output.stdout)
            .map_err(|_| NoProfile::Failed(format!("{program} prints what is no text")));
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.code().is_some() && output.status.code() == refusal.map(i32::from) {
        return Err(NoProfile::Refused(said));
    }
    Err(NoProfile::Failed(format!(
        "{program} makes no profile: {said}"
    )))
}
