//! What a launcher says of its version.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::file::LauncherFile;
use super::program;
use crate::launch::ExitWatch;

/// How long it may take: a program that starts a virtual machine first takes a second.
const LIMIT: Duration = Duration::from_secs(10);
/// As much as is looked at for one line.
const LONGEST: usize = 4096;

/// The first line that a launcher prints when it is asked. Nothing, where it has not
/// ended by then: it is killed, and what was started with it.
pub fn version(file: &LauncherFile, perimeter: &Path) -> Option<String> {
    let program = file.programs.first().and_then(|name| program::find(name));
    let words: Vec<PathBuf> = file
        .version
        .iter()
        .map(|word| match word.as_str() {
            "{perimeter}" => perimeter.to_owned(),
            "{program}" => program.clone().unwrap_or_default(),
            word => PathBuf::from(word),
        })
        .collect();
    let (first, rest) = words.split_first()?;
    ask(Command::new(first).args(rest), LIMIT)
}

fn ask(command: &mut Command, limit: Duration) -> Option<String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .ok()?;
    let group = i32::try_from(child.id()).ok()?;
    let ended = ExitWatch::new(group).is_ok_and(|watch| watch.wait(limit));
    // Before its leader is waited for, nobody else has the group's number.
    let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    let output = child.stdout.take();
    let _ = child.wait();
    let mut output = output.filter(|_| ended)?;
    // Something that it left behind may still hold the other end.
    fcntl(&output, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).ok()?;
    let mut text = vec![0; LONGEST];
    let length = output.read(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text[..length]);
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str, limit: Duration) -> Option<String> {
        ask(Command::new("sh").args(["-c", line]), limit)
    }

    #[test]
    fn the_first_line_is_the_version() {
        let long = Duration::from_secs(60);
        assert_eq!(
            asked("echo ' one 1.0'; echo two", long).as_deref(),
            Some("one 1.0")
        );
        assert_eq!(asked("exit 1", long), None);
    }

    #[test]
    fn one_that_hangs_says_nothing() {
        let short = Duration::from_millis(50);
        assert_eq!(
            asked("echo early; while :; do sleep 1000; done", short),
            None
        );
    }

    #[test]
    fn what_is_left_behind_is_not_waited_for() {
        let line = "echo one; trap '' TERM; sleep 1000 & exit 0";
        assert_eq!(asked(line, Duration::from_secs(60)).as_deref(), Some("one"));
    }
}
