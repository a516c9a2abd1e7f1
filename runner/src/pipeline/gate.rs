//! What can be said of a trial before anything is run.

use std::collections::BTreeSet;

use crate::corpus::Trial;
use crate::corpus::vocabulary::{Fact, Platform};
use crate::launcher::file::LauncherFile;
use crate::verdict::Verdict;

/// Why a trial is not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// The verdict that this is.
    pub verdict: Verdict,
    /// Why, in a sentence.
    pub reason: String,
    /// What the case needs and the host does not offer.
    pub missing: Vec<Fact>,
}

/// Whether a trial cannot be run here, or not with this launcher.
pub fn gate(trial: &Trial, launcher: &LauncherFile, facts: &BTreeSet<Fact>) -> Option<Gate> {
    if !trial.case.platforms.contains(&Platform::HOST) {
        return Some(Gate {
            verdict: Verdict::NotApplicable,
            reason: format!("the case is about {}", listed(&trial.case.platforms)),
            missing: Vec::new(),
        });
    }
    // Which user runs is a property of the run and no lack of the host.
    for user in [Fact::Root, Fact::Unprivileged] {
        if trial.case.facts.contains(&user) && !facts.contains(&user) {
            let needed = match user {
                Fact::Root => "uid 0; run it as root to have it measured",
                _ => "another user than uid 0; run it as one to have it measured",
            };
            return Some(Gate {
                verdict: Verdict::NotApplicable,
                reason: format!("the case needs {needed}"),
                missing: vec![user],
            });
        }
    }
    let lacking: Vec<_> = trial
        .needs()
        .into_iter()
        .filter(|feature| !launcher.features.contains(feature))
        .collect();
    if !lacking.is_empty() {
        return Some(Gate {
            verdict: Verdict::Unsupported,
            reason: format!("the launcher does not claim {}", listed(&lacking)),
            missing: Vec::new(),
        });
    }
    let missing: Vec<Fact> = trial
        .case
        .facts
        .iter()
        .copied()
        .filter(|fact| !facts.contains(fact))
        .collect();
    if !missing.is_empty() {
        return Some(Gate {
            verdict: Verdict::Unmeasured,
            reason: format!("the host does not offer {}", listed(&missing)),
            missing,
        });
    }
    None
}

/// Words of a closed list, as files write them.
fn listed<T: serde::Serialize>(words: &[T]) -> String {
    words
        .iter()
        .filter_map(|word| serde_json::to_value(word).ok())
        .filter_map(|value| value.as_str().map(str::to_owned))
        .collect::<Vec<_>>()
        .join(", ")
}
