//! Writing to standard output, which may be closed or full.

use std::io::{self, Write};
use std::process::ExitCode;

use super::failure::Failure;
use super::unsafe_stdout::was_closed;

/// `EX_IOERR` of sysexits(3): the output could not be written.
const OUTPUT_LOST: u8 = 74;

/// Writes bytes to standard output. A reader that has gone away (`| head`) is no
/// failure; a full disk is, and so is a standard output that is closed.
pub fn print(bytes: &[u8]) -> Result<ExitCode, Failure> {
    let mut output = io::stdout().lock();
    written(output.write_all(bytes).and_then(|()| output.flush()))
}

/// What became of writing to standard output.
pub fn written(result: io::Result<()>) -> Result<ExitCode, Failure> {
    require_open(OUTPUT_LOST)?;
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(
            OUTPUT_LOST,
            format_args!("standard output: {error}; make room, or send it elsewhere"),
        )),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Fails with this status if nothing can be written to standard output.
pub fn require_open(status: u8) -> Result<(), Failure> {
    if was_closed() {
        return Err(Failure::new(
            status,
            "standard output is closed; send it to a file, or to /dev/null to do without it",
        ));
    }
    Ok(())
}
