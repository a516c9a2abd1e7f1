//! The text of a profile: the one place where a path becomes a part of it.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use super::SeatbeltError;

/// The longest that a rule may become, in bytes. Seatbelt's compiler has a limit for
/// one rule's list; Nix begins another each 16 KiB (its `darwin-derivation-builder`),
/// and this stays well below that.
pub(super) const LONGEST_RULE: usize = 12 * 1024;

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Allow,
    Deny,
}

impl Action {
    fn word(self) -> &'static str {
        match self {
            Action::Allow => "allow",
            Action::Deny => "deny",
        }
    }
}

/// A profile that is being written.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
}

impl Text {
    /// A heading, and why the rules beneath it are there.
    pub(super) fn section(&mut self, why: &str) {
        self.text.push('\n');
        self.comment(why);
    }

    /// Why the next rule is there. A line break in it begins another comment line, so
    /// that no text of a comment can become a rule.
    pub(super) fn comment(&mut self, why: &str) {
        for line in why.lines() {
            let _ = writeln!(self.text, "; {}", line.trim());
        }
    }

    /// A line as it stands.
    pub(super) fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    /// A rule about operations, for any of the filters. Without a filter there is nothing
    /// to rule about, and a rule without one would be about everything: none is written.
    pub(super) fn rule(&mut self, action: Action, operations: &[&str], filters: &[String]) {
        let head = format!("({} {}", action.word(), operations.join(" "));
        let mut rest = filters;
        while !rest.is_empty() {
            let mut length = head.len();
            let count = rest
                .iter()
                .take_while(|filter| {
                    length += filter.len() + 3;
                    length < LONGEST_RULE
                })
                .count()
                .max(1);
            let (now, later) = rest.split_at(count);
            let _ = write!(self.text, "{head}");
            for filter in now {
                let _ = write!(self.text, "\n  {filter}");
            }
            self.text.push_str(")\n");
            rest = later;
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// Exactly this path.
pub(super) fn literal(path: &Path) -> Result<String, SeatbeltError> {
    Ok(format!("(literal {})", quote(path)?))
}

/// This path and everything beneath it. Both forms, since it is disputed whether
/// `subpath` alone covers a path that does not exist yet (Chromium's design document
/// says so, codex writes both).
pub(super) fn beneath(path: &Path) -> Result<[String; 2], SeatbeltError> {
    Ok([literal(path)?, format!("(subpath {})", quote(path)?)])
}

/// A path as a string of the profile language.
///
/// Refused is what would end the string or begin an escape (a quote, a backslash),
/// every control character, what is not ASCII, and what is no absolute path in its one
/// spelling. Letters beyond ASCII could be written down, but nobody has shown that
/// every release's compiler reads them as the same bytes that the kernel compares.
pub(super) fn quote(path: &Path) -> Result<String, SeatbeltError> {
    let refused = |reason, remedy| {
        Err(SeatbeltError::Path {
            path: path.to_owned(),
            reason,
            remedy,
        })
    };
    let bytes = path.as_os_str().as_bytes();
    let strange = !path.is_absolute()
        || path
            .components()
            .any(|part| matches!(part, Component::ParentDir | Component::CurDir))
        || bytes.windows(2).any(|pair| pair == b"//")
        || (bytes.len() > 1 && bytes.ends_with(b"/"))
        || bytes.windows(3).any(|three| three == b"/./")
        || bytes.ends_with(b"/.");
    if strange {
        return refused(
            "it is not an absolute path in its plain spelling",
            "write it in full, without `.`, `..` and doubled slashes",
        );
    }
    if bytes.iter().any(u8::is_ascii_control) {
        return refused("it holds a control character", "rename it");
    }
    if bytes.iter().any(|byte| matches!(byte, b'"' | b'\\')) {
        return refused("it holds a quote or a backslash", "rename it");
    }
    match path.to_str() {
        Some(text) if text.is_ascii() => Ok(format!("\"{text}\"")),
        _ => refused(
            "it holds letters that are not ASCII",
            "use a directory whose whole path is ASCII",
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/Users/me/a b")]
    #[case("/Users/me/(version 1);'#|x")]
    #[case("/")]
    fn a_plain_path_is_quoted_as_it_stands(#[case] path: &str) {
        assert_eq!(quote(Path::new(path)).ok(), Some(format!("\"{path}\"")));
    }

    #[rstest]
    #[case(b"/a\"b")]
    #[case(b"/a\\b")]
    #[case(b"/a\nb")]
    #[case(b"/a\0b")]
    #[case(b"/a\x7fb")]
    #[case(b"a/b")]
    #[case(b"")]
    #[case(b"/a/../b")]
    #[case(b"/a/./b")]
    #[case(b"/a/.")]
    #[case(b"/a//b")]
    #[case(b"/a/")]
    #[case("/j\u{f6}rg".as_bytes())]
    #[case(b"/a\xff")]
    fn what_cannot_be_quoted_is_refused_by_its_path(#[case] path: &[u8]) {
        let path = Path::new(OsStr::from_bytes(path));
        let error = quote(path).expect_err("it cannot be quoted").to_string();
        assert!(error.contains(&format!("{path:?}")), "{error}");
    }

    #[test]
    fn a_rule_without_filters_is_no_rule() {
        let mut text = Text::default();
        text.rule(Action::Allow, &["file-read*"], &[]);
        assert_eq!(text.finish(), "");
    }

    #[test]
    fn a_long_rule_becomes_several() {
        let mut text = Text::default();
        let filters: Vec<String> = (0..2000)
            .map(|n| format!("(literal \"/{n:030}\")"))
            .collect();
        text.rule(Action::Deny, &["file-read*"], &filters);
        let text = text.finish();
        let rules: Vec<&str> = text.split("(deny").skip(1).collect();
        assert!(rules.len() > 5);
        assert!(rules.iter().all(|rule| rule.len() < LONGEST_RULE));
        assert_eq!(text.matches("literal").count(), 2000);
    }

    #[test]
    fn a_comment_cannot_become_a_rule() {
        let mut text = Text::default();
        text.comment("why\n(allow default)");
        assert_eq!(text.finish(), "; why\n; (allow default)\n");
    }
}
