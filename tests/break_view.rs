//! Policies that name what a command has of its own.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod launch;

use std::path::PathBuf;

use launch::{Fixture, policy, text};
use perimeter::{Launcher, Policy, Posture};
use rstest::rstest;

const BOTH: [Posture; 2] = [Posture::Strict, Posture::HostReadable];

fn refusal(policy: &Policy, fixture: &Fixture) -> String {
    match Launcher::prepare(policy, fixture.workspace()).and_then(|launcher| launcher.view()) {
        Ok(view) => panic!("it is not refused: {view:?}"),
        Err(error) => error.to_string(),
    }
}

/// With the host's /tmp in the place of its own, a strict command has no place for a home.
#[test]
fn the_temporary_directory_itself_cannot_be_granted() {
    let fixture = Fixture::at_home();
    for posture in BOTH {
        let policy = Policy {
            read_only: vec!["/tmp".into()],
            ..policy(posture)
        };
        let refusal = refusal(&policy, &fixture);
        assert!(refusal.contains("grant the directories in it"), "{refusal}");
    }
}

#[test]
fn what_holds_the_other_temporary_directory_can_be_granted() {
    let fixture = Fixture::at_home();
    let policy = Policy {
        read_only: vec!["/var".into()],
        ..Policy::strict()
    };
    let output = fixture.run(&policy, "ls -d /var/lib; touch /var/lib/new || echo denied");
    assert_eq!(text(&output), "/var/lib\ndenied\n");
}

/// What is covered for user 0 is not left to stand in a hidden directory.
#[rstest]
fn a_hidden_directory_of_the_system_is_empty(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
    #[values("/etc", "/proc")] hidden: &str,
) {
    let fixture = Fixture::at_home();
    let policy = Policy {
        hidden: vec![PathBuf::from(hidden)],
        ..policy(posture)
    };
    let output = fixture.run(&policy, &format!("ls -A {hidden}"));
    assert_eq!(text(&output), "");
}

#[test]
fn a_grant_in_a_hidden_directory_of_the_system_stays() {
    let fixture = Fixture::at_home();
    let policy = Policy {
        hidden: vec!["/etc".into()],
        read_only: vec!["/etc/passwd".into()],
        ..Policy::strict()
    };
    let output = fixture.run(&policy, "ls -A /etc; head -c 4 /etc/passwd");
    assert_eq!(text(&output), "passwd\nroot");
}

#[test]
fn the_workspace_itself_cannot_be_hidden() {
    let fixture = Fixture::at_home();
    for posture in BOTH {
        let policy = Policy {
            hidden: vec![fixture.workspace()],
            ..policy(posture)
        };
        let refusal = refusal(&policy, &fixture);
        assert!(refusal.contains("it is the workspace"), "{refusal}");
    }
}
