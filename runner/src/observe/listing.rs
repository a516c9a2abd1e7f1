//! A state of a tree, told entry by entry.

use std::path::PathBuf;

use super::snapshot::{Content, Kind, Snapshot};

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The path, from the root of the tree on.
    pub path: PathBuf,
    /// What it is, in one word: `file`, `directory`, `link`, `pipe`, `socket`, `device`.
    pub kind: &'static str,
    /// The permission bits.
    pub mode: u32,
    /// What a small file holds or where a link leads, and nothing for what has no
    /// content; `None` where this user may not look or the file is large.
    pub content: Option<Vec<u8>>,
    /// The time of the last modification, in seconds since 1970.
    pub modified: i64,
    /// Device and inode.
    pub identity: (u64, u64),
}

impl Snapshot {
    /// Every entry, ordered by path; the root is not among them.
    pub fn list(&self) -> Vec<Listed> {
        let entries = self.entries.iter();
        entries
            .filter(|(path, _)| !path.as_os_str().is_empty())
            .map(|(path, state)| Listed {
                path: path.clone(),
                kind: match state.kind {
                    Kind::File => "file",
                    Kind::Directory => "directory",
                    Kind::Symlink => "link",
                    Kind::Fifo => "pipe",
                    Kind::Socket => "socket",
                    Kind::Device => "device",
                },
                mode: state.mode,
                content: match &state.content {
                    Content::Whole(bytes) => Some(bytes.clone()),
                    Content::None => Some(Vec::new()),
                    Content::Digest(_) | Content::Unreadable => None,
                },
                modified: state.modified.0,
                identity: state.identity,
            })
            .collect()
    }
}
