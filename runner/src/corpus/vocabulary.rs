//! The closed lists of words that cases and launcher files are written in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A set of cases that a launcher can claim; each holds all before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Arguments, streams, exit status, signals, working directory, policy
    /// parsing; it fails closed and leaves nothing behind.
    Launch,
    /// Nothing outside the workspace and the writable grants changes.
    ConfinedWrites,
    /// Environment, descriptors, processes, IPC, devices and terminal are its
    /// own, and the tree dies as one.
    Isolated,
    /// Without a network nothing of the host's answers.
    Offline,
    /// What is not granted, or is hidden, cannot be read.
    ConfinedReads,
    /// Paths inside the workspace that a command must not change.
    Protected,
    /// Nested namespaces, capabilities as root, keyrings, odd socket families.
    Hardened,
}

impl Level {
    /// Every level, lowest first.
    pub const ALL: [Level; 7] = [
        Level::Launch,
        Level::ConfinedWrites,
        Level::Isolated,
        Level::Offline,
        Level::ConfinedReads,
        Level::Protected,
        Level::Hardened,
    ];
}

/// How binding a case is (RFC 2119) for a launcher that claims its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// A failure fails the run.
    Must,
    /// A failure is reported and does not fail the run.
    Should,
    /// An observation.
    May,
}

/// An operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// Linux.
    Linux,
    /// macOS.
    Macos,
}

impl Platform {
    /// The system that this program runs on.
    pub const HOST: Platform = if cfg!(target_os = "macos") {
        Platform::Macos
    } else {
        Platform::Linux
    };

    /// Both systems.
    pub fn unix() -> Vec<Platform> {
        vec![Platform::Linux, Platform::Macos]
    }
}

/// Something that a launcher may or may not be able to do. A case that needs
/// what the launcher does not claim is `unsupported`, never a pass.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// The posture `strict`.
    PostureStrict,
    /// The posture `host-readable`.
    PostureHostReadable,
    /// A launch that shares the host's network.
    NetworkHost,
    /// A launch without a network.
    NetworkNone,
    /// Paths outside the workspace that can be read.
    ReadOnlyGrants,
    /// Paths outside the workspace that can be written.
    ReadWriteGrants,
    /// Grants inside other grants or inside the workspace.
    NestedGrants,
    /// Hidden paths.
    HiddenPaths,
    /// Variables that the agent sets for the command.
    Environment,
    /// `${NAME}` in the agent's variables, bound by the policy's list.
    EnvironmentReferences,
    /// The policy and environment documents themselves are read by the launcher.
    Documents,
    /// A working directory other than the workspace.
    WorkingDirectory,
    /// A terminal of the command's own, when asked for.
    Terminal,
    /// A writable /tmp that is the command's own.
    PrivateTemporary,
    /// A private and empty HOME.
    PrivateHome,
    /// The explicit request to run without a sandbox.
    Unconfined,
}

/// Something that this host offers, or not.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// The run is by uid 0.
    Root,
    /// The run is by another user than uid 0.
    Unprivileged,
    /// Input can be pushed into one's own terminal (`dev.tty.legacy_tiocsti`).
    TerminalInjection,
    /// The kernel keeps session keyrings.
    SessionKeyring,
    /// The loopback interface has an IPv6 address.
    Ipv6Loopback,
    /// `git` is installed.
    Git,
    /// `python3` is installed.
    Python3,
    /// A C compiler is installed.
    CCompiler,
    /// `node` is installed.
    Node,
    /// `make` is installed.
    Make,
    /// `cargo` and `rustc` are on the caller's PATH; `{toolchain}` is where.
    Cargo,
    /// `bwrap` is installed.
    Bubblewrap,
    /// User namespaces can be made by this user.
    UserNamespaces,
}

/// A field of the policy document, or the document of the command's variables.
/// Each is written as the document writes it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PolicyField {
    /// The version of the document.
    Version,
    /// The set of defaults.
    Posture,
    /// Whether there is a sandbox at all.
    Enabled,
    /// The network.
    Network,
    /// Readable grants.
    ReadOnly,
    /// Writable grants.
    ReadWrite,
    /// Hidden paths.
    Hidden,
    /// Host variables that may be copied.
    HostEnvironment,
    /// The sandboxing program.
    Bubblewrap,
    /// The document of the command's variables.
    Environment,
}

impl PolicyField {
    /// Every field.
    pub const ALL: [PolicyField; 10] = [
        PolicyField::Version,
        PolicyField::Posture,
        PolicyField::Enabled,
        PolicyField::Network,
        PolicyField::ReadOnly,
        PolicyField::ReadWrite,
        PolicyField::Hidden,
        PolicyField::HostEnvironment,
        PolicyField::Bubblewrap,
        PolicyField::Environment,
    ];

    /// The field's name, as the document writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            PolicyField::Version => "version",
            PolicyField::Posture => "posture",
            PolicyField::Enabled => "enabled",
            PolicyField::Network => "network",
            PolicyField::ReadOnly => "read_only",
            PolicyField::ReadWrite => "read_write",
            PolicyField::Hidden => "hidden",
            PolicyField::HostEnvironment => "host_environment",
            PolicyField::Bubblewrap => "bubblewrap",
            PolicyField::Environment => "environment",
        }
    }
}
