//! What the profile language brings along: rules, filters and a few functions.

use super::evaluate::{Reader, malformed};
use super::lexer::Place;
use super::value::Value;
use crate::seatbelt::error::{Problem, ProfileError};
use crate::seatbelt::filter::{AddressTest, End, Filter, TargetTest};
use crate::seatbelt::operations::FilterKind;
use crate::seatbelt::semantics::Rule;
use crate::seatbelt::subject::Protocol;
use crate::seatbelt::text_test::TextTest;

/// How a filter of the path is made of its text.
type MakeTest = fn(String) -> Result<TextTest, Problem>;

/// Filters of the path, by name: old and new words for the same.
const PATHS: [(&str, MakeTest); 8] = [
    ("literal", |text| Ok(TextTest::Literal(text))),
    ("path", |text| Ok(TextTest::Literal(text))),
    ("path-literal", |text| Ok(TextTest::Literal(text))),
    ("subpath", |text| Ok(TextTest::Subpath(text))),
    ("prefix", |text| Ok(TextTest::Prefix(text))),
    ("path-prefix", |text| Ok(TextTest::Prefix(text))),
    ("regex", |text| TextTest::pattern(&text)),
    ("path-regex", |text| TextTest::pattern(&text)),
];

/// Functions and directives.
const OTHERS: [&str; 27] = [
    "allow",
    "deny",
    "import",
    "param",
    "getenv",
    "with",
    "require-all",
    "require-any",
    "require-not",
    "path-ancestors",
    "string-append",
    "string=?",
    "equal?",
    "eq?",
    "=",
    "not",
    "list",
    "for-each",
    "map",
    "string?",
    "null?",
    "boolean?",
    "trace",
    "tty",
    "regex-quote",
    "system-graphics",
    "system-network",
];

/// What changes reports alone.
const MODIFIERS: [&str; 8] = [
    "no-log",
    "no-report",
    "report",
    "telemetry",
    "message",
    "deprecated",
    "send-signal",
    "no-times",
];

type Arguments = Vec<(Value, Place)>;

impl Reader<'_> {
    /// Whether the language itself knows a word.
    pub(super) fn is_builtin(&self, word: &str) -> bool {
        OTHERS.contains(&word)
            || PATHS.iter().any(|(name, _)| *name == word)
            || matches!(word, "from" | "to")
            || self
                .tables
                .filter(word)
                .is_some_and(|(entry, ..)| entry.kind != FilterKind::Path)
    }

    /// Whether it takes words that mean nothing elsewhere.
    pub(super) fn takes_words(&self, name: &str) -> bool {
        matches!(name, "with" | "from" | "to")
            || self.tables.filter(name).is_some_and(|(entry, ..)| {
                !matches!(entry.kind, FilterKind::Path | FilterKind::Name)
            })
    }

    pub(super) fn builtin(
        &mut self,
        name: &str,
        arguments: Arguments,
        place: Place,
    ) -> Result<Value, ProfileError> {
        if let Some((_, test)) = PATHS.iter().find(|(path, _)| *path == name) {
            return self.texts("path", arguments, place, |text| {
                Ok(Filter::Path(test(text)?))
            });
        }
        match name {
            "allow" | "deny" => self.add_rule(name, arguments, place),
            "import" => match arguments.as_slice() {
                [(Value::Text(path), _)] => self.import(path, place),
                _ => Err(malformed("import", place)),
            },
            "param" | "getenv" => match arguments.as_slice() {
                [(Value::Text(key), _)] => Ok(self
                    .parameters
                    .get(key)
                    .map_or(Value::Boolean(false), |value| Value::Text(value.clone()))),
                _ => Err(malformed(name, place)),
            },
            "with" => modifier(&arguments, place),
            "require-all" => Ok(Value::Filter(Filter::All(filters(arguments, name)?))),
            "require-any" => Ok(Value::Filter(Filter::Any(filters(arguments, name)?))),
            "require-not" => {
                // Of several, none may match.
                let inner = Filter::Any(filters(arguments, name)?);
                Ok(Value::Filter(Filter::Not(Box::new(inner))))
            }
            "path-ancestors" => self.texts("path", arguments, place, |text| {
                let parents = text.match_indices('/').skip(1).map(|(end, _)| &text[..end]);
                let literals = std::iter::once("/").chain(parents).map(str::to_owned);
                Ok(Filter::Any(
                    literals
                        .map(|path| Filter::Path(TextTest::Literal(path)))
                        .collect(),
                ))
            }),
            "tty" if arguments.is_empty() => {
                let number = self
                    .tables
                    .constant("vnode-type", "TTY")
                    .unwrap_or_default();
                Ok(Value::Filter(Filter::Number(
                    "vnode-type".to_owned(),
                    number,
                )))
            }
            "for-each" | "map" => {
                let (function, items) = match arguments.as_slice() {
                    [(function, _), (Value::List(items), _)] => (function.clone(), items.clone()),
                    _ => return Err(malformed(name, place)),
                };
                let mut results = Vec::new();
                for item in items {
                    results.push(self.call(&function, vec![(item, place)], place)?);
                }
                Ok(if name == "map" {
                    Value::List(results)
                } else {
                    Value::Nothing
                })
            }
            // Functions that the system's own profiles define.
            "system-graphics" | "system-network" => {
                let problem = format!("{name}, whose rules differ between releases");
                Err(Problem::Outside(problem).at(place))
            }
            // A profile that records what it is asked; it decides as ever.
            "trace" => Err(Problem::Outside("a trace".to_owned()).at(place)),
            _ if OTHERS.contains(&name) => plain(name, &arguments, place),
            _ => self.filter(name, arguments, place),
        }
    }

    fn add_rule(
        &mut self,
        word: &str,
        arguments: Arguments,
        place: Place,
    ) -> Result<Value, ProfileError> {
        let mut operations = Vec::new();
        let mut found = Vec::new();
        let mut rest = arguments;
        rest.reverse();
        while let Some((value, place)) = rest.pop() {
            match value {
                Value::Operation(operation) => operations.push(operation),
                Value::Filter(filter) => found.push((filter, place)),
                Value::Modifier => {}
                Value::List(items) => {
                    rest.extend(items.into_iter().rev().map(|item| (item, place)));
                }
                other => {
                    let problem = format!("a rule is given a {}", other.kind());
                    return Err(Problem::Refused(problem).at(place));
                }
            }
        }
        if operations.is_empty() {
            return Err(Problem::Refused("a rule without an operation".to_owned()).at(place));
        }
        for operation in &operations {
            let name = &self.tables.operations.get(*operation).name;
            for (filter, place) in &found {
                if let Some(stranger) = self.stranger(filter, name) {
                    let problem = format!("the filter {stranger} does not apply to {name}");
                    return Err(Problem::Outside(problem).at(*place));
                }
            }
        }
        let mut found: Vec<Filter> = found.into_iter().map(|(filter, _)| filter).collect();
        if found.len() > 1 && !self.semantics.has(Rule::AnyFilter) {
            found = vec![Filter::All(found)];
        }
        self.rule(word == "allow", &operations, found);
        Ok(Value::Nothing)
    }

    /// The first filter that has no meaning for an operation.
    fn stranger(&self, filter: &Filter, operation: &str) -> Option<String> {
        let name = match filter {
            Filter::Path(_) => "path",
            Filter::Name(name, _) | Filter::Number(name, _) | Filter::Undecided(name) => name,
            Filter::Target(_) => "target",
            Filter::Address(End::Local, _) => "local",
            Filter::Address(End::Remote, _) => "remote",
            Filter::All(inner) | Filter::Any(inner) => {
                return inner.iter().find_map(|one| self.stranger(one, operation));
            }
            Filter::Not(inner) => return self.stranger(inner, operation),
        };
        let (entry, ..) = self.tables.filter(name)?;
        let starts = &entry.operations;
        let applies = starts.iter().any(|start| operation.starts_with(start));
        (!applies).then(|| name.to_owned())
    }

    /// A filter for each text; several are alternatives.
    fn texts(
        &self,
        kind: &str,
        arguments: Arguments,
        place: Place,
        make: impl Fn(String) -> Result<Filter, Problem>,
    ) -> Result<Value, ProfileError> {
        if arguments.is_empty() {
            return Err(Problem::Refused(format!("a {kind} filter of nothing")).at(place));
        }
        let mut made = Vec::new();
        for (value, place) in arguments {
            let text = match value {
                Value::Text(text) => text,
                _ if !self.semantics.has(Rule::Types) => String::new(),
                other => {
                    return Err(Problem::Type {
                        filter: kind.to_owned(),
                        expected: "pattern",
                        got: other.kind(),
                    }
                    .at(place));
                }
            };
            made.push(make(text).map_err(|problem| problem.at(place))?);
        }
        Ok(Value::Filter(one_of(made)))
    }

    /// A filter of the table.
    fn filter(
        &self,
        name: &str,
        arguments: Arguments,
        place: Place,
    ) -> Result<Value, ProfileError> {
        let asked = match name {
            "from" => "local",
            "to" => "remote",
            other => other,
        };
        let Some((entry, stem, form)) = self.tables.filter(asked) else {
            return Err(Problem::Unbound(name.to_owned()).at(place));
        };
        let same = entry.same_as.clone().unwrap_or_else(|| stem.to_owned());
        match entry.kind {
            FilterKind::Name => self.texts(stem, arguments, place, |text| {
                let test = match form {
                    "-prefix" => TextTest::Prefix(text),
                    "-regex" => TextTest::pattern(&text)?,
                    _ => TextTest::Literal(text),
                };
                Ok(Filter::Name(same.clone(), test))
            }),
            FilterKind::Undecided => Ok(Value::Filter(Filter::Undecided(same))),
            FilterKind::Address => {
                let end = if asked == "local" {
                    End::Local
                } else {
                    End::Remote
                };
                address(arguments, place).map(|test| Value::Filter(Filter::Address(end, test)))
            }
            FilterKind::Number | FilterKind::Target | FilterKind::Path => {
                let mut made = Vec::new();
                for (value, place) in arguments {
                    let number = match &value {
                        Value::Number(number) => Some(*number),
                        Value::Word(word) => self.tables.constant(&same, word),
                        _ => None,
                    };
                    let Some(number) = number else {
                        return Err(
                            Problem::Outside(format!("this value of the filter {same}")).at(place)
                        );
                    };
                    made.push(if entry.kind == FilterKind::Target {
                        Filter::Target(target(number, place)?)
                    } else {
                        Filter::Number(same.clone(), number)
                    });
                }
                if made.is_empty() {
                    return Err(Problem::Refused(format!("a {same} filter of nothing")).at(place));
                }
                Ok(Value::Filter(one_of(made)))
            }
        }
    }
}

fn one_of(mut filters: Vec<Filter>) -> Filter {
    match filters.pop() {
        Some(only) if filters.is_empty() => only,
        Some(last) => {
            filters.push(last);
            Filter::Any(filters)
        }
        None => Filter::Any(filters),
    }
}

fn target(number: i64, place: Place) -> Result<TargetTest, ProfileError> {
    Ok(match number {
        1 => TargetTest::Itself,
        2 => TargetTest::Group,
        3 => TargetTest::Others,
        4 => TargetTest::Children,
        5 => TargetTest::SameSandbox,
        6 => TargetTest::First,
        _ => return Err(Problem::Outside(format!("the target {number}")).at(place)),
    })
}

fn filters(arguments: Arguments, name: &str) -> Result<Vec<Filter>, ProfileError> {
    let mut found = Vec::new();
    for (value, place) in arguments {
        match value {
            Value::Filter(filter) => found.push(filter),
            Value::List(items) => {
                let items = items.into_iter().map(|item| (item, place)).collect();
                found.extend(filters(items, name)?);
            }
            other => {
                let problem = format!("{name} is given a {}", other.kind());
                return Err(Problem::Refused(problem).at(place));
            }
        }
    }
    Ok(found)
}

fn modifier(arguments: &Arguments, place: Place) -> Result<Value, ProfileError> {
    match arguments.first() {
        Some((Value::Word(word), _)) if MODIFIERS.contains(&word.as_str()) => Ok(Value::Modifier),
        Some((Value::Word(word), place)) => {
            Err(Problem::Outside(format!("the modifier {word}")).at(*place))
        }
        _ => Err(malformed("with", place)),
    }
}

/// Functions of values alone.
fn plain(name: &str, arguments: &Arguments, place: Place) -> Result<Value, ProfileError> {
    let values: Vec<&Value> = arguments.iter().map(|(value, _)| value).collect();
    let value = match (name, values.as_slice()) {
        ("string-append", values) => {
            let mut text = String::new();
            for (value, (_, place)) in values.iter().zip(arguments) {
                let Value::Text(part) = value else {
                    let problem = format!(
                        "string-append: argument must be a string, and is a {}",
                        value.kind()
                    );
                    return Err(Problem::Refused(problem).at(*place));
                };
                text.push_str(part);
            }
            Value::Text(text)
        }
        ("regex-quote", [Value::Text(text)]) => Value::Text(quoted(text)),
        ("string=?" | "equal?" | "eq?" | "=", [one, two]) => Value::Boolean(one.equals(two)),
        ("not", [one]) => Value::Boolean(!one.holds()),
        ("list", values) => Value::List(values.iter().map(|value| (*value).clone()).collect()),
        ("string?", [one]) => Value::Boolean(matches!(one, Value::Text(_))),
        ("boolean?", [one]) => Value::Boolean(matches!(one, Value::Boolean(_))),
        ("null?", [one]) => Value::Boolean(matches!(one, Value::List(items) if items.is_empty())),
        _ => return Err(malformed(name, place)),
    };
    Ok(value)
}

/// A text as a pattern that matches it alone.
fn quoted(text: &str) -> String {
    let mut pattern = String::new();
    for letter in text.chars() {
        if "\\^$.|?*+()[]{}".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// `(remote ip "localhost:80")`, `(local unix-socket (subpath "/a"))`.
fn address(arguments: Arguments, place: Place) -> Result<AddressTest, ProfileError> {
    let mut rest = arguments.into_iter();
    let family = match rest.next() {
        Some((Value::Word(word), _)) => word,
        _ => return Err(malformed("an address", place)),
    };
    let detail = rest.next();
    if let Some((_, place)) = rest.next() {
        return Err(Problem::Outside("an address of several parts".to_owned()).at(place));
    }
    let protocol = match family.as_str() {
        "unix" | "unix-socket" => {
            return match detail {
                None => Ok(AddressTest::Unix(None)),
                Some((Value::Filter(filter), _)) => Ok(AddressTest::Unix(Some(Box::new(filter)))),
                Some((_, place)) => Err(malformed("the path of a socket", place)),
            };
        }
        "ip" => None,
        "tcp" => Some(Protocol::Tcp),
        "udp" => Some(Protocol::Udp),
        other => return Err(Problem::Outside(format!("the address family {other}")).at(place)),
    };
    let Some((value, place)) = detail else {
        return Ok(AddressTest::Internet {
            protocol,
            local_host: false,
            port: None,
        });
    };
    let Value::Text(text) = &value else {
        return Err(malformed("an address", place));
    };
    let Some((host, port)) = text.rsplit_once(':') else {
        return Err(Problem::Refused(format!("the address {text} without a port")).at(place));
    };
    let local_host = match host {
        "*" => false,
        "localhost" => true,
        _ => {
            let problem = format!("host must be * or localhost in network address, not {host}");
            return Err(Problem::Refused(problem).at(place));
        }
    };
    let port = match port {
        "*" => None,
        number => Some(number.parse().map_err(|_| {
            Problem::Refused(format!(
                "the port {number}, which is neither * nor a number"
            ))
            .at(place)
        })?),
    };
    Ok(AddressTest::Internet {
        protocol,
        local_host,
        port,
    })
}
