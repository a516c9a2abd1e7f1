//! What a program does, in the words of facts and cases.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::subject::{Protocol, Target};

/// One thing that a program does. The model expands it to the checks that a real
/// system makes; a path may lead through links.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Opens a file for reading, or a directory.
    Read(String),
    /// Lists a directory.
    List(String),
    /// Looks at the metadata of what a path leads to (stat(2)).
    Stat(String),
    /// Looks at the metadata of the path itself, even if it is a link (lstat(2)).
    Lstat(String),
    /// Reads what a symbolic link says.
    Readlink(String),
    /// Finds the real path by looking at each parent (realpath(3) of most runtimes).
    Realpath(String),
    /// Asks whether a path is there (access(2)).
    Exists(String),
    /// Reads an extended attribute, by path.
    ReadAttribute(String),
    /// Makes a file that is not there yet.
    Create(String),
    /// Opens a file that is there for writing.
    Write(String),
    /// Makes a directory.
    MakeDirectory(String),
    /// Makes a symbolic link, at this path; what it says decides nothing here.
    Symlink(String),
    /// Makes a symbolic link that is followed by what comes after.
    SymlinkTo(LinkTo),
    /// Makes a device, at this path.
    MakeNode(String),
    /// Makes a named pipe, at this path.
    MakeFifo(String),
    /// Removes a name (unlink(2), rmdir(2)).
    Remove(String),
    /// Renames a file or directory.
    Rename(TwoPaths),
    /// Gives a file a second name (link(2)).
    Link(TwoPaths),
    /// Copies a file by reference (clonefile(2)).
    Clone(TwoPaths),
    /// Changes metadata.
    Change(Update),
    /// Starts a program, with all that its start needs.
    Start(String),
    /// Makes a child process.
    Fork,
    /// Connects to a host over TCP.
    Tcp(Connect),
    /// Sends to a host over UDP.
    Udp(Connect),
    /// Waits for TCP connections.
    Listen(Bind),
    /// Takes an address for UDP, or for TCP without listening.
    Bind(Bind),
    /// Connects to a socket by its path.
    UnixConnect(String),
    /// Makes a socket at a path.
    UnixBind(String),
    /// Looks a host's name up.
    ResolveName(String),
    /// Makes a socket.
    Socket(SocketSpec),
    /// Sends a signal to a process.
    Signal(Target),
    /// Asks for a process's state.
    ProcessInfo(Target),
    /// Reads a process's arguments and environment.
    ProcessArguments(Target),
    /// Lists the ids of all processes.
    ListProcesses,
    /// Takes control of another process's memory (`task_for_pid`).
    TaskPort(Target),
    /// Reads a value of the kernel, by name.
    SysctlRead(String),
    /// Writes a value of the kernel, by name.
    SysctlWrite(String),
    /// Reaches a service, by its global name.
    MachLookup(String),
    /// Offers a service, by its global name.
    MachRegister(String),
    /// Asks something of a device.
    Ioctl(Ioctl),
    /// Opens a terminal, by path, and sets its modes.
    Terminal(String),
    /// Makes a new pseudo-terminal.
    PseudoTerminal,
    /// Makes and uses a named semaphore.
    Semaphore(String),
    /// Opens named shared memory.
    SharedMemory(Shared),
    /// Makes and uses a System V semaphore.
    SysvSemaphore,
    /// Reads preferences, by domain.
    PreferencesRead(String),
    /// Writes preferences, by domain.
    PreferencesWrite(String),
    /// Opens a driver, by class.
    IokitOpen(String),
    /// Sends an Apple event to an application, by identifier.
    AppleEvent(String),
    /// Has the system open an application or document (`open`).
    OpenApplication,
    /// Puts itself under a second profile.
    Sandbox(String),
    /// Goes one of several ways, each of them several actions in order: it comes about
    /// if every action of one way is allowed.
    Any(Vec<Vec<Action>>),
    /// One check, as it stands.
    Check(RawCheck),
}

/// A symbolic link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkTo {
    /// Where it is made.
    pub at: String,
    /// What it says.
    pub to: String,
}

/// An old and a new path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoPaths {
    /// What is there.
    pub from: String,
    /// The new name.
    pub to: String,
    /// Whether the new name is taken, so that what it names is removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces: bool,
    /// Whether what is copied is a directory, with all beneath it (clonefile(2)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub directory: bool,
}

/// A change of metadata.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Update {
    /// The path.
    pub path: String,
    /// What of it.
    pub what: Metadata,
}

/// What of a file's metadata is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metadata {
    /// The permissions.
    Mode,
    /// The permissions, with a set-user-ID or set-group-ID bit.
    SetUserId,
    /// The owner or group.
    Owner,
    /// The times.
    Times,
    /// The flags (chflags(2)).
    Flags,
    /// The access control list.
    Acl,
    /// An extended attribute.
    Attribute,
}

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connect {
    /// A name or an address.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// An address of this host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bind {
    /// The address.
    pub host: String,
    /// The port; 0 lets the system choose.
    pub port: u16,
    /// The protocol.
    #[serde(default = "tcp")]
    pub protocol: Protocol,
}

fn tcp() -> Protocol {
    Protocol::Tcp
}

/// A socket, in the words of socket(2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketSpec {
    /// `AF_INET`, `AF_SYSTEM`, ….
    pub domain: String,
    /// `SOCK_STREAM`, ….
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The protocol's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<i64>,
}

/// A request to a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ioctl {
    /// The device.
    pub path: String,
    /// The request, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Shared memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Its name.
    pub name: String,
    /// Whether it is made and written, and not only read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub write: bool,
}

/// One check. What is not stated is not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawCheck {
    /// The operation.
    pub operation: String,
    /// The path, already resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// Names, by the filter that asks for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// Numbers or words, by the filter that asks for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
}
