//! Putting this executable where sandboxed commands find it as the probe.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::{NAME, PROGRAM};

/// Copies this executable into a directory, once for a run, and says where.
pub fn install(directory: &Path) -> io::Result<PathBuf> {
    let master = directory.join(PROGRAM);
    copy(&own_program()?, &master)?;
    Ok(master)
}

/// This executable; on Linux by the name that leads to it even after a build
/// has replaced it (proc_pid_exe(5)).
fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        Ok(PathBuf::from("/proc/self/exe"))
    } else {
        std::env::current_exe()
    }
}

/// Puts the installed probe into a workspace: a hard link, or a copy where the
/// file systems differ or the system forbids links.
pub fn place(master: &Path, workspace: &Path) -> io::Result<PathBuf> {
    let target = workspace.join(NAME);
    fs::hard_link(master, &target).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound => Err(error),
        _ => copy(master, &target),
    })?;
    Ok(target)
}

/// A copy that anyone may run and nobody writes. The target is new.
fn copy(source: &Path, target: &Path) -> io::Result<()> {
    let mut reader = File::open(source)?;
    let mut writer = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o700)
        .open(target)?;
    io::copy(&mut reader, &mut writer)?;
    writer.set_permissions(Permissions::from_mode(0o555))
}
