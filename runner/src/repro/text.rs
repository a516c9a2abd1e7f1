//! The text of a script while it is written.

use std::fmt::Write as _;

use crate::report::{harmless, wrapped};
use crate::shell;

/// The width of comments.
const WIDTH: usize = 78;

/// A script while it is written.
#[derive(Debug, Default)]
pub(super) struct Script {
    text: String,
}

impl Script {
    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(super) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// One of the fixed pieces, and a blank line.
    pub(super) fn part(&mut self, part: &str) {
        self.text.push_str(part);
        self.blank();
    }

    /// Prose as a comment; marks are shown as the variables that they are.
    pub(super) fn comment(&mut self, indent: &str, text: &str) {
        self.comment_behind(indent, "", text);
    }

    /// The same behind a word that begins the first line, and indents the others.
    pub(super) fn comment_behind(&mut self, indent: &str, lead: &str, text: &str) {
        let text = shell::shown(text);
        let rest = " ".repeat(lead.chars().count());
        let room = WIDTH.saturating_sub(indent.len() + 2 + rest.len());
        for (place, line) in wrapped(&harmless(&text), room).iter().enumerate() {
            let lead = if place == 0 { lead } else { &rest };
            let line = format!("{indent}# {lead}{line}");
            self.line(line.trim_end());
        }
    }

    /// Makes a file of the tools.
    pub(super) fn file(&mut self, name: &str, text: &str) {
        self.line(&write(text, &format!("\"$tools/{name}\"")));
    }

    /// Adds to a file of the tools that is there already.
    pub(super) fn append_file(&mut self, name: &str, text: &str) {
        let command = write(text, &format!(">\"$tools/{name}\""));
        self.line(&command);
    }
}

/// A command that writes a text into a file, whose name is a shell word.
pub(super) fn write(text: &str, target: &str) -> String {
    if text.is_empty() {
        return format!(": >{target}");
    }
    match shell::here_document(text) {
        Some(document) if text.matches('\n').count() > 1 => format!("cat >{target} {document}"),
        _ => format!("{} >{target}", shell::print(text)),
    }
}

/// Words of a command as lines that go on: an option with its values on each.
pub(super) fn command(indent: &str, groups: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (place, group) in groups.iter().enumerate() {
        let line = shell::command_line(group.iter().map(String::as_str));
        if place == 0 {
            let _ = write!(text, "{indent}{line}");
        } else {
            let _ = write!(text, " \\\n{indent}    {line}");
        }
    }
    text
}

/// Groups words: each option begins a line.
pub(super) fn grouped(words: &[String]) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    for word in words {
        match groups.last_mut() {
            Some(group) if !word.starts_with("--") || group == &["--perms".to_owned()] => {
                group.push(word.clone());
            }
            Some(group) if group.len() == 2 && group[0] == "--perms" => group.push(word.clone()),
            _ => groups.push(vec![word.clone()]),
        }
    }
    groups
}
