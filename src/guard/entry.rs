//! What a directory holds.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{Mode, SFlag, fstatat};

use super::platform::Handle;

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name.
    pub name: OsString,
    /// What has that name.
    pub kind: EntryKind,
}

/// What a name in a directory stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, wherever it leads.
    Link,
    /// A pipe, a socket, a device, or something newer.
    Other,
}

/// The directory's entries in the order of their names.
pub(super) fn entries(directory: &Handle) -> Result<Vec<Entry>, Errno> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut open = Dir::from_fd(openat(directory, ".", flags, Mode::empty())?)?;
    let mut entries = Vec::new();
    for entry in open.iter() {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            Some(Type::File) => EntryKind::File,
            Some(Type::Directory) => EntryKind::Directory,
            Some(Type::Symlink) => EntryKind::Link,
            Some(_) => EntryKind::Other,
            // Some file systems leave it to be asked for.
            None => match kind_of(directory, name) {
                Ok(kind) => kind,
                Err(Errno::ENOENT) => continue,
                Err(errno) => return Err(errno),
            },
        };
        entries.push(Entry {
            name: name.to_owned(),
            kind,
        });
    }
    entries.sort();
    Ok(entries)
}

fn kind_of(directory: &Handle, name: &OsStr) -> Result<EntryKind, Errno> {
    let status = fstatat(directory, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
    Ok(
        match SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFREG => EntryKind::File,
            SFlag::S_IFDIR => EntryKind::Directory,
            SFlag::S_IFLNK => EntryKind::Link,
            _ => EntryKind::Other,
        },
    )
}
