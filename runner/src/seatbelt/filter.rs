//! What a rule asks of a check, beside the operation.

use super::answer::Truth;
use super::semantics::{Rule, Semantics};
use super::subject::{Address, Protocol, Subject, Target};
use super::text_test::TextTest;

/// A filter of a rule.
#[derive(Debug, Clone)]
pub(super) enum Filter {
    /// The path.
    Path(TextTest),
    /// A name, by the filter that asks for it.
    Name(String, TextTest),
    /// A number, by the filter that asks for it.
    Number(String, i64),
    /// The process.
    Target(TargetTest),
    /// One end of a connection.
    Address(End, AddressTest),
    /// All of these.
    All(Vec<Filter>),
    /// One of these.
    Any(Vec<Filter>),
    /// Not this.
    Not(Box<Filter>),
    /// Something that the model has no notion of.
    Undecided(String),
}

/// Which end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Local,
    Remote,
}

/// What a target filter names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetTest {
    Itself,
    Children,
    SameSandbox,
    Group,
    Others,
    First,
}

/// What an address filter names.
#[derive(Debug, Clone)]
pub(super) enum AddressTest {
    /// An address of the Internet protocols.
    Internet {
        protocol: Option<Protocol>,
        /// Whether the loopback addresses alone are meant.
        local_host: bool,
        port: Option<u16>,
    },
    /// A socket with a path, and what is asked of the path.
    Unix(Option<Box<Filter>>),
}

/// What a match depends on beside filter and check.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conditions {
    pub(super) folds_case: bool,
    pub(super) semantics: Semantics,
}

impl Filter {
    pub(super) fn matches(&self, subject: &Subject, conditions: Conditions) -> Truth {
        let semantics = conditions.semantics;
        match self {
            Filter::Path(test) => match &subject.path {
                Some(path) => test.matches(path, conditions.folds_case, semantics),
                None if subject.is_internet() => Truth::No,
                None => missing("path"),
            },
            Filter::Name(filter, test) => match subject.names.get(filter) {
                Some(name) => test.matches(name, false, semantics),
                // A service has one kind of name, so another kind does not match.
                None if !subject.names.is_empty() || subject.is_connection() => Truth::No,
                None => missing(filter),
            },
            Filter::Number(filter, wanted) => match subject.numbers.get(filter) {
                Some(number) => (number == wanted).into(),
                None => missing(filter),
            },
            Filter::Target(test) => match subject.target {
                Some(target) => test.matches(target),
                None => missing("target"),
            },
            Filter::Address(end, test) => test.matches(*end, subject, conditions),
            Filter::All(filters) => {
                let truths = filters.iter().map(|one| one.matches(subject, conditions));
                if semantics.has(Rule::RequireAll) {
                    Truth::all(truths)
                } else {
                    Truth::any(truths)
                }
            }
            Filter::Any(filters) => {
                let truths = filters.iter().map(|one| one.matches(subject, conditions));
                if semantics.has(Rule::RequireAny) {
                    Truth::any(truths)
                } else {
                    Truth::all(truths)
                }
            }
            Filter::Not(filter) => {
                let truth = filter.matches(subject, conditions);
                if semantics.has(Rule::RequireNot) {
                    truth.not()
                } else {
                    truth
                }
            }
            Filter::Undecided(what) => {
                Truth::Unknown(format!("the model has no notion of the filter {what}"))
            }
        }
    }
}

fn missing(what: &str) -> Truth {
    Truth::Unknown(format!(
        "a rule asks for the {what}, which is not stated here"
    ))
}

impl TargetTest {
    fn matches(self, target: Target) -> Truth {
        let unknown = |what: &str| Truth::Unknown(format!("whether the process is {what}"));
        match (self, target) {
            (TargetTest::Itself, _) => (target == Target::Itself).into(),
            (TargetTest::SameSandbox, _) => (target != Target::Other).into(),
            (TargetTest::Children, Target::SameSandbox) => unknown("a child"),
            (TargetTest::Children, _) => (target == Target::Child).into(),
            (TargetTest::Group, Target::Itself) => Truth::Yes,
            (TargetTest::Group, _) => unknown("of the same process group"),
            (TargetTest::Others, Target::Itself) => Truth::No,
            (TargetTest::Others, Target::Other) => Truth::Yes,
            (TargetTest::Others, _) => unknown("one of the others"),
            (TargetTest::First, Target::Other) => unknown("the first process"),
            (TargetTest::First, _) => Truth::No,
        }
    }
}

impl AddressTest {
    fn matches(&self, end: End, subject: &Subject, conditions: Conditions) -> Truth {
        let semantics = conditions.semantics;
        let address = match end {
            End::Local => subject.local.as_ref(),
            End::Remote => subject.remote.as_ref(),
        };
        match (self, address) {
            (_, None) if !subject.is_connection() => missing("address"),
            (_, None) => Truth::No,
            (AddressTest::Unix(filter), Some(Address::Unix)) => filter
                .as_ref()
                .map_or(Truth::Yes, |filter| filter.matches(subject, conditions)),
            (AddressTest::Unix(_), Some(Address::Internet { .. }))
            | (AddressTest::Internet { .. }, Some(Address::Unix)) => Truth::No,
            (
                AddressTest::Internet {
                    protocol,
                    local_host,
                    port,
                },
                Some(Address::Internet {
                    protocol: used,
                    host,
                    port: at,
                }),
            ) => {
                let host = !local_host
                    || !semantics.has(Rule::Localhost)
                    || host.as_deref().is_some_and(is_local_host);
                let port = port.is_none() || !semantics.has(Rule::Ports) || port == at;
                (protocol.is_none_or(|protocol| protocol == *used) && host && port).into()
            }
        }
    }
}

/// Whether a host is a loopback address or its name. The loopback address of IPv4
/// in the form of IPv6 is none for the kernel (openai/codex#42925).
fn is_local_host(host: &str) -> bool {
    ["localhost", "127.0.0.1", "::1"].contains(&host)
}

impl Subject {
    fn is_connection(&self) -> bool {
        self.local.is_some() || self.remote.is_some()
    }

    fn is_internet(&self) -> bool {
        let internet = |end: &Option<Address>| matches!(end, Some(Address::Internet { .. }));
        internet(&self.local) || internet(&self.remote)
    }
}
