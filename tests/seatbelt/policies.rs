//! Policies that profiles are made of, and what a profile decides by its own words.

use std::path::{Path, PathBuf};

use perimeter::seatbelt::preview;
use perimeter::{Network, Policy, Posture};

use super::{Rule, rules};

pub const WORKSPACE: &str = "/Users/me/project";

/// Lists that policies are tried with: readable, writable, hidden.
pub const LISTS: [[&[&str]; 3]; 5] = [
    [&[], &[], &[]],
    [
        &["/Users/me/.gitconfig", "/tmp/reference"],
        &["/Users/me/out"],
        &[],
    ],
    [
        &[],
        &[],
        &["/Users/me/project/.env", "/Users/me/project/a/b/secret"],
    ],
    [
        &["/Users/me/.cargo"],
        &[],
        &["/Users/me", "/Users/me/.cargo/credentials.toml"],
    ],
    [
        &[],
        &["/var/tmp/shared"],
        &["/tmp", "/opt/homebrew", "/var/tmp/shared/key"],
    ],
];

pub fn policy(posture: Posture, network: Network, lists: [&[&str]; 3]) -> Policy {
    let [read_only, read_write, hidden] =
        lists.map(|list| list.iter().map(PathBuf::from).collect());
    Policy {
        posture,
        network,
        read_only,
        read_write,
        hidden,
        ..Policy::strict()
    }
}

/// Every combination, with its profile.
pub fn profiles() -> Vec<(Policy, String)> {
    let mut list = Vec::new();
    for posture in [Posture::Strict, Posture::HostReadable] {
        for network in [Network::Host, Network::None] {
            for lists in LISTS {
                for terminal in [false, true] {
                    let policy = policy(posture, network, lists);
                    let text = preview(&policy, WORKSPACE, terminal).unwrap();
                    list.push((policy, text));
                }
            }
        }
    }
    assert_eq!(list.len(), 40);
    list
}

pub fn every(check: impl Fn(&Policy, &[Rule])) {
    for (policy, text) in profiles() {
        check(&policy, &rules(&text));
    }
}

/// What an operation is a part of. `file-link` and the like have no parent: what is not
/// denied of them is allowed.
pub fn parent(operation: &str) -> Option<&'static str> {
    match operation {
        "file-read-data" | "file-read-metadata" | "file-read-xattr" => Some("file-read*"),
        "process-exec-interpreter" => Some("process-exec*"),
        _ if operation.starts_with("file-write-") => Some("file-write*"),
        _ => None,
    }
}

pub fn covers(rule: &Rule, path: &str) -> bool {
    rule.filters.is_empty()
        || rule.literals.iter().any(|literal| literal == path)
        || rule
            .subpaths
            .iter()
            .any(|above| Path::new(path).starts_with(above))
}

/// What becomes of an operation on a path: the operation's own rules first, the last of
/// them; else its parent's; else what `(deny default)` means for it.
pub fn allowed(rules: &[Rule], operation: &str, path: &str) -> bool {
    let mut operation = Some(operation);
    while let Some(name) = operation {
        let last = rules
            .iter()
            .rev()
            .find(|rule| rule.is_about(name) && covers(rule, path));
        if let Some(rule) = last {
            return rule.allow;
        }
        operation = parent(name);
    }
    false
}

/// The same if the order of the rules alone decided.
pub fn allowed_flat(rules: &[Rule], operation: &str, path: &str) -> bool {
    rules
        .iter()
        .rev()
        .find(|rule| {
            covers(rule, path)
                && (rule.is_about(operation)
                    || parent(operation).is_some_and(|parent| rule.is_about(parent)))
        })
        .is_some_and(|rule| rule.allow)
}

pub const READING: [&str; 7] = [
    "file-read-data",
    "file-read-metadata",
    "file-read-xattr",
    "file-test-existence",
    "file-map-executable",
    "file-clone",
    "process-exec*",
];
pub const WRITING: [&str; 4] = [
    "file-write-create",
    "file-write-data",
    "file-write-unlink",
    "file-link",
];
