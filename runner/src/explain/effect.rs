//! What a case looks for, in words.

use crate::corpus::expect::{Effect, HostFact, PathKind, TextMatch};

use super::{quoted, row};
use crate::report::harmless;

/// Each stated part of an effect, as a clause.
pub fn effect_words(effect: &Effect) -> Vec<String> {
    let mut words: Vec<String> = effect.host.iter().flat_map(fact_words).collect();
    if let Some(output) = &effect.output {
        words.push(format!("the command's output {}", text_words(output)));
    }
    for secret in &effect.reveals {
        words.push(format!(
            "the canary of the secret `{secret}` shows: in an output, a written file or at a listener"
        ));
    }
    for name in &effect.heard {
        words.push(format!("the service `{name}` of the host hears something"));
    }
    if let Some(text) = &effect.typed {
        words.push(format!(
            "{} waits in the input of the caller's terminal",
            quoted(text)
        ));
    }
    if effect.survives {
        words.push("a process of the command outlives the launcher".to_owned());
    }
    if let Some(status) = effect.exit {
        words.push(format!("the exit status is {status}"));
    }
    words
}

/// The parts of a fact of the host.
fn fact_words(fact: &HostFact) -> Vec<String> {
    let path = harmless(&fact.path);
    let mut words = Vec::new();
    if let Some(kind) = fact.is {
        let kind = match kind {
            PathKind::Absent => "is not there",
            PathKind::Present => "is there",
            PathKind::File => "is a file",
            PathKind::Directory => "is a directory",
            PathKind::Symlink => "is a symbolic link",
        };
        words.push(format!("{path} {kind}"));
    }
    if let Some(content) = &fact.content {
        words.push(format!("{path} holds exactly {}", quoted(content)));
    }
    if let Some(part) = &fact.contains {
        words.push(format!("{path} holds {}", quoted(part)));
    }
    if let Some(mode) = &fact.mode {
        words.push(format!("{path} has the mode {mode}"));
    }
    if let Some(target) = &fact.target {
        words.push(format!("{path} is a symbolic link to {}", harmless(target)));
    }
    match fact.changed {
        Some(true) => words.push(format!("{path} is no longer as it was made")),
        Some(false) => words.push(format!("{path} is still as it was made")),
        None => {}
    }
    words
}

/// What a text must be, as the end of a sentence.
pub(super) fn text_words(text: &TextMatch) -> String {
    let parts = match text {
        TextMatch::Equals(whole) => return format!("is exactly {}", quoted(whole)),
        TextMatch::Parts(parts) => parts,
    };
    let mut words = Vec::new();
    if let Some(line) = &parts.line {
        words.push(format!("has the line {}", quoted(line)));
    }
    if let Some(part) = &parts.contains {
        words.push(format!("contains {}", quoted(part)));
    }
    if let Some(part) = &parts.lacks {
        words.push(format!("does not contain {}", quoted(part)));
    }
    if let Some(pattern) = &parts.matches {
        words.push(format!("matches {}", quoted(pattern)));
    }
    row(&words)
}
