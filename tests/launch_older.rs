//! A bubblewrap without the options that came later.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod launch;

use std::fs;

use launch::{Fixture, policy, text};
use perimeter::{Policy, Posture};
use rstest::rstest;

/// The system's bubblewrap under other names for two options, as one from before them.
fn older_bubblewrap(fixture: &Fixture) -> std::path::PathBuf {
    let mut program = fs::read("/usr/bin/bwrap").unwrap();
    for option in [&b"-bind-fd"[..], b"-disable-userns"] {
        while let Some(at) = program
            .windows(option.len())
            .position(|part| part == option)
        {
            program[at + 1] = b'X';
        }
    }
    let path = fixture.path("older-bwrap");
    fs::copy("/usr/bin/bwrap", &path).unwrap();
    fs::write(&path, program).unwrap();
    path
}

#[rstest]
fn an_older_bubblewrap_does_too(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
) {
    let fixture = Fixture::at_home();
    let granted = fixture.directory("granted");
    let policy = Policy {
        bubblewrap: Some(older_bubblewrap(&fixture)),
        read_write: vec![granted],
        hidden: vec![fixture.path("outside")],
        ..policy(posture)
    };
    let features = fixture.launcher(&policy).program().unwrap().features;
    assert!(!features.bind_descriptor && !features.disable_user_namespaces);
    let output = fixture.run(
        &policy,
        "touch made ../granted/made && echo made; cat ../outside/canary; \
         ls /proc/self/fd | tr '\\n' ' '",
    );
    assert_eq!(text(&output), "made\n0 1 2 3 ");
}
