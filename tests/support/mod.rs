//! What the tests of the command line share: the program, places to run it in,
//! and a look at the processes of the host.
// Each test program uses a part of it.
#![allow(dead_code)]

pub mod audit;
pub mod corpus;
pub mod processes;
pub mod repro;
pub mod terminal;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use tempfile::TempDir;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_perimeter");

/// The program, to be asserted of.
pub fn perimeter(arguments: &[&str]) -> assert_cmd::Command {
    assert_cmd::Command::from_std(plain(arguments))
}

/// The program, to be started and watched. What runs these tests may ignore signals
/// (nohup(1), a shell's `&`), which a program goes on to ignore; here it starts afresh.
pub fn plain(arguments: &[&str]) -> Command {
    let mut command = Command::new("/usr/bin/env");
    if cfg!(target_os = "linux") {
        command.arg("--default-signal=HUP,INT,QUIT,TERM");
    }
    command
        .arg(PROGRAM)
        .args(arguments)
        .env_remove("PERIMETER_ENFORCEMENT")
        .stdin(Stdio::null());
    command
}

/// A directory with a workspace in it, beneath the home directory: a command has
/// a /tmp of its own, which would hide what is looked for.
pub struct Place {
    directory: TempDir,
}

impl Place {
    pub fn new() -> Place {
        let home = std::env::var_os("HOME").map_or_else(|| "/var/tmp".into(), PathBuf::from);
        let directory = tempfile::Builder::new()
            .prefix("cli-")
            .tempdir_in(home)
            .unwrap();
        fs::create_dir(directory.path().join("workspace")).unwrap();
        Place { directory }
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub fn text(&self, name: impl AsRef<Path>) -> String {
        self.path(name).display().to_string()
    }

    pub fn workspace(&self) -> PathBuf {
        self.path("workspace")
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

    /// A file that can be executed.
    pub fn script(&self, name: &str, content: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.file(name, content);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The program, in the workspace.
    pub fn perimeter(&self, arguments: &[&str]) -> assert_cmd::Command {
        let mut command = perimeter(arguments);
        command.current_dir(self.workspace());
        command
    }

    /// `perimeter exec` with these flags, of a line for the shell.
    pub fn exec(&self, flags: &[&str], line: &str) -> assert_cmd::Command {
        self.perimeter(&exec(flags, line))
    }
}

/// The arguments of `perimeter exec` with these flags, of a line for the shell.
pub fn exec<'a>(flags: &[&'a str], line: &'a str) -> Vec<&'a str> {
    let mut arguments = vec!["exec"];
    arguments.extend(flags);
    arguments.extend(["--", "/bin/sh", "-c", line]);
    arguments
}

/// Checks that something was said in one paragraph, as an error is.
pub fn is_one_paragraph(text: &str) -> bool {
    let text = text.trim_end();
    !text.is_empty()
        && !text.contains("\n\n")
        && text.starts_with("perimeter: ")
        && !["panicked", "stack backtrace", "RUST_BACKTRACE"]
            .iter()
            .any(|word| text.contains(word))
}

/// Whether an error is a single paragraph from this program, no panic.
pub fn one_paragraph() -> impl predicates::Predicate<str> {
    predicates::function::function(is_one_paragraph).fn_name("one paragraph")
}

/// Starts a program and waits for the first line of its output.
pub fn started(command: &mut Command) -> Started {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    output.read_line(&mut first).unwrap();
    Started {
        child,
        output,
        first,
    }
}

/// A program that has written its first line.
pub struct Started {
    pub child: Child,
    pub output: BufReader<ChildStdout>,
    pub first: String,
}

impl Started {
    pub fn id(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.id()), signal).unwrap();
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
