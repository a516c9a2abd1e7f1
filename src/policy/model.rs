//! The policy itself, once read and checked.

use std::path::PathBuf;

/// The set of defaults that a policy starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Posture {
    /// Only the system's programs, `/etc` and what is granted are there; HOME and
    /// temporary files are private and empty; the environment is cleared.
    #[default]
    Strict,
    /// The whole host is readable at its real paths, save what is hidden; the
    /// environment and HOME are the caller's own.
    HostReadable,
}

/// Whether the command shares the host's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// The host's network.
    #[default]
    Host,
    /// A network of its own, without any interface to the outside.
    None,
}

/// What a command may reach. Every path is absolute, free of `.` and `..`, and
/// the grants do not overlap one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// `false` is the explicit request to run without a sandbox.
    pub enabled: bool,
    /// The defaults that the rest narrows or widens.
    pub posture: Posture,
    /// Whether the host's network is there.
    pub network: Network,
    /// Paths that the command can read and not write.
    pub read_only: Vec<PathBuf>,
    /// Paths that the command can read and write.
    pub read_write: Vec<PathBuf>,
    /// Paths that are blank to the command. The most specific path decides.
    pub hidden: Vec<PathBuf>,
    /// Names of the host's variables that an environment document may copy.
    pub host_environment: Vec<String>,
    /// The bubblewrap program; searched on PATH when absent.
    pub bubblewrap: Option<PathBuf>,
    /// The file that this policy was read from, so that a launch can refuse to
    /// make it writable.
    pub source: Option<PathBuf>,
    /// The symbolic links that the path of that file goes through. A launch that made
    /// one of them writable would let a command choose the next policy.
    pub links: Vec<PathBuf>,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            enabled: true,
            posture: Posture::default(),
            network: Network::default(),
            read_only: Vec::new(),
            read_write: Vec::new(),
            hidden: Vec::new(),
            host_environment: Vec::new(),
            bubblewrap: None,
            source: None,
            links: Vec::new(),
        }
    }
}

impl Policy {
    /// The default: only the workspace, on the host's network.
    pub fn strict() -> Policy {
        Policy::default()
    }

    /// The whole host readable, only the workspace writable.
    pub fn host_readable() -> Policy {
        Policy {
            posture: Posture::HostReadable,
            ..Policy::default()
        }
    }

    /// Whether plug-ins that run inside the caller may use HTTP. They may not where
    /// commands have no network, since a plug-in could fetch for a command; the
    /// caller's own requests are no part of a policy.
    ///
    /// ```
    /// use perimeter::{Network, Policy};
    ///
    /// let policy = Policy { network: Network::None, ..Policy::strict() };
    /// assert!(!policy.plugin_http_allowed());
    /// ```
    pub fn plugin_http_allowed(&self) -> bool {
        self.network == Network::Host
    }
}
