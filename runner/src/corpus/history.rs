//! Ids that are never used again, and the lock that says what each id means.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `retired.json`: what became of cases that are no more.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetiredFile {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The cases.
    pub retired: Vec<Retired>,
}

/// A case that is no more. Its id stays taken, so that an old result or an
/// expectation can never speak of something else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retired {
    /// Its id.
    pub id: String,
    /// The version of the corpus that first lacked it.
    pub since: String,
    /// Why it was taken out.
    pub reason: String,
    /// The case that asserts it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
}

/// `revisions.json`: what each case meant when its revision was last looked at.
/// Written by `perimeter lint --write`, never by hand.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevisionsFile {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The cases by id.
    pub cases: IndexMap<String, Revision>,
}

/// A revision of a case, and its meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Revision {
    /// The revision.
    pub rev: u32,
    /// The digest of the case's meaning at that revision.
    pub digest: String,
}
