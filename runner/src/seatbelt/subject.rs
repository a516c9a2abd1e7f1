//! What one check is about.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A process, as seen from the one that acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// The process itself.
    #[serde(rename = "self")]
    Itself,
    /// A child of it.
    Child,
    /// Another process under the same profile.
    SameSandbox,
    /// Any other process.
    Other,
}

/// A transport protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// One end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An address of the Internet protocols.
    Internet {
        /// The protocol.
        protocol: Protocol,
        /// The host, as a name or an address; nothing before it is known.
        host: Option<String>,
        /// The port; nothing before it is known.
        port: Option<u16>,
    },
    /// A socket with a path.
    Unix,
}

/// What a check is about. What is not stated is not known, so that a filter which
/// asks for it can only be answered with unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// The path, with every link resolved.
    pub path: Option<String>,
    /// The process.
    pub target: Option<Target>,
    /// The local end.
    pub local: Option<Address>,
    /// The remote end.
    pub remote: Option<Address>,
    /// Names, by the filter that asks for them: `global-name`, `sysctl-name`, ….
    pub names: BTreeMap<String, String>,
    /// Numbers, by the filter that asks for them: `ioctl-command`, `socket-domain`, ….
    pub numbers: BTreeMap<String, i64>,
}

impl Subject {
    /// A check of a path.
    pub fn path(path: impl Into<String>) -> Subject {
        Subject {
            path: Some(path.into()),
            ..Subject::default()
        }
    }

    /// A check of a process.
    pub fn target(target: Target) -> Subject {
        Subject {
            target: Some(target),
            ..Subject::default()
        }
    }

    /// A check of a name, which the named filter asks for.
    pub fn name(filter: &str, name: impl Into<String>) -> Subject {
        Subject {
            names: BTreeMap::from([(filter.to_owned(), name.into())]),
            ..Subject::default()
        }
    }

    /// The same with a number, which the named filter asks for.
    #[must_use]
    pub fn with_number(mut self, filter: &str, number: i64) -> Subject {
        self.numbers.insert(filter.to_owned(), number);
        self
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix => formatter.write_str("a socket"),
            Address::Internet { host, port, .. } => {
                let host = host.as_deref().unwrap_or("*");
                match port {
                    Some(port) => write!(formatter, "{host}:{port}"),
                    None => write!(formatter, "{host}:*"),
                }
            }
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            return formatter.write_str(path);
        }
        if let Some((_, name)) = self.names.first_key_value() {
            return formatter.write_str(name);
        }
        match (&self.target, &self.remote, &self.local) {
            (Some(Target::Itself), ..) => formatter.write_str("self"),
            (Some(Target::Child), ..) => formatter.write_str("child"),
            (Some(Target::SameSandbox), ..) => formatter.write_str("same-sandbox"),
            (Some(Target::Other), ..) => formatter.write_str("other"),
            (None, Some(end), _) | (None, None, Some(end)) => write!(formatter, "{end}"),
            (None, None, None) => Ok(()),
        }
    }
}
