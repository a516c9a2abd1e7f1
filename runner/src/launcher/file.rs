//! A launcher file: how a request is turned into a launcher's command line.

use std::path::Path;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{checked, program};
use crate::corpus::error::CorpusError;
use crate::corpus::place::At;
use crate::corpus::source::read_named;
use crate::corpus::vocabulary::{Feature, Level, Platform};

/// A program under test, and how it is driven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LauncherFile {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The launcher's name, as reports show it.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// Where it runs.
    #[serde(default = "Platform::unix")]
    pub platforms: Vec<Platform>,
    /// The levels that its authors claim. A claimed level's MUST cases are required.
    #[serde(default)]
    pub levels: Vec<Level>,
    /// What it can do; a case that needs more is `unsupported`.
    pub features: Vec<Feature>,
    /// Programs that it needs, as names to search on PATH or absolute paths, or with
    /// `./` in front for files beside this one; the first is `{program}`.
    #[serde(default)]
    pub programs: Vec<String>,
    /// The arguments that print its version, the program included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub version: Vec<String>,
    /// Files that are written before the launch, by path, with placeholders in
    /// both; they lie under `{state}`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub files: IndexMap<String, FileText>,
    /// The command line.
    pub arguments: Vec<Argument>,
    /// The command line that prints the Seatbelt profile of a launch on macOS, with the
    /// same placeholders, for a run that is modelled. `{links}` is a file of the symbolic
    /// links that are there: a JSON object of paths, and what each link says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profile: Vec<Argument>,
    /// How the command's variables reach it.
    #[serde(default)]
    pub environment: EnvironmentMode,
    /// Variables added to the launcher's own environment.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub own_environment: IndexMap<String, String>,
    /// Paths that the launcher itself writes, with placeholders: what changes there is
    /// no escape. Its own state below `{state}` or `{home}`, and never a place that a
    /// case is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Where the launcher itself is started.
    #[serde(default)]
    pub started_in: StartedIn,
    /// The exit status by which it says that it refused, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal_status: Option<u8>,
    /// What is known of it that a reader of its results should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a text (a string), or its lines as arguments are written (a list)"
)]
pub enum FileText {
    /// The whole text.
    Text(String),
    /// The lines, repeated and under conditions as arguments are.
    Lines(Vec<Argument>),
}

/// One or more arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "an argument (a string), { \"each\": LIST, \"arguments\": [...] }, { \"when\": CONDITION, \"arguments\": [...] } or { \"command\": true }"
)]
pub enum Argument {
    /// One argument, with placeholders.
    Literal(String),
    /// The arguments, once for each item of a list.
    Each(Each),
    /// The arguments, if the condition holds.
    When(When),
    /// The command itself: all its arguments.
    Command(Command),
}

/// Arguments repeated for each item of a list of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Each {
    /// The list.
    pub each: List,
    /// The arguments, with `{item}`, or `{name}` and `{value}` for variables.
    pub arguments: Vec<Argument>,
}

/// A list of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum List {
    /// The readable grants.
    ReadOnly,
    /// The readable grants that are directories.
    ReadOnlyDirectories,
    /// The readable grants that are not directories, or are absent.
    ReadOnlyFiles,
    /// The writable grants.
    ReadWrite,
    /// The writable grants that are directories.
    ReadWriteDirectories,
    /// The writable grants that are not directories, or are absent.
    ReadWriteFiles,
    /// The hidden paths.
    Hidden,
    /// The hidden paths that are directories.
    HiddenDirectories,
    /// The hidden paths that are not directories, or are absent.
    HiddenFiles,
    /// The command's variables.
    Environment,
}

/// Arguments under a condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The condition; with a list, each must hold.
    pub when: Vec<Condition>,
    /// The arguments.
    pub arguments: Vec<Argument>,
}

/// A condition on a request or on the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// The request shares the host's network.
    NetworkHost,
    /// The request has no network.
    NetworkNone,
    /// The posture is `strict`.
    PostureStrict,
    /// The posture is `host-readable`.
    PostureHostReadable,
    /// A terminal of the command's own is asked for.
    TerminalAsked,
    /// The working directory is not the workspace.
    WorkingDirectoryAsked,
    /// The command has variables, or a document of them.
    EnvironmentAsked,
    /// The run is by uid 0.
    Root,
    /// The run is by another user.
    Unprivileged,
}

/// The place of the command in the command line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub command: bool,
    /// Whether the program's name is searched on PATH first, for launchers that
    /// need an absolute one.
    #[serde(default)]
    pub absolute: bool,
}

/// How the command's variables reach it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EnvironmentMode {
    /// By the template's arguments.
    #[default]
    Arguments,
    /// The launcher hands its own environment on, so the runner adds the
    /// command's variables to that.
    Inherited,
}

/// Where the launcher itself is started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StartedIn {
    /// The directory that the command is to run in.
    #[default]
    WorkingDirectory,
    /// The workspace.
    Workspace,
    /// The fixture's root.
    Root,
}

/// Reads a launcher file.
///
/// # Errors
/// A file that cannot be read, or that does not fit the schema, with its place.
pub fn read_launcher(path: &Path) -> Result<LauncherFile, CorpusError> {
    let bytes = read_named(path).map_err(|error| CorpusError::UnreadableLauncher {
        path: path.to_owned(),
        error,
    })?;
    let shown = path.display().to_string();
    let mut file = checked::read(&shown, &bytes)?;
    for (index, program) in file.programs.iter_mut().enumerate() {
        if let Some(beside) = program.strip_prefix("./") {
            let beside = path.with_file_name(beside);
            let whole = std::path::absolute(&beside).unwrap_or(beside);
            *program = whole.display().to_string();
        } else if !program.contains('/')
            && program::find(program).is_none()
            && path.with_file_name(&*program).is_file()
        {
            let problem = format!(
                "{program} is not on PATH, and a file of that name lies beside this one: write \"./{program}\""
            );
            let text = String::from_utf8_lossy(&bytes);
            let path = [At::Field("programs"), At::Item(index)];
            return Err(checked::malformed(&shown, &text, &path, problem));
        }
    }
    Ok(file)
}
