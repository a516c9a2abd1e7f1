//! Where in a JSON text a value stands.
//!
//! The types that files are read into do not keep places. What is found to be
//! wrong later is looked for in the text once more, by its path.

/// A step of a path into a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At<'a> {
    /// A field of an object.
    Field(&'a str),
    /// An item of a list, from 0.
    Item(usize),
}

/// A line and a column, each from 1; columns are counted in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The place of the value at a path: of its name where it is a field. A path that
/// leads nowhere ends at the last step that is there.
pub fn of(text: &str, path: &[At<'_>]) -> Place {
    let scanner = Scanner { text };
    let mut found = scanner.after_space(0);
    let mut value = found;
    for step in path {
        match scanner.child(value, *step) {
            Some((name, inner)) => {
                found = name;
                value = inner;
            }
            None => break,
        }
    }
    in_text(text, found)
}

/// The names that occur twice in one object, wherever it stands.
pub fn repeated_names(text: &str) -> Vec<(String, Place)> {
    let scanner = Scanner { text };
    let mut repeated = Vec::new();
    scanner.repeated(scanner.after_space(0), &mut repeated);
    repeated
        .into_iter()
        .map(|(name, offset)| (name.to_owned(), in_text(text, offset)))
        .collect()
}

fn in_text(text: &str, offset: usize) -> Place {
    let before = &text[..offset.min(text.len())];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Place {
        line: 1 + before.bytes().filter(|byte| *byte == b'\n').count(),
        column: 1 + before[start..].chars().count(),
    }
}

/// Walks over a text that is known to be JSON.
struct Scanner<'a> {
    text: &'a str,
}

impl<'a> Scanner<'a> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn after_space(&self, mut at: usize) -> usize {
        while self.byte(at).is_some_and(|byte| byte.is_ascii_whitespace()) {
            at += 1;
        }
        at
    }

    /// The end of the string that begins at this quote.
    fn after_string(&self, at: usize) -> usize {
        let mut end = at + 1;
        while let Some(byte) = self.byte(end) {
            match byte {
                b'"' => return end + 1,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        end
    }

    /// The end of the value that begins here.
    fn after_value(&self, at: usize) -> usize {
        match self.byte(at) {
            Some(b'"') => self.after_string(at),
            Some(b'{' | b'[') => {
                let mut end = at + 1;
                let mut depth = 1;
                while let Some(byte) = self.byte(end) {
                    match byte {
                        b'"' => {
                            end = self.after_string(end);
                            continue;
                        }
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => depth -= 1,
                        _ => {}
                    }
                    end += 1;
                    if depth == 0 {
                        break;
                    }
                }
                end
            }
            _ => {
                let mut end = at;
                while self.byte(end).is_some_and(|byte| {
                    !byte.is_ascii_whitespace() && !matches!(byte, b',' | b']' | b'}')
                }) {
                    end += 1;
                }
                end
            }
        }
    }

    /// The members of the object or list at this place: where each begins, its
    /// name, and where its value begins.
    fn members(&self, at: usize) -> Vec<(usize, Option<&'a str>, usize)> {
        let named = match self.byte(at) {
            Some(b'{') => true,
            Some(b'[') => false,
            _ => return Vec::new(),
        };
        let mut members = Vec::new();
        let mut next = self.after_space(at + 1);
        while self
            .byte(next)
            .is_some_and(|byte| byte != b'}' && byte != b']')
        {
            let start = next;
            let mut name = None;
            let mut value = next;
            if named {
                let end = self.after_string(next);
                name = self.text.get(next + 1..end.saturating_sub(1));
                let colon = self.after_space(end);
                value = self.after_space(colon + 1);
            }
            members.push((start, name, value));
            let end = self.after_space(self.after_value(value));
            next = if self.byte(end) == Some(b',') {
                self.after_space(end + 1)
            } else {
                end
            };
            if next == start {
                break;
            }
        }
        members
    }

    fn child(&self, at: usize, step: At<'_>) -> Option<(usize, usize)> {
        let members = self.members(at);
        let (start, _, value) = match step {
            At::Item(index) if self.byte(at) == Some(b'[') => members.get(index).copied(),
            At::Field(wanted) => members
                .into_iter()
                .find(|(_, name, _)| name.is_some_and(|name| same(name, wanted))),
            At::Item(_) => None,
        }?;
        Some((start, value))
    }

    fn repeated(&self, at: usize, found: &mut Vec<(&'a str, usize)>) {
        let mut seen = std::collections::HashSet::new();
        for (start, name, value) in self.members(at) {
            if let Some(name) = name {
                if !seen.insert(decoded(name)) {
                    found.push((name, start));
                }
            }
            self.repeated(value, found);
        }
    }
}

/// Whether a name, as it stands in the text, is the wanted one.
fn same(written: &str, wanted: &str) -> bool {
    written == wanted || (written.contains('\\') && decoded(written) == wanted)
}

fn decoded(written: &str) -> String {
    serde_json::from_str(&format!("\"{written}\"")).unwrap_or_else(|_| written.to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TEXT: &str = r#"{
  "a": 1, "b\u0020c": [ "é}", { "d": true } ],
  "e": { "f": {}, "f": [], "g": "\"," }
}
"#;

    #[rstest]
    #[case::the_whole(&[], 1, 1)]
    #[case::a_field(&[At::Field("a")], 2, 3)]
    #[case::an_escaped_name(&[At::Field("b c")], 2, 11)]
    #[case::an_item(&[At::Field("b c"), At::Item(1)], 2, 31)]
    #[case::below_an_item(&[At::Field("b c"), At::Item(1), At::Field("d")], 2, 33)]
    #[case::behind_an_escaped_quote(&[At::Field("e"), At::Field("g")], 3, 28)]
    #[case::a_path_that_ends(&[At::Field("e"), At::Field("missing")], 3, 3)]
    #[case::no_such_item(&[At::Field("b c"), At::Item(2)], 2, 11)]
    fn values_are_found(#[case] path: &[At<'_>], #[case] line: usize, #[case] column: usize) {
        assert_eq!(of(TEXT, path), Place { line, column });
    }

    #[test]
    fn a_name_that_occurs_twice_is_found() {
        let place = Place {
            line: 3,
            column: 19,
        };
        assert_eq!(repeated_names(TEXT), [("f".to_owned(), place)]);
    }
}
