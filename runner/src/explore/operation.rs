//! What a command tries: one file operation, as the probe is told it.

use serde::{Deserialize, Serialize};

/// A kind of operation. The probe's word for it is the name in kebab case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// Reads a file.
    Read,
    /// Lists a directory.
    List,
    /// Tells everything beneath a directory.
    Walk,
    /// Says what is at a path; a link is not followed.
    Look,
    /// Says what a path leads to.
    Follow,
    /// Says where a link leads.
    Target,
    /// Adds a line to a file that is there.
    Append,
    /// Makes a file, or replaces what it holds.
    Write,
    /// Makes a file where nothing is.
    Create,
    /// Empties a file.
    Truncate,
    /// Removes anything but a directory.
    Remove,
    /// Removes an empty directory.
    RemoveDirectory,
    /// Makes a directory.
    MakeDirectory,
    /// Makes a directory and those above it, unless they are there.
    MakeDirectories,
    /// Makes a named pipe.
    MakePipe,
    /// Gives another name, in place of what has it.
    Rename,
    /// Swaps two names at once.
    Exchange,
    /// Gives a second name.
    Link,
    /// Makes a symbolic link.
    Symlink,
    /// Sets the permission bits.
    Mode,
    /// Sets the time of the last modification.
    Times,
    /// Speaks to a listener on the loopback interface.
    Connect,
    /// Speaks to a unix socket.
    ConnectSocket,
}

impl Call {
    /// Every kind.
    pub const ALL: [Call; 23] = [
        Call::Read,
        Call::List,
        Call::Walk,
        Call::Look,
        Call::Follow,
        Call::Target,
        Call::Append,
        Call::Write,
        Call::Create,
        Call::Truncate,
        Call::Remove,
        Call::RemoveDirectory,
        Call::MakeDirectory,
        Call::MakeDirectories,
        Call::MakePipe,
        Call::Rename,
        Call::Exchange,
        Call::Link,
        Call::Symlink,
        Call::Mode,
        Call::Times,
        Call::Connect,
        Call::ConnectSocket,
    ];

    /// The probe's word for it.
    pub fn word(self) -> &'static str {
        match self {
            Call::Read => "read",
            Call::List => "list",
            Call::Walk => "walk",
            Call::Look => "look",
            Call::Follow => "follow",
            Call::Target => "target",
            Call::Append => "append",
            Call::Write => "write",
            Call::Create => "create",
            Call::Truncate => "truncate",
            Call::Remove => "remove",
            Call::RemoveDirectory => "remove-directory",
            Call::MakeDirectory => "make-directory",
            Call::MakeDirectories => "make-directories",
            Call::MakePipe => "make-pipe",
            Call::Rename => "rename",
            Call::Exchange => "exchange",
            Call::Link => "link",
            Call::Symlink => "symlink",
            Call::Mode => "mode",
            Call::Times => "times",
            Call::Connect => "connect",
            Call::ConnectSocket => "connect-socket",
        }
    }

    /// Whether it only looks.
    pub fn is_look(self) -> bool {
        matches!(
            self,
            Call::Read | Call::List | Call::Walk | Call::Look | Call::Follow | Call::Target
        )
    }

    /// Whether its second word is a path too.
    pub fn has_two_paths(self) -> bool {
        matches!(self, Call::Rename | Call::Exchange | Call::Link)
    }

    /// Whether its path may be used through a descriptor: it leads to something
    /// that is there.
    pub fn takes_descriptor(self) -> bool {
        matches!(
            self,
            Call::Read | Call::List | Call::Append | Call::Truncate | Call::Mode | Call::Times
        )
    }
}

/// One operation. Paths are written with placeholders (`{root}/outside/key`), from
/// the workspace (`../outside/key`), from HOME (`~/key`), or through /proc.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// The kind.
    pub call: Call,
    /// The path; for [`Call::Connect`] the port.
    pub path: String,
    /// The second path, the text that is written, the link's target or the mode.
    pub second: Option<String>,
    /// Whether the path is opened first, and then used by its descriptor's name.
    pub by_descriptor: bool,
}

impl Operation {
    /// An operation on one path.
    pub fn on(call: Call, path: impl Into<String>) -> Operation {
        Operation {
            call,
            path: path.into(),
            second: None,
            by_descriptor: false,
        }
    }

    /// An operation with a second word.
    pub fn with(call: Call, path: impl Into<String>, second: impl Into<String>) -> Operation {
        Operation {
            second: Some(second.into()),
            ..Operation::on(call, path)
        }
    }

    /// The second word.
    pub fn second(&self) -> &str {
        self.second.as_deref().unwrap_or_default()
    }

    /// The words that the probe is given.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::with_capacity(4);
        if self.by_descriptor {
            words.push("by-descriptor".to_owned());
        }
        words.push(self.call.word().to_owned());
        words.push(self.path.clone());
        words.extend(self.second.clone());
        words
    }

    /// Every text that may hold a path.
    pub fn paths_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let second = match self.call {
            Call::Rename | Call::Exchange | Call::Link | Call::Symlink => self.second.as_mut(),
            _ => None,
        };
        std::iter::once(&mut self.path).chain(second)
    }
}
