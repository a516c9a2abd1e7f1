//! The policy document: a JSON file that a person writes.
//!
//! ```json
//! { "version": 1, "posture": "strict", "enabled": true, "network": "none",
//!   "read_only": ["/home/user/reference"], "read_write": ["/home/user/output"],
//!   "hidden": ["/home/user/output/keys"], "host_environment": ["SSH_AUTH_SOCK"],
//!   "bubblewrap": "/usr/bin/bwrap" }
//! ```
//!
//! `version` is required; the rest has defaults, those of [`Policy::strict`].
//! Nothing is guessed: an unknown field, a value of another kind, a path that is
//! not absolute and literal, and two entries that contradict each other are all
//! refused, with the place and what to write instead. One liberty is taken: a
//! single trailing slash is dropped, so that `/data/` is `/data`.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::error::{Fault, PolicyError, Refusal, quote};
use super::json::{Member, Text, kind};
use super::model::{Network, Policy, Posture};
use super::read::{ReadError, contents, open_document};
use super::rules::{self, List, Listed};
use super::suggest::nearest;
use crate::faults;
use crate::links::links;

/// The document's fields, in the order in which they are written.
pub(crate) const FIELDS: [&str; 9] = [
    "version",
    "posture",
    "enabled",
    "network",
    "read_only",
    "read_write",
    "hidden",
    "host_environment",
    "bubblewrap",
];

impl Policy {
    /// Reads the document at `path`. An absent file, and one that holds nothing
    /// but white space, is the strict default. Either way [`Policy::source`] says
    /// where the document is, or would be.
    ///
    /// Links are followed: the path is the caller's own. [`Store`](super::Store)
    /// is for documents whose place is not.
    ///
    /// # Errors
    ///
    /// [`PolicyError::File`] for what is not a regular file of at most 1 MiB that
    /// can be read, or is a link that leads nowhere; [`PolicyError::Document`] for
    /// content that is refused.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Policy, PolicyError> {
        let path = path.as_ref();
        let mut policy = faults::document(path, read(path))?;
        policy.source = Some(place_of(path));
        policy.links = links(path);
        Ok(policy)
    }

    /// Reads a document's text. `name` stands for the file in messages.
    ///
    /// ```
    /// use perimeter::Policy;
    ///
    /// let text = r#"{ "version": 1, "read_only": ["/srv/reference", "data"] }"#;
    /// let error = Policy::from_json(text, "policy.json").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "policy.json:1:49: read_only[1]: \"data\" is relative; \
    ///      write an absolute path, such as \"/home/user/data\""
    /// );
    /// ```
    ///
    /// A path that looks like a pattern is looked up, since a file may really be
    /// called so; nothing else is asked of the file system.
    ///
    /// # Errors
    ///
    /// [`PolicyError::Document`], with the place of the first value that is refused.
    pub fn from_json(text: &str, name: impl AsRef<Path>) -> Result<Policy, PolicyError> {
        if text.chars().all(char::is_whitespace) {
            return Ok(Policy::strict());
        }
        let text = Text {
            name: name.as_ref(),
            content: text,
        };
        Ok(parse(&text)?)
    }

    /// Holds a policy that was built in code to the rules of the document.
    ///
    /// # Errors
    ///
    /// [`PolicyError::Field`], for the first field that a document could not say.
    pub fn check(&self) -> Result<(), PolicyError> {
        let mut entries = Vec::new();
        for (list, paths) in [
            (List::ReadOnly, &self.read_only),
            (List::ReadWrite, &self.read_write),
            (List::Hidden, &self.hidden),
        ] {
            for (index, path) in paths.iter().enumerate() {
                let field = format!("{}[{index}]", list.field());
                let path = rules::path(path.as_os_str()).map_err(|fault| fault.in_field(field))?;
                entries.push(Listed { list, index, path });
            }
        }
        if let Some((place, fault)) = rules::conflict(&entries) {
            return Err(fault.in_field(entries[place].to_string()));
        }
        let mut seen = HashSet::new();
        for (index, name) in self.host_environment.iter().enumerate() {
            host_variable(name, &mut seen)
                .map_err(|fault| fault.in_field(format!("host_environment[{index}]")))?;
        }
        if let Some(path) = &self.bubblewrap {
            rules::path(path.as_os_str())
                .and_then(|path| rules::bubblewrap(&path, &entries))
                .map_err(|fault| fault.in_field("bubblewrap"))?;
        }
        Ok(())
    }
}

impl From<ReadError> for PolicyError {
    fn from(error: ReadError) -> PolicyError {
        match error {
            ReadError::File(error) => PolicyError::File(error),
            ReadError::Document(error) => PolicyError::Document(error),
        }
    }
}

fn read(path: &Path) -> Result<Policy, PolicyError> {
    match open_document(path)? {
        None => Ok(Policy::strict()),
        Some(file) => Policy::from_json(&contents(file, path)?, path),
    }
}

fn parse(text: &Text<'_>) -> Result<Policy, Refusal> {
    let whole = text.value()?;
    let members = text.members(whole, None)?;
    // Another version may have other fields, so it is looked at first.
    version(text, whole, &members)?;

    let mut policy = Policy::strict();
    let mut entries = Vec::new();
    let mut places = Vec::new();
    let mut bubblewrap = None;
    for Member { key, name, value } in members {
        let field = name.as_str();
        let mut paths = |list: List, into: &mut Vec<PathBuf>| -> Result<(), Refusal> {
            for (index, element) in text.elements(value, field)?.into_iter().enumerate() {
                let path = path(text, element, &format!("{field}[{index}]"))?;
                into.push(path.clone());
                entries.push(Listed { list, index, path });
                places.push(element);
            }
            Ok(())
        };
        match field {
            "version" => {}
            "posture" => policy.posture = choice(text, value, field, &POSTURES)?,
            "enabled" => policy.enabled = text.boolean(value, field)?,
            "network" => policy.network = choice(text, value, field, &NETWORKS)?,
            "read_only" => paths(List::ReadOnly, &mut policy.read_only)?,
            "read_write" => paths(List::ReadWrite, &mut policy.read_write)?,
            "hidden" => paths(List::Hidden, &mut policy.hidden)?,
            "host_environment" => policy.host_environment = variables(text, value, field)?,
            "bubblewrap" => {
                policy.bubblewrap = Some(path(text, value, field)?);
                bubblewrap = Some(value);
            }
            unknown => return Err(text.at(key, None, unknown_field(unknown))),
        }
    }
    if let Some((place, fault)) = rules::conflict(&entries) {
        return Err(text.at(places[place], Some(&entries[place].to_string()), fault));
    }
    if let (Some(path), Some(value)) = (&policy.bubblewrap, bubblewrap) {
        rules::bubblewrap(path, &entries)
            .map_err(|fault| text.at(value, Some("bubblewrap"), fault))?;
    }
    Ok(policy)
}

fn version(text: &Text<'_>, whole: &str, members: &[Member<'_>]) -> Result<(), Refusal> {
    const FIELD: Option<&str> = Some("version");
    let Some(member) = members.iter().find(|member| member.name == "version") else {
        let fault = Fault::new("is missing", "write \"version\": 1");
        return Err(text.at(whole, FIELD, fault));
    };
    if member.value == "1" {
        return Ok(());
    }
    let fault = if kind(member.value) == "a number" {
        let problem = format!("{} is not supported", member.value);
        Fault::new(problem, "write 1, or use a release that knows this version")
    } else {
        let problem = format!("is {}", kind(member.value));
        Fault::new(problem, "write the number 1, without quotes")
    };
    Err(text.at(member.value, FIELD, fault))
}

fn unknown_field(name: &str) -> Fault {
    let remedy = match nearest(name, &FIELDS) {
        Some(meant) => format!("write {meant:?}"),
        None => format!("remove it; the fields are {}", FIELDS.join(", ")),
    };
    Fault::new(format!("unknown field {}", quote(name)), remedy)
}

const POSTURES: [(&str, Posture); 2] = [
    ("strict", Posture::Strict),
    ("host-readable", Posture::HostReadable),
];

const NETWORKS: [(&str, Network); 2] = [("host", Network::Host), ("none", Network::None)];

fn choice<T: Copy>(
    text: &Text<'_>,
    value: &str,
    field: &str,
    choices: &[(&'static str, T); 2],
) -> Result<T, Refusal> {
    let remedy = format!("write {:?} or {:?}", choices[0].0, choices[1].0);
    let word = text.string(value, field, &remedy)?;
    match choices.iter().find(|(name, _)| *name == word) {
        Some((_, choice)) => Ok(*choice),
        None => {
            let fault = Fault::new(format!("{} is not known", quote(&word)), remedy);
            Err(text.at(value, Some(field), fault))
        }
    }
}

fn path(text: &Text<'_>, value: &str, field: &str) -> Result<PathBuf, Refusal> {
    let written = text.string(value, field, "write an absolute path in double quotes")?;
    rules::path(OsStr::new(&written)).map_err(|fault| text.at(value, Some(field), fault))
}

fn variables(text: &Text<'_>, value: &str, field: &str) -> Result<Vec<String>, Refusal> {
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    for (index, element) in text.elements(value, field)?.into_iter().enumerate() {
        let field = format!("{field}[{index}]");
        let name = text.string(element, &field, "write a variable's name in double quotes")?;
        host_variable(&name, &mut seen).map_err(|fault| text.at(element, Some(&field), fault))?;
        names.push(name);
    }
    Ok(names)
}

fn host_variable(name: &str, seen: &mut HashSet<String>) -> Result<(), Fault> {
    rules::variable_name(name)?;
    if !seen.insert(name.to_owned()) {
        let problem = format!("{} is listed twice", quote(name));
        return Err(Fault::new(problem, "keep one of the two"));
    }
    Ok(())
}

/// The file's own place: its directory without links or `..`, where there is one,
/// so that it can be compared with what a launch makes writable. The last name is
/// left as it is, since a link there is something to protect too.
fn place_of(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (
        absolute.parent().map(Path::canonicalize),
        absolute.file_name(),
    ) {
        (Some(Ok(directory)), Some(name)) => directory.join(name),
        _ => absolute,
    }
}
