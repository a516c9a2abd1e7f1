//! What a profile decides of one check.

use super::answer::{Answer, Basis, Decision, Truth};
use super::filter::Conditions;
use super::operations::Next;
use super::profile::{Origin, Profile, RuleEntry};
use super::semantics::Rule;
use super::subject::Subject;
use super::tables::Tables;

/// Decides a check of an operation: the operation's own rules first, of these the
/// last that matches; then those of what it falls back to; then its terminal answer.
pub(super) fn decide(
    profile: &Profile,
    tables: &Tables,
    operation: usize,
    subject: &Subject,
    conditions: Conditions,
) -> Decision {
    let mut walk = Walk {
        profile,
        tables,
        subject,
        conditions,
        doubts: Vec::new(),
    };
    let semantics = conditions.semantics;
    let mut chain = tables.operations.chain(operation);
    if !semantics.has(Rule::Fallback) {
        chain.truncate(1);
    }
    let names = chain
        .iter()
        .map(|one| tables.operations.get(*one).name.clone())
        .collect();
    let mut found = None;
    if semantics.has(Rule::OperationFirst) {
        for level in &chain {
            found = walk.level(&[*level]);
            if found.is_some() {
                break;
            }
            let entry = tables.operations.get(*level);
            if entry.assumed {
                walk.doubts.push(Doubt {
                    allows: None,
                    reason: format!(
                        "what {} falls back to has not been read anywhere",
                        entry.name
                    ),
                });
            }
        }
    } else {
        found = walk.level(&chain);
    }
    let (answer, basis) =
        found.unwrap_or_else(|| walk.terminal(*chain.last().unwrap_or(&operation)));
    let doubt = walk
        .doubts
        .iter()
        .find(|doubt| doubt.allows != Some(answer == Answer::Allowed) && answer != Answer::Unknown);
    let (answer, basis) = match doubt {
        Some(doubt) => (Answer::Unknown, Basis::Unknown(doubt.reason.clone())),
        None => (answer, basis),
    };
    Decision {
        answer,
        basis,
        chain: names,
    }
}

/// A rule that may match, or that may be there.
struct Doubt {
    /// What it would decide, if that is known.
    allows: Option<bool>,
    reason: String,
}

struct Walk<'a> {
    profile: &'a Profile,
    tables: &'a Tables,
    subject: &'a Subject,
    conditions: Conditions,
    doubts: Vec<Doubt>,
}

impl Walk<'_> {
    /// The first rule about these operations that surely matches, the last written
    /// first.
    fn level(&mut self, operations: &[usize]) -> Option<(Answer, Basis)> {
        let profile = self.profile;
        let count = profile.rules.len();
        let last_first = self.conditions.semantics.has(Rule::LastMatch);
        for step in 0..=count {
            let place = if last_first { count - step } else { step };
            if let Some(rule) = profile.rules.get(place) {
                if operations.contains(&rule.operation) {
                    match self.matches(rule) {
                        Truth::Yes => return Some(self.ruled(rule)),
                        Truth::No => {}
                        Truth::Unknown(reason) => self.doubts.push(Doubt {
                            allows: Some(rule.allows),
                            reason,
                        }),
                    }
                }
            }
            for import in profile.imports.iter().filter(|one| one.after == place) {
                let path = self.subject.path.as_deref();
                let covered = operations.iter().any(|operation| {
                    let name = &self.tables.operations.get(*operation).name;
                    import.may.iter().any(|reach| reach.covers(name, path))
                });
                if covered {
                    self.doubts.push(Doubt {
                        allows: None,
                        reason: format!(
                            "{} is known in part, and may have a rule about this",
                            import.name
                        ),
                    });
                }
            }
        }
        None
    }

    fn matches(&self, rule: &RuleEntry) -> Truth {
        if rule.filters.is_empty() {
            return Truth::Yes;
        }
        let filters = rule.filters.iter();
        Truth::any(filters.map(|filter| filter.matches(self.subject, self.conditions)))
    }

    fn ruled(&self, rule: &RuleEntry) -> (Answer, Basis) {
        let operation = self.tables.operations.get(rule.operation).name.clone();
        let answer = if rule.allows {
            Answer::Allowed
        } else {
            Answer::Denied
        };
        let basis = match rule.origin {
            Origin::Always => Basis::Always { operation },
            Origin::Import(place) => Basis::Import {
                name: self.profile.imports[place].name.clone(),
            },
            Origin::Profile => Basis::Rule {
                operation,
                line: rule.line,
            },
        };
        let always = |other: &&RuleEntry| {
            other.origin == Origin::Always
                && other.operation == rule.operation
                && other.allows != rule.allows
                && self.matches(other) == Truth::Yes
        };
        if rule.origin == Origin::Profile && self.profile.rules.iter().any(|one| always(&one)) {
            let reason = "whether the rule that every profile has outlives this one is not known";
            return (Answer::Unknown, Basis::Unknown(reason.to_owned()));
        }
        (answer, basis)
    }

    fn terminal(&self, last: usize) -> (Answer, Basis) {
        let entry = self.tables.operations.get(last);
        let answer = match entry.next {
            Next::Terminal(answer) if self.conditions.semantics.has(Rule::Terminal) => answer,
            _ => Answer::Denied,
        };
        let operation = entry.name.clone();
        (answer, Basis::Terminal { operation })
    }
}
