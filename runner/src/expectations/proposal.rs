//! A list of expectations that is made from what failed in a run. Its reasons are
//! still to be written, and until then it is refused.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};

use super::{Circumstances, Expectations, applies, is_about};
use crate::corpus::Corpus;
use crate::corpus::expectation::{
    ExcusedVerdict, Expectation, ExpectationFile, Occasion, Reason, UNWRITTEN,
};
use crate::report::results::TrialResult;
use crate::verdict::{Class, Verdict};

/// What a person is to write.
const ADVICE: &str = "say why the launcher fails here, and why that is borne for now";

/// A list of expectations to be looked at by a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The list.
    pub content: ExpectationFile,
    /// How many of its entries are as they were.
    pub kept: usize,
    /// How many are new, or to be looked at again.
    pub added: usize,
}

impl Proposal {
    /// The text of the file.
    pub fn text(&self) -> String {
        let value = serde_json::to_value(&self.content).unwrap_or_default();
        format!("{value:#}\n")
    }

    /// Adds to a list, or to none, an entry for each failure of a required case that it
    /// does not speak of: one a case where all of its trials that were measured failed
    /// alike, else as few as say where it failed.
    ///
    /// Entries stay as they are, whether or not they still hold: the next run says what is
    /// stale. Only one that is about another revision of the case, or another verdict,
    /// gives its place, and its reason as something to look at, to what is seen now.
    pub fn of(
        base: Option<&Expectations>,
        launcher: &str,
        corpus: &Corpus,
        results: &[TrialResult],
        here: &Circumstances,
    ) -> Proposal {
        let mut content = base.map_or_else(
            || ExpectationFile {
                schema: None,
                launcher: launcher.to_owned(),
                expectations: Vec::new(),
            },
            |list| list.content.clone(),
        );
        let covered = |trial: &TrialResult| {
            let mut entries = content.expectations.iter();
            entries
                .any(|entry| holds(entry, trial) && applies(entry, here) && is_about(entry, trial))
        };
        let mut failed: BTreeMap<&str, Vec<&TrialResult>> = BTreeMap::new();
        for trial in results {
            let fails = trial.required && trial.verdict.class() == Class::Failure;
            if fails && !covered(trial) {
                failed.entry(&trial.id).or_default().push(trial);
            }
        }
        let before = content.expectations.len();
        let mut added = 0;
        let mut replaced = 0;
        for (case, failed) in failed {
            let outlived = outlived(&mut content.expectations, case, &failed, results, here);
            replaced += outlived.len();
            let entries = entries(corpus, &failed, results, outlived.first());
            added += entries.len();
            content.expectations.extend(entries);
        }
        // In the order of the cases, where it was so before.
        let sorted = |list: &[Expectation]| list.is_sorted_by(|one, two| one.case <= two.case);
        let old = content.expectations.len() - added;
        if sorted(&content.expectations[..old]) {
            content
                .expectations
                .sort_by(|one, two| one.case.cmp(&two.case));
        }
        Proposal {
            content,
            kept: before - replaced,
            added,
        }
    }
}

/// Whether the entry is about this verdict of this revision.
fn holds(entry: &Expectation, trial: &TrialResult) -> bool {
    entry.rev == trial.rev && entry.excuses(trial.verdict)
}

/// Takes out the entries that speak of a trial which fails otherwise now, and of none
/// that fails as they say.
fn outlived(
    entries: &mut Vec<Expectation>,
    case: &str,
    failed: &[&TrialResult],
    results: &[TrialResult],
    here: &Circumstances,
) -> Vec<Expectation> {
    let is_outlived = |entry: &Expectation| {
        entry.case == case
            && applies(entry, here)
            && failed.iter().any(|trial| is_about(entry, trial))
            && !results
                .iter()
                .any(|trial| is_about(entry, trial) && holds(entry, trial))
    };
    let (gone, left) = std::mem::take(entries).into_iter().partition(is_outlived);
    *entries = left;
    gone
}

/// The entries for what failed of one case.
fn entries(
    corpus: &Corpus,
    failed: &[&TrialResult],
    results: &[TrialResult],
    outlived: Option<&Expectation>,
) -> Vec<Expectation> {
    let mut verdicts: BTreeMap<Verdict, Vec<&TrialResult>> = BTreeMap::new();
    for trial in failed {
        verdicts.entry(trial.verdict).or_default().push(trial);
    }
    let mut entries = Vec::new();
    for (verdict, failed) in verdicts {
        let (Some(first), Ok(excused)) = (failed.first(), ExcusedVerdict::try_from(verdict)) else {
            continue;
        };
        for axes in occasions(corpus, &failed, results) {
            entries.push(Expectation {
                case: first.id.clone(),
                rev: first.rev,
                verdict: excused,
                sometimes: Vec::new(),
                when: (!axes.is_empty()).then(|| Occasion {
                    axes,
                    ..Occasion::default()
                }),
                reason: reason(outlived),
                issue: outlived.and_then(|entry| entry.issue.clone()),
                expires: None,
            });
        }
    }
    entries
}

fn reason(outlived: Option<&Expectation>) -> Reason {
    let Some(entry) = outlived else {
        return Reason::unwritten(ADVICE);
    };
    let before = entry.reason.as_str().trim_start();
    let before = before.strip_prefix(UNWRITTEN).map_or(before, |rest| {
        rest.trim_start_matches(|letter: char| letter == ':' || letter.is_whitespace())
    });
    Reason::unwritten(&format!(
        "look again; of revision {}, which {}, it was said: {before}",
        entry.rev,
        entry.verdict.get()
    ))
}

type Axes = IndexMap<String, Vec<String>>;

/// Where the case failed so: as few sets of values as name those trials and no trial
/// that did otherwise. A set without any axis is all of the case.
fn occasions(corpus: &Corpus, failed: &[&TrialResult], results: &[TrialResult]) -> Vec<Axes> {
    let Some(first) = failed.first() else {
        return Vec::new();
    };
    let names: IndexSet<&str> = failed.iter().map(|trial| trial.trial.as_str()).collect();
    let of_case = corpus
        .trials
        .iter()
        .filter(|trial| trial.case.id == first.id);
    // What was not measured may be named as well: nothing is known of it that would be
    // hidden. What was not run may not.
    let free: IndexSet<&str> = results
        .iter()
        .filter(|trial| matches!(trial.verdict.class(), Class::Unproven | Class::Uncounted))
        .map(|trial| trial.trial.as_str())
        .collect();
    let mut others: Vec<&IndexMap<String, String>> = of_case
        .filter(|trial| !names.contains(trial.name.as_str()) && !free.contains(trial.name.as_str()))
        .map(|trial| &trial.axes)
        .collect();
    if others.is_empty() {
        return vec![Axes::new()];
    }
    let Some(case) = corpus.trials.iter().find(|it| it.case.id == first.id) else {
        return Vec::new();
    };
    let mut found: Vec<Axes> = Vec::new();
    for trial in failed {
        if !found.iter().any(|axes| within(axes, &trial.axes)) {
            let axes = widened(&trial.axes, &case.case.axes, &others);
            // No two entries speak of one trial.
            let named = failed.iter().filter(|other| within(&axes, &other.axes));
            others.extend(named.map(|other| &other.axes));
            found.push(axes);
        }
    }
    found
}

/// The values of one trial, with as many more as name none of the others. An axis whose
/// values are all there says nothing and is left out.
fn widened(
    own: &IndexMap<String, String>,
    all: &Axes,
    others: &[&IndexMap<String, String>],
) -> Axes {
    let mut axes: Axes = own
        .iter()
        .map(|(axis, value)| (axis.clone(), vec![value.clone()]))
        .collect();
    for (axis, values) in all {
        for value in values {
            let mut wider = axes.clone();
            let Some(list) = wider.get_mut(axis).filter(|list| !list.contains(value)) else {
                continue;
            };
            list.push(value.clone());
            if !others.iter().any(|other| within(&wider, other)) {
                axes = wider;
            }
        }
    }
    axes.retain(|axis, list| all.get(axis).is_none_or(|all| list.len() < all.len()));
    for (axis, list) in &mut axes {
        let all = all.get(axis);
        list.sort_by_key(|value| all.and_then(|all| all.iter().position(|one| one == value)));
    }
    axes
}

/// Whether a trial with these values is among those that are named.
fn within(axes: &Axes, trial: &IndexMap<String, String>) -> bool {
    axes.iter()
        .all(|(axis, values)| trial.get(axis).is_some_and(|value| values.contains(value)))
}
