//! Words of a POSIX shell: the one place where a text is quoted.
//!
//! A text may hold *marks*, which stand for shell variables: what is known only
//! when a script runs. A mark is made by [`mark`], and every function here turns
//! it into the variable's expansion.

use std::fmt::Write as _;

use crate::report::acts;

/// What a mark begins and ends with: characters of Unicode's private use, which
/// mean nothing in any text.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

/// The name of the shell variable for a placeholder: `secret.key` is
/// `secret_key`.
pub fn variable(placeholder: &str) -> String {
    placeholder
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '_'
            }
        })
        .collect()
}

/// The mark of a placeholder's variable.
pub fn mark(placeholder: &str) -> String {
    format!("{OPEN}{}{CLOSE}", variable(placeholder))
}

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Variable(&'a str),
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let Some((name, after)) = after.split_once(CLOSE) else {
            break;
        };
        if !before.is_empty() {
            found.push(Piece::Text(before));
        }
        found.push(Piece::Variable(name));
        rest = after;
    }
    if !rest.is_empty() {
        found.push(Piece::Text(rest));
    }
    found
}

/// Whether a text has a mark.
pub fn has_mark(text: &str) -> bool {
    pieces(text)
        .iter()
        .any(|piece| matches!(piece, Piece::Variable(_)))
}

/// Whether nothing in a text means anything to a shell.
fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/._-+@:,%=".contains(&byte))
        && !text.starts_with(['%', '='])
        && !RESERVED.contains(&text)
}

/// Words that mean something by themselves where a command begins.
const RESERVED: [&str; 14] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for",
    "in", "function",
];

/// Whether a character can stand in a script as it is: it shows itself.
fn shows(letter: char) -> bool {
    letter == '\n' || letter == '\t' || !acts(letter)
}

/// A text as one word.
pub fn word(text: &str) -> String {
    let pieces = pieces(text);
    if !text.chars().all(shows) {
        // A substitution drops newlines at the end, so the last stays outside.
        let body = text.trim_end_matches('\n');
        let newlines = &text[body.len()..];
        return format!("\"$({}){newlines}\"", print(body));
    }
    match pieces.as_slice() {
        [] => "''".to_owned(),
        [Piece::Text(plain)] if is_plain(plain) => (*plain).to_owned(),
        [Piece::Text(plain)] if !plain.contains('\'') => format!("'{plain}'"),
        pieces => format!("\"{}\"", within_double_quotes(pieces)),
    }
}

/// A command that prints a text and nothing else, not even a newline.
pub fn print(text: &str) -> String {
    if text.chars().all(shows) {
        return match text.strip_suffix('\n') {
            Some(line) if !line.contains('\n') => format!("printf '%s\\n' {}", word(line)),
            _ => format!("printf %s {}", word(text)),
        };
    }
    let mut format = String::new();
    let mut arguments = String::new();
    for piece in pieces(text) {
        match piece {
            Piece::Variable(name) => {
                format.push_str("%s");
                let _ = write!(arguments, " \"${name}\"");
            }
            Piece::Text(text) => escape(text, &mut format),
        }
    }
    format!("printf '{format}'{arguments}")
}

/// A text in the format of printf(1), between single quotes.
fn escape(text: &str, format: &mut String) {
    for letter in text.chars() {
        match letter {
            '%' => format.push_str("%%"),
            '\\' => format.push_str("\\\\"),
            '\n' => format.push_str("\\n"),
            '\'' => format.push_str("\\047"),
            _ if shows(letter) => format.push(letter),
            _ => {
                let mut bytes = [0; 4];
                for byte in letter.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(format, "\\{byte:03o}");
                }
            }
        }
    }
}

/// A text as a here-document, from `<<` to its last line; none for a text that does
/// not end in a newline or does not show itself.
pub fn here_document(text: &str) -> Option<String> {
    if !text.ends_with('\n') || !text.chars().all(shows) {
        return None;
    }
    let end = ["END", "END_OF_FILE", "END_OF_THIS_FILE"]
        .into_iter()
        .find(|end| !text.lines().any(|line| line == *end))?;
    if !has_mark(text) {
        return Some(format!("<<'{end}'\n{text}{end}"));
    }
    let mut body = String::new();
    let pieces = pieces(text);
    for (place, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) => {
                for letter in text.chars() {
                    if matches!(letter, '\\' | '$' | '`') {
                        body.push('\\');
                    }
                    body.push(letter);
                }
            }
            Piece::Variable(name) => body.push_str(&expansion(name, pieces.get(place + 1))),
        }
    }
    Some(format!("<<{end}\n{body}{end}"))
}

/// A variable's expansion, in braces where a name would run on.
fn expansion(name: &str, next: Option<&Piece<'_>>) -> String {
    let runs_on = matches!(next, Some(Piece::Text(text))
        if text.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_'));
    if runs_on {
        format!("${{{name}}}")
    } else {
        format!("${name}")
    }
}

fn within_double_quotes(pieces: &[Piece<'_>]) -> String {
    let mut quoted = String::new();
    for (place, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) => {
                for letter in text.chars() {
                    if matches!(letter, '\\' | '"' | '$' | '`') {
                        quoted.push('\\');
                    }
                    quoted.push(letter);
                }
            }
            Piece::Variable(name) => {
                quoted.push_str(&expansion(name, pieces.get(place + 1)));
            }
        }
    }
    quoted
}

/// Words as a command line.
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(word).collect();
    words.join(" ")
}

/// A text for a person: marks as `$name`, and nothing that acts.
pub fn shown(text: &str) -> String {
    let mut shown = String::new();
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => shown.push_str(text),
            Piece::Variable(name) => {
                let _ = write!(shown, "${name}");
            }
        }
    }
    shown
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::process::Command;

    use rstest::rstest;

    use super::*;

    /// What a shell makes of a script, byte for byte.
    fn run(shell: &str, script: &str) -> Vec<u8> {
        let script = format!("place='/a  b'; {script}");
        let output = Command::new(shell).args(["-c", &script]).output().unwrap();
        assert!(output.status.success(), "{shell} -c {script}");
        output.stdout
    }

    #[rstest]
    #[case::plain("abc")]
    #[case::empty("")]
    #[case::spaces(" two  words ")]
    #[case::single_quote("it's")]
    #[case::both_quotes("it's \"so\"")]
    #[case::expansions("$HOME `id` $(id) \\$ \\ ! ~ * ? [a]")]
    #[case::newlines("one\n\ntwo\n\n")]
    #[case::leading_dash("-n")]
    #[case::assignment("A=b")]
    #[case::percent("%s %% 100%")]
    #[case::backslashes("a\\nb\\\\c\\")]
    #[case::controls("a\u{1b}[1m\rb\t")]
    #[case::invisible("a\u{202e}b\u{200b}\n")]
    #[case::unicode("ümlaut → 日本 €")]
    fn a_text_survives(#[case] text: &str, #[values("dash", "bash")] shell: &str) {
        // An `x` at the end keeps the newlines before it.
        let by_word = run(shell, &format!("printf '%sx' {}", word(text)));
        assert_eq!(String::from_utf8_lossy(&by_word), format!("{text}x"));
        let by_print = run(shell, &print(text));
        assert_eq!(String::from_utf8_lossy(&by_print), text);
    }

    #[rstest]
    #[case::alone("{}", "/a  b")]
    #[case::path("{}/x y", "/a  b/x y")]
    #[case::runs_on("{}name", "/a  bname")]
    #[case::twice("{}{}", "/a  b/a  b")]
    #[case::among_specials("'{}' $x \"", "'/a  b' $x \"")]
    #[case::with_a_control("\u{1b}{}%", "\u{1b}/a  b%")]
    fn a_mark_is_what_the_variable_is(
        #[case] template: &str,
        #[case] expected: &str,
        #[values("dash", "bash")] shell: &str,
    ) {
        let text = template.replace("{}", &mark("place"));
        let printed = run(shell, &format!("printf %s {}", word(&text)));
        assert_eq!(String::from_utf8_lossy(&printed), expected);
        let printed = run(shell, &print(&text));
        assert_eq!(String::from_utf8_lossy(&printed), expected);
    }

    #[rstest]
    #[case::plain("one\ntwo\n", "one\ntwo\n")]
    #[case::specials("a $b `c` \\d \"e\" 'f'\n", "a $b `c` \\d \"e\" 'f'\n")]
    #[case::mark("in {}x\n$y\\\n", "in /a  bx\n$y\\\n")]
    #[case::its_own_end("END\n{}\n", "END\n/a  b\n")]
    fn a_here_document_is_the_text(
        #[case] template: &str,
        #[case] expected: &str,
        #[values("dash", "bash")] shell: &str,
    ) {
        let document = here_document(&template.replace("{}", &mark("place"))).unwrap();
        let printed = run(shell, &format!("cat {document}\n"));
        assert_eq!(String::from_utf8_lossy(&printed), expected);
    }

    #[test]
    fn a_zero_byte_can_be_printed() {
        assert_eq!(run("dash", &print("a\0b")), b"a\0b");
    }

    #[test]
    fn what_needs_no_quotes_has_none() {
        assert_eq!(
            command_line(["--bind", "/usr", "a b", "it's"]),
            "--bind /usr 'a b' \"it's\""
        );
        assert_eq!(word(&mark("secret.key")), "\"$secret_key\"");
        assert_eq!(shown(&format!("{}/new", mark("outside"))), "$outside/new");
    }
}
