//! Placeholders: `{workspace}` and its like in the texts of cases and launcher
//! files. The set is closed, so that a misspelt one is an error and not a text.
//!
//! A placeholder is a brace, a lower-case word, perhaps a dot and a name, and a
//! brace. `${NAME}` is the shell's and is left alone; `{{word}}` is the text
//! `{word}`.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why a text could not be expanded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceholderError {
    /// Nothing has this name.
    #[error(
        "unknown placeholder {{{name}}}; write {{{{{name}}}}} if the text itself is meant, or one of the names that conformance/README.md lists"
    )]
    Unknown {
        /// The name between the braces.
        name: String,
    },
    /// The expanded value has another shape than the template.
    #[error("the expanded text does not fit its place: {0}")]
    Shape(String),
}

/// A piece of a text.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Name(&'a str),
}

/// Splits a text into plain pieces and placeholders.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut plain = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'{' || (at > 0 && bytes[at - 1] == b'$') {
            at += 1;
            continue;
        }
        let quoted = bytes.get(at + 1) == Some(&b'{');
        let start = if quoted { at + 2 } else { at + 1 };
        let Some(length) = name_length(&text[start..]) else {
            at += 1;
            continue;
        };
        let end = start + length;
        if quoted {
            if text[end..].starts_with("}}") {
                found.push(Piece::Text(&text[plain..at]));
                found.push(Piece::Text(&text[at + 1..=end]));
                plain = end + 2;
            }
            at = end;
            continue;
        }
        if bytes.get(end) == Some(&b'}') {
            found.push(Piece::Text(&text[plain..at]));
            found.push(Piece::Name(&text[start..end]));
            plain = end + 1;
        }
        at = end;
    }
    found.push(Piece::Text(&text[plain..]));
    found
}

/// The length of a placeholder's name at the beginning of a text.
fn name_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if !bytes.first()?.is_ascii_lowercase() {
        return None;
    }
    let word = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase() || **byte == b'-' || **byte == b'_')
        .count();
    if bytes.get(word) != Some(&b'.') {
        return Some(word);
    }
    let rest = bytes[word + 1..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-' || **byte == b'_')
        .count();
    (rest > 0).then_some(word + 1 + rest)
}

/// The names of the placeholders in a text, in order.
pub fn names_in(text: &str) -> Vec<&str> {
    pieces(text)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Name(name) => Some(name),
            Piece::Text(_) => None,
        })
        .collect()
}

/// What to do with a placeholder whose name is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// It is an error.
    Refuse,
    /// It is left as it stands, for a later turn to expand. So is `{{word}}`.
    Keep,
}

/// A text with its placeholders replaced.
pub fn expand_text(
    text: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
    unknown: Unknown,
) -> Result<String, PlaceholderError> {
    let mut expanded = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(plain) => {
                // A quoted placeholder arrives as its own piece, braces and all.
                let quoted = plain.starts_with('{')
                    && plain.ends_with('}')
                    && name_length(&plain[1..]) == Some(plain.len() - 2);
                if quoted && unknown == Unknown::Keep {
                    expanded.push('{');
                    expanded.push_str(plain);
                    expanded.push('}');
                } else {
                    expanded.push_str(plain);
                }
            }
            Piece::Name(name) => match (lookup(name), unknown) {
                (Some(value), _) => expanded.push_str(&value),
                (None, Unknown::Keep) => {
                    expanded.push('{');
                    expanded.push_str(name);
                    expanded.push('}');
                }
                (None, Unknown::Refuse) => {
                    return Err(PlaceholderError::Unknown {
                        name: name.to_owned(),
                    });
                }
            },
        }
    }
    Ok(expanded)
}

/// A value with the placeholders of all its texts replaced, keys included.
pub fn expand<T: Serialize + DeserializeOwned>(
    template: &T,
    lookup: &dyn Fn(&str) -> Option<String>,
    unknown: Unknown,
) -> Result<T, PlaceholderError> {
    let value = serde_json::to_value(template)
        .map_err(|error| PlaceholderError::Shape(error.to_string()))?;
    let value = expand_value(value, lookup, unknown)?;
    serde_json::from_value(value).map_err(|error| PlaceholderError::Shape(error.to_string()))
}

fn expand_value(
    value: Value,
    lookup: &dyn Fn(&str) -> Option<String>,
    unknown: Unknown,
) -> Result<Value, PlaceholderError> {
    Ok(match value {
        Value::String(text) => Value::String(expand_text(&text, lookup, unknown)?),
        Value::Array(items) => Value::Array(
            items
                .into_iter()
                .map(|item| expand_value(item, lookup, unknown))
                .collect::<Result<_, _>>()?,
        ),
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(key, item)| {
                    Ok((
                        expand_text(&key, lookup, unknown)?,
                        expand_value(item, lookup, unknown)?,
                    ))
                })
                .collect::<Result<_, PlaceholderError>>()?,
        ),
        other => other,
    })
}

/// Every text of a value, keys included.
pub fn texts_of<T: Serialize>(value: &T) -> Vec<String> {
    fn gather(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
            Value::Object(fields) => fields.iter().for_each(|(key, item)| {
                texts.push(key.clone());
                gather(item, texts);
            }),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    if let Ok(value) = serde_json::to_value(value) {
        gather(&value, &mut texts);
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn lookup(name: &str) -> Option<String> {
        match name {
            "workspace" => Some("/w".to_owned()),
            "secret.key" => Some("canary".to_owned()),
            _ => None,
        }
    }

    #[rstest]
    #[case::plain("echo hello", "echo hello")]
    #[case::one("cd {workspace}", "cd /w")]
    #[case::dotted("grep {secret.key}", "grep canary")]
    #[case::shell_variable("echo ${workspace}", "echo ${workspace}")]
    #[case::quoted("awk '{{print}}'", "awk '{print}'")]
    #[case::shell_list("echo {a,b} { x; }", "echo {a,b} { x; }")]
    #[case::upper("{HOME}", "{HOME}")]
    #[case::adjacent("{workspace}{workspace}", "/w/w")]
    #[case::unicode("é{workspace}é", "é/wé")]
    #[case::open_end("{workspace", "{workspace")]
    #[case::empty("{}", "{}")]
    fn placeholders_expand(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(
            expand_text(text, &lookup, Unknown::Refuse).as_deref(),
            Ok(expected)
        );
    }

    #[test]
    fn an_unknown_placeholder_is_refused() {
        assert_eq!(
            expand_text("{worksapce}", &lookup, Unknown::Refuse),
            Err(PlaceholderError::Unknown {
                name: "worksapce".to_owned()
            })
        );
    }

    #[test]
    fn what_an_early_turn_keeps_a_later_one_expands() {
        let early = expand_text("{workspace} {pid.x} {{print}}", &lookup, Unknown::Keep);
        assert_eq!(early.as_deref(), Ok("/w {pid.x} {{print}}"));
    }
}
