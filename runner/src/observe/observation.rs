//! What was seen of one run of a case: the host's side and the command's record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything that the judge is told of one run of a case under one launcher.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The launches, in the order of the case's steps.
    pub launches: Vec<LaunchObservation>,
    /// The launch that must start where another is to be refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<LaunchObservation>,
    /// Each stated part of the effect, and whether it showed.
    pub effect: Vec<Part>,
    /// Canaries that showed where the case does not allow it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaks: Vec<Leak>,
    /// Differences outside the writable grants that the case does not allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Processes of the command that outlived the launcher.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leftovers: Vec<Leftover>,
}

impl Observation {
    /// Whether every stated part of the effect showed.
    pub fn shows_effect(&self) -> bool {
        !self.effect.is_empty() && self.effect.iter().all(|part| part.holds)
    }

    /// The last launch, which the case's outputs are about.
    pub fn last(&self) -> Option<&LaunchObservation> {
        self.launches.last()
    }
}

/// What was seen of one launch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaunchObservation {
    /// The launcher's command line.
    pub command_line: Vec<String>,
    /// Whether the command proved that it started; always false where it is
    /// not asked to.
    pub started: bool,
    /// Whether it was asked to prove that it started.
    pub proves_start: bool,
    /// How the launcher ended.
    pub ending: Ending,
    /// What it wrote before the command's start line; with a start line this is
    /// the launcher's own text on the command's standard output.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub preamble: String,
    /// The command's standard output, without the start line. On a terminal it
    /// holds both streams.
    pub output: String,
    /// The standard error.
    pub error_output: String,
    /// Milliseconds from the start of the launcher to its end.
    pub milliseconds: f64,
    /// How often it was tried, where a race asks for more than once; this is
    /// then the try that showed the effect, or the last that started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tries: Option<Tries>,
}

/// How the tries of one launch ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tries {
    /// How many there were.
    pub made: u32,
    /// How many of them started the command.
    pub started: u32,
}

/// How a launcher ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// It exited with this status.
    Exited(u8),
    /// This signal ended it.
    Signalled(i32),
    /// The deadline passed, and the runner killed the whole tree.
    #[default]
    TimedOut,
    /// It was never started: the directory that it starts in is not there.
    NotStarted,
}

impl Ending {
    /// The status as a shell shows it.
    pub fn shell_status(self) -> Option<u8> {
        match self {
            Ending::Exited(code) => Some(code),
            Ending::Signalled(signal) => u8::try_from(128 + signal).ok(),
            Ending::TimedOut | Ending::NotStarted => None,
        }
    }
}

/// A part of an effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// What was looked for, in words.
    pub what: String,
    /// Whether it was there.
    pub holds: bool,
    /// What was there, shortened.
    pub seen: String,
}

/// A canary in a place where it must not be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Leak {
    /// The secret's name.
    pub secret: String,
    /// Where it showed.
    pub place: String,
}

/// A difference between the protected tree before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The path.
    pub path: String,
    /// What is different.
    pub what: String,
}

/// A process that outlived its launcher.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Leftover {
    /// Its process id on the host.
    pub pid: i32,
    /// Its command line, shortened.
    pub command_line: String,
}
