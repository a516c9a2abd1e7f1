//! A command's standard streams.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{ChildStderr, ChildStdin, ChildStdout};

#[cfg(target_os = "linux")]
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::stat::{SFlag, fstat};

use super::LaunchError;
use super::pipe::pipe;
use crate::faults::{self, Protection};

/// What one of a command's standard streams is.
#[derive(Debug, Default)]
pub enum Stdio {
    /// The caller's own.
    #[default]
    Inherit,
    /// Nothing: `/dev/null`.
    Null,
    /// A pipe, whose other end the [`Child`](super::Child) has.
    Piped,
    /// This descriptor.
    Descriptor(OwnedFd),
}

impl From<OwnedFd> for Stdio {
    fn from(descriptor: OwnedFd) -> Stdio {
        Stdio::Descriptor(descriptor)
    }
}

impl From<File> for Stdio {
    fn from(file: File) -> Stdio {
        Stdio::Descriptor(file.into())
    }
}

/// Both ends of a command's streams.
#[derive(Debug, Default)]
pub(super) struct Streams {
    /// The command's, where they are not the caller's own.
    pub(super) inner: [Option<OwnedFd>; 3],
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
}

impl Streams {
    pub(super) fn open(streams: [Stdio; 3]) -> io::Result<Streams> {
        let mut opened = Streams::default();
        for (number, stream) in streams.into_iter().enumerate() {
            opened.inner[number] = match stream {
                Stdio::Inherit => None,
                Stdio::Null => Some(
                    File::options()
                        .read(true)
                        .write(true)
                        .open("/dev/null")?
                        .into(),
                ),
                Stdio::Descriptor(descriptor) => Some(descriptor),
                Stdio::Piped => {
                    let (reader, writer) = pipe()?;
                    Some(match number {
                        0 => {
                            opened.stdin = Some(writer.into());
                            reader
                        }
                        1 => {
                            opened.stdout = Some(reader.into());
                            writer
                        }
                        _ => {
                            opened.stderr = Some(reader.into());
                            writer
                        }
                    })
                }
            };
        }
        Ok(opened)
    }

    /// Refuses a stream from which a command could walk. What is open is not looked up
    /// again: from a directory, `..` and every name beneath it are the host's, whatever
    /// is mounted inside, and a mere handle on a path can be opened for anything.
    pub(super) fn refuse_places(&self) -> Result<(), LaunchError> {
        if !faults::has(Protection::Streams) {
            return Ok(());
        }
        let (input, output, errors) = (io::stdin(), io::stdout(), io::stderr());
        let streams: [(&'static str, BorrowedFd<'_>); 3] = [
            ("standard input", input.as_fd()),
            ("standard output", output.as_fd()),
            ("standard error", errors.as_fd()),
        ];
        for ((stream, inherited), own) in streams.into_iter().zip(&self.inner) {
            if is_place(own.as_ref().map_or(inherited, AsFd::as_fd)) {
                return Err(LaunchError::Place { stream });
            }
        }
        Ok(())
    }
}

/// Whether a descriptor is a directory, or a handle on a path. One that is closed is
/// neither.
fn is_place(descriptor: BorrowedFd<'_>) -> bool {
    let directory = fstat(descriptor).is_ok_and(|status| {
        SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT == SFlag::S_IFDIR
    });
    directory || is_handle(descriptor)
}

#[cfg(target_os = "linux")]
fn is_handle(descriptor: BorrowedFd<'_>) -> bool {
    fcntl(descriptor, FcntlArg::F_GETFL)
        .is_ok_and(|flags| OFlag::from_bits_truncate(flags).contains(OFlag::O_PATH))
}

/// There are none here.
#[cfg(target_os = "macos")]
fn is_handle(_: BorrowedFd<'_>) -> bool {
    false
}
