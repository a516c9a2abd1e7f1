//! Standard streams that are no streams, variables that have no name, and names that a
//! terminal would obey.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod launch;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;
use launch::{Fixture, policy};
use perimeter::{LaunchError, Posture};
use predicates::prelude::*;
use predicates::str::contains;
use rstest::rstest;

const PERIMETER: &str = env!("CARGO_BIN_EXE_perimeter");

#[rstest]
fn a_directory_is_no_stream(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
    #[values(0, 1, 2)] stream: usize,
) {
    let fixture = Fixture::at_home();
    let launcher = fixture.launcher(&policy(posture));
    let mut command = launcher.shell("echo planted > /proc/self/fd/0/../outside/new");
    let directory = File::open(fixture.path("outside")).unwrap();
    match stream {
        0 => command.stdin(directory),
        1 => command.stdout(directory),
        _ => command.stderr(directory),
    };
    let refused = command.spawn();
    assert!(
        matches!(refused, Err(LaunchError::Place { .. })),
        "{refused:?}"
    );
    assert!(!fixture.path("outside/new").exists());
}

#[test]
fn a_handle_on_a_file_is_no_stream() {
    let fixture = Fixture::at_home();
    let launcher = fixture.launcher(&policy(Posture::Strict));
    let handle = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH)
        .open(fixture.path("outside/canary"))
        .unwrap();
    let refused = launcher.shell("cat /proc/self/fd/0").stdin(handle).spawn();
    assert!(
        matches!(refused, Err(LaunchError::Place { .. })),
        "{refused:?}"
    );
}

#[test]
fn an_inherited_directory_is_refused_by_name() {
    let fixture = Fixture::at_home();
    Command::new(PERIMETER)
        .args(["exec", "--", "cat", "/proc/self/fd/0/canary"])
        .current_dir(fixture.workspace())
        .stdin(File::open(fixture.path("outside")).unwrap())
        .assert()
        .code(125)
        .stdout("")
        .stderr(contains("the standard input is a directory"));
}

/// Programs of Windows keep a directory for each drive in variables such as `=C:`, which
/// a shell hands on to whatever it starts.
#[test]
fn a_variable_without_a_name_does_not_stop_the_launch() {
    let fixture = Fixture::at_home();
    Command::new(PERIMETER)
        .args(["exec", "--posture", "host-readable", "--", "printenv"])
        .args(["KEPT"])
        .current_dir(fixture.workspace())
        .env("=C:", "C:\\work")
        .env("KEPT", "value")
        .assert()
        .code(0)
        .stdout("value\n");
}

/// Paths of messages may have been named by a command.
#[test]
fn a_message_holds_nothing_that_a_terminal_obeys() {
    Command::new(PERIMETER)
        .args([
            "exec",
            "--workspace",
            "/nowhere/\u{1b}]0;title\u{7}",
            "--",
            "true",
        ])
        .assert()
        .code(125)
        .stderr(contains("does not exist").and(contains('\u{1b}').not()));
}
