//! Whether what a case speaks of is there.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::fcntl::{AT_FDCWD, OFlag};

use crate::corpus::expect::{Effect, HostFact, PathKind};

use super::observation::{LaunchObservation, Leak, Leftover, Part};
use super::read::open_quietly;
use super::snapshot::Snapshot;
use super::text::{is_whole, shorten};

/// How much of a file is read to compare it with a text of a case.
const READ: u64 = 1 << 20;

/// What an effect is looked for in.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// The last launch.
    pub last: Option<&'a LaunchObservation>,
    /// Every canary that showed, allowed or not.
    pub leaks: &'a [Leak],
    /// What sockets and listeners of a name have heard.
    pub heard: &'a dyn Fn(&str) -> Vec<u8>,
    /// What waits in the input queue of the caller's terminal.
    pub typed: &'a str,
    /// Processes that outlived the launcher.
    pub leftovers: &'a [Leftover],
    /// The whole fixture as it was made; nothing excepted.
    pub before: &'a Snapshot,
    /// The whole fixture after the last step; nothing excepted.
    pub after: &'a Snapshot,
}

/// Each stated part of an effect, and whether it is there. Paths and texts have
/// their placeholders expanded.
pub fn evaluate(effect: &Effect, world: &World<'_>) -> Vec<Part> {
    let mut parts: Vec<Part> = effect
        .host
        .iter()
        .flat_map(|fact| host_fact(fact, world))
        .collect();
    if let Some(wanted) = &effect.output {
        let output = world.last.map(|launch| launch.output.as_str());
        parts.push(Part {
            what: "the command's output is as stated".to_owned(),
            holds: output.is_some_and(|output| wanted.mismatch(output).is_none()),
            seen: output.map_or_else(
                || "no launch".to_owned(),
                |output| wanted.mismatch(output).unwrap_or_else(|| shorten(output)),
            ),
        });
    }
    for secret in &effect.reveals {
        let places: Vec<&str> = world
            .leaks
            .iter()
            .filter(|leak| leak.secret == *secret)
            .map(|leak| leak.place.as_str())
            .collect();
        parts.push(Part {
            what: format!("the secret {secret} shows"),
            holds: !places.is_empty(),
            seen: if places.is_empty() {
                "nowhere".to_owned()
            } else {
                format!("in {}", places.join(", "))
            },
        });
    }
    for name in &effect.heard {
        let heard = (world.heard)(name);
        parts.push(Part {
            what: format!("{name} hears something"),
            holds: !heard.is_empty(),
            seen: shorten(&String::from_utf8_lossy(&heard)),
        });
    }
    if let Some(text) = &effect.typed {
        parts.push(Part {
            what: format!("{text:?} waits in the terminal's input"),
            holds: world.typed.contains(text.as_str()),
            seen: shorten(world.typed),
        });
    }
    if effect.survives {
        let seen: Vec<String> = world
            .leftovers
            .iter()
            .map(|leftover| format!("{} {}", leftover.pid, leftover.command_line))
            .collect();
        parts.push(Part {
            what: "a process of the command outlives the launcher".to_owned(),
            holds: !seen.is_empty(),
            seen: if seen.is_empty() {
                "none".to_owned()
            } else {
                seen.join(", ")
            },
        });
    }
    if let Some(status) = effect.exit {
        let ending = world.last.map(|launch| launch.ending);
        let seen = ending.and_then(|ending| ending.shell_status());
        parts.push(Part {
            what: format!("the exit status is {status}"),
            holds: seen == Some(status),
            seen: match (ending, seen) {
                (None, _) => "no launch".to_owned(),
                (Some(_), Some(seen)) => seen.to_string(),
                (Some(ending), None) => format!("{ending:?}"),
            },
        });
    }
    for part in &mut parts {
        cut(&mut part.seen);
    }
    parts
}

/// The parts of a fact of the host.
fn host_fact(fact: &HostFact, world: &World<'_>) -> Vec<Part> {
    let path = Path::new(&fact.path);
    let shown = &fact.path;
    let found = std::fs::symlink_metadata(path);
    let mut parts = Vec::new();
    if let Some(kind) = fact.is {
        parts.push(Part {
            what: format!("{shown} is {}", kind_words(kind)),
            holds: is_kind(&found, kind),
            seen: found_words(&found),
        });
    }
    if fact.content.is_some() || fact.contains.is_some() {
        let text = read_text(path, &found);
        let seen = match &text {
            Ok(text) => shorten(text),
            Err(words) => words.clone(),
        };
        let text = text.as_deref();
        if let Some(whole) = &fact.content {
            parts.push(Part {
                what: format!("{shown} holds exactly {}", shorten(whole)),
                holds: text.is_ok_and(|text| is_whole(whole, text)),
                seen: seen.clone(),
            });
        }
        if let Some(part) = &fact.contains {
            parts.push(Part {
                what: format!("{shown} holds {}", shorten(part)),
                holds: text.is_ok_and(|text| text.contains(part.as_str())),
                seen,
            });
        }
    }
    if let Some(mode) = &fact.mode {
        let wanted = u32::from_str_radix(mode, 8).ok();
        let seen = found
            .as_ref()
            .ok()
            .map(|found| found.permissions().mode() & 0o7777);
        parts.push(Part {
            what: format!("{shown} has the mode {mode}"),
            holds: wanted.is_some() && wanted == seen,
            seen: seen.map_or_else(|| found_words(&found), |seen| format!("{seen:04o}")),
        });
    }
    if let Some(target) = &fact.target {
        let seen = std::fs::read_link(path);
        parts.push(Part {
            what: format!("{shown} is a symbolic link to {target}"),
            holds: seen.as_deref().is_ok_and(|seen| seen == Path::new(target)),
            seen: seen.map_or_else(|_| found_words(&found), |seen| seen.display().to_string()),
        });
    }
    if let Some(changed) = fact.changed {
        parts.push(changed_part(path, shown, changed, world));
    }
    parts
}

fn changed_part(path: &Path, shown: &str, changed: bool, world: &World<'_>) -> Part {
    let state = if changed { "is no longer" } else { "is still" };
    let what = format!("{shown} {state} as the fixture made it");
    if !world.before.covers(path) {
        return Part {
            what,
            holds: false,
            seen: "it is not in the fixture".to_owned(),
        };
    }
    let difference = world.before.difference_at(world.after, path);
    Part {
        what,
        holds: difference.is_some() == changed,
        seen: difference.unwrap_or_else(|| "nothing changed".to_owned()),
    }
}

fn kind_words(kind: PathKind) -> &'static str {
    match kind {
        PathKind::Absent => "absent",
        PathKind::Present => "present",
        PathKind::File => "a file",
        PathKind::Directory => "a directory",
        PathKind::Symlink => "a symbolic link",
    }
}

fn is_kind(found: &io::Result<Metadata>, kind: PathKind) -> bool {
    match (found, kind) {
        (Ok(_), PathKind::Present) => true,
        (Ok(found), PathKind::File) => found.is_file(),
        (Ok(found), PathKind::Directory) => found.is_dir(),
        (Ok(found), PathKind::Symlink) => found.is_symlink(),
        // Only what is surely not there is absent: another error proves nothing.
        (Err(error), PathKind::Absent) => matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        ),
        _ => false,
    }
}

fn found_words(found: &io::Result<Metadata>) -> String {
    match found {
        Ok(found) if found.is_file() => "a file".to_owned(),
        Ok(found) if found.is_dir() => "a directory".to_owned(),
        Ok(found) if found.is_symlink() => "a symbolic link".to_owned(),
        Ok(_) => "something else".to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "absent".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// What a regular file holds, or in words why that cannot be said.
fn read_text(path: &Path, found: &io::Result<Metadata>) -> Result<String, String> {
    match found {
        Ok(metadata) if metadata.is_file() => {}
        _ => return Err(found_words(found)),
    }
    let read = || {
        let file = open_quietly(AT_FDCWD, path, OFlag::empty())?;
        let mut buffer = Vec::new();
        File::from(file).take(READ).read_to_end(&mut buffer)?;
        Ok::<_, io::Error>(buffer)
    };
    match read() {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Keeps what a part shows short.
fn cut(seen: &mut String) {
    if let Some((end, _)) = seen.char_indices().nth(260) {
        seen.truncate(end);
        seen.push('…');
    }
}
