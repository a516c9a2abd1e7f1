//! What a modelled run leaves: its lines in a results file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::corpus::expect::Outcome;
use crate::corpus::vocabulary::{Level, Platform, Strength};
use crate::exit::ExitCode;
use crate::report::results::{Contract, CorpusRecord, LauncherRecord, SuiteRecord};

/// What the model says of a trial. None of these is a verdict.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// What the case forbids would happen.
    Escapes,
    /// What the case asks for would be denied, or the command would not start.
    Overblocks,
    /// The profile does what the case asserts.
    Conforms,
    /// The model cannot say.
    Undecided,
    /// The launcher does not claim what the case needs.
    Unsupported,
}

impl Decision {
    /// Every decision, in the order of reports.
    pub const ALL: [Decision; 5] = [
        Decision::Escapes,
        Decision::Overblocks,
        Decision::Conforms,
        Decision::Undecided,
        Decision::Unsupported,
    ];

    /// Whether a required case fails by it.
    pub fn fails(self) -> bool {
        matches!(self, Decision::Escapes | Decision::Overblocks)
    }
}

/// The first line of a modelled run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelledRun {
    /// The version of the results format.
    pub format: u32,
    /// The program that asked the model.
    pub suite: SuiteRecord,
    /// The cases.
    pub corpus: CorpusRecord,
    /// The launcher whose profiles were judged.
    pub launcher: LauncherRecord,
    /// The system that was modelled.
    pub platform: Platform,
    /// When it started, as RFC 3339 writes it, in UTC.
    pub started: String,
    /// What the run asked for.
    pub contract: Contract,
    /// How many trials were selected.
    pub selected: usize,
}

/// What the model says of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelledResult {
    /// The case's id.
    pub id: String,
    /// The trial's name.
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
    /// What the model says.
    pub modelled: Decision,
    /// Whether the run's contract asks that it conforms.
    pub required: bool,
    /// Why, in a sentence.
    pub reason: String,
    /// The checks that decided, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

/// The last line of a modelled run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelledEnd {
    /// How many trials got each decision.
    #[schemars(extend("propertyNames" = { "$ref": "#/$defs/Decision" }))]
    pub modelled: BTreeMap<Decision, usize>,
    /// What the run told the shell.
    pub exit_code: ExitCode,
}

/// What a modelled run tells the shell: a failure that the model sees is one, and
/// where it sees none, nothing is proven all the same.
pub fn exit_code(results: &[ModelledResult]) -> ExitCode {
    let fails = |result: &ModelledResult| result.required && result.modelled.fails();
    if results.is_empty() {
        ExitCode::Nothing
    } else if results.iter().any(fails) {
        ExitCode::Failure
    } else {
        ExitCode::Unproven
    }
}

impl ModelledEnd {
    /// The end of a run with these results.
    pub fn of(results: &[ModelledResult]) -> ModelledEnd {
        let mut modelled = BTreeMap::new();
        for result in results {
            *modelled.entry(result.modelled).or_insert(0) += 1;
        }
        ModelledEnd {
            modelled,
            exit_code: exit_code(results),
        }
    }
}
