//! What must and what must not come of a case.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The expected outcome. Everything that is not allowed here is forbidden:
/// canaries, the protected tree and leftover processes are watched unasked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Whether the effect must show, must not, or the launch must be refused.
    pub outcome: Outcome,
    /// What the command tries to bring about. For a refusal it is that the
    /// command starts, and is left out.
    #[serde(default)]
    pub effect: Effect,
    /// The command's own record of success; for a denial with `absorbed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<TextMatch>,
    /// Whether a write may succeed inside and vanish.
    #[serde(default, skip_serializing_if = "Absorbed::is_default")]
    pub absorbed: Absorbed,
    /// Whether a launcher may refuse instead of denying.
    #[serde(default, skip_serializing_if = "Refusal::is_default")]
    pub refusal: Refusal,
    /// For a refusal: a policy and launch which differ in the one thing refused
    /// and must start, so that a launcher that starts nothing does not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Box<super::case::LaunchSpec>>,
    /// Secrets that the command may show, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reveals: Vec<String>,
    /// Paths outside the writable grants that may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The exit status as a shell shows it (128+n for a signal).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<u8>,
    /// The whole of the command's standard output, or a part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<TextMatch>,
    /// The whole of the standard error, or a part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_output: Option<TextMatch>,
}

/// What a case asserts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The effect must show.
    Allowed,
    /// The effect must not show, and must show without a sandbox.
    Denied,
    /// The launch must be refused: the command never starts.
    Refused,
}

/// Whether a write that succeeds inside and never reaches the host is acceptable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Absorbed {
    /// It is as good as a denial.
    #[default]
    Accepted,
    /// It loses data silently, and deviates.
    Rejected,
}

impl Absorbed {
    fn is_default(&self) -> bool {
        *self == Absorbed::default()
    }
}

/// Whether a refusal to launch is as good as a denial. It counts only if
/// another launch of the same case did start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Refusal {
    /// The command must start.
    #[default]
    Rejected,
    /// The launcher may refuse.
    Accepted,
}

impl Refusal {
    fn is_default(&self) -> bool {
        *self == Refusal::default()
    }
}

/// Something that shows on the host or in the command's record. It is there
/// when every part that is stated is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Effect {
    /// Facts of the host's files after the last step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<HostFact>,
    /// The standard output of the last launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<TextMatch>,
    /// Secrets, by name, whose canary shows in an output, a granted file or at
    /// a listener.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reveals: Vec<String>,
    /// Listeners and sockets, by name, that heard something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heard: Vec<String>,
    /// Text that waits in the input queue of the caller's terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<String>,
    /// Whether a process of the command outlives the launcher.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub survives: bool,
    /// The exit status of the last launch. Never alone: beside another part, or
    /// where the status itself is what the case is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<u8>,
}

impl Effect {
    /// Whether nothing is stated.
    pub fn is_empty(&self) -> bool {
        *self == Effect::default()
    }
}

/// A fact of a path of the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostFact {
    /// The path.
    pub path: String,
    /// What is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is: Option<PathKind>,
    /// The file's whole content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// A part of the file's content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// The permission bits, in octal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Where a symbolic link leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Whether the path is no longer as the fixture made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
}

/// What is at a path; links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PathKind {
    /// Nothing.
    Absent,
    /// Anything.
    Present,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
}

/// What a text must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "the whole text (a string) or parts of it (line, contains, lacks, matches)"
)]
pub enum TextMatch {
    /// The whole text; one newline at the end may be missing from the pattern.
    Equals(String),
    /// Stated parts of it.
    Parts(TextParts),
}

/// Parts of a text, each of which must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextParts {
    /// A line of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// A part of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// What the text must not contain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// A regular expression that matches somewhere in the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<String>,
}
