//! What a worker is asked, and what it answers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::corpus::Trial;
use crate::corpus::vocabulary::Fact;
use crate::explore::sighting::Sighting;
use crate::launcher::file::LauncherFile;
use crate::observe::observation::Observation;
use crate::verdict::Verdict;

/// One trial to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkItem {
    /// The trial.
    pub trial: Trial,
    /// The program under test.
    pub launcher: LauncherFile,
    /// The launcher that is no sandbox: the baseline is the trial under it.
    pub open: LauncherFile,
    /// What the trial did without a sandbox, where the asker has seen that already
    /// in this run: it hangs on no launcher.
    pub baseline: Option<Observation>,
    /// What the host offers.
    pub facts: Vec<Fact>,
    /// Where everything of this run lies.
    pub places: RunPlaces,
    /// A number that no other item of the run has; it names the directories.
    pub number: usize,
    /// Whether nothing is judged, and what was seen is told whole.
    #[serde(default)]
    pub look: bool,
}

/// Where a run keeps its things.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunPlaces {
    /// The run's own directory: each trial has its own below it.
    pub scratch: PathBuf,
    /// The run's own directory in the host's /tmp.
    pub host_temporary: PathBuf,
    /// This program, which is the reference launcher too.
    pub perimeter: PathBuf,
    /// The reference launcher that makes mistakes on request, where there is one.
    pub faulty: Option<PathBuf>,
    /// The probe, for trials to be linked from.
    pub probe: PathBuf,
}

/// What came of a trial.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkResult {
    /// What the judge says.
    pub verdict: Verdict,
    /// Why, in a sentence.
    pub reason: String,
    /// What was seen, a line each.
    pub evidence: Vec<String>,
    /// What the case needs and the host does not offer.
    pub missing: Vec<Fact>,
    /// The same command without a sandbox, where it had to be run.
    pub baseline: Option<Observation>,
    /// The command under the launcher.
    pub observed: Option<Observation>,
    /// How long it took, fixtures included.
    pub milliseconds: u64,
    /// All that was seen, where that was asked for.
    #[serde(default)]
    pub sighting: Option<Sighting>,
}

impl WorkResult {
    /// The harness's own failure.
    pub fn error(reason: String) -> WorkResult {
        WorkResult {
            verdict: Verdict::Error,
            reason,
            evidence: Vec::new(),
            missing: Vec::new(),
            baseline: None,
            observed: None,
            milliseconds: 0,
            sighting: None,
        }
    }
}
