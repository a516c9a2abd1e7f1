//! What is refused before anything is started, and in which words.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod launch;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use launch::{Fixture, text};
use perimeter::bubblewrap::BubblewrapError;
use perimeter::{LaunchError, Launcher, Policy};
use rstest::rstest;

fn refusal(policy: &Policy, workspace: impl AsRef<Path>) -> String {
    match Launcher::prepare(policy, workspace) {
        Ok(launcher) => panic!("{} was accepted", launcher.workspace().display()),
        Err(error) => error.to_string(),
    }
}

#[rstest]
#[case::root("/", "directory of the system")]
#[case::temporary("/tmp", "directory of the system")]
#[case::programs("/usr", "directory of the system")]
#[case::configuration("/etc", "directory of the system")]
#[case::kernel("/proc/self", "interface of the kernel")]
#[case::relative("workspace", "absolute")]
#[case::absent("/no/such/directory", "does not exist")]
#[case::file("/etc/passwd", "not a directory")]
fn a_workspace_is_a_directory_of_its_own(#[case] path: &str, #[case] reason: &str) {
    let error = refusal(&Policy::strict(), path);
    assert!(error.contains(reason), "{error}");
}

#[test]
fn a_workspace_is_not_the_home_nor_above_it() {
    let home = PathBuf::from(std::env::var("HOME").unwrap());
    assert!(!refusal(&Policy::strict(), &home).is_empty());
    if let Some(parent) = home.parent() {
        assert!(!refusal(&Policy::strict(), parent).is_empty());
    }
    let fixture = Fixture::at_home();
    let link = fixture.link("link", &home);
    assert!(!refusal(&Policy::strict(), link).is_empty());
    let writable = Policy {
        read_write: vec![home],
        ..Policy::strict()
    };
    assert!(!refusal(&writable, fixture.workspace()).is_empty());
}

#[rstest]
#[case("workspace/policy.json")]
#[case("workspace/deep/policy.json")]
fn a_workspace_does_not_hold_its_policy(#[case] name: &str) {
    let fixture = Fixture::at_home();
    let policy = Policy {
        source: Some(fixture.file(name, "{}")),
        ..Policy::strict()
    };
    let error = refusal(&policy, fixture.workspace());
    assert!(error.contains("holds the policy"), "{error}");
}

#[test]
fn nothing_writable_holds_this_program() {
    let fixture = Fixture::at_home();
    let program = std::env::current_exe().unwrap();
    let policy = Policy {
        read_write: vec![program.parent().unwrap().to_owned()],
        ..Policy::strict()
    };
    let error = refusal(&policy, fixture.workspace());
    assert!(error.contains("holds this program"), "{error}");
}

#[rstest]
#[case::workspace("workspace")]
#[case::beneath("workspace/sub")]
#[case::above("")]
fn a_grant_does_not_overlap_the_workspace(#[case] name: &str) {
    let fixture = Fixture::at_home();
    fixture.directory("workspace/sub");
    for writable in [true, false] {
        let mut policy = Policy::strict();
        let list = if writable {
            &mut policy.read_write
        } else {
            &mut policy.read_only
        };
        list.push(fixture.path(name).components().collect());
        let error = refusal(&policy, fixture.workspace());
        assert!(error.contains("overlaps"), "{error}");
    }
}

#[rstest]
#[case::itself("link", "outside")]
#[case::on_the_way("link/sub", "outside/sub")]
#[case::relative_out("workspace-link/x", "outside/x")]
fn a_grant_goes_through_no_link(#[case] name: &str, #[case] real: &str) {
    let fixture = Fixture::at_home();
    fixture.directory("outside/sub");
    fixture.directory("outside/x");
    fixture.link("link", "outside");
    fixture.link(
        "workspace-link",
        "../".to_owned() + fixture.path("").file_name().unwrap().to_str().unwrap() + "/outside",
    );
    let policy = Policy {
        read_write: vec![fixture.path(name)],
        ..Policy::strict()
    };
    let error = refusal(&policy, fixture.workspace());
    assert!(
        error.contains(&format!("write {}", fixture.path(real).display())),
        "{error}"
    );
}

#[test]
fn a_missing_grant_and_a_device_are_refused() {
    let fixture = Fixture::at_home();
    let absent = Policy {
        read_only: vec![fixture.path("absent")],
        ..Policy::strict()
    };
    assert!(refusal(&absent, fixture.workspace()).contains("does not exist"));
    let device = Policy {
        read_only: vec!["/dev/zero".into()],
        ..Policy::strict()
    };
    assert!(refusal(&device, fixture.workspace()).contains("device"));
}

#[test]
fn a_grant_that_becomes_a_link_is_not_widened() {
    let fixture = Fixture::at_home();
    let granted = fixture.directory("granted");
    let policy = Policy {
        read_write: vec![granted.clone()],
        ..Policy::strict()
    };
    let launcher = fixture.launcher(&policy);
    fs::rename(&granted, fixture.path("away")).unwrap();
    fixture.link("granted", "outside");
    // It may be refused, or be what it was; it is never what the link says.
    if let Ok(output) = launcher
        .shell(format!(
            "cat {0}/canary; echo x > {0}/new",
            granted.display()
        ))
        .output()
    {
        assert!(!text(&output).contains("secret"), "{output:?}");
    }
    assert!(!fixture.path("outside/new").exists());
}

/// Something called bwrap, executable.
fn program(fixture: &Fixture, name: &str, content: &[u8]) -> PathBuf {
    let path = fixture.file(name, "");
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[rstest]
#[case::executes_its_last(b"#!/bin/sh\nfor last; do :; done; exec \"$last\"\n")]
#[case::executes_its_rest(
    b"#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n"
)]
#[case::wraps(b"#!/bin/sh\nexec bwrap \"$@\"\n")]
fn a_script_is_not_bubblewrap(#[case] content: &[u8]) {
    let fixture = Fixture::at_home();
    let policy = Policy {
        bubblewrap: Some(program(&fixture, "bwrap", content)),
        ..Policy::strict()
    };
    let error = refusal(&policy, fixture.workspace());
    assert!(error.contains("is a script"), "{error}");
}

#[rstest]
#[case::false_program("/bin/false", "is not bubblewrap")]
#[case::env("/usr/bin/env", "is not bubblewrap")]
#[case::absent("/no/bwrap", "cannot be used")]
#[case::data("/etc/passwd", "not an executable file")]
#[case::directory("/usr", "not an executable file")]
fn another_program_is_not_bubblewrap(#[case] path: &str, #[case] reason: &str) {
    let fixture = Fixture::at_home();
    let policy = Policy {
        bubblewrap: Some(path.into()),
        ..Policy::strict()
    };
    let error = refusal(&policy, fixture.workspace());
    assert!(error.contains(reason), "{error}");
}

#[test]
fn bubblewrap_is_not_taken_from_where_a_command_writes() {
    let fixture = Fixture::at_home();
    let bwrap = fixture.path("workspace/bwrap");
    fs::copy("/usr/bin/bwrap", &bwrap).unwrap();
    let link = fixture.link("bwrap-link", &bwrap);
    for path in [bwrap, link] {
        let policy = Policy {
            bubblewrap: Some(path),
            ..Policy::strict()
        };
        let error = Launcher::prepare(&policy, fixture.workspace()).unwrap_err();
        assert!(
            matches!(
                error,
                LaunchError::Bubblewrap(BubblewrapError::Writable { .. })
            ),
            "{error}"
        );
    }
}

#[test]
fn a_search_passes_over_what_a_command_could_have_written() {
    let fixture = Fixture::at_home();
    fixture.directory("workspace/bin");
    fs::copy("/usr/bin/bwrap", fixture.path("workspace/bin/bwrap")).unwrap();
    let grants = perimeter::view::Grants::open(
        &Policy::strict(),
        &fixture.workspace(),
        &perimeter::view::Facts::default(),
    )
    .unwrap();
    let search = format!("bin:.:{}:/usr/bin", fixture.path("workspace/bin").display());
    let found = perimeter::bubblewrap::find(None, Some(search.as_ref()), &grants).unwrap();
    assert!(!found.path.starts_with(fixture.path("")), "{found:?}");
    let search = fixture.path("workspace/bin");
    let error = perimeter::bubblewrap::find(None, Some(search.as_os_str()), &grants).unwrap_err();
    assert!(error.to_string().contains("passed over"), "{error}");
}

#[test]
fn a_probe_launches_for_real() {
    let fixture = Fixture::at_home();
    Launcher::probe(&Policy::strict(), fixture.workspace()).unwrap();
}
