//! One attempt: the trial under one launcher, on a fresh fixture.

#[path = "tries.rs"]
mod tries;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::{arguments, copies, own_environment};
use super::item::WorkItem;
use super::names::{expand_all, expand_known};
use super::removal;
use crate::corpus::Trial;
use crate::corpus::case::{LaunchSpec, Tty};
use crate::corpus::expect::Outcome;
use crate::corpus::fixture::Entry;
use crate::corpus::placeholder::{PlaceholderError, names_in, texts_of};
use crate::corpus::policy::PolicySpec;
use crate::fixture::{self, Fixture, FixtureError, Layout, Names, Secrets};
use crate::launch::{self, Beside, LaunchRequest, Launched, tree};
use crate::launcher::file::LauncherFile;
use crate::launcher::program;
use crate::launcher::request::Request;
use crate::launcher::template::{Places, Rendered, TemplateError, render};
use crate::observe::effect::{self, World};
use crate::observe::leak::{self, Places as LeakPlaces};
use crate::observe::observation::{Ending, LaunchObservation, Leak, Observation, Part};
use crate::observe::snapshot::Snapshot;
use crate::probe;

/// Why an attempt came to nothing: the harness's fault, or the host's.
#[derive(Debug, thiserror::Error)]
pub(super) enum AttemptError {
    #[error(transparent)]
    Fixture(#[from] FixtureError),
    #[error(transparent)]
    Placeholder(#[from] PlaceholderError),
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error(transparent)]
    Launch(#[from] launch::LaunchError),
    #[error("{what} {path}: {error}", path = path.display())]
    Files {
        what: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    #[error("launcher {launcher}: {absence}")]
    Program { launcher: String, absence: String },
}

/// The trial under one launcher.
pub(super) struct Attempt<'a> {
    pub(super) item: &'a WorkItem,
    pub(super) launcher: &'a LauncherFile,
    /// Tells the roots of a trial's attempts apart.
    pub(super) tag: &'a str,
    /// Is shown the host after the last step.
    pub(super) after: &'a dyn Fn(&After<'_>),
}

/// The host after the last step of an attempt, while its fixture stands.
pub(super) struct After<'a> {
    pub(super) layout: &'a Layout,
    pub(super) temporary: &'a Path,
    pub(super) fixture: &'a Fixture,
    pub(super) secrets: &'a Secrets,
    pub(super) snapshot: &'a Snapshot,
}

impl Attempt<'_> {
    /// Runs it, and leaves nothing behind.
    pub(super) fn run(&self) -> Result<Observation, AttemptError> {
        // A worker runs one attempt at a time, so its roots serve one after the
        // other.
        let name = format!("{}{}", std::process::id(), self.tag);
        let root = self.item.places.scratch.join(&name);
        let unique = format!("{name}{}", self.item.number);
        let temporary = self.item.places.host_temporary.join(&unique);
        let remains = self.item.places.scratch.join(&unique);
        removal::at_the_end(&root);
        let in_use = crate::worker::in_use(&[&remains, &temporary]);
        let mut layout = None;
        let outcome = self.on(&root, &temporary, &mut layout);
        // Whatever is left of the command must be gone before its files are.
        tree::kill_descendants(&[]);
        let cleared = layout.is_some_and(|layout: Layout| {
            // Where a case may change what is not the command's, that is not told.
            let told = self.item.trial.case.expect.changes.is_empty();
            let changed = |path: &Path| {
                !told
                    || outcome.as_ref().map_or(true, |observation| {
                        let text = path.to_string_lossy();
                        let changes = &observation.changes;
                        changes.iter().any(|change| change.path == text)
                    })
            };
            layout.clear(changed, &remains).is_ok()
        });
        let mut trees = vec![remains, temporary];
        if !cleared {
            // Its name is needed at once, so it is moved out of the way first.
            let away = root.with_extension(self.item.number.to_string());
            let moved = fs::rename(&root, &away);
            trees.push(if moved.is_ok() { away } else { root });
        }
        removal::later(trees, in_use);
        outcome
    }

    /// How long the command's tree may take to end. Without a sandbox there is
    /// nothing to take down, so what is left is left at once.
    fn grace(&self) -> Duration {
        if self.launcher.name == self.item.open.name {
            Duration::from_millis(50)
        } else {
            launch::GRACE
        }
    }

    fn on(
        &self,
        root: &Path,
        temporary: &Path,
        made: &mut Option<Layout>,
    ) -> Result<Observation, AttemptError> {
        let texts = texts_of(&self.item.trial);
        let layout = Layout::create(root, |name| texts.iter().any(|text| text.contains(name)))?;
        *made = Some(layout.clone());
        let mut secrets = Secrets::default();
        let mut names = self.early_names(&layout, temporary, &texts)?;
        let trial: Trial = expand_known(&self.item.trial, &names)?;
        let fixture = Fixture::build(&layout, &trial.fixture, &mut secrets)?;
        names.extend(fixture.names());
        let trial: Trial = expand_all(&trial, &names)?;
        let mut stage = Stage {
            attempt: self,
            temporary,
            layout: &layout,
            trial: &trial,
            fixture: &fixture,
            secrets: &secrets,
            nonce: names.get("nonce").unwrap_or_default().to_owned(),
            observation: Observation::default(),
            canaries: Vec::new(),
            typed: String::new(),
            beside: None,
        };
        stage.play()?;
        Ok(stage.observation)
    }

    /// The names that are known before the fixture is made.
    fn early_names(
        &self,
        layout: &Layout,
        temporary: &Path,
        texts: &[String],
    ) -> Result<Names, AttemptError> {
        let mut names = layout.names();
        let word = fixture::random_word()?;
        names.insert("nonce", format!("perimeter-{word}"));
        names.insert("host-temporary", temporary.to_string_lossy());
        let probe = layout.workspace.join(probe::NAME);
        names.insert("probe", probe.to_string_lossy());
        let mentions = |wanted: &str| texts.iter().any(|text| names_in(text).contains(&wanted));
        if mentions("toolchain") {
            let toolchain = super::toolchain::directory().unwrap_or("/absent-toolchain");
            names.insert("toolchain", toolchain);
        }
        if mentions("probe") {
            probe::place(&self.item.places.probe, &layout.workspace)
                .map_err(files("cannot put the probe into", &layout.workspace))?;
        }
        if mentions("host-temporary") {
            fs::create_dir(temporary).map_err(files("cannot make", temporary))?;
        }
        Ok(names)
    }
}

/// An attempt whose fixture stands.
struct Stage<'a> {
    attempt: &'a Attempt<'a>,
    temporary: &'a Path,
    layout: &'a Layout,
    trial: &'a Trial,
    fixture: &'a Fixture,
    secrets: &'a Secrets,
    nonce: String,
    observation: Observation,
    /// Every canary that showed, allowed or not.
    canaries: Vec<Leak>,
    typed: String,
    /// What runs on the host beside the launches.
    beside: Option<Beside>,
}

impl Stage<'_> {
    fn play(&mut self) -> Result<(), AttemptError> {
        let before = self.look()?;
        let mut undone = None;
        for step in self.trial.steps() {
            if let Some(command) = &step.host {
                undone = self.host(command)?;
                if undone.is_some() {
                    break;
                }
            }
            if let Some(launch) = &step.launch {
                self.tries(launch, &before)?;
            }
        }
        let after = self.look()?;
        self.observation.effect = self.effect(&before, &after);
        self.observation.effect.extend(undone);
        (self.attempt.after)(&After {
            layout: self.layout,
            temporary: self.temporary,
            fixture: self.fixture,
            secrets: self.secrets,
            snapshot: &after,
        });
        if let Some(control) = self.trial.case.expect.control.clone() {
            // The control comes last: what it does is no part of the effect.
            let leftovers = std::mem::take(&mut self.observation.leftovers);
            let launched = self.launch(&control)?;
            self.observation.leftovers = leftovers;
            self.observation.control = Some(launched.observation);
        }
        Ok(())
    }

    fn look(&self) -> Result<Snapshot, AttemptError> {
        // The probe is megabytes of this program, which nobody is to read again
        // and again; that it is still itself shows without its content.
        let mut probes = vec![self.layout.workspace.join(probe::NAME)];
        if let Some(workspace) = &self.trial.case.workspace {
            let real = fs::canonicalize(workspace);
            probes.extend(real.map(|real| real.join(probe::NAME)));
        }
        self.beside.iter().for_each(Beside::pause);
        let seen = Snapshot::take(&self.layout.root, &probes);
        self.beside.iter().for_each(Beside::resume);
        seen.map_err(files("cannot look at", &self.layout.root))
    }

    /// One launch, watched.
    fn launch(&mut self, launch: &LaunchSpec) -> Result<Launched, AttemptError> {
        let policy = launch.policy.as_ref().unwrap_or(&self.trial.policy).clone();
        let workspace = launch
            .workspace
            .as_ref()
            .map_or_else(|| self.layout.workspace.clone(), PathBuf::from);
        let mut writable = self.writable(&policy, &workspace);
        let rendered = self.render(launch, policy, workspace)?;
        writable.extend(rendered.own_paths.iter().cloned());
        if !rendered.working_directory.is_dir() {
            return Ok(not_started(launch, rendered));
        }
        let before = self.look()?;
        let start_line = launch.proves_start.then(|| self.nonce.clone());
        let environment = os_pairs(rendered.environment);
        let mut own_processes = self.fixture.process_ids();
        own_processes.extend(self.beside.as_ref().map(Beside::id));
        let launched = launch::launch(&LaunchRequest {
            streams: &launch.streams,
            command_line: copies(rendered.command_line, launch.copies)
                .into_iter()
                .map(Into::into)
                .collect(),
            working_directory: rendered.working_directory,
            environment: environment.clone(),
            stdin: launch.stdin.clone().unwrap_or_default().into_bytes(),
            terminal: launch.tty != Tty::None,
            start_line,
            during: &launch.during,
            host_directory: self.layout.root.clone(),
            host_environment: environment,
            deadline: Duration::from_secs(self.trial.case.timeout.into()),
            grace: self.attempt.grace(),
            inherited: self.fixture.inheritance(),
            own_processes: &own_processes,
        })?;
        let after = self.look()?;
        self.watch(&before, &after, &writable, &launched);
        Ok(launched)
    }

    /// What is watched on every launch, unasked.
    fn watch(
        &mut self,
        before: &Snapshot,
        after: &Snapshot,
        writable: &[PathBuf],
        launched: &Launched,
    ) {
        let mut free = writable.to_vec();
        free.extend(self.trial.case.expect.changes.iter().map(PathBuf::from));
        self.observation
            .changes
            .extend(before.differences_except(after, &free));
        self.observation
            .leftovers
            .extend(launched.leftovers.iter().cloned());
        let written = before.written(after, &free);
        let observation = &launched.observation;
        let mut texts: Vec<(String, &[u8])> = [
            ("standard output", &observation.output),
            ("standard output before the command", &observation.preamble),
            ("standard error", &observation.error_output),
        ]
        .into_iter()
        .map(|(place, text)| (place.to_owned(), text.as_bytes()))
        .collect();
        let heard: Vec<(String, Vec<u8>)> = self
            .fixture
            .listeners()
            .map(|name| (format!("what {name} heard"), self.fixture.heard(name)))
            .collect();
        texts.extend(
            heard
                .iter()
                .map(|(place, bytes)| (place.clone(), bytes.as_slice())),
        );
        let mut canaries = leak::find(
            self.secrets,
            LeakPlaces {
                texts: &texts,
                written: &written,
            },
        );
        canaries.retain(|leak| !self.is_kept(&leak.secret, &leak.place));
        let expect = &self.trial.case.expect;
        let mut allowed = expect.reveals.clone();
        if expect.outcome == Outcome::Allowed {
            allowed.extend(expect.effect.reveals.iter().cloned());
        }
        for leak in leak::forbidden(&canaries, &allowed) {
            if !self.observation.leaks.contains(&leak) {
                self.observation.leaks.push(leak);
            }
        }
        self.canaries.extend(canaries);
    }

    /// Whether a secret is where the fixture put it. A command that opens a closed
    /// directory makes a file there show that was there before, and has not read it.
    fn is_kept(&self, secret: &str, place: &str) -> bool {
        self.trial.case.fixture.files.iter().any(|(path, entry)| {
            let holds = match entry {
                Entry::Content(_) => None,
                Entry::Detailed(entry) => entry.secret.as_deref(),
            };
            let at = self.fixture.names().expand(path);
            holds == Some(secret) && at.is_ok_and(|at| at == place)
        })
    }

    /// What the command may change: the workspace, the writable grants, and the
    /// runner's own record.
    fn writable(&self, policy: &PolicySpec, workspace: &Path) -> Vec<PathBuf> {
        // The workspace may be named through a link, which the fixture made. A
        // grant is taken by its name: where a link stands there, what it leads
        // to stays protected.
        let workspace = workspace
            .canonicalize()
            .unwrap_or_else(|_| workspace.to_owned());
        let mut writable = vec![workspace, self.layout.record.clone()];
        writable.extend(policy.read_write.iter().map(PathBuf::from));
        writable
    }

    fn render(
        &self,
        launch: &LaunchSpec,
        policy: PolicySpec,
        workspace: PathBuf,
    ) -> Result<Rendered, AttemptError> {
        let launcher = self.attempt.launcher;
        let start_line = launch.proves_start.then_some(self.nonce.as_str());
        let request = Request {
            policy,
            cwd: launch
                .cwd
                .as_ref()
                .map_or_else(|| workspace.clone(), PathBuf::from),
            workspace,
            cwd_asked: launch.cwd.is_some(),
            environment: launch.environment.clone(),
            command: arguments(&launch.run, start_line),
            terminal: launch.tty == Tty::Command,
            own_environment: self.own_environment(),
            links: BTreeMap::new(),
        };
        let program = match launcher.programs.first() {
            None => None,
            Some(name) => Some(program::find(name).ok_or_else(|| AttemptError::Program {
                launcher: launcher.name.clone(),
                absence: program::absence(name).unwrap_or_default(),
            })?),
        };
        let places = Places {
            program,
            perimeter: self.attempt.item.places.perimeter.clone(),
            faulty: self.attempt.item.places.faulty.clone(),
            root: self.layout.root.clone(),
            state: self.layout.state.clone(),
        };
        Ok(render(launcher, &request, &places)?)
    }

    fn own_environment(&self) -> BTreeMap<String, String> {
        let user = user_name().unwrap_or_else(|| "user".to_owned());
        let fixture = self.fixture.inheritance().environment.iter();
        let text = |text: &OsString| text.to_string_lossy().into_owned();
        let fixture = fixture.map(|(name, value)| (text(name), text(value)));
        own_environment(&self.layout.home, &user, fixture)
    }

    fn effect(&self, before: &Snapshot, after: &Snapshot) -> Vec<Part> {
        let expect = &self.trial.case.expect;
        let last = self.observation.last();
        if expect.outcome == Outcome::Refused {
            return vec![Part {
                what: "the command starts".to_owned(),
                holds: last.is_some_and(|launch| launch.started),
                seen: String::new(),
            }];
        }
        effect::evaluate(
            &expect.effect,
            &World {
                last,
                leaks: &self.canaries,
                heard: &|name: &str| self.fixture.heard(name),
                typed: &self.typed,
                leftovers: &self.observation.leftovers,
                before,
                after,
            },
        )
    }
}

/// What is seen of a launcher whose directory is not there: a program that
/// starts it in it is told so by the system, and starts nothing.
fn not_started(launch: &LaunchSpec, rendered: Rendered) -> Launched {
    let error_output = format!(
        "the launcher is started in {}, which is no directory",
        rendered.working_directory.display()
    );
    Launched {
        observation: LaunchObservation {
            command_line: rendered.command_line,
            proves_start: launch.proves_start,
            ending: Ending::NotStarted,
            error_output,
            ..LaunchObservation::default()
        },
        ..Launched::default()
    }
}

/// This user's name, from the file alone (passwd(5)): asking the name service
/// would load its modules into every worker.
fn user_name() -> Option<String> {
    let uid = nix::unistd::getuid().to_string();
    let table = fs::read_to_string("/etc/passwd").ok()?;
    table.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    })
}

fn os_pairs(pairs: Vec<(String, String)>) -> Vec<(OsString, OsString)> {
    pairs
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

fn files(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> AttemptError {
    let path = path.to_owned();
    move |error| AttemptError::Files { what, path, error }
}
