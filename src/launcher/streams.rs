//! A command's standard streams.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{ChildStderr, ChildStdin, ChildStdout};

use super::pipe::pipe;

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
}
