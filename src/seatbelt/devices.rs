//! Devices: the harmless ones, and terminals.
//!
//! Document 004 lets everything in /dev be read: as user 0 that is the disks and every
//! other user's terminal.

use std::path::Path;

use super::SeatbeltError;
use super::text::{Action, Text, beneath, literal};

/// Readable.
const READABLE: [&str; 3] = ["/dev/autofs_nowait", "/dev/random", "/dev/urandom"];

/// Readable and writable. dtracehelper is asked by every program that starts, and is
/// noise in the log where it is denied (Nix).
const WRITABLE: [&str; 3] = ["/dev/dtracehelper", "/dev/null", "/dev/zero"];

/// The names of the standard streams, links into /dev/fd.
const STREAMS: [&str; 3] = ["/dev/stderr", "/dev/stdin", "/dev/stdout"];

/// Terminals, in the compiler's own dialect: no groups with options.
const TERMINALS: &str = "(regex #\"^/dev/ttys[0-9]+\")";

/// TIOCSTI of `sys/ttycom.h`: types into a terminal for whoever reads it next. h5i
/// denies it by the same number.
const PUSH_INPUT: &str = "(ioctl-command #x80017472)";

pub(super) fn add(text: &mut Text, terminal: bool) -> Result<(), SeatbeltError> {
    let literals = |paths: &[&str]| -> Result<Vec<String>, SeatbeltError> {
        paths.iter().map(|path| literal(Path::new(path))).collect()
    };
    text.section("Devices that hold nothing.");
    text.rule(Action::Allow, &["file-read*"], &literals(&READABLE)?);
    let mut writable = literals(&WRITABLE)?;
    writable.extend(beneath(Path::new("/dev/fd"))?);
    writable.extend(literals(&STREAMS)?);
    text.rule(Action::Allow, &["file-read*", "file-write*"], &writable);
    text.rule(
        Action::Allow,
        &["file-ioctl"],
        &literals(&["/dev/dtracehelper"])?,
    );

    text.section(
        "Terminals that the command makes for itself (script, expect, a test of a \
         terminal). One that the sandbox made has the mark of it; another user's or \
         another window's has not.",
    );
    text.line("(allow pseudo-tty)");
    let mut making = vec!["file-read*", "file-write*", "file-ioctl"];
    text.rule(Action::Allow, &making, &literals(&["/dev/ptmx"])?);
    making.pop();
    let own = format!("(require-all {TERMINALS} (extension \"com.apple.sandbox.pty\"))");
    text.rule(Action::Allow, &making, &[own]);
    if terminal {
        text.comment("The one that it was given.");
        text.rule(Action::Allow, &making, &literals(&["/dev/tty"])?);
    }
    text.comment(
        "Looking and setting how a terminal behaves that it was given as a stream; never \
         typing into it.",
    );
    let mut asked = vec![TERMINALS.to_owned()];
    asked.extend(literals(&["/dev/tty"])?);
    text.rule(Action::Allow, &["file-ioctl"], &asked);
    text.rule(Action::Deny, &["file-ioctl"], &[PUSH_INPUT.to_owned()]);
    Ok(())
}
