//! What a bubblewrap can do, told without starting it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::BubblewrapError;

/// Options that every launch uses. 0.6.1 has them all.
const NEEDED: [&str; 6] = [
    "--json-status-fd",
    "--block-fd",
    "--args",
    "--cap-drop",
    "--perms",
    "--die-with-parent",
];

/// The options of a bubblewrap that not every version has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features {
    /// `--bind-fd` and `--ro-bind-fd`: 0.10, and older ones of distributions that
    /// took over the mend of CVE-2024-42472. Without it, a path that is swapped
    /// between the check and the mount goes unnoticed.
    pub bind_descriptor: bool,
    /// `--disable-userns`: 0.8.
    pub disable_user_namespaces: bool,
}

impl Features {
    /// Those of the program at a path.
    ///
    /// The names of the options stand in the program, so reading it tells what it
    /// can do; starting it would cost as much as a whole sandbox. A program that
    /// cannot be read, or does not hold them (a wrapper that gains privileges), is
    /// asked for its help.
    ///
    /// # Errors
    /// [`BubblewrapError::Imposter`] where it is another program, or a script, which
    /// could do with its arguments what it likes; [`BubblewrapError::TooOld`].
    pub fn of(path: &Path) -> Result<Features, BubblewrapError> {
        let imposter = |reason| BubblewrapError::Imposter {
            path: path.to_owned(),
            reason,
        };
        let content = fs::read(path).unwrap_or_default();
        if content.starts_with(b"#!") {
            return Err(imposter("it is a script"));
        }
        let features = match Found::in_text(&content) {
            found if found.needed[0] => found,
            _ => {
                let output = Command::new(path)
                    .arg("--help")
                    .env_clear()
                    .stdin(Stdio::null())
                    .output()
                    .map_err(|source| BubblewrapError::Unusable {
                        path: path.to_owned(),
                        source,
                    })?;
                // Releases differ in which of the two they write to.
                Found::in_text(&[output.stdout, output.stderr].concat())
            }
        };
        if features.needed.iter().all(|found| !found) {
            return Err(imposter("it has none of its options"));
        }
        match features.needed.iter().position(|found| !found) {
            Some(index) => Err(BubblewrapError::TooOld {
                path: path.to_owned(),
                option: NEEDED[index],
            }),
            None => Ok(features.features),
        }
    }
}

#[derive(Default)]
struct Found {
    needed: [bool; NEEDED.len()],
    features: Features,
}

impl Found {
    /// Looks for option names that end where a C string or a word of the help does.
    fn in_text(text: &[u8]) -> Found {
        let mut found = Found::default();
        let mut at = 0;
        while let Some(start) = next_option(text, at) {
            let length = text[start..]
                .iter()
                .position(|byte| !(byte.is_ascii_lowercase() || *byte == b'-'))
                .unwrap_or(text.len() - start);
            at = start + length;
            found.add(&text[start..at]);
        }
        found
    }

    fn add(&mut self, option: &[u8]) {
        if let Some(index) = NEEDED.iter().position(|name| name.as_bytes() == option) {
            self.needed[index] = true;
        }
        match option {
            b"--bind-fd" => self.features.bind_descriptor = true,
            b"--disable-userns" => self.features.disable_user_namespaces = true,
            _ => {}
        }
    }
}

/// Where the next two dashes are. A program is mostly other bytes, so it is looked
/// through in pieces, which the standard library searches a word at a time.
fn next_option(text: &[u8], from: usize) -> Option<usize> {
    const PIECE: usize = 128;
    let mut start = from;
    while start < text.len() {
        let piece = &text[start..text.len().min(start + PIECE)];
        if piece.contains(&b'-') {
            for at in start..start + piece.len() {
                if text[at..].starts_with(b"--") {
                    return Some(at);
                }
            }
        }
        start += piece.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_whole_words_wherever_they_stand() {
        let mut text = vec![0; 127];
        text.extend_from_slice(b"--bind-fd\0--args-more\0x--disable-userns FD\0-\0--args");
        let found = Found::in_text(&text);
        assert!(found.features.bind_descriptor && found.features.disable_user_namespaces);
        assert_eq!(found.needed, [false, false, true, false, false, false]);
    }
}
