//! The terminal: what the command can do to its caller's.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsRawFd;

use super::{Failure, Outcome, calls, denied, say};

/// `push-input TEXT`.
pub(super) fn push_input(arguments: &[&str]) -> Outcome {
    push(arguments[0], false)
}

/// `push-input-high-bits TEXT`.
pub(super) fn push_input_high_bits(arguments: &[&str]) -> Outcome {
    push(arguments[0], true)
}

/// By each standard stream, and by the controlling terminal's own name: the
/// first that takes it. When none does, the last error counts.
fn push(text: &str, high_bits: bool) -> Outcome {
    let named = File::open("/dev/tty");
    let streams = [0, 1, 2].into_iter();
    let all = streams.chain(named.as_ref().ok().map(AsRawFd::as_raw_fd));
    let mut error = None;
    for terminal in all {
        let pushed = text
            .bytes()
            .try_for_each(|byte| calls::push_byte(terminal, byte, high_bits));
        match pushed {
            Ok(()) => return say("pushed"),
            Err(why) => error = Some(why),
        }
    }
    let error = error.unwrap_or_else(|| io::ErrorKind::NotFound.into());
    Err(Failure::Denied("ioctl TIOCSTI", error))
}

/// `steal-terminal`: in a child, for only who leads no process group can begin
/// a session (setsid(2)).
pub(super) fn steal(_: &[&str]) -> Outcome {
    if !calls::fork().map_err(denied("fork"))? {
        return match nix::sys::wait::wait() {
            Ok(nix::sys::wait::WaitStatus::Exited(_, status)) => std::process::exit(status),
            _ => Err(Failure::Denied("wait", io::ErrorKind::Other.into())),
        };
    }
    nix::unistd::setsid().map_err(denied("setsid"))?;
    calls::take_terminal(0).map_err(denied("ioctl TIOCSCTTY"))?;
    say("stolen")
}

/// `isatty`.
pub(super) fn is_terminal(_: &[&str]) -> Outcome {
    let word = |yes| if yes { "yes" } else { "no" };
    say(format_args!("input {}", word(io::stdin().is_terminal())))?;
    say(format_args!("output {}", word(io::stdout().is_terminal())))?;
    say(format_args!("errors {}", word(io::stderr().is_terminal())))?;
    let controlling = File::open("/dev/tty").is_ok();
    say(format_args!("controlling {}", word(controlling)))
}

/// `wait-line`.
pub(super) fn wait_line(_: &[&str]) -> Outcome {
    say("waiting")?;
    let mut line = String::new();
    match io::stdin().read_line(&mut line).map_err(denied("read"))? {
        0 => Err(Failure::Denied("read", io::ErrorKind::UnexpectedEof.into())),
        _ => say(line.trim_end_matches('\n')),
    }
}
