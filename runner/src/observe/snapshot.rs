//! The state of a directory tree, and how two states differ.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, readlinkat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};
use sha2::{Digest, Sha256};

use super::read::{fill, open_quietly};

/// The largest file whose content is kept as it is; of a larger one a digest is.
const KEPT: usize = 64 << 10;

/// How much of a file is read. What is beyond shows by its size and times.
const READ: u64 = 64 << 20;

/// How deep a tree is looked into: each level holds a descriptor. Fixtures are
/// far from it, so a tree that goes deeper was made since, and its top shows.
const DEPTH: usize = 64;

/// The state of a directory tree at one time. Links are never followed, and
/// taking it changes nothing: where a mode keeps this user from looking, what
/// is behind it stays unknown. Access times are left out; extended attributes
/// show by the time of the last change of status, which nobody can set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub(super) root: PathBuf,
    /// By path relative to the root; the root itself is the empty path.
    pub(super) entries: BTreeMap<PathBuf, EntryState>,
}

/// The state of what is at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EntryState {
    pub(super) kind: Kind,
    pub(super) mode: u32,
    pub(super) owner: (u32, u32),
    pub(super) size: u64,
    /// Seconds and nanoseconds.
    pub(super) modified: (i64, i64),
    pub(super) status_changed: (i64, i64),
    /// Device and inode.
    pub(super) identity: (u64, u64),
    pub(super) links: u64,
    pub(super) content: Content,
    /// Whether what is here may change: only what the entry is counts.
    pub(super) excepted: bool,
}

/// What kind of thing is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Symlink,
    Fifo,
    Socket,
    Device,
}

impl Kind {
    /// The kind in words.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::File => "a file",
            Kind::Directory => "a directory",
            Kind::Symlink => "a symbolic link",
            Kind::Fifo => "a named pipe",
            Kind::Socket => "a socket",
            Kind::Device => "a device",
        }
    }
}

/// What a file holds or a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// The kind has none, or it may change.
    None,
    /// The whole of it, or a link's target.
    Whole(Vec<u8>),
    /// The digest of a large file.
    Digest([u8; 32]),
    /// This user may not look.
    Unreadable,
}

impl Snapshot {
    /// The state of everything under `root`. Of the subtrees in `except` only
    /// the top is noted, and of that only what it is: kind, mode, owner, inode.
    pub fn take(root: &Path, except: &[PathBuf]) -> io::Result<Snapshot> {
        let root = root.to_owned();
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let top = open(&root, flags, Mode::empty())?;
        let status = fstat(&top)?;
        let except = except
            .iter()
            .filter_map(|path| path.strip_prefix(&root).ok())
            .collect();
        let mut walk = Walk {
            except,
            entries: BTreeMap::new(),
            buffer: Vec::new(),
        };
        let mut state = state_of(&status);
        state.excepted = walk.is_excepted(Path::new(""));
        let excepted = state.excepted;
        walk.entries.insert(PathBuf::new(), state);
        if !excepted {
            walk.directory(top, Path::new(""), 0)?;
        }
        Ok(Snapshot {
            root,
            entries: walk.entries,
        })
    }

    /// The directory that this is the state of.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// How many entries are noted.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is noted.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// A walk over a tree.
struct Walk<'a> {
    except: Vec<&'a Path>,
    entries: BTreeMap<PathBuf, EntryState>,
    /// What files are read into.
    buffer: Vec<u8>,
}

impl Walk<'_> {
    fn is_excepted(&self, path: &Path) -> bool {
        self.except.contains(&path)
    }

    /// Notes what a directory holds.
    fn directory(&mut self, directory: OwnedFd, path: &Path, depth: usize) -> io::Result<()> {
        let mut directory = Dir::from_fd(directory)?;
        let mut names = Vec::new();
        for entry in directory.iter() {
            let entry = entry?;
            let name = entry.file_name();
            if !matches!(name.to_bytes(), b"." | b"..") {
                names.push(name.to_owned());
            }
        }
        for name in names {
            let child = path.join(OsStr::from_bytes(name.to_bytes()));
            match self.entry(directory.as_fd(), name.as_c_str(), child, depth) {
                // It is gone, or something else by now.
                Err(Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP) => {}
                // It can be listed, and what it holds cannot be looked at.
                Err(Errno::EACCES) => {
                    if let Some(state) = self.entries.get_mut(path) {
                        state.content = Content::Unreadable;
                    }
                }
                result => result?,
            }
        }
        Ok(())
    }

    /// Notes one entry, and what is below it.
    fn entry(
        &mut self,
        directory: std::os::fd::BorrowedFd<'_>,
        name: &std::ffi::CStr,
        path: PathBuf,
        depth: usize,
    ) -> nix::Result<()> {
        let status = fstatat(directory, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
        let mut state = state_of(&status);
        state.excepted = self.is_excepted(&path);
        let mut below = None;
        if !state.excepted {
            match state.kind {
                Kind::File => state.content = self.content(directory, name, state.size)?,
                Kind::Symlink => {
                    let target = readlinkat(directory, name)?;
                    state.content = Content::Whole(target.as_bytes().to_vec());
                }
                Kind::Directory if depth < DEPTH => {
                    match open_quietly(directory, name, OFlag::O_DIRECTORY) {
                        Ok(opened) => below = Some(opened),
                        Err(Errno::EACCES) => state.content = Content::Unreadable,
                        Err(error) => return Err(error),
                    }
                }
                _ => {}
            }
        }
        self.entries.insert(path.clone(), state);
        match below {
            Some(below) => self
                .directory(below, &path, depth + 1)
                .map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO))),
            None => Ok(()),
        }
    }

    /// What a file holds.
    fn content(
        &mut self,
        directory: std::os::fd::BorrowedFd<'_>,
        name: &std::ffi::CStr,
        size: u64,
    ) -> nix::Result<Content> {
        if size == 0 {
            return Ok(Content::Whole(Vec::new()));
        }
        let file = match open_quietly(directory, name, OFlag::empty()) {
            Ok(file) => file,
            Err(Errno::EACCES) => return Ok(Content::Unreadable),
            Err(error) => return Err(error),
        };
        self.buffer.resize(KEPT + 1, 0);
        // Whatever the size says: a file of /proc says nothing.
        let Ok(length) = fill(&file, &mut self.buffer) else {
            return Ok(Content::Unreadable);
        };
        if length <= KEPT {
            return Ok(Content::Whole(self.buffer[..length].to_vec()));
        }
        let mut digest = Sha256::new();
        digest.update(&self.buffer[..length]);
        let mut total = length as u64;
        while total < READ {
            let Ok(length) = fill(&file, &mut self.buffer) else {
                return Ok(Content::Unreadable);
            };
            if length == 0 {
                break;
            }
            digest.update(&self.buffer[..length]);
            total += length as u64;
        }
        Ok(Content::Digest(digest.finalize().into()))
    }
}

#[allow(
    clippy::unnecessary_cast,
    reason = "the types of the fields differ between systems"
)]
fn state_of(status: &FileStat) -> EntryState {
    let mode = status.st_mode as u32;
    let kind = match SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFREG => Kind::File,
        SFlag::S_IFDIR => Kind::Directory,
        SFlag::S_IFLNK => Kind::Symlink,
        SFlag::S_IFIFO => Kind::Fifo,
        SFlag::S_IFSOCK => Kind::Socket,
        _ => Kind::Device,
    };
    EntryState {
        kind,
        mode: mode & 0o7777,
        owner: (status.st_uid, status.st_gid),
        size: status.st_size as u64,
        modified: (status.st_mtime as i64, status.st_mtime_nsec as i64),
        status_changed: (status.st_ctime as i64, status.st_ctime_nsec as i64),
        identity: (status.st_dev as u64, status.st_ino as u64),
        links: status.st_nlink as u64,
        content: Content::None,
        excepted: false,
    }
}
