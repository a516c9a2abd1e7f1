//! Hidden paths whose directories are closed, cannot be written, or are held already.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod launch;

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use launch::{Fixture, policy, text};
use perimeter::{Launcher, Policy, Posture, Stdio};
use rstest::rstest;

fn hiding(posture: Posture, hidden: &Path) -> Policy {
    Policy {
        hidden: vec![hidden.to_owned()],
        ..policy(posture)
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[rstest]
fn a_closed_directory_cannot_be_opened_up(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
    #[values(0o000, 0o400, 0o600)] mode: u32,
    #[values("closed/secret", "closed/secret/key", "closed/secret/absent")] hidden: &str,
) {
    let fixture = Fixture::at_home();
    let key = fixture.file("workspace/closed/secret/key", "KEY\n");
    let closed = fixture.path("workspace/closed");
    set_mode(&closed, mode);
    let hidden = fixture.path("workspace").join(hidden);
    let output = fixture.run(
        &hiding(posture, &hidden),
        "chmod 755 closed; mv closed moved; cat closed/secret/key moved/secret/key; \
         echo planted > closed/secret/absent; echo done",
    );
    set_mode(&closed, 0o755);
    if hidden.ends_with("absent") {
        // User 0 looks behind the mode, and hides that name and no more.
        assert!(!hidden.is_file());
    } else {
        assert_eq!(text(&output), "done\n");
    }
    assert!(key.exists());
}

#[rstest]
fn a_directory_that_cannot_be_written_stays_so(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
) {
    let fixture = Fixture::at_home();
    let file = fixture.file("workspace/kept/file", "old\n");
    fixture.file("workspace/kept/deep/file", "old\n");
    let kept = fixture.path("workspace/kept");
    set_mode(&kept, 0o555);
    let output = fixture.run(
        &hiding(posture, &kept.join("secret")),
        "chmod 755 kept; mv kept moved; mkdir kept; echo planted > kept/secret; \
         cat kept/file; echo new > kept/file; echo new > kept/deep/new; echo new > new",
    );
    set_mode(&kept, 0o755);
    assert_eq!(text(&output), "old\n");
    assert!(!kept.join("secret").exists());
    assert_eq!(fs::read_to_string(file).unwrap(), "new\n");
    assert!(kept.join("deep/new").exists());
    assert!(fixture.path("workspace/new").exists());
}

#[rstest]
fn a_name_that_another_launcher_holds_is_held_again(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
    #[values("absent", "absent/too/deep")] name: &str,
) {
    let fixture = Fixture::at_home();
    let policy = hiding(posture, &fixture.path("workspace").join(name));
    let first = fixture.launcher(&policy);
    let mut first = first
        .shell("echo begun; read line")
        .stdin(Stdio::Piped)
        .stdout(Stdio::Piped)
        .spawn()
        .unwrap();
    let mut begun = String::new();
    BufReader::new(first.stdout.take().unwrap())
        .read_line(&mut begun)
        .unwrap();
    let plant = format!(
        "chmod 755 absent; mkdir -p $(dirname {name}); echo planted > {name}; \
         rmdir absent; mv absent moved; echo done"
    );
    let output = fixture.run(&policy, &plant);
    assert_eq!(text(&output), "done\n");
    first.wait().unwrap();
    assert_eq!(fixture.listing().len(), 3, "{:?}", fixture.listing());
}

#[rstest]
#[case::empty(true)]
#[case::filled(false)]
fn a_name_that_was_left_held_is_held_and_goes(
    #[case] empty: bool,
    #[values("left", "left/too/deep")] name: &str,
) {
    let fixture = Fixture::at_home();
    let left = fixture.directory("workspace/left");
    if !empty {
        fixture.file("workspace/left/file", "mine\n");
    }
    set_mode(&left, 0o1500);
    let output = fixture.run(
        &hiding(Posture::Strict, &fixture.path("workspace").join(name)),
        &format!("chmod 755 left; mkdir -p $(dirname {name}); echo planted > {name}; echo done"),
    );
    assert_eq!(text(&output), "done\n");
    assert_eq!(left.exists(), !empty);
    if !empty {
        set_mode(&left, 0o755);
        assert_eq!(fs::read_dir(&left).unwrap().count(), 1);
    }
}

#[rstest]
#[case::processes("/proc")]
#[case::one_process("/proc/1")]
#[case::devices("/dev")]
#[case::terminals("/dev/pts")]
fn the_host_s_processes_and_devices_cannot_be_granted(#[case] path: &str) {
    let fixture = Fixture::at_home();
    for posture in [Posture::Strict, Posture::HostReadable] {
        let policy = Policy {
            read_only: vec![path.into()],
            ..policy(posture)
        };
        let error = Launcher::prepare(&policy, fixture.workspace()).unwrap_err();
        assert!(error.to_string().contains("take it out"), "{error}");
    }
}

#[rstest]
fn a_command_of_more_words_than_bubblewrap_takes_is_told_so() {
    let fixture = Fixture::at_home();
    let launcher = fixture.launcher(&Policy::strict());
    let words = vec!["word"; 9_000];
    let error = launcher.command("true").args(words).status().unwrap_err();
    assert!(error.to_string().contains("9"), "{error}");
    assert!(error.to_string().contains("in a file"), "{error}");
}

#[rstest]
fn a_process_s_own_files_are_not_hidden_in_vain(
    #[values("/proc/self", "/proc/self/environ", "/proc/1/environ")] path: &str,
) {
    let fixture = Fixture::at_home();
    let policy = hiding(Posture::HostReadable, Path::new(path));
    let launcher = fixture.launcher(&policy);
    let error = launcher.shell("true").status().unwrap_err();
    assert!(error.to_string().contains("hide /proc"), "{error}");

    let policy = hiding(Posture::HostReadable, Path::new("/proc"));
    let output = fixture.run(&policy, "cat /proc/self/environ; echo done");
    assert_eq!(text(&output), "done\n");
}
