//! Snapshots, leaks and effects of real trees.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::snapshot::Snapshot;

mod effect;
mod leak;
mod snapshot;

/// A tree with a little of everything.
struct Tree {
    top: TempDir,
}

impl Tree {
    fn new() -> Tree {
        let top = tempfile::tempdir().unwrap();
        let tree = Tree { top };
        for directory in ["workspace/sub", "outside/sub", "empty"] {
            fs::create_dir_all(tree.at(directory)).unwrap();
        }
        for (file, content) in [
            ("workspace/file", "in the workspace\n"),
            ("outside/file", "outside\n"),
            ("outside/sub/file", "below\n"),
            ("outside/empty", ""),
        ] {
            fs::write(tree.at(file), content).unwrap();
        }
        fs::write(tree.at("outside/large"), vec![b'x'; 200_000]).unwrap();
        std::os::unix::fs::symlink("file", tree.at("outside/link")).unwrap();
        nix::unistd::mkfifo(&tree.at("outside/pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        tree
    }

    fn root(&self) -> &Path {
        self.top.path()
    }

    fn at(&self, path: &str) -> PathBuf {
        self.top.path().join(path)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::take(self.root(), &[]).unwrap()
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
