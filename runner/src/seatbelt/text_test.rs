//! How a filter looks at a path or a name.

use regex_lite::Regex;

use super::answer::Truth;
use super::error::Problem;
use super::semantics::{Rule, Semantics};

/// A test of a text.
#[derive(Debug, Clone)]
pub(super) enum TextTest {
    /// The text itself.
    Literal(String),
    /// Every text that begins so.
    Prefix(String),
    /// A path and everything below it.
    Subpath(String),
    /// A regular expression that is found somewhere in the text.
    Pattern(Regex),
}

impl TextTest {
    /// Reads a regular expression of the profile language.
    pub(super) fn pattern(source: &str) -> Result<TextTest, Problem> {
        let translated = translate(source)?;
        Regex::new(&translated)
            .map(TextTest::Pattern)
            .map_err(|error| Problem::Outside(format!("the regular expression {source}: {error}")))
    }

    /// Whether it matches a text on a volume that may fold case.
    pub(super) fn matches(&self, text: &str, folds: bool, semantics: Semantics) -> Truth {
        let exact = self.holds(text, semantics);
        if exact || !folds {
            return exact.into();
        }
        let folded = self.folded();
        if folded.is_some_and(|test| test.holds(&text.to_lowercase(), semantics)) {
            return Truth::Unknown(format!(
                "{text} differs from the rule's path in case alone, and whether the kernel folds it is not known"
            ));
        }
        match self {
            TextTest::Subpath(path) | TextTest::Literal(path)
                if path.len() > 1
                    && path.ends_with('/')
                    && TextTest::Subpath(path.trim_end_matches('/').to_owned())
                        .holds(text, semantics) =>
            {
                Truth::Unknown(format!(
                    "the rule's path {path} ends in a slash, and whether that matches is not known"
                ))
            }
            _ => Truth::No,
        }
    }

    fn holds(&self, text: &str, semantics: Semantics) -> bool {
        match self {
            TextTest::Literal(wanted) => text == wanted,
            TextTest::Prefix(wanted) => text.starts_with(wanted.as_str()),
            TextTest::Subpath(wanted) if wanted == "/" => true,
            TextTest::Subpath(wanted) => text.strip_prefix(wanted.as_str()).is_some_and(|rest| {
                (rest.is_empty() && semantics.has(Rule::SubpathItself))
                    || rest.starts_with('/')
                    || !(rest.is_empty() || semantics.has(Rule::SubpathBoundary))
            }),
            TextTest::Pattern(pattern) => pattern.is_match(text),
        }
    }

    fn folded(&self) -> Option<TextTest> {
        Some(match self {
            TextTest::Literal(text) => TextTest::Literal(text.to_lowercase()),
            TextTest::Prefix(text) => TextTest::Prefix(text.to_lowercase()),
            TextTest::Subpath(text) => TextTest::Subpath(text.to_lowercase()),
            TextTest::Pattern(pattern) => {
                TextTest::Pattern(Regex::new(&format!("(?i){}", pattern.as_str())).ok()?)
            }
        })
    }
}

/// The expression in the words of the regex library. What the two may read in
/// different ways is refused.
fn translate(source: &str) -> Result<String, Problem> {
    let outside = |what: &str| {
        Err(Problem::Outside(format!(
            "the regular expression {source}: {what}"
        )))
    };
    let mut out = String::from("(?s)");
    let letters: Vec<char> = source.chars().collect();
    let mut place = 0;
    while let Some(&letter) = letters.get(place) {
        let before = place.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(place + 1).copied();
        place += 1;
        match letter {
            '\\' => {
                match after {
                    Some(next) if !next.is_alphanumeric() => {
                        out.push('\\');
                        out.push(next);
                    }
                    _ => return outside("a backslash before a letter or at the end"),
                }
                place += 1;
            }
            '[' => place = class(&letters, place, &mut out, source)?,
            '^' if before.is_none() => out.push('^'),
            '^' if matches!(before, Some('(' | '|')) => return outside("a ^ inside of a group"),
            '^' => {
                let problem = "unexpected ^ operator in middle of expression";
                return Err(Problem::Refused(problem.to_owned()));
            }
            '$' if matches!(after, None | Some(')' | '|')) => out.push('$'),
            '$' => return outside("a $ that is not at the end"),
            '(' if after == Some('?') => {
                // With an anchor behind it a Mac refuses it, and says so of the anchor.
                if letters[place..].contains(&'^') {
                    let problem = "unexpected ^ operator in middle of expression";
                    return Err(Problem::Refused(problem.to_owned()));
                }
                return outside("a group that begins with ?");
            }
            '{' | '}' => return outside("a counted repetition"),
            '.' | '*' | '+' | '?' | '(' | ')' | '|' => out.push(letter),
            _ => out.push_str(&regex_lite::escape(letter.encode_utf8(&mut [0; 4]))),
        }
    }
    Ok(out)
}

/// A bracket expression; gives back the place behind it.
fn class(
    letters: &[char],
    mut place: usize,
    out: &mut String,
    source: &str,
) -> Result<usize, Problem> {
    let outside = |what: &str| Problem::Outside(format!("the regular expression {source}: {what}"));
    out.push('[');
    if letters.get(place) == Some(&'^') {
        out.push('^');
        place += 1;
    }
    let first = place;
    loop {
        let letter = *letters
            .get(place)
            .ok_or_else(|| outside("a bracket that is not closed"))?;
        place += 1;
        match letter {
            ']' if place > first + 1 => break,
            '[' if letters.get(place) == Some(&':') => return Err(outside("a named class")),
            '-' => out.push('-'),
            '\\' => {
                let next = *letters
                    .get(place)
                    .filter(|next| !next.is_alphanumeric())
                    .ok_or_else(|| outside("a backslash before a letter"))?;
                place += 1;
                out.push('\\');
                out.push(next);
            }
            _ if letter.is_alphanumeric() => out.push(letter),
            _ => out.push_str(&regex_lite::escape(letter.encode_utf8(&mut [0; 4]))),
        }
    }
    out.push(']');
    Ok(place)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        let test = TextTest::pattern(pattern).expect("a pattern");
        test.holds(text, Semantics::default())
    }

    #[rstest]
    #[case("^/dev/ttys[0-9]+$", "/dev/ttys001", true)]
    #[case("^/dev/ttys[0-9]+$", "/dev/ttysx", false)]
    #[case(r"\.env$", "/work/.env", true)]
    #[case(r"\.env$", "/work/xenv", false)]
    #[case("^/a/[^/]+/b$", "/a/x/b", true)]
    #[case("^/a/[^/]+/b$", "/a/x/y/b", false)]
    #[case("/(one|two)/", "/x/two/y", true)]
    #[case("^/a/[]x]$", "/a/]", true)]
    fn a_pattern_is_searched_in_the_text(
        #[case] pattern: &str,
        #[case] text: &str,
        #[case] wanted: bool,
    ) {
        assert_eq!(matches(pattern, text), wanted);
    }

    #[rstest]
    #[case("(?i)^/a", true)]
    #[case("/a^b", true)]
    #[case("(?:a)", false)]
    #[case(r"\d+", false)]
    #[case("a{2}", false)]
    #[case("a$b", false)]
    #[case("[[:alpha:]]", false)]
    #[case("[a", false)]
    fn what_can_be_read_in_two_ways_is_refused(#[case] pattern: &str, #[case] by_macos: bool) {
        let problem = TextTest::pattern(pattern).expect_err("a refusal");
        assert_eq!(problem.is_refused_by_macos(), by_macos, "{problem}");
    }
}
