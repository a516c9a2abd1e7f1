//! JSON read so that every value keeps its place in the text.
//!
//! Each value is a slice of the document, so the place of whatever is wrong is
//! the slice's distance from the start.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::{Fault, Refusal, quote};

/// A document's text and the name that messages give it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) name: &'a Path,
    pub(crate) content: &'a str,
}

/// One member of an object.
#[derive(Debug)]
pub(crate) struct Member<'a> {
    /// The name, as it stands in the text.
    pub(crate) key: &'a str,
    /// The name itself.
    pub(crate) name: String,
    /// The value, as it stands in the text.
    pub(crate) value: &'a str,
}

impl<'a> Text<'a> {
    /// The document's one value, or the place of its first error of syntax.
    pub(crate) fn value(&self) -> Result<&'a str, Refusal> {
        const REMEDY: &str = "write JSON: names and text in double quotes, no comments, no comma \
                              after the last entry";
        if self.content.starts_with('\u{feff}') {
            let fault = Fault::new(
                "the document begins with a byte order mark",
                "save it as UTF-8 without one",
            );
            return Err(self.refusal(0, None, fault));
        }
        match serde_json::from_str::<&'a RawValue>(self.content) {
            Ok(value) => Ok(value.get()),
            Err(error) => {
                let whole = error.to_string();
                let said = whole
                    .rsplit_once(" at line ")
                    .map_or(whole.as_str(), |(said, _)| said);
                let fault = Fault::new(format!("the document is not JSON: {said}"), REMEDY);
                let offset = self.offset_of(error.line(), error.column());
                Err(self.refusal(offset, None, fault))
            }
        }
    }

    /// The members of an object, in order. A name that occurs twice is refused,
    /// since which of the two counts is anyone's guess.
    pub(crate) fn members(
        &self,
        value: &'a str,
        field: Option<&str>,
    ) -> Result<Vec<Member<'a>>, Refusal> {
        let members = self.pairs(value, field)?;
        let mut seen = HashSet::new();
        match members.iter().find(|member| !seen.insert(&member.name)) {
            Some(double) => Err(self.double(double, field)),
            None => Ok(members),
        }
    }

    /// The members of an object as they stand, doubles included.
    pub(crate) fn pairs(
        &self,
        value: &'a str,
        field: Option<&str>,
    ) -> Result<Vec<Member<'a>>, Refusal> {
        if !value.starts_with('{') {
            let fault = match field {
                None => Fault::new(
                    format!("the document is {}", kind(value)),
                    "write an object: { … }",
                ),
                Some(_) => Fault::new(
                    format!("is {}", kind(value)),
                    "write an object: { \"NAME\": \"value\" }",
                ),
            };
            return Err(self.at(value, field, fault));
        }
        let Pairs(pairs) =
            serde_json::from_str(value).map_err(|error| self.odd(value, field, &error))?;
        pairs
            .into_iter()
            .map(|(key, value)| {
                Ok(Member {
                    key: key.get(),
                    name: self.decode(key.get(), field, "name")?,
                    value: value.get(),
                })
            })
            .collect()
    }

    /// The refusal of a name that occurs twice.
    pub(crate) fn double(&self, member: &Member<'_>, field: Option<&str>) -> Refusal {
        let problem = format!("the name {} occurs twice", quote(&member.name));
        self.at(
            member.key,
            field,
            Fault::new(problem, "keep one of the two"),
        )
    }

    /// The elements of an array, in order.
    pub(crate) fn elements(&self, value: &'a str, field: &str) -> Result<Vec<&'a str>, Refusal> {
        if !value.starts_with('[') {
            let remedy = if value.starts_with('"') {
                format!("write an array: [{value}]")
            } else {
                "write an array of text: [\"…\"]".to_owned()
            };
            let fault = Fault::new(format!("is {}", kind(value)), remedy);
            return Err(self.at(value, Some(field), fault));
        }
        let elements: Vec<&'a RawValue> =
            serde_json::from_str(value).map_err(|error| self.odd(value, Some(field), &error))?;
        Ok(elements.into_iter().map(RawValue::get).collect())
    }

    /// The characters of a string.
    pub(crate) fn string(
        &self,
        value: &'a str,
        field: &str,
        remedy: &str,
    ) -> Result<String, Refusal> {
        if !value.starts_with('"') {
            let fault = Fault::new(format!("is {}", kind(value)), remedy);
            return Err(self.at(value, Some(field), fault));
        }
        self.decode(value, Some(field), "text")
    }

    /// A truth value.
    pub(crate) fn boolean(&self, value: &'a str, field: &str) -> Result<bool, Refusal> {
        match value {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => {
                let fault = Fault::new(
                    format!("is {}", kind(value)),
                    "write true or false, without quotes",
                );
                Err(self.at(value, Some(field), fault))
            }
        }
    }

    /// The refusal of `part`, which is a slice of the document.
    pub(crate) fn at(&self, part: &str, field: Option<&str>, fault: Fault) -> Refusal {
        self.refusal(self.offset(part), field, fault)
    }

    /// How far into the document `part`, a slice of it, begins.
    pub(crate) fn offset(&self, part: &str) -> usize {
        let start = self.content.as_ptr() as usize;
        (part.as_ptr() as usize)
            .checked_sub(start)
            .filter(|offset| *offset <= self.content.len())
            .unwrap_or(0)
    }

    /// The refusal of whatever begins at `offset`.
    pub(crate) fn refusal(&self, offset: usize, field: Option<&str>, fault: Fault) -> Refusal {
        let (line, column) = place(self.content, offset);
        Refusal {
            file: PathBuf::from(self.name),
            line,
            column,
            field: field.map(str::to_owned),
            problem: fault.problem,
            remedy: fault.remedy,
        }
    }

    /// The parser counts columns in bytes; an offset lets this module count them
    /// in characters, as an editor does.
    fn offset_of(&self, line: usize, column: usize) -> usize {
        let start: usize = self
            .content
            .split_inclusive('\n')
            .take(line.saturating_sub(1))
            .map(str::len)
            .sum();
        start + column.saturating_sub(1)
    }

    fn decode(&self, part: &str, field: Option<&str>, what: &str) -> Result<String, Refusal> {
        // What is left to go wrong in a string that the parser has accepted is
        // half of a surrogate pair.
        serde_json::from_str(part).map_err(|_| {
            let fault = Fault::new(
                format!("the {what} {part} is not Unicode"),
                "write \\u escapes of surrogates in pairs, or the character itself",
            );
            self.at(part, field, fault)
        })
    }

    fn odd(&self, value: &str, field: Option<&str>, error: &serde_json::Error) -> Refusal {
        let fault = Fault::new(format!("cannot be read: {error}"), "write it anew");
        self.at(value, field, fault)
    }
}

/// What sort of value the text begins, in the words of a message.
pub(crate) fn kind(value: &str) -> &'static str {
    match value.bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "text",
        Some(b't' | b'f') => "a truth value",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// Line and column, counted from 1, of the character at or before a byte offset.
fn place(content: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(content.len());
    while !content.is_char_boundary(end) {
        end -= 1;
    }
    let before = &content[..end];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

/// The members of an object as they stand, doubles included.
struct Pairs<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Pairs<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Collect)
    }
}
