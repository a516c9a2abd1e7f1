//! The committed result of an audit, `faults/matrix.json`: which case catches which
//! fault, and of which cases and faults that was said.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// Where it lies in a corpus.
pub const MATRIX: &str = "faults/matrix.json";

/// `faults/matrix.json`. It is written by `perimeter audit --write`, never by hand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatrixFile {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// What was seen, by the user that ran it: root and another have different
    /// boundaries.
    #[serde(default)]
    pub runs: BTreeMap<AuditUser, AuditRecord>,
}

/// Who ran an audit.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum AuditUser {
    /// Uid 0.
    Root,
    /// Any other.
    Unprivileged,
}

impl AuditUser {
    /// Both.
    pub const ALL: [AuditUser; 2] = [AuditUser::Root, AuditUser::Unprivileged];

    /// The user of this process.
    pub fn here() -> AuditUser {
        if nix::unistd::geteuid().is_root() {
            AuditUser::Root
        } else {
            AuditUser::Unprivileged
        }
    }

    /// The word, as files and reports show it.
    pub fn as_str(self) -> &'static str {
        match self {
            AuditUser::Root => "root",
            AuditUser::Unprivileged => "unprivileged",
        }
    }
}

/// What one user's audits have shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditRecord {
    /// The version of the program that wrote this last.
    pub version: String,
    /// Whether a fault was run against one trial of each case, where that was enough to
    /// know whether it is caught and whether the case catches anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick: bool,
    /// The digest of each case that was tried against every fault.
    pub cases: BTreeMap<String, String>,
    /// Cases that can catch nothing here, and the verdict that says why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_judged: BTreeMap<String, Verdict>,
    /// The faults.
    pub faults: BTreeMap<String, FaultRecord>,
}

/// What came of one fault.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultRecord {
    /// The digest of its file and of the launcher that it is made of.
    pub digest: String,
    /// Why it was not run: what the host or the user lacks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
    /// Why it proves nothing of single cases. What catches it is not listed then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extreme: Option<Extreme>,
    /// The cases that catch it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub caught_by: BTreeMap<String, Catch>,
}

/// How a wrong launcher can be no better than the two that are there for comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Extreme {
    /// As `dead`: not one permission conforms.
    RunsNothing,
    /// As `open`: every denial escapes.
    ConfinesNothing,
}

/// How a case catches a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Catch {
    /// The worst verdict of its trials.
    pub verdict: Verdict,
    /// The values of the axes whose trials catch it, where not all do.
    #[serde(rename = "where", default, skip_serializing_if = "IndexMap::is_empty")]
    pub at: IndexMap<String, Vec<String>>,
    /// How many of the trials catch it, where no values of axes tell them apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<usize>,
    /// Whether it was caught in some audits and not in others, of the same case and
    /// fault: a race, say. Such a catch proves nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sometimes: bool,
}
