//! What the process is given, and what it can do to others.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::str::FromStr;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Failure, Outcome, calls, denied, say};

/// `attach-shared-memory ID`.
pub(super) fn attach_shared_memory(arguments: &[&str]) -> Outcome {
    let bytes = calls::shared_memory(number(arguments[0])?).map_err(denied("shmat"))?;
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    say(String::from_utf8_lossy(text).trim_end())
}

/// `signal PID SIGNAL`.
pub(super) fn signal(arguments: &[&str]) -> Outcome {
    let name = arguments[1].trim_start_matches("SIG");
    let signal = Signal::from_str(&format!("SIG{name}"))
        .map_err(|_| Failure::Usage(format!("unknown signal {name:?}")))?;
    kill(Pid::from_raw(number(arguments[0])?), signal).map_err(denied("kill"))?;
    say("sent")
}

/// `open-write PATH`. A named pipe without a reader would hold an open that
/// may block.
pub(super) fn open_write(arguments: &[&str]) -> Outcome {
    let opened = OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(arguments[0]);
    opened.map_err(denied("open"))?;
    say("opened")
}

/// `map-write PATH TEXT`: by a shared mapping, which writes without write(2).
/// Where the file cannot be opened for writing, a mapping of one opened for
/// reading is tried.
pub(super) fn map_write(arguments: &[&str]) -> Outcome {
    let open = |write| {
        OpenOptions::new()
            .read(true)
            .write(write)
            .open(arguments[0])
    };
    let file = open(true)
        .or_else(|_| open(false))
        .map_err(denied("open"))?;
    calls::map_write(&file, arguments[1].as_bytes()).map_err(denied("mmap"))?;
    say("written")
}

/// `descriptors`, without /proc, which need not be there.
pub(super) fn descriptors(_: &[&str]) -> Outcome {
    let limit = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE)
        .map_or(1024, |(soft, _)| soft);
    // A descriptor can stay above a limit that was lowered; nobody has so many.
    let limit = i32::try_from(limit.clamp(4096, 65536)).unwrap_or(4096);
    (3..limit)
        .filter(|descriptor| calls::is_open(*descriptor))
        .try_for_each(say)
}

/// `signals`.
pub(super) fn signals(_: &[&str]) -> Outcome {
    say_signals("ignored", calls::is_ignored)?;
    say_signals("blocked", calls::is_blocked)
}

fn say_signals(state: &str, holds: fn(i32) -> bool) -> Outcome {
    let mut signals = Signal::iterator()
        .filter(|signal| holds(*signal as i32))
        .peekable();
    if signals.peek().is_none() {
        return say(format_args!("{state} none"));
    }
    signals.into_iter().try_for_each(|signal| {
        let name = signal.as_str().trim_start_matches("SIG");
        say(format_args!("{state} {name}"))
    })
}

/// `interfaces`.
pub(super) fn interfaces(_: &[&str]) -> Outcome {
    let interfaces = nix::net::if_::if_nameindex().map_err(denied("if_nameindex"))?;
    let mut names: Vec<String> = interfaces
        .iter()
        .map(|interface| interface.name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names.iter().try_for_each(say)
}

/// `daemonize COMMAND...`, by the steps of daemon(7).
pub(super) fn daemonize(arguments: &[&str]) -> Outcome {
    if !calls::fork().map_err(denied("fork"))? {
        return say("daemonized");
    }
    let stopped = nix::unistd::setsid().is_err() || !matches!(calls::fork(), Ok(true));
    if stopped {
        std::process::exit(0);
    }
    calls::close_all();
    // They get the numbers 0 to 2, being the lowest.
    let opened: Vec<_> = (0..3)
        .filter_map(|_| {
            OpenOptions::new()
                .read(true)
                .write(true)
                .open("/dev/null")
                .ok()
        })
        .collect();
    for file in &opened {
        let _ = nix::fcntl::fcntl(
            file,
            nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty()),
        );
    }
    debug_assert!(opened.iter().all(|file| file.as_raw_fd() < 3));
    let error = Command::new(arguments[0]).args(&arguments[1..]).exec();
    Err(Failure::Denied("exec", error))
}

/// A number of an argument.
pub(super) fn number(text: &str) -> Result<i32, Failure> {
    text.parse()
        .map_err(|_| Failure::Usage(format!("{text:?} is no number")))
}
