//! What a guard changes: names in a directory that is held open.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use super::platform::Handle;
use super::{ATTEMPTS, Found, Guard, GuardError, Target};

/// The permissions of what is made, before the umask.
const FILE_MODE: Mode = Mode::from_bits_truncate(0o666);
const DIRECTORY_MODE: Mode = Mode::from_bits_truncate(0o777);

/// A name, in a directory that is held.
struct Slot<'a> {
    target: Target<'a>,
    directory: Handle,
    name: &'a OsStr,
    /// Where the name is, or would be.
    location: PathBuf,
}

impl Guard {
    /// Opens a file for writing, makes it if it is absent and empties it if not. A
    /// symbolic link in its place is not followed.
    ///
    /// # Errors
    ///
    /// As for [`Guard::open_with`](Guard::open_with).
    pub fn create(&self, path: impl AsRef<Path>) -> Result<File, GuardError> {
        let target = self.writable(path.as_ref())?;
        if target.rest.as_os_str().is_empty() {
            return emptied(&self.find(&target)?, target.path);
        }
        let slot = self.slot(target)?;
        let path = slot.target.path;
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        for _ in 0..ATTEMPTS {
            match openat(&slot.directory, slot.name, flags, FILE_MODE) {
                Ok(file) => return Ok(file.into()),
                Err(Errno::EEXIST) => {}
                Err(errno) => return Err(GuardError::from_errno(path, "create", errno)),
            }
            // There already: then it is an open of that file, and no new one.
            let found = match slot.directory.child(slot.name) {
                Ok(handle) => self.admit(&slot.target, handle),
                Err(Errno::ENOENT) => continue,
                Err(errno) => return Err(GuardError::from_errno(path, "create", errno)),
            };
            match found.and_then(|found| emptied(&found, path)) {
                Err(GuardError::Moved { .. }) => {}
                other => return other,
            }
        }
        Err(GuardError::from_errno(path, "create", Errno::ESTALE))
    }

    /// Makes a directory; the one that it is in has to exist.
    ///
    /// # Errors
    ///
    /// As for [`Guard::open_with`](Guard::open_with); [`GuardError::System`] if the
    /// name is taken.
    pub fn create_dir(&self, path: impl AsRef<Path>) -> Result<(), GuardError> {
        let slot = self.slot(self.writable(path.as_ref())?)?;
        mkdirat(&slot.directory, slot.name, DIRECTORY_MODE)
            .map_err(|errno| slot.refuse("create", errno))
    }

    /// Removes a name: of a file, of anything else that is no directory, or of a
    /// symbolic link, whose target stays.
    ///
    /// # Errors
    ///
    /// As for [`Guard::open_with`](Guard::open_with); [`GuardError::Root`] for a
    /// grant itself.
    pub fn remove(&self, path: impl AsRef<Path>) -> Result<(), GuardError> {
        let slot = self.slot(self.writable(path.as_ref())?)?;
        unlinkat(&slot.directory, slot.name, UnlinkatFlags::NoRemoveDir)
            .map_err(|errno| slot.refuse("remove", errno))
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// As for [`Guard::remove`], and [`GuardError::ContainsHidden`] for a directory
    /// above a hidden path.
    pub fn remove_dir(&self, path: impl AsRef<Path>) -> Result<(), GuardError> {
        let slot = self.slot(self.writable(path.as_ref())?)?;
        self.refuse_above_hidden(&slot)?;
        unlinkat(&slot.directory, slot.name, UnlinkatFlags::RemoveDir)
            .map_err(|errno| slot.refuse("remove", errno))
    }

    /// Moves a name to another, within the workspace and the writable grants. What
    /// has the other name is replaced, as by rename(2); links are moved, not
    /// followed.
    ///
    /// # Errors
    ///
    /// As for [`Guard::open_with`](Guard::open_with), for either path;
    /// [`GuardError::ContainsHidden`] for a directory above a hidden path, since
    /// what is hidden would be readable at its new place; [`GuardError::System`]
    /// between two file systems.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<(), GuardError> {
        let from = self.slot(self.writable(from.as_ref())?)?;
        let to = self.slot(self.writable(to.as_ref())?)?;
        self.refuse_above_hidden(&from)?;
        self.refuse_above_hidden(&to)?;
        renameat(&from.directory, from.name, &to.directory, to.name)
            .map_err(|errno| GuardError::system(from.target.path, "rename", errno.into()))
    }

    fn writable<'a>(&'a self, path: &'a Path) -> Result<Target<'a>, GuardError> {
        let target = self.target(path)?;
        target.refuse_read_only()?;
        Ok(target)
    }

    /// The directory that a path's last name is in, held, and that name.
    fn slot<'a>(&self, target: Target<'a>) -> Result<Slot<'a>, GuardError> {
        let path = || target.path.to_owned();
        let inside = target
            .rest
            .components()
            .any(|one| one != std::path::Component::CurDir);
        if !inside {
            return Err(GuardError::Root { path: path() });
        }
        let (Some(parent), Some(name)) = (target.rest.parent(), target.rest.file_name()) else {
            return Err(GuardError::NoName { path: path() });
        };
        let Found {
            handle,
            metadata,
            location,
        } = self.find_at(&target, parent)?;
        if !metadata.is_dir() {
            return Err(GuardError::from_errno(target.path, "reach", Errno::ENOTDIR));
        }
        let location = location.join(name);
        self.refuse_hidden(&target, &location)?;
        Ok(Slot {
            directory: handle,
            name,
            location,
            target,
        })
    }

    fn refuse_above_hidden(&self, slot: &Slot<'_>) -> Result<(), GuardError> {
        match self.hidden.beneath(&slot.location) {
            None => Ok(()),
            Some(hidden) => Err(GuardError::ContainsHidden {
                path: slot.target.path.to_owned(),
                hidden: hidden.to_owned(),
            }),
        }
    }
}

impl Slot<'_> {
    fn refuse(&self, action: &'static str, errno: Errno) -> GuardError {
        let path = self.target.path;
        match errno {
            Errno::ENOTDIR => GuardError::NotDirectory {
                path: path.to_owned(),
            },
            errno => GuardError::from_errno(path, action, errno),
        }
    }
}

/// Opened for writing and cut off only once it is sure to be the file that was found.
fn emptied(found: &Found, path: &Path) -> Result<File, GuardError> {
    let file = found.open(path, OFlag::O_WRONLY)?;
    file.set_len(0)
        .map_err(|error| GuardError::system(path, "empty", error))?;
    Ok(file)
}
