//! Commands without a sandbox, on the caller's explicit word.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use super::{Exit, LaunchError};

/// Starts a command with the given variables, and whatever the caller lets it inherit.
/// A program that is not there is an [`Exit`], as in a sandbox.
pub(super) fn start(
    words: &[OsString],
    directory: &Path,
    variables: Vec<(OsString, OsString)>,
    streams: [Option<OwnedFd>; 3],
) -> Result<Result<Child, Exit>, LaunchError> {
    let Some((program, arguments)) = words.split_first() else {
        return Ok(Err(Exit::NotFound));
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .envs(variables);
    command.env("PWD", directory);
    let [stdin, stdout, stderr] = streams;
    stdin.map(|stream| command.stdin(stream));
    stdout.map(|stream| command.stdout(stream));
    stderr.map(|stream| command.stderr(stream));
    match command.spawn() {
        Ok(child) => Ok(Ok(child)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Err(Exit::NotFound)),
        // execvp(3) says so too where it may not look into a directory of PATH.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && is_somewhere(program) => {
            Ok(Err(Exit::NotExecutable))
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Err(Exit::NotFound)),
        Err(source) => Err(LaunchError::Start {
            program: program.into(),
            source,
        }),
    }
}

/// Whether there is something of this name to execute.
fn is_somewhere(program: &OsStr) -> bool {
    if program.as_bytes().contains(&b'/') {
        return true;
    }
    let search = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&search).any(|directory| directory.join(program).exists())
}

/// How a command without a sandbox ended.
pub(super) fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(u8::try_from(code & 0xff).unwrap_or(u8::MAX)),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(u8::MAX),
    }
}
