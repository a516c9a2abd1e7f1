//! Reads a launcher file, and finds what its types cannot say: a placeholder that no
//! launch has, a file outside of its own state, a command that stands twice.

use std::fmt::Write as _;

use serde_json::Value;

use super::file::{Condition, LauncherFile, List};
use crate::corpus::error::{CorpusError, parse};
use crate::corpus::place::{self, At};
use crate::corpus::placeholder::names_in;

/// The placeholders that may stand anywhere in a launcher file but in `version`.
pub(crate) const NAMES: [&str; 11] = [
    "program",
    "program-directory",
    "perimeter",
    "workspace",
    "cwd",
    "root",
    "state",
    "home",
    "policy",
    "environment",
    "request",
];

/// An argument, as it may be written.
const ARGUMENT: &str = "write an argument (a string), { \"each\": LIST, \"arguments\": […] }, \
                        { \"when\": [CONDITION, …], \"arguments\": […] } or { \"command\": true }";

/// Conditions of which never both hold.
const OPPOSITES: [(Condition, Condition); 3] = [
    (Condition::NetworkHost, Condition::NetworkNone),
    (Condition::PostureStrict, Condition::PostureHostReadable),
    (Condition::Root, Condition::Unprivileged),
];

/// Reads the text of a launcher file.
///
/// # Errors
/// What is wrong with it, with its place.
pub(crate) fn read(file: &str, bytes: &[u8]) -> Result<LauncherFile, CorpusError> {
    check(file, bytes, None)?;
    parse(file, bytes)
}

/// Checks the launcher in the text of a file: the whole of it, or the field of a fault,
/// which may use `{faulty}` too. A text that is no JSON is left to who parses it.
///
/// # Errors
/// The first thing that is wrong with it, with its place.
pub(crate) fn check(file: &str, bytes: &[u8], field: Option<&str>) -> Result<(), CorpusError> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Ok(());
    };
    let Ok(whole) = serde_json::from_str::<Value>(text) else {
        return Ok(());
    };
    let (launcher, path) = match field {
        None => (Some(&whole), Vec::new()),
        Some(field) => (whole.get(field), vec![At::Field(field)]),
    };
    let Some(launcher) = launcher else {
        return Ok(());
    };
    let walker = Walker {
        program: launcher["programs"]
            .as_array()
            .is_some_and(|names| !names.is_empty()),
        faulty: field.is_some(),
        path,
    };
    walker
        .launcher(launcher)
        .map_err(|problem| malformed(file, text, &problem.path, problem.text))
}

/// The error for what stands at a path of a file's text.
pub(crate) fn malformed(file: &str, text: &str, path: &[At<'_>], problem: String) -> CorpusError {
    let place = place::of(text, path);
    let mut field = String::new();
    for step in path {
        let _ = match step {
            At::Field(name) if field.is_empty() => write!(field, "{name}"),
            At::Field(name) => write!(field, ".{name}"),
            At::Item(index) => write!(field, "[{index}]"),
        };
    }
    CorpusError::Malformed {
        file: file.to_owned(),
        line: place.line,
        column: place.column,
        field: format!("{field}: "),
        problem,
    }
}

struct Problem<'v> {
    path: Vec<At<'v>>,
    text: String,
}

type Checked<'v> = Result<(), Problem<'v>>;

/// Where a text stands, which says what beside [`NAMES`] it may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Plain,
    Profile,
    EachPath,
    EachVariable,
}

impl Within {
    fn names(self) -> &'static [&'static str] {
        match self {
            Within::Plain => &[],
            Within::Profile => &["links"],
            Within::EachPath => &["item"],
            Within::EachVariable => &["name", "value"],
        }
    }
}

/// A command that stands in a list of arguments, and under which conditions.
type Commands = Vec<Vec<Condition>>;

struct Walker<'v> {
    program: bool,
    faulty: bool,
    path: Vec<At<'v>>,
}

impl<'v> Walker<'v> {
    fn wrong<T>(&self, text: impl Into<String>) -> Result<T, Problem<'v>> {
        Err(Problem {
            path: self.path.clone(),
            text: text.into(),
        })
    }

    fn below(&self, step: At<'v>) -> Walker<'v> {
        let mut path = self.path.clone();
        path.push(step);
        Walker { path, ..*self }
    }

    fn launcher(&self, launcher: &'v Value) -> Checked<'v> {
        let at = |name| (self.below(At::Field(name)), &launcher[name]);
        let (here, name) = at("name");
        here.name(name)?;
        let (here, version) = at("version");
        here.each_text(version, |here, text| here.version(text))?;
        let (here, files) = at("files");
        for (path, content) in files.as_object().into_iter().flatten() {
            let here = here.below(At::Field(path));
            here.text(path, Within::Plain)?;
            here.file(path)?;
            match content {
                Value::String(text) => here.text(text, Within::Plain)?,
                lines => here.arguments(lines, Within::Plain, &[], &mut None)?,
            }
        }
        for (name, within) in [("arguments", Within::Plain), ("profile", Within::Profile)] {
            let (here, arguments) = at(name);
            here.arguments(arguments, within, &[], &mut Some(Vec::new()))?;
        }
        let (here, variables) = at("own_environment");
        for (name, value) in variables.as_object().into_iter().flatten() {
            let here = here.below(At::Field(name));
            value
                .as_str()
                .map_or(Ok(()), |text| here.text(text, Within::Plain))?;
        }
        let (here, writes) = at("writes");
        here.each_text(writes, |here, text| here.text(text, Within::Plain))
    }

    fn each_text(
        &self,
        list: &'v Value,
        check: impl Fn(&Walker<'v>, &str) -> Checked<'v>,
    ) -> Checked<'v> {
        for (index, item) in list.as_array().into_iter().flatten().enumerate() {
            if let Some(text) = item.as_str() {
                check(&self.below(At::Item(index)), text)?;
            }
        }
        Ok(())
    }

    fn name(&self, name: &Value) -> Checked<'v> {
        let Some(name) = name.as_str() else {
            return Ok(());
        };
        let odd = |letter: char| {
            letter == '/' || letter.is_whitespace() || letter.is_control() || letter == '\u{feff}'
        };
        if name.is_empty() || name.contains(odd) {
            return self.wrong(format!(
                "{name:?} is no name: it is typed on command lines and stands in reports, so it \
                 is not empty and has no slash, space or control character"
            ));
        }
        Ok(())
    }

    fn version(&self, word: &str) -> Checked<'v> {
        if names_in(word).is_empty() || word == "{perimeter}" {
            return Ok(());
        }
        if word == "{program}" {
            return self.text(word, Within::Plain);
        }
        self.wrong(format!(
            "{word:?}: in `version` the whole of a word may be {{program}} or {{perimeter}}, and \
             nothing else is replaced"
        ))
    }

    /// Where a file of the launcher's is written.
    fn file(&self, path: &str) -> Checked<'v> {
        let below = path.strip_prefix("{state}/");
        let within = below.is_some_and(|rest| {
            !rest.is_empty() && !rest.split('/').any(|part| matches!(part, "." | ".."))
        });
        if within {
            return Ok(());
        }
        self.wrong(
            "a launcher's files are written below its own state, so that nothing stays on the \
             host: write \"{state}/…\", without . and ..",
        )
    }

    /// Finds a placeholder that is not known where the text stands.
    fn text(&self, text: &str, within: Within) -> Checked<'v> {
        for name in names_in(text) {
            let plain = name.strip_suffix("-json").unwrap_or(name);
            let own = within.names();
            if !self.program && matches!(plain, "program" | "program-directory") {
                return self.wrong(format!(
                    "{{{name}}} is of the first of `programs`, and this file has none: add \
                     \"programs\": [\"…\"]"
                ));
            }
            let known = NAMES.contains(&plain)
                || own.contains(&plain)
                || (self.faulty && plain == "faulty");
            if !known {
                let listed: Vec<String> = own
                    .iter()
                    .chain(&NAMES)
                    .map(|name| format!("{{{name}}}"))
                    .collect();
                return self.wrong(format!(
                    "unknown placeholder {{{name}}}: here a launcher file may use {}, each also as \
                     {{…-json}}; {{{{{name}}}}} is the text itself{}",
                    listed.join(", "),
                    elsewhere(plain),
                ));
            }
        }
        Ok(())
    }

    fn arguments(
        &self,
        arguments: &'v Value,
        within: Within,
        when: &[Condition],
        commands: &mut Option<Commands>,
    ) -> Checked<'v> {
        for (index, argument) in arguments.as_array().into_iter().flatten().enumerate() {
            let here = self.below(At::Item(index));
            match argument {
                Value::String(text) => here.text(text, within)?,
                Value::Object(fields) if fields.contains_key("each") => {
                    here.fields(argument, &["each", "arguments"])?;
                    let list: List = here.below(At::Field("each")).word(&argument["each"])?;
                    let inner = match list {
                        List::Environment => Within::EachVariable,
                        _ => Within::EachPath,
                    };
                    let mut inside = commands.is_some().then(Vec::new);
                    let here = here.below(At::Field("arguments"));
                    here.arguments(&argument["arguments"], inner, when, &mut inside)?;
                    if inside.is_some_and(|inside| !inside.is_empty()) {
                        return here.wrong(
                            "the command stands within an `each`, which would repeat it: place \
                             { \"command\": true } outside of it",
                        );
                    }
                }
                Value::Object(fields) if fields.contains_key("when") => {
                    here.fields(argument, &["when", "arguments"])?;
                    let mut both = when.to_vec();
                    both.extend(
                        here.below(At::Field("when"))
                            .conditions(&argument["when"])?,
                    );
                    let here = here.below(At::Field("arguments"));
                    here.arguments(&argument["arguments"], within, &both, commands)?;
                }
                Value::Object(fields) if fields.contains_key("command") => {
                    here.fields(argument, &["command", "absolute"])?;
                    here.command(argument, when, commands)?;
                }
                _ => return here.wrong(ARGUMENT),
            }
        }
        Ok(())
    }

    /// Finds a field that an argument of this form does not have, and a list that it lacks.
    fn fields(&self, argument: &'v Value, known: &[&str]) -> Checked<'v> {
        for name in argument.as_object().into_iter().flat_map(|it| it.keys()) {
            if !known.contains(&name.as_str()) {
                return self.below(At::Field(name)).wrong(format!(
                    "unknown field; beside `{}` there may be `{}`",
                    known[0], known[1]
                ));
            }
        }
        if known[1] == "arguments" && !argument["arguments"].is_array() {
            return self.wrong("`arguments` is missing: write \"arguments\": […]");
        }
        Ok(())
    }

    fn conditions(&self, when: &'v Value) -> Result<Vec<Condition>, Problem<'v>> {
        let Value::Array(names) = when else {
            return self.wrong("write a list of conditions: \"when\": [\"network-none\"]");
        };
        let named = |(index, name)| self.below(At::Item(index)).word(name);
        names.iter().enumerate().map(named).collect()
    }

    /// A word of a closed list; the error names all of them.
    fn word<T: serde::de::DeserializeOwned>(&self, word: &Value) -> Result<T, Problem<'v>> {
        serde_json::from_value(word.clone()).or_else(|error| self.wrong(error.to_string()))
    }

    fn command(
        &self,
        argument: &Value,
        when: &[Condition],
        commands: &mut Option<Commands>,
    ) -> Checked<'v> {
        if argument["command"] != Value::Bool(true) {
            return self
                .wrong("write { \"command\": true } where the command stands, or leave it out");
        }
        let Some(commands) = commands else {
            return Ok(());
        };
        if commands.iter().any(|other| !exclusive(other, when)) {
            return self.wrong(
                "the command stands here a second time: place { \"command\": true } once, or under \
                 conditions of which never two hold",
            );
        }
        commands.push(when.to_vec());
        Ok(())
    }
}

/// Whether two lists of conditions never hold together.
fn exclusive(one: &[Condition], other: &[Condition]) -> bool {
    OPPOSITES.iter().any(|(left, right)| {
        (one.contains(left) && other.contains(right))
            || (one.contains(right) && other.contains(left))
    })
}

/// Where a placeholder that is known elsewhere may stand.
fn elsewhere(name: &str) -> &'static str {
    match name {
        "item" => ". {item} is for an `each` of paths",
        "name" | "value" => {
            ". {name} and {value} are for { \"each\": \"environment\", \"arguments\": […] }"
        }
        "outside" | "secret" => ". A launcher is never told what a case looks at",
        _ => "",
    }
}

#[cfg(test)]
#[path = "checked_tests.rs"]
mod tests;
