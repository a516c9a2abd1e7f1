//! A case in plain words: what the host holds, what is looked for, and what each
//! verdict would mean.

mod effect;
mod fixture;
mod meaning;
mod steps;

use crate::report::harmless;

pub use effect::effect_words;
pub use fixture::fixture_words;
pub use meaning::{Meaning, meanings};
pub use steps::{action_words, stream_words};

/// A text as a sentence shows it: quoted, with what does not show itself escaped.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", harmless(&escaped))
}

/// Words in a row: `a`, `a and b`, `a, b and c`.
fn row(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
