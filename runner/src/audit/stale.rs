//! What the committed matrix no longer says the truth of.

use std::collections::BTreeMap;

use super::record::Present;
use crate::corpus::matrix::{AuditRecord, AuditUser};
use crate::corpus::{Corpus, digest};

/// What has happened since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It was not there.
    Added,
    /// It means something else.
    Changed,
    /// It is no longer there.
    Removed,
}

impl Change {
    /// The word, as reports show it.
    pub fn as_str(self) -> &'static str {
        match self {
            Change::Added => "added",
            Change::Changed => "changed",
            Change::Removed => "removed",
        }
    }
}

/// What is stale in one user's record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stale {
    /// Cases, by id.
    pub cases: BTreeMap<String, Change>,
    /// Faults, by name.
    pub faults: BTreeMap<String, Change>,
}

impl Stale {
    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty() && self.faults.is_empty()
    }

    /// Compares a record with the digests of what there is; no record at all knows
    /// nothing.
    pub fn of(
        record: Option<&AuditRecord>,
        cases: &BTreeMap<String, String>,
        faults: &BTreeMap<String, String>,
    ) -> Stale {
        let empty = AuditRecord::default();
        let record = record.unwrap_or(&empty);
        let digests = record.faults.iter();
        let known: BTreeMap<String, String> = digests
            .map(|(name, fault)| (name.clone(), fault.digest.clone()))
            .collect();
        Stale {
            cases: changes(&record.cases, cases),
            faults: changes(&known, faults),
        }
    }
}

fn changes(
    known: &BTreeMap<String, String>,
    there: &BTreeMap<String, String>,
) -> BTreeMap<String, Change> {
    let mut changes = BTreeMap::new();
    for (name, digest) in there {
        match known.get(name) {
            None => changes.insert(name.clone(), Change::Added),
            Some(known) if known != digest => changes.insert(name.clone(), Change::Changed),
            Some(_) => None,
        };
    }
    let gone = known.keys().filter(|name| !there.contains_key(*name));
    changes.extend(gone.map(|name| (name.clone(), Change::Removed)));
    changes
}

/// What of a record is about the very cases and faults that another is about.
pub fn still_true(record: &AuditRecord, of: &AuditRecord) -> AuditRecord {
    let mut record = record.clone();
    record
        .cases
        .retain(|id, digest| of.cases.get(id) == Some(digest));
    record.faults.retain(|name, fault| {
        let same = of.faults.get(name);
        same.is_some_and(|same| same.digest == fault.digest)
    });
    let cases = &record.cases;
    record.not_judged.retain(|id, _| cases.contains_key(id));
    for fault in record.faults.values_mut() {
        fault.caught_by.retain(|id, _| cases.contains_key(id));
    }
    record
}

/// The digests of a corpus's cases, by id.
pub(super) fn cases(corpus: &Corpus) -> BTreeMap<String, String> {
    let trials = corpus.trials.iter();
    trials
        .map(|trial| (trial.case.id.clone(), trial.digest.clone()))
        .collect()
}

/// The digests of a corpus's faults, by name.
pub(super) fn faults(corpus: &Corpus) -> BTreeMap<String, String> {
    let faults = corpus.faults.iter();
    faults
        .filter_map(|fault| {
            let launcher = fault.wrong_launcher(&corpus.launchers).ok()?;
            Some((fault.name.clone(), digest::of_fault(fault, &launcher)))
        })
        .collect()
}

/// The names of what a corpus has.
pub(super) fn present(corpus: &Corpus) -> Present {
    Present {
        cases: cases(corpus).into_keys().collect(),
        faults: faults(corpus).into_keys().collect(),
    }
}

/// What is stale in a corpus's committed matrix, for both users. An empty list means
/// that it speaks of the very cases and faults that there are.
pub fn of_corpus(corpus: &Corpus) -> Vec<(AuditUser, Stale)> {
    let (cases, faults) = (cases(corpus), faults(corpus));
    AuditUser::ALL
        .into_iter()
        .map(|user| {
            let matrix = corpus.matrix.as_ref();
            let record = matrix.and_then(|matrix| matrix.runs.get(&user));
            (user, Stale::of(record, &cases, &faults))
        })
        .filter(|(_, stale)| !stale.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::sample;

    fn digests(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(name, digest): &(&str, &str)| ((*name).to_owned(), (*digest).to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn what_was_added_changed_and_removed_is_told_by_name() {
        let matrix = sample::matrix();
        let record = matrix.runs.get(&AuditUser::Root);
        let cases = digests(&[("a.b.denies", "other"), ("a.b.new", "1")]);
        let faults = digests(&[("writes", "f1"), ("another", "f9")]);
        let stale = Stale::of(record, &cases, &faults);
        let words = |changes: &BTreeMap<String, Change>| -> Vec<String> {
            let shown = |(name, change): (&String, &Change)| format!("{} {name}", change.as_str());
            changes.iter().map(shown).collect()
        };
        assert_eq!(
            words(&stale.cases),
            ["removed a.b.allows", "changed a.b.denies", "added a.b.new"]
        );
        assert_eq!(words(&stale.faults), ["added another", "removed silent"]);
    }

    #[test]
    fn what_is_the_same_is_not_stale_and_without_a_record_all_is() {
        let cases = digests(&[("a.b.allows", "c1"), ("a.b.denies", "c2")]);
        let faults = digests(&[("silent", "f2"), ("writes", "f1")]);
        let matrix = sample::matrix();
        let record = matrix.runs.get(&AuditUser::Root);
        assert!(Stale::of(record, &cases, &faults).is_empty());
        let stale = Stale::of(None, &cases, &faults);
        assert_eq!((stale.cases.len(), stale.faults.len()), (2, 2));
    }
}
