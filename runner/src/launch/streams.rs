//! The launcher's standard streams where they are not the runner's pipes.

use std::fs::OpenOptions;
use std::os::fd::RawFd;
use std::process::Stdio;

use super::LaunchError;
use super::start::pipe;
use crate::corpus::streams::{Stream, Streams};

/// What the launcher does with a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// It reads it.
    Read,
    /// It writes it.
    Write,
}

/// What the launcher gets; the runner's own pipe where nothing is stated.
pub(super) fn place(stream: Option<&Stream>, side: Side) -> Result<Stdio, LaunchError> {
    match stream {
        None => Ok(Stdio::piped()),
        // It is closed in the child, after all else is in its place.
        Some(Stream::Closed) => Ok(Stdio::null()),
        Some(Stream::Gone) => {
            let (reading, writing) = pipe()?;
            Ok(match side {
                Side::Read => reading.into(),
                Side::Write => writing.into(),
            })
        }
        Some(Stream::File(path)) => OpenOptions::new()
            .read(side == Side::Read)
            .append(side == Side::Write)
            .open(path)
            .map(Stdio::from)
            .map_err(LaunchError::system("open a file for a standard stream")),
    }
}

/// The numbers of the streams that are to be closed.
pub(super) fn closed(streams: &Streams) -> Vec<RawFd> {
    [&streams.input, &streams.output, &streams.errors]
        .into_iter()
        .zip(0..)
        .filter(|(stream, _)| **stream == Some(Stream::Closed))
        .map(|(_, number)| number)
        .collect()
}
