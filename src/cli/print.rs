//! Writing to standard output, which may be closed or full.

use std::io::{self, Write};
use std::process::ExitCode;

use super::failure::Failure;

/// `EX_IOERR` of sysexits(3): the output could not be written.
const OUTPUT_LOST: u8 = 74;

/// Writes bytes to standard output. A reader that has gone away (`| head`) is no
/// failure; a full disk is.
pub fn print(bytes: &[u8]) -> Result<ExitCode, Failure> {
    let mut output = io::stdout().lock();
    match output.write_all(bytes).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(
            OUTPUT_LOST,
            format_args!("standard output: {error}; make room, or send it elsewhere"),
        )),
        _ => Ok(ExitCode::SUCCESS),
    }
}
