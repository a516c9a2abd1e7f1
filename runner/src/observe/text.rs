//! Whether a text is what a case says it must be.

use regex_lite::Regex;

use crate::corpus::expect::{TextMatch, TextParts};

/// How much of a text a message shows.
const SHOWN: usize = 200;

/// Why a pattern can match nothing or everything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The regular expression cannot be read.
    #[error("the regular expression {pattern:?} cannot be read: {reason}")]
    Expression {
        /// The expression.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No part is stated, so that every text would match.
    #[error(
        "a text match without parts matches everything; state line, contains, lacks or matches"
    )]
    Empty,
    /// A part is the empty text, which is in every text.
    #[error("the part {part} is empty, which every text or none fulfils; state some text")]
    EmptyPart {
        /// The part's name.
        part: &'static str,
    },
}

impl TextMatch {
    /// Whether the pattern means anything; asked when a case is read.
    pub fn check(&self) -> Result<(), TextError> {
        let parts = match self {
            TextMatch::Equals(_) => return Ok(()),
            TextMatch::Parts(parts) => parts,
        };
        if *parts == TextParts::default() {
            return Err(TextError::Empty);
        }
        for (part, text) in [
            ("contains", &parts.contains),
            ("lacks", &parts.lacks),
            ("matches", &parts.matches),
        ] {
            if text.as_deref() == Some("") {
                return Err(TextError::EmptyPart { part });
            }
        }
        match &parts.matches {
            Some(pattern) => compile(pattern).map(drop),
            None => Ok(()),
        }
    }

    /// What is wrong with a text, in words; `None` if it matches.
    pub fn mismatch(&self, text: &str) -> Option<String> {
        match self {
            TextMatch::Equals(whole) => (!is_whole(whole, text))
                .then(|| format!("{} is not {}", shorten(text), shorten(whole))),
            TextMatch::Parts(parts) => parts.mismatch(text),
        }
    }
}

impl TextParts {
    fn mismatch(&self, text: &str) -> Option<String> {
        let shown = || shorten(text);
        if let Some(line) = &self.line {
            // A terminal ends its lines with a carriage return as well.
            if !text.lines().any(|candidate| candidate == line) {
                return Some(format!("{} has no line {line:?}", shown()));
            }
        }
        if let Some(part) = &self.contains {
            if !text.contains(part.as_str()) {
                return Some(format!("{} does not contain {part:?}", shown()));
            }
        }
        if let Some(part) = &self.lacks {
            if text.contains(part.as_str()) {
                return Some(format!("{} contains {part:?}", shown()));
            }
        }
        let pattern = self.matches.as_ref()?;
        match compile(pattern) {
            Ok(expression) if expression.is_match(text) => None,
            Ok(_) => Some(format!("{} does not match /{pattern}/", shown())),
            Err(error) => Some(error.to_string()),
        }
    }
}

fn compile(pattern: &str) -> Result<Regex, TextError> {
    Regex::new(pattern).map_err(|error| TextError::Expression {
        pattern: pattern.to_owned(),
        reason: error.to_string(),
    })
}

/// Whether a text is this one as a whole; the pattern may lack the newline that
/// the text ends with.
pub(super) fn is_whole(pattern: &str, text: &str) -> bool {
    text == pattern || text.strip_suffix('\n') == Some(pattern)
}

/// A text as a message shows it: quoted, and only its beginning if it is long.
pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], text.len()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use rstest::rstest;

    fn parts(json: &str) -> TextMatch {
        serde_json::from_str(json).unwrap()
    }

    #[rstest]
    #[case::whole(r#""hello""#, "hello")]
    #[case::newline_may_be_missing_from_the_pattern(r#""hello""#, "hello\n")]
    #[case::newline_in_both(r#""hello\n""#, "hello\n")]
    #[case::empty(r#""""#, "\n")]
    #[case::line(r#"{"line": "b"}"#, "a\nb\nc")]
    #[case::line_of_a_terminal(r#"{"line": "b"}"#, "a\r\nb\r\n")]
    #[case::contains(r#"{"contains": "ell"}"#, "hello")]
    #[case::lacks(r#"{"lacks": "x"}"#, "hello")]
    #[case::matches(r#"{"matches": "^h.*o$"}"#, "hello")]
    #[case::all(r#"{"line": "hello", "contains": "e", "lacks": "x"}"#, "hello")]
    fn a_text_that_matches(#[case] pattern: &str, #[case] text: &str) {
        assert_eq!(parts(pattern).mismatch(text), None);
        assert_eq!(parts(pattern).check(), Ok(()));
    }

    #[rstest]
    #[case::whole(r#""hello""#, "hello there", r#""hello there" is not "hello""#)]
    #[case::newline_missing_from_the_text(r#""hello\n""#, "hello", r#""hello" is not "hello\n""#)]
    #[case::two_newlines(r#""hello""#, "hello\n\n", r#""hello\n\n" is not "hello""#)]
    #[case::line(r#"{"line": "hell"}"#, "hello", r#""hello" has no line "hell""#)]
    #[case::contains(r#"{"contains": "x"}"#, "hello", r#""hello" does not contain "x""#)]
    #[case::lacks(r#"{"lacks": "e"}"#, "hello", r#""hello" contains "e""#)]
    #[case::matches(r#"{"matches": "^e"}"#, "hello", r#""hello" does not match /^e/"#)]
    #[case::one_of_two(
        r#"{"contains": "e", "lacks": "h"}"#,
        "hello",
        r#""hello" contains "h""#
    )]
    fn a_text_that_does_not(#[case] pattern: &str, #[case] text: &str, #[case] words: &str) {
        assert_eq!(parts(pattern).mismatch(text).as_deref(), Some(words));
    }

    #[rstest]
    #[case::nothing_stated("{}")]
    #[case::empty_part(r#"{"contains": ""}"#)]
    #[case::expression(r#"{"matches": "("}"#)]
    fn a_pattern_that_means_nothing(#[case] pattern: &str) {
        assert!(parts(pattern).check().is_err());
    }

    #[test]
    fn a_long_text_is_shortened_between_characters() {
        let text = "é".repeat(300);
        let words = TextMatch::Equals(String::new()).mismatch(&text).unwrap();
        assert!(words.contains("… (600 bytes)"), "{words}");
    }
}
