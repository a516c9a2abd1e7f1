//! A launcher as small as one can be: bubblewrap with the host read-only, a /tmp and processes
//! of its own, and the directories that are named writable. Its tests show how the authors of
//! any launcher run the conformance corpus under `cargo test`.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

const USAGE: &str = "usage: boxed [--writable DIRECTORY]... [--offline] -- COMMAND...";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let mut bubblewrap = Command::new("bwrap");
    bubblewrap.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    bubblewrap.args(["--tmpfs", "/tmp"]);
    bubblewrap.args(["--unshare-pid", "--unshare-ipc", "--die-with-parent"]);
    loop {
        match arguments.next() {
            Some(word) if word == "--writable" => {
                let Some(directory) = arguments.next() else {
                    return refuse("--writable names no directory");
                };
                // bubblewrap mounts on no link, so what the name leads to is granted.
                match std::fs::canonicalize(&directory) {
                    Ok(real) => bubblewrap.arg("--bind").args([&real, &real]),
                    Err(error) => {
                        return refuse(&format!("{}: {error}", directory.to_string_lossy()));
                    }
                };
            }
            Some(word) if word == "--offline" => {
                bubblewrap.arg("--unshare-net");
            }
            Some(word) if word == "--" => break,
            _ => return refuse(USAGE),
        }
    }
    let command: Vec<OsString> = arguments.collect();
    if command.is_empty() {
        return refuse(USAGE);
    }
    // The first process of the sandbox holds this open for as long as it lives, which is
    // a moment longer than bubblewrap itself does.
    let Ok((lives, held)) = nix::unistd::pipe() else {
        return refuse("no pipe can be made");
    };
    // The other end is ours alone.
    if fcntl(&lives, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).is_err() {
        return refuse("no pipe can be made");
    }
    bubblewrap.args(["--sync-fd", &held.as_raw_fd().to_string()]);
    // Not exec(3): bubblewrap dies with the thread that started it, and the caller's may
    // end before the caller does.
    match bubblewrap.arg("--").args(command).status() {
        Ok(status) => {
            drop(held);
            // Nobody writes: this is the wait for the end.
            let _ = std::io::copy(&mut File::from(lives), &mut std::io::sink());
            ExitCode::from(status_of(status))
        }
        Err(error) => refuse(&format!("bwrap: {error}; install bubblewrap")),
    }
}

/// An exit status as a shell shows it.
fn status_of(status: ExitStatus) -> u8 {
    let number = status.code().or(status.signal().map(|signal| 128 + signal));
    number
        .and_then(|number| u8::try_from(number).ok())
        .unwrap_or(125)
}

/// Nothing was started.
fn refuse(reason: &str) -> ExitCode {
    eprintln!("boxed: {reason}");
    ExitCode::from(125)
}
