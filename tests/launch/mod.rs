//! A workspace and what lies around it, and commands run in it for real.
// Each test program uses a part of it, and a fixture that fails is a test that fails.
#![allow(dead_code, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use perimeter::{Launcher, Output, Policy, Posture};
use tempfile::TempDir;

/// A scratch directory with a workspace, and beside it what no command may reach.
pub struct Fixture {
    directory: TempDir,
}

impl Fixture {
    /// Beneath the home directory, or whatever stands for it.
    pub fn at_home() -> Fixture {
        let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
        Fixture::beneath(&home)
    }

    /// Beneath the temporary directory, which a command has its own of.
    pub fn at_tmp() -> Fixture {
        Fixture::beneath(Path::new("/tmp"))
    }

    /// Beneath the other temporary directory, which strict makes a link of.
    #[allow(dead_code, reason = "not every test file uses it")]
    pub fn at_var_tmp() -> Fixture {
        Fixture::beneath(Path::new("/var/tmp"))
    }

    fn beneath(parent: &Path) -> Fixture {
        let directory = tempfile::Builder::new()
            .prefix("launch-")
            .tempdir_in(parent)
            .unwrap();
        let fixture = Fixture { directory };
        for name in ["workspace", "outside"] {
            fs::create_dir(fixture.path(name)).unwrap();
        }
        fs::write(fixture.path("outside/canary"), "secret\n").unwrap();
        fixture
    }

    /// A path in the scratch directory.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub fn directory(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub fn link(&self, name: &str, target: impl AsRef<Path>) -> PathBuf {
        let path = self.path(name);
        std::os::unix::fs::symlink(target, &path).unwrap();
        path
    }

    pub fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    pub fn launcher(&self, policy: &Policy) -> Launcher {
        Launcher::prepare(policy, self.workspace()).unwrap()
    }

    /// Runs a command line in the workspace.
    pub fn run(&self, policy: &Policy, line: &str) -> Output {
        let line = format!("echo begun; {line}");
        let output = self.launcher(policy).shell(line).output().unwrap();
        assert!(
            output.stdout.starts_with(b"begun\n"),
            "it never began: {output:?}"
        );
        output
    }

    /// Everything in the scratch directory: paths, kinds, sizes.
    pub fn listing(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(self.directory.path(), &mut found);
        found.sort();
        found
    }
}

fn list(directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let status = entry.metadata().unwrap();
        found.push(format!(
            "{} {:?} {}",
            entry.path().display(),
            status.file_type(),
            status.len()
        ));
        if status.is_dir() {
            list(&entry.path(), found);
        }
    }
}

/// Both postures.
pub fn policy(posture: Posture) -> Policy {
    match posture {
        Posture::Strict => Policy::strict(),
        Posture::HostReadable => Policy::host_readable(),
    }
}

/// What a command wrote, after the line that says it began.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout)
        .trim_start_matches("begun\n")
        .to_owned()
}
