//! What is wrong with a list of expectations, by the corpus and by what came of a run.

use std::collections::{BTreeMap, BTreeSet};

use super::{Circumstances, Expectations, applies, entry_path, has_expired, is_about};
use crate::corpus::expectation::Expectation;
use crate::corpus::{Corpus, Trial, place};
use crate::report::counted;
use crate::report::results::TrialResult;
use crate::verdict::{Class, Verdict};

impl Expectations {
    /// What must be mended before the list can be gone by, each with file and line.
    ///
    /// An entry whose case was not run, since filters or a partition left it out or it is
    /// not for this host, is not spoken of; one whose case the corpus does not have
    /// always is.
    pub fn problems(
        &self,
        corpus: &Corpus,
        results: &[TrialResult],
        here: &Circumstances,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        // The entry that speaks of a trial already.
        let mut spoken: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, entry) in self.content.expectations.iter().enumerate() {
            let mut add = |field: &str, problem: String| {
                problems.push(self.problem(index, field, &entry.case, &problem));
            };
            let Some(known) = corpus.trials.iter().find(|it| it.case.id == entry.case) else {
                add(
                    "case",
                    "unmatched: the corpus has no such case; name one that it has, or remove the entry"
                        .to_owned(),
                );
                continue;
            };
            let of_case = |trial: &&TrialResult| trial.id == entry.case;
            if !applies(entry, here) || !results.iter().any(|trial| of_case(&trial)) {
                continue;
            }
            if let Some((field, problem)) = unmatched(entry, known) {
                add(field, problem);
                continue;
            }
            let mine: Vec<&TrialResult> = results
                .iter()
                .filter(|trial| is_about(entry, trial))
                .collect();
            if let Some(problem) = self.repeated(index, &mine, &mut spoken) {
                add("case", problem);
                continue;
            }
            if let (true, Some(day)) = (has_expired(entry, here), entry.expires) {
                add(
                    "expires",
                    format!(
                        "expired: it excused nothing after {day}; mend the launcher, or decide anew and write another day"
                    ),
                );
            }
            if let Some(problem) = outdated(entry, &mine) {
                add("case", problem);
            }
        }
        problems
    }

    fn problem(&self, index: usize, field: &str, case: &str, problem: &str) -> String {
        let at = place::of(&self.text, &entry_path(index, field));
        format!(
            "{}:{}:{}: {case}: {problem}",
            self.shown, at.line, at.column
        )
    }

    /// An entry speaks of what no other speaks of: else one of them could not go stale.
    fn repeated<'a>(
        &self,
        index: usize,
        mine: &[&'a TrialResult],
        spoken: &mut BTreeMap<&'a str, usize>,
    ) -> Option<String> {
        let repeated = mine
            .iter()
            .find_map(|trial| Some((trial, *spoken.get(trial.trial.as_str())?)));
        if let Some((trial, other)) = repeated {
            let line = place::of(&self.text, &entry_path(other, "case")).line;
            return Some(format!(
                "repeated: line {line} speaks of {} already; remove one of the two, or narrow it with `when`",
                trial.trial
            ));
        }
        let names = mine.iter().map(|trial| (trial.trial.as_str(), index));
        spoken.extend(names);
        None
    }
}

/// What the entry says of the case that the case is not; with the field that says it.
fn unmatched(entry: &Expectation, known: &Trial) -> Option<(&'static str, String)> {
    if entry.rev != known.case.rev {
        let problem = format!(
            "unmatched: the case has revision {} now; look whether the failure is still the same, and write that revision, or remove the entry",
            known.case.rev
        );
        return Some(("rev", problem));
    }
    for (axis, values) in entry.when.iter().flat_map(|when| &when.axes) {
        let Some(there) = known.case.axes.get(axis) else {
            let problem =
                format!("unmatched: the case has no axis {axis}; write `when` without it");
            return Some(("when", problem));
        };
        if let Some(value) = values.iter().find(|value| !there.contains(value)) {
            let problem = format!(
                "unmatched: the axis {axis} has no value {value:?}; write one of {}",
                there.join(", ")
            );
            return Some(("when", problem));
        }
    }
    None
}

/// Where the launcher does something else than the entry says. What was not measured
/// shows neither that the failure is there nor that it is gone.
fn outdated(entry: &Expectation, mine: &[&TrialResult]) -> Option<String> {
    let expected = entry.verdict.get();
    let of = |class: Class| {
        let those = mine.iter().filter(move |it| it.verdict.class() == class);
        those.copied().collect::<Vec<_>>()
    };
    let mended = of(Class::Pass);
    if !mended.is_empty() && of(Class::Failure).is_empty() {
        return Some(
            "stale: the case conforms now; remove the entry, or say in `when` where it still fails"
                .to_owned(),
        );
    }
    if let Some(first) = mended.first() {
        return Some(format!(
            "stale: {} of its {} conform now, {} for one; say in `when` where it still fails",
            mended.len(),
            counted(mine.len(), "trial"),
            first.trial
        ));
    }
    let other = of(Class::Failure);
    let other = other.iter().filter(|trial| !entry.excuses(trial.verdict));
    let verdicts: BTreeSet<Verdict> = other.map(|trial| trial.verdict).collect();
    if !verdicts.is_empty() {
        let verdicts: Vec<&str> = verdicts.iter().map(|verdict| verdict.as_str()).collect();
        return Some(format!(
            "unmatched: it fails otherwise now, as {}, which {expected} does not excuse; look at it again",
            verdicts.join(" and ")
        ));
    }
    let unclaimed = |trial: &&TrialResult| trial.verdict == Verdict::Unsupported;
    if !mine.is_empty() && mine.iter().all(unclaimed) {
        return Some(
            "unmatched: the launcher does not claim what the case needs; remove the entry"
                .to_owned(),
        );
    }
    None
}
