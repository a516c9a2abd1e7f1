//! What the runner makes on the host for one run of a case.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the host holds before the command runs. A *secret* is a random canary
/// by name: `{secret.NAME}` is its text, and it is watched for everywhere.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixtureSpec {
    /// Files, directories and links by path, made in this order.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub files: IndexMap<String, Entry>,
    /// Sockets of the host's services, by name; `{socket.NAME}` is the address.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub sockets: IndexMap<String, SocketSpec>,
    /// Listeners on the loopback interface, by name; `{port.NAME}` is the port.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub listeners: IndexMap<String, ListenerSpec>,
    /// Processes of the host, by name; `{pid.NAME}` is the process id.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub processes: IndexMap<String, ProcessSpec>,
    /// Variables of the launcher's own environment.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub environment: IndexMap<String, Text>,
    /// Descriptors that the launcher inherits, by number (3 and above).
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub descriptors: IndexMap<String, DescriptorSpec>,
    /// Keys in the launcher's session keyring, by description.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub keyring: IndexMap<String, Text>,
    /// System V shared memory segments, by name; `{shm.NAME}` is the id.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub shared_memory: IndexMap<String, Text>,
    /// Directories of the fixture at which the launcher finds a temporary file
    /// system mounted. The host does not see it. Linux alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<String>,
    /// Directories of the fixture at which the launcher finds another one mounted a second
    /// time: where, and which. The host does not see it. Linux alone.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub binds: IndexMap<String, String>,
    /// Signals that the launcher inherits as ignored or blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<SignalsSpec>,
    /// Shell commands that the host runs last, in the fixture's root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
}

impl FixtureSpec {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == FixtureSpec::default()
    }

    /// This fixture with another's parts added; the other's win.
    pub fn with(&self, other: &FixtureSpec) -> FixtureSpec {
        let mut all = self.clone();
        all.files.extend(other.files.clone());
        all.sockets.extend(other.sockets.clone());
        all.listeners.extend(other.listeners.clone());
        all.processes.extend(other.processes.clone());
        all.environment.extend(other.environment.clone());
        all.descriptors.extend(other.descriptors.clone());
        all.keyring.extend(other.keyring.clone());
        all.shared_memory.extend(other.shared_memory.clone());
        all.mounts.extend(other.mounts.iter().cloned());
        all.binds.extend(other.binds.clone());
        if other.signals.is_some() {
            all.signals.clone_from(&other.signals);
        }
        all.setup.extend(other.setup.iter().cloned());
        all
    }
}

/// A text, or a secret's canary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a text (a string) or { \"secret\": NAME }")]
pub enum Text {
    /// The text itself.
    Plain(String),
    /// The canary of the secret of this name.
    Secret(SecretText),
}

/// A reference to a secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretText {
    /// The secret's name.
    pub secret: String,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a file's content (a string) or one of content, secret, directory, symlink, hard_link, fifo"
)]
pub enum Entry {
    /// A regular file with this content.
    Content(String),
    /// Anything else.
    Detailed(DetailedEntry),
}

/// What is at a path, in full. Exactly one of the kinds is stated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DetailedEntry {
    /// A regular file with this content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// A regular file that holds this secret's canary and a newline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// A directory, when true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub directory: bool,
    /// A symbolic link with this target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symlink: Option<String>,
    /// A hard link to this path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_link: Option<String>,
    /// A named pipe, when true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fifo: bool,
    /// The permission bits, in octal; 0644 and 0755 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
}

/// A service of the host on a unix socket. It logs what it hears and answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketSpec {
    /// Its path; an abstract name made by the runner when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The kind of socket.
    #[serde(default)]
    pub kind: SocketKind,
    /// What it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies: Option<Text>,
}

/// The kind of a unix socket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SocketKind {
    /// A stream.
    #[default]
    Stream,
    /// Datagrams.
    Datagram,
    /// Sequenced packets.
    SequencedPacket,
}

/// A service of the host on the loopback interface. It logs what it hears and
/// answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListenerSpec {
    /// The protocol.
    pub protocol: Protocol,
    /// The loopback address; 127.0.0.1 when absent.
    #[serde(default = "loopback")]
    pub address: String,
    /// What it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies: Option<Text>,
}

fn loopback() -> String {
    "127.0.0.1".to_owned()
}

/// A transport protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// A process of the host, of the same user, that waits to be looked at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessSpec {
    /// Its environment.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub environment: IndexMap<String, Text>,
    /// An argument that shows in its command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<Text>,
}

/// A descriptor that the launcher inherits without close-on-exec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DescriptorSpec {
    /// This file, open for reading.
    Read(String),
    /// This file, open for appending.
    Append(String),
    /// This directory.
    Directory(String),
    /// A connection to the listener of this name.
    Connection(String),
}

/// Signal state that a process inherits through exec.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalsSpec {
    /// Names, without `SIG`, of ignored signals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    /// Names, without `SIG`, of blocked signals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<String>,
}
