//! The variables that an agent's file and the caller ask for.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use super::error::EnvironmentError;
use super::value::{Value, check_name};
use crate::faults;
use crate::policy::{Fault, Policy, Refusal, Text, Unreadable, contents, open_document};

/// The document's field that holds the variables.
const FIELD: &str = "environment";

/// Variables to add to the base of the posture, read from a document, set in code,
/// or both; see [`Environment::resolve`].
///
/// A value is taken as it stands, with two exceptions, each of which has to be the
/// whole value: `${NAME}` is the value of the host's variable NAME, if the policy's
/// `host_environment` lists it, and `$${NAME}` is the text `${NAME}`. Nothing that
/// is embedded in other text is expanded, and nothing is expanded twice.
///
/// The debug form shows names and no values.
#[derive(Clone, Default)]
pub struct Environment {
    entries: BTreeMap<OsString, Entry>,
    source: Option<Source>,
}

#[derive(Clone)]
struct Entry {
    value: Value,
    /// Where in the document the value stands; absent for one that was set in code.
    offset: Option<usize>,
}

/// The document, kept for the place of what turns out to be wrong later, when the
/// policy and the host are known.
#[derive(Clone)]
struct Source {
    name: PathBuf,
    content: String,
}

impl Environment {
    /// No variables.
    pub fn new() -> Environment {
        Environment::default()
    }

    /// Reads the `environment` object of the JSON file at `path`.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError::File`] for a file that is absent or cannot be read, and
    /// [`EnvironmentError::Document`] for content that is refused.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Environment, EnvironmentError> {
        let path = path.as_ref();
        let file = open_document(path)?.ok_or_else(|| Unreadable {
            file: path.to_owned(),
            problem: "does not exist".to_owned(),
            remedy: "check the path".to_owned(),
            source: None,
        })?;
        Environment::from_json(&contents(file, path)?, path)
    }

    /// Reads the `environment` object of a document: names and values, both text.
    /// The document is the agent's own configuration, so its other fields are not
    /// looked at; without that field there are no variables. `name` stands for the
    /// file in messages.
    ///
    /// # Errors
    ///
    /// [`EnvironmentError::Document`], with the place of what is refused: what is
    /// not JSON, a value that is not text, a name that occurs twice, is empty or
    /// holds `=` or a control character, a NUL in a value, and `${…}` around what
    /// is not a variable's name.
    pub fn from_json(text: &str, name: impl AsRef<Path>) -> Result<Environment, EnvironmentError> {
        let name = name.as_ref();
        let entries = faults::variables(parse(&Text {
            name,
            content: text,
        }))?;
        Ok(Environment {
            entries,
            source: Some(Source {
                name: name.to_owned(),
                content: text.to_owned(),
            }),
        })
    }

    /// Sets a variable, whatever the document says of it. The value means what it
    /// would mean there.
    ///
    /// ```
    /// use perimeter::environment::Environment;
    ///
    /// let mut environment = Environment::new();
    /// environment.set("RUST_BACKTRACE", "1")?;
    /// assert!(environment.set("A=B", "1").is_err());
    /// # Ok::<(), perimeter::environment::EnvironmentError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`EnvironmentError::Variable`] for a name or a value that the document could
    /// not hold either.
    pub fn set(
        &mut self,
        name: impl AsRef<OsStr>,
        value: impl AsRef<OsStr>,
    ) -> Result<(), EnvironmentError> {
        let name = name.as_ref();
        let refuse = |fault| EnvironmentError::variable(&name.to_string_lossy(), fault);
        check_name(name).map_err(refuse)?;
        let value = Value::parse(value.as_ref()).map_err(refuse)?;
        let entry = Entry {
            value,
            offset: None,
        };
        self.entries.insert(name.to_owned(), entry);
        Ok(())
    }

    /// The variables and their values, in the order of their names. `host` answers
    /// for the host's variables; `|name| std::env::var_os(name)` is the usual one.
    ///
    /// # Errors
    ///
    /// The first value that copies a variable which the policy does not list or the
    /// host does not have: never an empty value in its place. The error is
    /// [`EnvironmentError::Document`] with the place, or
    /// [`EnvironmentError::Variable`] for what was set in code.
    pub fn resolve(
        &self,
        policy: &Policy,
        host: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Vec<(OsString, OsString)>, EnvironmentError> {
        self.entries
            .iter()
            .map(
                |(name, entry)| match faults::value(&entry.value, policy, &host) {
                    Ok(value) => Ok((name.clone(), value)),
                    Err(fault) => Err(self.refuse(name, entry, fault)),
                },
            )
            .collect()
    }

    fn refuse(&self, name: &OsStr, entry: &Entry, fault: Fault) -> EnvironmentError {
        let name = name.to_string_lossy();
        match (&self.source, entry.offset) {
            (Some(source), Some(offset)) => {
                let text = Text {
                    name: &source.name,
                    content: &source.content,
                };
                text.refusal(offset, Some(&field(&name)), fault).into()
            }
            _ => EnvironmentError::variable(&name, fault),
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Environment ")?;
        out.debug_set().entries(self.entries.keys()).finish()
    }
}

fn parse(text: &Text<'_>) -> Result<BTreeMap<OsString, Entry>, Refusal> {
    let mut object = None;
    for member in text.pairs(text.value()?, None)? {
        if member.name == FIELD && object.replace(member.value).is_some() {
            return Err(text.double(&member, None));
        }
    }
    let Some(object) = object else {
        return Ok(BTreeMap::new());
    };
    let mut entries = BTreeMap::new();
    for member in text.members(object, Some(FIELD))? {
        check_name(OsStr::new(&member.name))
            .map_err(|fault| text.at(member.key, Some(FIELD), fault))?;
        let field = field(&member.name);
        let written = text.string(member.value, &field, "write the value in double quotes")?;
        let value = Value::parse(OsStr::new(&written))
            .map_err(|fault| text.at(member.value, Some(&field), fault))?;
        let offset = Some(text.offset(member.value));
        entries.insert(OsString::from(member.name), Entry { value, offset });
    }
    Ok(entries)
}

fn field(name: &str) -> String {
    format!("{FIELD}.{name}")
}
