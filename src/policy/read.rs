//! A small text file that someone else may have put there: read without hanging,
//! within a bound, and only if it is a file.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;

use super::error::{Fault, Refusal, Unreadable, describe};
use super::json::Text;

/// No document that a person writes comes near this.
const LARGEST: u64 = 1024 * 1024;

/// How every document is opened: a FIFO does not block, a terminal does not
/// become the controlling one, and no child inherits it.
pub(super) const FLAGS: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_NONBLOCK)
    .union(OFlag::O_NOCTTY)
    .union(OFlag::O_CLOEXEC);

/// Why a file gave no text.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// It could not be read at all.
    File(Unreadable),
    /// What it holds is not text.
    Document(Refusal),
}

/// The file, or `None` where nothing has that name. A link that leads nowhere is
/// not nothing: whoever wrote it meant a document to be there.
pub(crate) fn open_document(path: &Path) -> Result<Option<File>, Unreadable> {
    match open(path, FLAGS, Mode::empty()) {
        Ok(descriptor) => Ok(Some(File::from(descriptor))),
        Err(Errno::ENOENT) if path.symlink_metadata().is_err() => Ok(None),
        Err(Errno::ENOENT) => Err(Unreadable {
            file: path.to_owned(),
            problem: "is a symbolic link that leads nowhere".to_owned(),
            remedy: "remove the link, or put a file where it leads".to_owned(),
            source: Some(Errno::ENOENT.into()),
        }),
        Err(errno) => Err(cannot(path, errno.into())),
    }
}

/// The whole text of an open file.
pub(crate) fn contents(file: File, path: &Path) -> Result<String, ReadError> {
    let refuse = |problem: String, remedy: &str| {
        ReadError::File(Unreadable {
            file: path.to_owned(),
            problem,
            remedy: remedy.to_owned(),
            source: None,
        })
    };
    let system = |error: io::Error| ReadError::File(cannot(path, error));
    let metadata = file.metadata().map_err(system)?;
    if !metadata.is_file() {
        let kind = metadata.file_type();
        let kind = if kind.is_dir() {
            "a directory"
        } else if kind.is_fifo() {
            "a pipe"
        } else {
            "a device"
        };
        return Err(refuse(
            format!("is {kind}, not a file"),
            "name a regular file",
        ));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(system)?;
    if bytes.len() as u64 > LARGEST {
        return Err(refuse(
            format!("is larger than {} KiB", LARGEST / 1024),
            "check that this is the right file",
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..valid]);
        let text = Text {
            name: path,
            content: &text,
        };
        let fault = Fault::new("the document is not UTF-8", "save it as UTF-8");
        ReadError::Document(text.refusal(valid, None, fault))
    })
}

/// What the system said about a file, with what can be done.
pub(super) fn cannot(path: &Path, error: io::Error) -> Unreadable {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => "make it readable to the user who launches",
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::NotADirectory => "check the directories of the path",
        _ if error.raw_os_error() == Some(libc::ENXIO) => "name a regular file",
        _ => "check the path and the file's permissions",
    };
    Unreadable {
        file: path.to_owned(),
        problem: format!("cannot be read: {}", describe(&error)),
        remedy: remedy.to_owned(),
        source: Some(error),
    }
}
