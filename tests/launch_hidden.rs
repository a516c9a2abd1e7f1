//! Hidden paths, in this run and the next.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod launch;

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use launch::{Fixture, policy, text};
use perimeter::{Launcher, Policy, Posture, Stdio};
use rstest::rstest;

fn hiding(posture: Posture, hidden: impl IntoIterator<Item = PathBuf>) -> Policy {
    Policy {
        hidden: hidden.into_iter().collect(),
        ..policy(posture)
    }
}

#[rstest]
#[case::directory("secret", "cat secret/key; ls -A secret; echo x > secret/new")]
#[case::file("secret/key", "cat secret/key; echo x > secret/key")]
#[case::deep("a/b/secret", "cat a/b/secret/key")]
#[case::moved("a/b/secret", "mv a c; mv a/b a/d; cat c/b/secret/key a/d/secret/key")]
#[case::removed(
    "a/b/secret",
    "rm -rf a/b/secret; rmdir a/b/secret; cat a/b/secret/key"
)]
fn a_path_in_the_workspace_is_hidden(
    #[case] name: &str,
    #[case] line: &str,
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
    #[values(Fixture::at_home(), Fixture::at_tmp())] fixture: Fixture,
) {
    fixture.file("workspace/secret/key", "KEY\n");
    fixture.file("workspace/a/b/secret/key", "KEY\n");
    fixture.file("workspace/a/b/open", "open\n");
    let before = fixture.listing();
    let policy = hiding(posture, [fixture.workspace().join(name)]);
    let output = fixture.run(&policy, &format!("{line}; cat a/b/open"));
    assert_eq!(text(&output), "open\n");
    assert_eq!(fixture.listing(), before);
}

#[rstest]
fn the_next_run_finds_it_hidden_still(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
) {
    let fixture = Fixture::at_home();
    fixture.file("workspace/c/secret/key", "KEY\n");
    let policy = hiding(posture, [fixture.path("workspace/c/secret")]);
    fixture.run(&policy, "mv c d; mkdir -p c/secret");
    let output = fixture.run(
        &policy,
        "cat c/secret/key d/secret/key; find . -name key -exec cat {} +",
    );
    assert_eq!(text(&output), "");
    assert!(fixture.path("workspace/c/secret/key").exists());
}

#[rstest]
fn a_workspace_in_a_hidden_directory_works_and_its_siblings_stay_hidden(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
    #[values(Fixture::at_home(), Fixture::at_tmp())] fixture: Fixture,
) {
    let policy = hiding(posture, [fixture.path("")]);
    let output = fixture.run(
        &policy,
        "ls ..; cat ../outside/canary; touch made; touch ../new",
    );
    assert_eq!(text(&output), "workspace\n");
    assert!(fixture.path("workspace/made").exists());
    assert!(!fixture.path("new").exists());
}

#[rstest]
#[case::relative("../outside/canary")]
#[case::absolute("")]
#[case::directory("../outside")]
fn what_a_link_means_is_hidden_under_both_names(#[case] target: &str) {
    let fixture = Fixture::at_home();
    let target = match target {
        "" => fixture.path("outside/canary"),
        target => target.into(),
    };
    let link = fixture.link("workspace/link", target);
    let output = fixture.run(
        &hiding(Posture::HostReadable, [link]),
        "cat link link/canary ../outside/canary; cat ../other",
    );
    assert_eq!(text(&output), "");
}

#[rstest]
#[case::outside("../absent")]
#[case::unreadable("/root/.ssh/id")]
#[case::dangling("workspace/dangling")]
#[case::circle("workspace/circle")]
#[case::old_root("workspace/old")]
#[case::new_root("workspace/new/deep/settings.json")]
fn what_is_not_there_stops_nothing(
    #[case] name: &str,
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
) {
    let fixture = Fixture::at_home();
    fixture.link("workspace/dangling", "/nowhere/at/all");
    fixture.link("workspace/circle", "circle");
    fixture.link(
        "workspace/old",
        "/oldroot".to_owned() + fixture.path("outside/made").to_str().unwrap(),
    );
    fixture.link(
        "workspace/new",
        "/newroot".to_owned() + fixture.path("outside/made").to_str().unwrap(),
    );
    let before = fixture.listing();
    let path = if name.starts_with('/') {
        name.into()
    } else {
        fixture.path(name.trim_start_matches("../"))
    };
    fixture.run(&hiding(posture, [path]), "true");
    assert_eq!(fixture.listing(), before);
}

#[rstest]
#[case::plain("settings", "echo x > settings; mkdir settings; ln -s /etc settings")]
#[case::deep("cfg/settings", "mkdir -p cfg; echo x > cfg/settings; mv other cfg")]
#[case::through_a_link("link/settings", "echo x > link/settings; echo x > real/settings")]
fn an_absent_path_cannot_be_created(
    #[case] name: &str,
    #[case] line: &str,
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
    #[values(Fixture::at_home(), Fixture::at_tmp())] fixture: Fixture,
) {
    fixture.directory("workspace/real");
    fixture.link("workspace/link", "real");
    let before = fixture.listing();
    let policy = hiding(posture, [fixture.workspace().join(name)]);
    let output = fixture.run(
        &policy,
        &format!("{line}; mkdir sibling && rmdir sibling && echo made"),
    );
    assert_eq!(text(&output), "made\n");
    assert_eq!(fixture.listing(), before);
}

#[test]
fn two_launches_hold_one_name_until_the_last_is_gone() {
    let fixture = Fixture::at_home();
    let held = fixture.path("workspace/held");
    let launcher = fixture.launcher(&hiding(Posture::Strict, [held.clone()]));
    let mut first = launcher
        .command("cat")
        .stdin(Stdio::Piped)
        .stdout(Stdio::Null)
        .spawn()
        .unwrap();
    assert!(held.exists());
    let output = launcher
        .shell("touch held/x || echo refused")
        .output()
        .unwrap();
    assert_eq!(text(&output), "refused\n");
    assert!(held.exists(), "the first still needs it");
    first.wait().unwrap();
    assert!(!held.exists());
}

#[test]
fn what_a_killed_launcher_left_is_taken_over_and_removed() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::at_home();
    let held = fixture.directory("workspace/held");
    fs::set_permissions(&held, fs::Permissions::from_mode(0o1500)).unwrap();
    let output = fixture.run(
        &hiding(Posture::Strict, [held.clone()]),
        "touch held/x || echo refused",
    );
    assert_eq!(text(&output), "refused\n");
    assert!(!held.exists());
}

#[test]
fn an_inner_change_is_seen_by_the_next_launch_of_the_same_launcher() {
    let fixture = Fixture::at_home();
    let launcher = fixture.launcher(&hiding(
        Posture::HostReadable,
        [fixture.path("workspace/x")],
    ));
    fs::write(fixture.path("workspace/x"), "KEY").unwrap();
    assert_eq!(text(&launcher.shell("cat x").output().unwrap()), "");
    fs::remove_file(fixture.path("workspace/x")).unwrap();
    fixture.link("workspace/x", "../outside/canary");
    assert_eq!(
        text(&launcher.shell("cat x ../outside/canary").output().unwrap()),
        ""
    );
}

#[rstest]
#[case::open("true")]
#[case::closed("chmod 0500 .")]
fn nothing_is_left_when_the_launcher_is_killed(#[case] line: &str) {
    let fixture = Fixture::at_home();
    let held = fixture.path("workspace/cfg");
    let program = std::env::current_exe().unwrap();
    // This test program once more, as the launcher that is killed.
    let mut launcher = std::process::Command::new(program)
        .args(["--exact", "--nocapture", "launcher_to_be_killed"])
        .env("WORKSPACE_OF_THE_KILLED", fixture.workspace())
        .env("LINE_OF_THE_KILLED", line)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(launcher.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("begun")));
    assert!(held.exists());
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    // Every process of the sandbox has the pipe; it ends with the last.
    assert_eq!(lines.count(), 0);
    // The janitor goes on from there, and has the directory locked until it is done.
    while let Ok(directory) = fs::File::open(&held) {
        let _ = nix::fcntl::Flock::lock(directory, nix::fcntl::FlockArg::LockExclusive);
        std::thread::yield_now();
    }
    assert!(!held.exists());
    // It is removed in the fixture's end, which is not told what a command closed.
    fs::set_permissions(fixture.workspace(), Permissions::from_mode(0o755)).unwrap();
}

/// As an unprivileged user, whom a mode stops.
#[rstest]
#[case(0o500)]
#[case(0o400)]
#[case(0o000)]
fn a_held_name_goes_though_the_command_closed_its_directory(#[case] mode: u32) {
    let fixture = Fixture::at_home();
    let directory = fixture.directory("workspace/sub");
    let output = fixture.run(
        &hiding(Posture::Strict, [directory.join("absent")]),
        &format!("chmod {mode:o} sub; echo done"),
    );
    assert_eq!(text(&output), "done\n");
    assert_eq!(
        fs::metadata(&directory).unwrap().permissions().mode() & 0o777,
        mode
    );
    fs::set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
    assert!(!directory.join("absent").exists());
}

/// What a link leads to is covered with all that is hidden in it, whichever is named first.
#[rstest]
fn what_is_hidden_within_what_a_link_hides_does_not_show(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
) {
    let fixture = Fixture::at_home();
    let inner = fixture.directory("workspace/writable/inner");
    fixture.directory("workspace/a");
    fixture.link("workspace/a/link", "../writable");
    let hidden = [inner, fixture.path("workspace/a/link")];
    let output = fixture.run(&hiding(posture, hidden), "ls -a writable | wc -l");
    assert_eq!(text(&output).trim(), "2");
}

#[test]
fn launcher_to_be_killed() {
    let Some(workspace) = std::env::var_os("WORKSPACE_OF_THE_KILLED") else {
        return;
    };
    let line = std::env::var("LINE_OF_THE_KILLED").unwrap();
    let hidden = PathBuf::from(&workspace).join("cfg/settings");
    let launcher = Launcher::prepare(&hiding(Posture::Strict, [hidden]), workspace).unwrap();
    launcher
        .shell(format!("{line}; echo begun; exec sleep 1000"))
        .status()
        .unwrap();
}
