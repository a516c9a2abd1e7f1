//! Text of reports: made harmless, named, counted and wrapped.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Serialize;

/// Replaces every character that could do more than show itself.
///
/// Reports hold what confined commands wrote, and those may be hostile: an
/// escape sequence could repaint the report, a carriage return could hide a
/// line, and a change of writing direction could make a path read as another.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            _ if acts(character) && character.is_ascii() => {
                let _ = write!(shown, "\\x{:02x}", u32::from(character));
            }
            _ if acts(character) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            }
            _ => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Whether a character acts on the text around it: controls, changes of the
/// writing direction, invisible characters and separators of lines.
pub(crate) fn acts(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{fffe}'..='\u{ffff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// The text without more than `limit` characters; what is cut is said.
pub(crate) fn shortened(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let left = text[end..].chars().count();
            Cow::Owned(format!("{}… ({left} more characters)", &text[..end]))
        }
    }
}

/// The word by which files name a value of a closed list.
pub(crate) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::from("?"),
    }
}

/// The words of several values, with commas.
pub(crate) fn words<T: Serialize>(values: &[T]) -> String {
    values.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// A number with its noun.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// A duration as a person reads it.
pub(crate) fn duration(milliseconds: u64) -> String {
    let minutes = milliseconds / 60_000;
    if minutes > 0 {
        format!("{minutes} min {} s", milliseconds / 1000 % 60)
    } else {
        format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100)
    }
}

/// Breaks a text into lines of at most `width` characters. A word that is
/// longer, such as a path, stays whole so that it can be copied, and a text
/// that fits keeps its spaces.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    if text.chars().count() <= width && !text.contains('\n') {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let word_length = word.chars().count();
        if length > 0 && length + 1 + word_length > width {
            lines.push(std::mem::take(&mut line));
            length = 0;
        }
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += word_length;
    }
    if length > 0 || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::escape_sequence("\x1b[2J", "\\x1b[2J")]
    #[case::carriage_return("bad\rgood", "bad\\rgood")]
    #[case::newline("one\ntwo", "one\\ntwo")]
    #[case::c1_control("\u{9b}31m", "\\u{9b}31m")]
    #[case::delete("a\u{7f}", "a\\x7f")]
    #[case::writing_direction("\u{202e}txt", "\\u{202e}txt")]
    #[case::invisible("a\u{200b}b\u{e0041}", "a\\u{200b}b\\u{e0041}")]
    #[case::letters("größer → 日本", "größer → 日本")]
    fn a_character_that_acts_is_shown_instead(#[case] text: &str, #[case] shown: &str) {
        assert_eq!(harmless(text), shown);
    }

    #[test]
    fn what_is_cut_is_said() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("äöüabc", 2), "äö… (4 more characters)");
    }

    #[test]
    fn prose_is_wrapped_and_a_long_path_stays_whole() {
        assert_eq!(
            wrapped("see /a/very/long/path now or never", 10),
            ["see", "/a/very/long/path", "now or", "never"],
        );
        assert_eq!(wrapped("", 10), [""]);
        assert_eq!(wrapped(" a  b", 10), [" a  b"]);
    }

    #[test]
    fn durations_are_short() {
        assert_eq!(duration(40), "0.0 s");
        assert_eq!(duration(4_249), "4.2 s");
        assert_eq!(duration(125_000), "2 min 5 s");
    }
}
