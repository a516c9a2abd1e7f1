//! Many file operations in one process: each is tried, and each says in a line
//! what came of it, whatever became of those before it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nix::fcntl::AT_FDCWD;
use nix::sys::stat::{Mode, UtimensatFlags, umask, utimensat};
use nix::sys::time::TimeSpec;

use super::socket::HELLO;
use super::{Failure, Outcome, say};

/// What stands between two operations.
const SEPARATOR: &str = ";";
/// The word before an operation whose path is opened first, and then used by the
/// name that its descriptor has in /proc.
const BY_DESCRIPTOR: &str = "by-descriptor";
/// The time that `times` sets, in seconds since 1970.
pub(crate) const MODIFIED: i64 = 1_000_000_000;

/// `sequence OPERATION ; OPERATION ; ...`.
pub(super) fn sequence(arguments: &[&str]) -> Outcome {
    // Modes of what is made are the same everywhere.
    umask(Mode::S_IWGRP | Mode::S_IWOTH);
    for (number, words) in arguments.split(|word| *word == SEPARATOR).enumerate() {
        match attempt(words)? {
            Ok(detail) if detail.is_empty() => say(format_args!("{number} ok"))?,
            Ok(detail) => say(format_args!("{number} ok {detail}"))?,
            Err(error) => say(format_args!("{number} no {}", name(&error)))?,
        }
    }
    Ok(())
}

fn name(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => format!("{:?}", nix::errno::Errno::from_raw(number)),
        None => error.to_string(),
    }
}

/// One operation: what it shows, or why it failed.
fn attempt(words: &[&str]) -> Result<io::Result<String>, Failure> {
    if let [first, rest @ ..] = words {
        if *first == BY_DESCRIPTOR {
            let [call, path, more @ ..] = rest else {
                return Err(misused(words));
            };
            let opened = OpenOptions::new()
                .read(true)
                .custom_flags(path_only())
                .open(located(path));
            return match opened {
                Ok(file) => {
                    let spelled = format!("/proc/self/fd/{}", file.as_raw_fd());
                    let mut words = vec![*call, spelled.as_str()];
                    words.extend(more);
                    run(&words)
                }
                Err(error) => Ok(Err(error)),
            };
        }
    }
    run(words)
}

/// The flag by which a path is held without a right to what it holds (open(2)).
fn path_only() -> i32 {
    #[cfg(target_os = "linux")]
    return libc::O_PATH;
    #[cfg(not(target_os = "linux"))]
    0
}

fn misused(words: &[&str]) -> Failure {
    Failure::Usage(format!("no operation {}", words.join(" ")))
}

fn run(words: &[&str]) -> Result<io::Result<String>, Failure> {
    let nothing = |result: io::Result<()>| result.map(|()| String::new());
    Ok(match words {
        ["read", path] => read(&located(path)),
        ["list", path] => list(&located(path)),
        ["walk", path] => walk(&located(path)),
        ["look", path] => fs::symlink_metadata(located(path)).map(|found| kind(&found)),
        ["follow", path] => fs::metadata(located(path)).map(|found| kind(&found)),
        ["target", path] => fs::read_link(located(path)).map(|target| shown(&target)),
        ["append", path, text] => {
            nothing(put(OpenOptions::new().append(true), &located(path), text))
        }
        ["write", path, text] => {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o644);
            nothing(put(&mut options, &located(path), text))
        }
        ["create", path, text] => {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o644);
            nothing(put(&mut options, &located(path), text))
        }
        ["truncate", path] => {
            let cut = nix::unistd::truncate(&located(path), 0);
            nothing(cut.map_err(io::Error::from))
        }
        ["remove", path] => nothing(fs::remove_file(located(path))),
        ["remove-directory", path] => nothing(fs::remove_dir(located(path))),
        ["make-directory", path] => nothing(DirBuilder::new().mode(0o755).create(located(path))),
        ["make-directories", path] => {
            let mut builder = DirBuilder::new();
            nothing(builder.recursive(true).mode(0o755).create(located(path)))
        }
        ["make-pipe", path] => {
            let mode = Mode::from_bits_truncate(0o644);
            let made = nix::unistd::mkfifo(&located(path), mode);
            nothing(made.map_err(io::Error::from))
        }
        ["rename", from, to] => nothing(fs::rename(located(from), located(to))),
        ["exchange", one, other] => nothing(exchange(&located(one), &located(other))),
        ["link", from, to] => nothing(fs::hard_link(located(from), located(to))),
        ["symlink", path, target] => nothing(std::os::unix::fs::symlink(target, located(path))),
        ["mode", path, mode] => {
            let mode = u32::from_str_radix(mode, 8).map_err(|_| misused(words))?;
            nothing(fs::set_permissions(
                located(path),
                Permissions::from_mode(mode),
            ))
        }
        ["times", path] => nothing(set_times(&located(path))),
        ["connect", port] => {
            let port: u16 = port.parse().map_err(|_| misused(words))?;
            nothing(
                TcpStream::connect(("127.0.0.1", port))
                    .and_then(|mut stream| stream.write_all(HELLO)),
            )
        }
        ["connect-socket", path] => nothing(
            UnixStream::connect(located(path)).and_then(|mut stream| stream.write_all(HELLO)),
        ),
        _ => return Err(misused(words)),
    })
}

/// A path; `~` is HOME.
fn located(text: &str) -> PathBuf {
    match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let mut path = std::env::var_os("HOME").unwrap_or_default();
            path.push(rest);
            path.into()
        }
        _ => text.into(),
    }
}

/// Never waits: a pipe without a writer is at its end.
fn quietly(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
}

fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    quietly(OpenOptions::new().read(true), path)?.read_to_end(&mut bytes)?;
    Ok(bytes.escape_ascii().to_string())
}

/// The names in a directory, sorted, a slash between each two.
fn list(path: &Path) -> io::Result<String> {
    let mut names = fs::read_dir(path)?
        .map(|entry| Ok(shown(Path::new(&entry?.file_name()))))
        .collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names.join("/"))
}

/// Everything beneath a directory, links not followed: path, kind and content of each
/// entry, a tab between each two. What cannot be looked at is left out, and what cannot
/// be read has the content `!`.
fn walk(top: &Path) -> io::Result<String> {
    let mut told = Vec::new();
    let mut left = vec![PathBuf::new()];
    while let Some(directory) = left.pop() {
        let entries = match fs::read_dir(top.join(&directory)) {
            Err(error) if directory.as_os_str().is_empty() => return Err(error),
            Err(_) => continue,
            Ok(entries) => entries,
        };
        for entry in entries.flatten() {
            let path = directory.join(entry.file_name());
            let Ok(found) = fs::symlink_metadata(top.join(&path)) else {
                continue;
            };
            let kind = kind(&found);
            let content = match kind.as_str() {
                // The probe itself is megabytes.
                "file" if path.file_name() == Some(super::NAME.as_ref()) => String::new(),
                "file" => read(&top.join(&path)).unwrap_or_else(|_| "!".to_owned()),
                "link" => fs::read_link(top.join(&path)).map(|target| shown(&target))?,
                _ => String::new(),
            };
            told.push(format!("{}\t{kind}\t{content}", shown(&path)));
            if found.is_dir() {
                left.push(path);
            }
        }
    }
    told.sort();
    Ok(told.join("\t"))
}

/// Swaps two paths at once (rename(2), RENAME_EXCHANGE).
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return nix::fcntl::renameat2(
        AT_FDCWD,
        one,
        AT_FDCWD,
        other,
        nix::fcntl::RenameFlags::RENAME_EXCHANGE,
    )
    .map_err(io::Error::from);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (one, other);
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn put(options: &mut OpenOptions, path: &Path, text: &str) -> io::Result<()> {
    quietly(options, path)?.write_all(format!("{text}\n").as_bytes())
}

fn set_times(path: &Path) -> io::Result<()> {
    let time = TimeSpec::new(MODIFIED, 0);
    let follow = UtimensatFlags::FollowSymlink;
    utimensat(AT_FDCWD, path, &TimeSpec::UTIME_OMIT, &time, follow).map_err(io::Error::from)
}

fn shown(path: &Path) -> String {
    path.as_os_str()
        .as_encoded_bytes()
        .escape_ascii()
        .to_string()
}

fn kind(found: &fs::Metadata) -> String {
    let kind = found.file_type();
    if kind.is_file() {
        "file"
    } else if kind.is_dir() {
        "directory"
    } else if kind.is_symlink() {
        "link"
    } else if kind.is_fifo() {
        "pipe"
    } else if kind.is_socket() {
        "socket"
    } else {
        "device"
    }
    .to_owned()
}
