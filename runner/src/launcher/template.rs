//! Turns a launcher file and a request into a command line.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::file::{Argument, Condition, EnvironmentMode, FileText, LauncherFile, List, StartedIn};
use super::request::Request;
use crate::corpus::placeholder::{PlaceholderError, Unknown, expand_text, names_in};
use crate::corpus::policy::{NetworkSpec, PostureSpec};

/// Where a launcher is found and where its files go.
#[derive(Debug, Clone)]
pub struct Places {
    /// The program that the launcher file names first, found on this host.
    pub program: Option<PathBuf>,
    /// This program, which is the reference launcher too.
    pub perimeter: PathBuf,
    /// The reference launcher that makes mistakes on request, where there is one.
    pub faulty: Option<PathBuf>,
    /// The fixture's root.
    pub root: PathBuf,
    /// Where files written before the launch lie.
    pub state: PathBuf,
}

/// A launch, ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The command line.
    pub command_line: Vec<String>,
    /// The launcher's environment, complete.
    pub environment: Vec<(String, String)>,
    /// Where the launcher is started.
    pub working_directory: PathBuf,
    /// What the launcher itself may write.
    pub own_paths: Vec<PathBuf>,
}

/// Why a launcher file could not be turned into a command line.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// A text names something that no request has.
    #[error("launcher {launcher}: argument {text:?}: {error}")]
    Placeholder {
        /// The launcher.
        launcher: String,
        /// The text.
        text: String,
        /// What is wrong with it.
        error: PlaceholderError,
    },
    /// A file that the launcher needs could not be written.
    #[error("{path}: {error}; the launcher's files are written here, so give --scratch a directory that can hold them", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
}

/// What a launcher file asks of the host, and leaves on it.
pub trait Host {
    /// The program of this name, searched on PATH.
    fn find(&self, program: &str) -> Option<PathBuf>;
    /// The directory in which a program really lies, links followed.
    fn directory_of(&self, program: &Path) -> Option<PathBuf>;
    /// Whether a path is a directory, or leads to one.
    fn is_directory(&self, path: &Path) -> bool;
    /// Whether anything is at a path.
    fn exists(&self, path: &Path) -> bool;
    /// Whether the run is by uid 0.
    fn is_root(&self) -> bool;
    /// Writes a file that the launcher is given.
    ///
    /// # Errors
    /// The system's reason.
    fn write(&self, path: &Path, text: &str) -> io::Result<()>;
    /// Makes sure that no file is at a path.
    ///
    /// # Errors
    /// The system's reason.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The host that this program runs on.
#[derive(Debug, Clone, Copy)]
pub struct ThisHost;

impl Host for ThisHost {
    fn find(&self, program: &str) -> Option<PathBuf> {
        super::program::find(program)
    }

    fn directory_of(&self, program: &Path) -> Option<PathBuf> {
        let real = program
            .canonicalize()
            .unwrap_or_else(|_| program.to_owned());
        real.parent().map(Path::to_owned)
    }

    fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn is_root(&self) -> bool {
        nix::unistd::geteuid().is_root()
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(path, text)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

struct Context<'a> {
    launcher: &'a LauncherFile,
    request: &'a Request,
    places: &'a Places,
    host: &'a dyn Host,
}

/// Renders one launch, and writes the files that it refers to.
///
/// # Errors
/// An unknown placeholder, or a file that cannot be written.
pub fn render(
    launcher: &LauncherFile,
    request: &Request,
    places: &Places,
) -> Result<Rendered, TemplateError> {
    render_on(&ThisHost, launcher, request, places)
}

/// As [`render`], on any host: one that only takes notes, for example.
///
/// # Errors
/// As [`render`].
pub fn render_on(
    host: &dyn Host,
    launcher: &LauncherFile,
    request: &Request,
    places: &Places,
) -> Result<Rendered, TemplateError> {
    let mut request = request.clone();
    request.policy.network = Some(request.policy.network_for(&launcher.features));
    let context = Context {
        launcher,
        request: &request,
        places,
        host,
    };
    for (path, text) in &launcher.files {
        let path = PathBuf::from(context.text(path, &[])?);
        let text = match text {
            FileText::Text(text) => context.text(text, &[])?,
            FileText::Lines(lines) => {
                let mut rendered = Vec::new();
                context.arguments(lines, &[], &mut rendered)?;
                rendered.join("\n") + "\n"
            }
        };
        context.write(&path, &text)?;
    }
    let mut command_line = Vec::new();
    context.arguments(&launcher.arguments, &[], &mut command_line)?;
    let mut environment = request.own_environment.clone();
    for (name, value) in &launcher.own_environment {
        environment.insert(name.clone(), context.text(value, &[])?);
    }
    if launcher.environment == EnvironmentMode::Inherited {
        environment.extend(request.variables());
    }
    let working_directory = match launcher.started_in {
        StartedIn::WorkingDirectory => request.cwd.clone(),
        StartedIn::Workspace => request.workspace.clone(),
        StartedIn::Root => places.root.clone(),
    };
    let own_paths = launcher
        .writes
        .iter()
        .map(|path| Ok(PathBuf::from(context.text(path, &[])?)))
        .collect::<Result<_, TemplateError>>()?;
    Ok(Rendered {
        command_line,
        environment: environment.into_iter().collect(),
        working_directory,
        own_paths,
    })
}

impl Context<'_> {
    fn arguments(
        &self,
        template: &[Argument],
        extra: &[(&str, String)],
        command_line: &mut Vec<String>,
    ) -> Result<(), TemplateError> {
        for argument in template {
            match argument {
                Argument::Literal(text) => command_line.push(self.text(text, extra)?),
                Argument::Command(command) => {
                    let mut words = self.request.command.clone();
                    if command.absolute {
                        if let Some(first) = words.first_mut() {
                            if let Some(found) = self.host.find(first) {
                                *first = found.display().to_string();
                            }
                        }
                    }
                    command_line.extend(words);
                }
                Argument::When(when) => {
                    if when.when.iter().all(|condition| self.holds(condition)) {
                        self.arguments(&when.arguments, extra, command_line)?;
                    }
                }
                Argument::Each(each) => {
                    for item in self.list(each.each) {
                        self.arguments(&each.arguments, &item, command_line)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn list(&self, list: List) -> Vec<Vec<(&'static str, String)>> {
        let policy = &self.request.policy;
        let item = |path: &String| vec![("item", path.clone())];
        let all = |paths: &[String]| paths.iter().map(item).collect();
        let those = |paths: &[String], directories: bool| {
            let wanted = |path: &&String| self.host.is_directory(Path::new(path)) == directories;
            paths.iter().filter(wanted).map(item).collect()
        };
        match list {
            List::ReadOnly => all(&policy.read_only),
            List::ReadOnlyDirectories => those(&policy.read_only, true),
            List::ReadOnlyFiles => those(&policy.read_only, false),
            List::ReadWrite => all(&policy.read_write),
            List::ReadWriteDirectories => those(&policy.read_write, true),
            List::ReadWriteFiles => those(&policy.read_write, false),
            List::Hidden => all(&policy.hidden),
            List::HiddenDirectories => those(&policy.hidden, true),
            List::HiddenFiles => those(&policy.hidden, false),
            List::Environment => self
                .request
                .variables()
                .into_iter()
                .map(|(name, value)| vec![("name", name), ("value", value)])
                .collect(),
        }
    }

    fn holds(&self, condition: &Condition) -> bool {
        let policy = &self.request.policy;
        match condition {
            Condition::NetworkHost => policy.network != Some(NetworkSpec::None),
            Condition::NetworkNone => policy.network == Some(NetworkSpec::None),
            Condition::PostureStrict => policy.posture.unwrap_or_default() == PostureSpec::Strict,
            Condition::PostureHostReadable => {
                policy.posture.unwrap_or_default() == PostureSpec::HostReadable
            }
            Condition::TerminalAsked => self.request.terminal,
            Condition::WorkingDirectoryAsked => self.request.cwd_asked,
            Condition::EnvironmentAsked => self.request.environment.is_some(),
            Condition::Root => self.host.is_root(),
            Condition::Unprivileged => !self.host.is_root(),
        }
    }

    /// A text with its placeholders replaced; files that they stand for are
    /// written on the way.
    fn text(&self, text: &str, extra: &[(&str, String)]) -> Result<String, TemplateError> {
        for name in names_in(text) {
            self.provide(name)?;
        }
        let plain = |name: &str| {
            extra
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value.clone())
                .or_else(|| self.name(name))
        };
        let lookup = |name: &str| {
            plain(name).or_else(|| {
                let value = plain(name.strip_suffix("-json")?)?;
                Some(serde_json::Value::from(value).to_string())
            })
        };
        expand_text(text, &lookup, Unknown::Refuse).map_err(|error| TemplateError::Placeholder {
            launcher: self.launcher.name.clone(),
            text: text.to_owned(),
            error,
        })
    }

    fn name(&self, name: &str) -> Option<String> {
        let path = |path: &Path| Some(path.display().to_string());
        match name {
            "program" => path(self.places.program.as_deref()?),
            "program-directory" => {
                let program = self.places.program.as_deref()?;
                let real = self.host.directory_of(program);
                path(real.as_deref().or_else(|| program.parent())?)
            }
            "perimeter" => path(&self.places.perimeter),
            "faulty" => path(self.places.faulty.as_deref()?),
            "workspace" => path(&self.request.workspace),
            "cwd" => path(&self.request.cwd),
            "root" => path(&self.places.root),
            "state" => path(&self.places.state),
            "home" => self.request.own_environment.get("HOME").cloned(),
            "policy" => path(&self.policy_path()),
            "environment" => path(&self.places.state.join("environment.json")),
            "request" => path(&self.places.state.join("request.json")),
            "links" => path(&self.places.state.join("links.json")),
            _ => None,
        }
    }

    fn policy_path(&self) -> PathBuf {
        match &self.request.policy.document_path {
            Some(path) => PathBuf::from(path),
            None => self.places.state.join("policy.json"),
        }
    }

    fn provide(&self, name: &str) -> Result<(), TemplateError> {
        match name {
            "policy" if self.request.policy.absent => {
                let path = self.policy_path();
                self.host
                    .remove(&path)
                    .map_err(|error| TemplateError::File { path, error })
            }
            // A case that keeps the document where the command can reach it has
            // written it as a file of its fixture.
            "policy"
                if self.request.policy.document_path.is_some()
                    && self.host.exists(&self.policy_path()) =>
            {
                Ok(())
            }
            "policy" => self.write(&self.policy_path(), &self.request.policy_document()),
            "environment" => self.write(
                &self.places.state.join("environment.json"),
                &self.request.environment_document(),
            ),
            "links" => {
                let text = serde_json::to_string_pretty(&self.request.links).unwrap_or_default();
                self.write(&self.places.state.join("links.json"), &text)
            }
            "request" => {
                let text = serde_json::to_string_pretty(self.request).unwrap_or_default();
                self.write(&self.places.state.join("request.json"), &text)
            }
            _ => Ok(()),
        }
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), TemplateError> {
        self.host
            .write(path, text)
            .map_err(|error| TemplateError::File {
                path: path.to_owned(),
                error,
            })
    }
}
