//! The model of Seatbelt agrees with every known outcome, and needs each of its
//! rules for that.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use perimeter_runner::corpus::Source;
use perimeter_runner::seatbelt::{Evidence, Facts, Rule, Semantics, Tables};

fn source() -> Source {
    Source::Directory(Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance"))
}

#[test]
fn every_known_outcome_agrees_with_the_model() {
    let tables = Tables::load(&source()).unwrap();
    let facts = Facts::load(&source()).unwrap();
    assert!(facts.facts.len() > 100, "{} facts", facts.facts.len());
    let found = facts.disagreements(&tables, Semantics::default());
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn each_rule_of_the_semantics_is_needed_by_a_known_outcome() {
    let tables = Tables::load(&source()).unwrap();
    let facts = Facts::load(&source()).unwrap();
    let whole = facts.disagreements(&tables, Semantics::default());
    assert!(whole.is_empty(), "the known outcomes disagree already");
    let idle: Vec<Rule> = Rule::ALL
        .into_iter()
        .filter(|rule| {
            let without = Semantics::without(*rule);
            facts.disagreements(&tables, without).is_empty()
        })
        .collect();
    assert!(idle.is_empty(), "no known outcome needs {idle:?}");
}

/// A semantics that rests on claims alone would be a guess.
#[test]
fn most_known_outcomes_were_seen_and_not_only_said() {
    let facts = Facts::load(&source()).unwrap().facts;
    let seen = facts
        .iter()
        .filter(|fact| matches!(fact.evidence, Evidence::Measured | Evidence::PeerCi));
    assert!(seen.count() * 2 > facts.len());
}
