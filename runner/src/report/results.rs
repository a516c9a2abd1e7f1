//! The records of a run, from which every report is derived.

use std::collections::BTreeMap;
use std::time::SystemTime;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::corpus::expect::Outcome;
use crate::corpus::vocabulary::{Fact, Level, Strength};
use crate::exit::ExitCode;
use crate::modelled::{ModelledEnd, ModelledResult, ModelledRun};
use crate::observe::observation::Observation;
use crate::verdict::Verdict;

/// The version of the results format, raised when a reader of the old one
/// would misread the new one.
pub const FORMAT: u32 = 1;

/// A line of a results file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[allow(
    clippy::large_enum_variant,
    reason = "lines are read one by one and taken apart at once"
)]
pub enum Line {
    /// The first line: what was run, on what, under which contract.
    Header(Header),
    /// What came of one trial.
    Trial(TrialResult),
    /// The last line. A file without it is of a run that was cut short.
    Footer(Footer),
    /// The first line of a run that was modelled: nothing was run, and nothing in the
    /// file is a pass.
    #[serde(rename = "modelled-run")]
    ModelledRun(ModelledRun),
    /// What a model says of one trial.
    Modelled(ModelledResult),
    /// The last line of a run that was modelled.
    #[serde(rename = "modelled-end")]
    ModelledEnd(ModelledEnd),
}

/// What was run, on what, under which contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of this format.
    pub format: u32,
    /// The program that ran the cases.
    pub suite: SuiteRecord,
    /// The cases.
    pub corpus: CorpusRecord,
    /// The program under test.
    pub launcher: LauncherRecord,
    /// The machine.
    pub host: HostRecord,
    /// When the run started, as RFC 3339 writes it, in UTC.
    pub started: String,
    /// What the run asked for.
    pub contract: Contract,
    /// How many trials were selected.
    pub selected: usize,
}

/// The program that ran the cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteRecord {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The cases that were there to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorpusRecord {
    /// The digest of all its files.
    pub digest: String,
    /// Where it was read from; absent for the one inside the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// How many trials it holds, selected or not.
    pub trials: usize,
}

/// The program under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LauncherRecord {
    /// Its name.
    pub name: String,
    /// What it says of its version; absent where it was not asked or kept silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The levels that its authors claim.
    pub levels: Vec<Level>,
}

/// The machine that the run was on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostRecord {
    /// The operating system, in one word.
    pub os: String,
    /// The kernel's release.
    pub kernel: String,
    /// The processor's architecture.
    pub architecture: String,
    /// The user that ran it.
    pub uid: u32,
    /// What the host offers.
    pub facts: Vec<Fact>,
    /// The type of the file system that the scratch directory is on.
    pub scratch_file_system: String,
}

/// What a run asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The levels whose MUST cases are required. Levels are cumulative.
    pub levels: Vec<Level>,
    /// Facts that the host must offer for the run to count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_facts: Vec<Fact>,
    /// Facts that the run declares to be absent: cases that need them may stay
    /// unmeasured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent_facts: Vec<Fact>,
    /// What narrowed the selection, as it was written. A narrowed run says
    /// nothing of whole levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// Which part of the selection this run is of, as `1/3`; the others ran
    /// elsewhere. It says nothing of whole levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
}

impl Contract {
    /// Whether a case of this level and strength has to conform.
    pub fn requires(&self, level: Level, strength: Strength) -> bool {
        strength == Strength::Must && self.levels.iter().any(|asked| *asked >= level)
    }

    /// Whether the run declared each of the missing facts, and there is one.
    pub fn declares(&self, missing: &[Fact]) -> bool {
        !missing.is_empty() && missing.iter().all(|fact| self.absent_facts.contains(fact))
    }

    /// Facts that the run requires and the host does not offer.
    pub fn unmet_facts(&self, host: &[Fact]) -> Vec<Fact> {
        let mut unmet = self.required_facts.clone();
        unmet.retain(|fact| !host.contains(fact));
        unmet
    }

    /// Facts that the run declares to be absent and the host does offer: the
    /// declaration is stale.
    pub fn stale_facts(&self, host: &[Fact]) -> Vec<Fact> {
        let mut stale = self.absent_facts.clone();
        stale.retain(|fact| host.contains(fact));
        stale
    }
}

/// What came of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialResult {
    /// The case's id.
    pub id: String,
    /// The trial's name: the id and, after a slash, the values of its axes.
    pub trial: String,
    /// The case's revision.
    pub rev: u32,
    /// The digest of the case with all that it inherits.
    pub digest: String,
    /// The assertion.
    pub title: String,
    /// The topic's name.
    pub topic: String,
    /// The level whose claim the case tests.
    pub level: Level,
    /// How binding the case is.
    pub strength: Strength,
    /// What the case asserts.
    pub outcome: Outcome,
    /// The requirements that the case covers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<String>,
    /// The values of the case's axes.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub axes: IndexMap<String, String>,
    /// What the judge says.
    pub verdict: Verdict,
    /// Whether the run's contract asks that it conforms.
    pub required: bool,
    /// Why the verdict is what it is, in a sentence.
    pub reason: String,
    /// What was seen, a line each, the most telling first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What the case needs and the host does not offer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Fact>,
    /// The expectation that excuses this verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excuse: Option<Excuse>,
    /// What the same command did without a sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Observation>,
    /// What it did under the launcher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observation>,
    /// How long the trial took, its baseline and fixture included.
    pub milliseconds: u64,
}

/// An expectation that names this very verdict of this very case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Excuse {
    /// Why the failure is known and borne.
    pub reason: String,
    /// Where it is being followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// The last day on which it excuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

impl Excuse {
    /// The reason, where it is being followed, and until when it holds, on one line.
    pub fn text(&self) -> String {
        let mut text = self.reason.clone();
        if let Some(issue) = &self.issue {
            text += &format!(" ({issue})");
        }
        if let Some(expires) = &self.expires {
            text += &format!("; until {expires}");
        }
        text
    }
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Footer {
    /// How many trials got each verdict; a verdict that none got is left out.
    #[schemars(extend("propertyNames" = verdict_names()))]
    pub verdicts: BTreeMap<Verdict, usize>,
    /// The same of the required ones.
    #[schemars(extend("propertyNames" = verdict_names()))]
    pub required: BTreeMap<Verdict, usize>,
    /// The highest level that holds; absent when none does, and when the run
    /// was narrowed or interrupted and so says nothing of levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// What is wrong with the list of expectations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectation_problems: Vec<String>,
    /// What the run told the shell.
    pub exit_code: ExitCode,
    /// How long the run took.
    pub milliseconds: u64,
    /// Whether it was stopped before every selected trial had ended.
    pub interrupted: bool,
}

/// The schema of the names of a map by verdict.
fn verdict_names() -> serde_json::Value {
    serde_json::json!({ "$ref": "#/$defs/Verdict" })
}

/// A time as results files write it: RFC 3339, in UTC, to the second.
pub fn timestamp(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}
