//! One thing to try: files on the host, a policy, and operations in order.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::operation::{Call, Operation};
use super::world::{ROOT, parent};
use crate::corpus::fixture::Entry;
use crate::corpus::policy::PolicySpec;
use crate::probe;

/// The name of the listener that operations speak to.
pub const LISTENER: &str = "web";

/// Files, a policy and operations. All paths are written from `{root}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The seed that it was made from.
    pub seed: u64,
    /// What the host holds, in the order in which it is made.
    pub files: IndexMap<String, Entry>,
    /// Unix sockets of the host, by name, with their paths.
    pub sockets: IndexMap<String, String>,
    /// The workspace, as the launcher is told it; perhaps a link.
    pub workspace: String,
    /// The policy.
    pub policy: PolicySpec,
    /// What the command does.
    pub operations: Vec<Operation>,
    /// Whether another command, under the same policy, then looks at everything.
    pub again: bool,
}

/// Where the fixture lies, as far as it decides what a command sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surroundings {
    /// It lies in /tmp, in whose place every command has a directory of its own.
    pub temporary: bool,
    /// It lies in /var/tmp, which is as private where the posture is `strict`.
    pub lasting: bool,
}

impl Surroundings {
    /// Those of a scratch directory.
    pub fn of(scratch: &std::path::Path) -> Surroundings {
        Surroundings {
            temporary: scratch.starts_with("/tmp"),
            lasting: scratch.starts_with("/var/tmp"),
        }
    }
}

impl Scenario {
    /// The workspace that every fixture has.
    pub fn plain_workspace() -> String {
        format!("{ROOT}/workspace")
    }

    /// The workspace itself, where it is named through a link of the fixture.
    pub fn real_workspace(&self) -> String {
        let mut path = self.workspace.clone();
        for _ in 0..self.files.len() {
            let Some(Entry::Detailed(entry)) = self.files.get(&path) else {
                break;
            };
            let Some(target) = &entry.symlink else { break };
            path = if target.starts_with(ROOT) {
                target.clone()
            } else {
                format!("{}/{target}", parent(&path))
            };
        }
        path
    }

    /// Where the probe is within the workspace.
    pub fn probe(&self) -> String {
        if self.real_workspace() == Scenario::plain_workspace() {
            "{probe}".to_owned()
        } else {
            format!("{}/{}", self.real_workspace(), probe::NAME)
        }
    }

    /// What puts the probe into a workspace that is not the usual one.
    pub fn setup(&self) -> Vec<String> {
        if self.real_workspace() == Scenario::plain_workspace() {
            return Vec::new();
        }
        let target = self.probe().replace('\'', "'\\''");
        vec![format!("ln {{probe}} '{target}'")]
    }

    /// What a command does that looks at everything.
    pub fn walk() -> Operation {
        Operation::on(Call::Walk, ROOT)
    }

    /// The command: the probe and the words of all operations.
    pub fn command(&self) -> Vec<String> {
        let mut words = vec![self.probe(), "sequence".to_owned()];
        for (number, operation) in self.operations.iter().enumerate() {
            if number > 0 {
                words.push(";".to_owned());
            }
            words.extend(operation.words());
        }
        words
    }

    /// Whether an operation speaks to the listener.
    pub fn speaks(&self) -> bool {
        self.operations.iter().any(|it| it.call == Call::Connect)
    }

    /// All paths of the policy.
    pub fn policy_paths(&self) -> impl Iterator<Item = &String> {
        let policy = &self.policy;
        policy
            .read_only
            .iter()
            .chain(&policy.read_write)
            .chain(&policy.hidden)
    }
}
