//! Where the corpus comes from: a directory, or the copy inside the program.

use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use super::error::CorpusError;

/// One file of a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path below the corpus's directory, with `/`.
    pub name: String,
    /// How a message names it.
    pub shown: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A corpus that has not been read yet.
#[derive(Debug, Clone)]
pub enum Source {
    /// A directory.
    Directory(PathBuf),
    /// Files inside the program, by path and content.
    Embedded(Vec<(String, &'static [u8])>),
}

impl Source {
    /// How a message names it.
    pub fn shown(&self) -> String {
        match self {
            Source::Directory(path) => path.display().to_string(),
            Source::Embedded(_) => "the program".to_owned(),
        }
    }

    /// How a message names a file of it.
    pub fn shown_file(&self, name: &str) -> String {
        match self {
            Source::Directory(path) => path.join(name).display().to_string(),
            Source::Embedded(_) => format!("conformance/{name}"),
        }
    }

    /// The text of one file of the corpus, of whatever kind; none if it is not there.
    ///
    /// # Errors
    /// A file that the system does not let be read.
    pub fn text(&self, name: &str) -> Result<Option<String>, CorpusError> {
        match self {
            Source::Embedded(files) => Ok(files
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())),
            Source::Directory(root) => {
                let path = root.join(name);
                match fs::read(&path) {
                    Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                    Err(error) => Err(CorpusError::Unreadable { path, error }),
                }
            }
        }
    }

    /// Every JSON file of the corpus, by name.
    ///
    /// # Errors
    /// A directory or file that cannot be read.
    pub fn files(&self) -> Result<Vec<SourceFile>, CorpusError> {
        let mut files = match self {
            Source::Embedded(files) => files
                .iter()
                .filter(|(name, _)| is_json(Path::new(name)))
                .map(|(name, bytes)| SourceFile {
                    name: name.clone(),
                    shown: self.shown_file(name),
                    bytes: bytes.to_vec(),
                })
                .collect(),
            Source::Directory(root) => {
                let mut found = Vec::new();
                walk(root, root, &mut found)?;
                found
            }
        };
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(files)
    }
}

/// The largest file that is read: a hundred times the largest of this corpus.
const LARGEST: u64 = 64 << 20;

/// The whole of a file that somebody names. A named pipe at whose other end is nobody is
/// empty, and what never ends is no file.
///
/// # Errors
/// What the system says, and a file that is too large.
pub(crate) fn read_named(path: &Path) -> std::io::Result<Vec<u8>> {
    let file = fs::File::options()
        .read(true)
        .custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits())
        .open(path)?;
    // Once it is open, whoever is at the other end is waited for.
    fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        let reason = format!("it is larger than {} MiB", LARGEST >> 20);
        return Err(std::io::Error::other(reason));
    }
    Ok(bytes)
}

fn is_json(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}

fn walk(root: &Path, directory: &Path, found: &mut Vec<SourceFile>) -> Result<(), CorpusError> {
    let unreadable = |path: &Path, error: std::io::Error| CorpusError::Unreadable {
        path: path.to_owned(),
        error,
    };
    for entry in fs::read_dir(directory).map_err(|error| unreadable(directory, error))? {
        let entry = entry.map_err(|error| unreadable(directory, error))?;
        let path = entry.path();
        let kind = fs::metadata(&path).map_err(|error| unreadable(&path, error))?;
        if kind.is_dir() {
            // A corpus is two directories deep; a link that leads back up is not one.
            if path.components().count() < root.components().count() + 4 {
                walk(root, &path, found)?;
            }
        } else if kind.is_file() && is_json(&path) {
            let name = path
                .strip_prefix(root)
                .unwrap_or(&path)
                .to_string_lossy()
                .into_owned();
            found.push(SourceFile {
                name,
                shown: path.display().to_string(),
                bytes: fs::read(&path).map_err(|error| unreadable(&path, error))?,
            });
        }
    }
    Ok(())
}
