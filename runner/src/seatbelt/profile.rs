//! A profile: the rules that its text comes to.

use std::collections::BTreeMap;

use super::error::ProfileError;
use super::filter::Filter;
use super::imports::Reach;
use super::language;
use super::semantics::Semantics;
use super::tables::Tables;

/// The parameters of a profile: what `sandbox-exec -D NAME=VALUE` sets.
pub type Parameters = BTreeMap<String, String>;

/// A profile that was read.
#[derive(Debug, Clone)]
pub struct Profile {
    pub(super) rules: Vec<RuleEntry>,
    /// The profiles of the system that it imports.
    pub(super) imports: Vec<Import>,
}

/// One rule about one operation.
#[derive(Debug, Clone)]
pub(super) struct RuleEntry {
    pub(super) allows: bool,
    pub(super) operation: usize,
    /// Alternatives; none is every check.
    pub(super) filters: Vec<Filter>,
    pub(super) line: usize,
    pub(super) origin: Origin,
}

/// Where a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The profile itself.
    Profile,
    /// Every profile has it.
    Always,
    /// An import, by its place in the list.
    Import(usize),
}

/// An import, in the order of the rules.
#[derive(Debug, Clone)]
pub(super) struct Import {
    pub(super) name: String,
    /// How many rules of the profile stand before it.
    pub(super) after: usize,
    pub(super) may: Vec<Reach>,
}

impl Profile {
    /// Reads a profile.
    ///
    /// # Errors
    /// What is wrong, with line and column: what `sandbox-exec` would refuse too,
    /// and what is outside the subset that the model reads.
    pub fn read(
        text: &str,
        parameters: &Parameters,
        tables: &Tables,
    ) -> Result<Profile, ProfileError> {
        Profile::read_with(text, parameters, tables, Semantics::default())
    }

    /// The same under other semantics, for tests of the model itself.
    ///
    /// # Errors
    /// As [`Profile::read`].
    pub fn read_with(
        text: &str,
        parameters: &Parameters,
        tables: &Tables,
        semantics: Semantics,
    ) -> Result<Profile, ProfileError> {
        language::read(text, parameters, tables, semantics)
    }

    /// Whether it allows all that it does not name, and names nothing that it denies.
    pub(super) fn denies_nothing(&self, default: usize) -> bool {
        let own = || {
            let rules = self.rules.iter();
            rules.filter(|rule| rule.origin == Origin::Profile)
        };
        own().all(|rule| rule.allows)
            && own().any(|rule| rule.operation == default && rule.filters.is_empty())
    }
}
