//! A case: what is asked of a launcher, and what may come of it.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::expect::Expect;
use super::fixture::FixtureSpec;
use super::policy::PolicySpec;
use super::streams::Streams;
use super::vocabulary::{Fact, Feature, Level, Platform, PolicyField, Strength};
use crate::seatbelt::Action;

/// One file of the corpus: a topic, what its cases share, and the cases.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopicFile {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The topic's name, as a reader of a report sees it.
    pub topic: String,
    /// What the topic is about, and what an outsider must know to read its cases.
    pub about: String,
    /// What every case of the file finds on the host; a case adds to it.
    #[serde(default, skip_serializing_if = "FixtureSpec::is_empty")]
    pub fixture: FixtureSpec,
    /// The policy of each case that names none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicySpec>,
    /// Why no profile decides what comes of the cases that tell the model nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmodelled: Option<String>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One assertion about a launcher.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Dotted, and never used again for anything else.
    pub id: String,
    /// Raised whenever the meaning of the case changes.
    pub rev: u32,
    /// The assertion, as a sentence.
    pub title: String,
    /// The class of bug that this case is about, and what follows from it.
    pub why: String,
    /// The requirements that the case covers, by id.
    pub covers: Vec<String>,
    /// The level whose claim the case tests.
    pub level: Level,
    /// How binding the case is for a launcher that claims the level.
    pub strength: Strength,
    /// Where the case means anything.
    #[serde(default = "Platform::unix")]
    pub platforms: Vec<Platform>,
    /// What the launcher must be able to do, beside what the policy shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Feature>,
    /// What the host must offer for the case to be measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// For a denial or a refusal: the case that shows the allowed twin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sibling: Option<String>,
    /// Why that case is the twin of this one, where it stands in another area or
    /// runs under another kind of policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sibling_reason: Option<String>,
    /// The fields of the policy that decide the outcome: a launcher that passed
    /// over one of them would fail the case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided_by: Vec<PolicyField>,
    /// Paths of the host outside the fixture that a command names, and why it
    /// does no harm there: the baseline runs without a sandbox.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub host_paths: IndexMap<String, String>,
    /// Public reports and documents of the failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// Values that the case is tried with: each combination is one trial. The
    /// axis `posture` also sets the policy's posture.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub axes: IndexMap<String, Vec<String>>,
    /// What the host holds before the command runs, beside the topic's.
    #[serde(default, skip_serializing_if = "FixtureSpec::is_empty")]
    pub fixture: FixtureSpec,
    /// The policy; the topic's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicySpec>,
    /// The command of the one launch. Either this or `steps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// The workspace, where it is not `{workspace}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The working directory, where it is not the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The agent's variables for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentSpec>,
    /// What the command reads on its standard input; nothing when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// How a terminal takes part.
    #[serde(default, skip_serializing_if = "Tty::is_none")]
    pub tty: Tty,
    /// What stands in the place of the launcher's standard streams.
    #[serde(default, skip_serializing_if = "Streams::is_plain")]
    pub streams: Streams,
    /// What the host does while the command runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub during: Vec<During>,
    /// How often the launch is repeated at most, until its effect shows: for a
    /// race, beside `meanwhile`.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub tries: u32,
    /// A shell command of the host that runs beside every try, until the last
    /// has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meanwhile: Option<String>,
    /// How many launchers are started at once.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub copies: u32,
    /// `false` where the command is never to be started or cannot speak.
    #[serde(default = "proves_start", skip_serializing_if = "is_true")]
    pub proves_start: bool,
    /// What the command of `run` amounts to on macOS, for a run that is modelled: the
    /// effect shows if every one of these actions is allowed. None of them: the command
    /// has to start, and nothing more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modelled: Option<Vec<Action>>,
    /// The same for the parts that an axis decides, by axis and value: what the trial's
    /// value amounts to comes before `modelled`.
    #[serde(default, skip_serializing_if = "ByAxis::is_empty")]
    pub modelled_by: ByAxis,
    /// Why no profile decides what comes of the case; the topic's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmodelled: Option<String>,
    /// Several launches over one fixture, and what the host does between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// What must and what must not come of it.
    pub expect: Expect,
    /// Seconds after which the whole tree is killed.
    #[serde(default = "default_timeout")]
    pub timeout: u32,
}

/// Ten times what the slowest well-behaved case takes on a loaded machine.
fn default_timeout() -> u32 {
    20
}

fn once() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_once(value: &u32) -> bool {
    *value == 1
}

fn proves_start() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_true(value: &bool) -> bool {
    *value
}

/// How the command of one launch is started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaunchSpec {
    /// The command: a string is given to `bash -c`, a list is the argument vector.
    pub run: Run,
    /// The policy of this launch; the case's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicySpec>,
    /// The workspace, where it is not `{workspace}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The working directory, where it is not the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The agent's variables for the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentSpec>,
    /// What the command reads on its standard input; nothing when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// Whether the launcher is started with a terminal as its streams, and how
    /// the command gets one.
    #[serde(default, skip_serializing_if = "Tty::is_none")]
    pub tty: Tty,
    /// What stands in the place of the launcher's standard streams.
    #[serde(default, skip_serializing_if = "Streams::is_plain")]
    pub streams: Streams,
    /// What the host does while the command runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub during: Vec<During>,
    /// How often the launch is repeated at most, until the case's effect shows.
    /// What counts is the try that showed it, or else the last that started.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub tries: u32,
    /// A shell command of the host that runs beside every try, until the last
    /// has ended; it is then killed. Its working directory is the fixture's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meanwhile: Option<String>,
    /// How many launchers are started at once, by one shell, which waits for
    /// them all; its output is theirs.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub copies: u32,
    /// `false` where the command is never to be started or cannot speak (a
    /// missing program): the runner then adds no start line to it.
    #[serde(default = "proves_start", skip_serializing_if = "is_true")]
    pub proves_start: bool,
    /// What the command amounts to on macOS, for a run that is modelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modelled: Option<Vec<Action>>,
    /// The same for the parts that an axis decides, by axis and value.
    #[serde(default, skip_serializing_if = "ByAxis::is_empty")]
    pub modelled_by: ByAxis,
}

/// Actions of a model, by axis and value.
pub type ByAxis = IndexMap<String, IndexMap<String, Vec<Action>>>;

/// A command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a shell command (a string) or an argument vector (a list of strings)"
)]
pub enum Run {
    /// A shell command, as an agent would write it.
    Shell(String),
    /// The argument vector itself.
    Arguments(Vec<String>),
}

/// The variables that the agent asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "variables (an object of strings) or the text of a document (a string)"
)]
pub enum EnvironmentSpec {
    /// The text of the agent's document as it stands, for cases about the document.
    Document(String),
    /// Names and values; a value may be a reference such as `${NAME}`.
    Variables(IndexMap<String, String>),
}

/// How a terminal takes part in a launch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tty {
    /// The streams are pipes.
    #[default]
    None,
    /// The launcher runs on a terminal; the command is not promised one.
    Caller,
    /// The launcher runs on a terminal and is asked to give the command one.
    Command,
}

impl Tty {
    /// Whether no terminal takes part.
    pub fn is_none(&self) -> bool {
        *self == Tty::None
    }
}

/// One step of a case of several: exactly one of the two is stated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// A shell command that the runner itself runs on the host, outside of any
    /// sandbox; its working directory is the fixture's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// A launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<LaunchSpec>,
    /// For a command of the host: which links and names it changes, for a run that is
    /// modelled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modelled: Vec<Action>,
}

/// Something that happens while a command runs: exactly one action is stated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct During {
    /// The line of the command's output that it waits for; the start when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// A signal for the launcher's process, by name without `SIG`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// A shell command on the host; its working directory is the fixture's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Text typed into the launcher's terminal.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<String>,
    /// The launcher's parent is killed, when true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kill_parent: bool,
    /// The thread that started the launcher ends, when true; its process stays.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub end_thread: bool,
}

impl Case {
    /// The case's launches and host actions in order: its steps, or its one launch.
    pub fn steps(&self) -> Vec<Step> {
        let Some(run) = &self.run else {
            return self.steps.clone();
        };
        vec![Step {
            host: None,
            modelled: Vec::new(),
            launch: Some(LaunchSpec {
                run: run.clone(),
                policy: None,
                workspace: self.workspace.clone(),
                cwd: self.cwd.clone(),
                environment: self.environment.clone(),
                stdin: self.stdin.clone(),
                tty: self.tty,
                streams: self.streams.clone(),
                during: self.during.clone(),
                tries: self.tries,
                meanwhile: self.meanwhile.clone(),
                copies: self.copies,
                proves_start: self.proves_start,
                modelled: self.modelled.clone(),
                modelled_by: self.modelled_by.clone(),
            }),
        }]
    }
}
