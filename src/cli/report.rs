//! One file of a run to send to someone: everything that tells how the run went, and
//! nothing that tells who ran it.

use std::path::{Path, PathBuf};

use perimeter::diagnosis::examine;
use perimeter_runner::report::results::{Footer, Header, TrialResult};
use serde_json::{Value, json};

use super::doctor;

/// The version of this file's format.
const FORMAT: u32 = 1;

/// A value of the environment that is shorter than this is not looked for: it would be
/// found in the middle of words.
const SHORTEST_SECRET: usize = 8;

/// What the names of variables hold whose values are nobody's business.
const SECRET_NAMES: [&str; 6] = ["AUTH", "CREDENTIAL", "KEY", "PASS", "SECRET", "TOKEN"];

/// The file: versions, what `doctor` says, and the results. Tokens of fixtures are random,
/// made for one run, and stay.
pub fn render(header: &Header, results: &[TrialResult], footer: &Footer) -> String {
    let report = json!({
        "report": FORMAT,
        "perimeter": env!("CARGO_PKG_VERSION"),
        "doctor": doctor::json(&examine(None)),
        "header": header,
        "results": results,
        "footer": footer,
    });
    format!("{:#}\n", Words::of_this_user().take_out(report))
}

/// What is taken out, and what stands in its place. Longer ones come first.
struct Words {
    replaced: Vec<(String, String)>,
    /// A name that is taken out only where it is a word of its own.
    user: Option<String>,
}

impl Words {
    fn of_this_user() -> Words {
        let user = nix::unistd::User::from_uid(nix::unistd::getuid())
            .ok()
            .flatten();
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let mut replaced = Vec::new();
        for home in user.iter().map(|user| &user.dir).chain(&home) {
            for home in [Some(home.clone()), home.canonicalize().ok()]
                .into_iter()
                .flatten()
                .filter(|home| home.is_absolute() && home.as_path() != Path::new("/"))
            {
                replaced.push((home.display().to_string(), "~".to_owned()));
            }
        }
        if let Ok(machine) = nix::sys::utsname::uname() {
            let name = machine.nodename().to_string_lossy().into_owned();
            if name.len() > 3 && name != "localhost" {
                replaced.push((name, "[machine]".to_owned()));
            }
        }
        for (name, value) in std::env::vars() {
            let name = name.to_uppercase();
            let secret = SECRET_NAMES.iter().any(|word| name.contains(word));
            if secret && value.len() >= SHORTEST_SECRET && !value.starts_with('/') {
                replaced.push((value, "[secret]".to_owned()));
            }
        }
        replaced.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        Words {
            replaced,
            // Every system has that one, and cases speak of it.
            user: user.map(|user| user.name).filter(|name| name != "root"),
        }
    }

    fn take_out(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(list) => list.into_iter().map(|value| self.take_out(value)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(name, value)| (self.text(name), self.take_out(value)))
                .collect(),
            other => other,
        }
    }

    fn text(&self, mut text: String) -> String {
        for (word, instead) in &self.replaced {
            if text.contains(word) {
                text = text.replace(word, instead);
            }
        }
        match &self.user {
            Some(user) if text.contains(user) => without_word(&text, user),
            _ => text,
        }
    }
}

/// The text without a word, where it is a whole one.
fn without_word(text: &str, word: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let is_part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        let whole = !is_part(before.chars().next_back()) && !is_part(after.chars().next());
        result.push_str(before);
        result.push_str(if whole { "[user]" } else { word });
        rest = after;
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_homes_are_taken_out_and_words_that_hold_them_stay() {
        let words = Words {
            replaced: vec![
                ("/home/ann/x".to_owned(), "~".to_owned()),
                ("sesame-open".to_owned(), "[secret]".to_owned()),
            ],
            user: Some("ann".to_owned()),
        };
        let value = json!({
            "/home/ann/x/file": ["an annex of ann, sesame-open", 7, null],
        });
        let expected = json!({ "~/file": ["an annex of [user], [secret]", 7, null] });
        assert_eq!(words.take_out(value), expected);
    }
}
