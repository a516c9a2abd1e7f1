//! The directory that is made for one launch, and gone after it.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::unistd::mkdtemp;

use crate::environment::PrivateDirectories;

/// The directory that is made for one launch. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Private {
    path: PathBuf,
}

impl Private {
    /// Makes it in the user's own temporary directory.
    pub(crate) fn make(temporary: &Path) -> io::Result<Private> {
        let path = mkdtemp(&temporary.join("perimeter-XXXXXX"))?;
        let private = Private { path };
        fs::set_permissions(&private.path, Permissions::from_mode(0o700))?;
        Ok(private)
    }

    /// Makes the directories in it that the command's variables name.
    pub(crate) fn furnish(&self, directories: &PrivateDirectories) -> io::Result<()> {
        // Foundation stages what it writes in the last one. Where the system makes it, it
        // is one that nobody can remove (bfulton/localmost saw it).
        let staging = self.path.join("TemporaryItems");
        let variables = directories.variables();
        let named = variables.iter().map(|(_, directory)| directory.as_path());
        for directory in named.chain([staging.as_path()]) {
            fs::create_dir_all(directory)?;
            fs::set_permissions(directory, Permissions::from_mode(0o700))?;
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        if fs::remove_dir_all(&self.path).is_err() {
            // A directory that its owner may not enter, or a file that is marked as not to
            // be changed (chflags(1)): the command may have made either.
            let _ = Command::new("/usr/bin/chflags")
                .args(["-R", "nouchg,nouappnd"])
                .arg(&self.path)
                .status();
            open_up(&self.path);
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Makes every directory one that can be entered and emptied. No link is followed.
fn open_up(directory: &Path) {
    let _ = fs::set_permissions(directory, Permissions::from_mode(0o700));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
