//! Links that a command could replace, on the way to what governs the next command.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod launch;

use std::path::Path;

use launch::{Fixture, text};
use perimeter::guard::Guard;
use perimeter::policy::Store;
use perimeter::{Launcher, Policy};
use rstest::rstest;

/// A way to `real` that is a link to a link in the workspace.
fn through_the_workspace(fixture: &Fixture, name: &str, real: &Path) -> std::path::PathBuf {
    let inner = fixture.link(&format!("workspace/{name}"), real);
    fixture.link(name, inner)
}

#[rstest]
#[case::directory(true)]
#[case::file(false)]
fn a_policy_reached_through_the_workspace_is_refused(#[case] directory: bool) {
    let fixture = Fixture::at_home();
    let real = fixture.file("safe/agent.json", r#"{ "version": 1, "network": "none" }"#);
    let path = if directory {
        through_the_workspace(&fixture, "way", &fixture.path("safe")).join("agent.json")
    } else {
        through_the_workspace(&fixture, "way.json", &real)
    };
    let policy = Policy::from_file(&path).unwrap();
    let error = Launcher::prepare(&policy, fixture.workspace()).unwrap_err();
    assert!(error.to_string().contains("link to the policy"), "{error}");
    assert!(Guard::for_tools(&policy, fixture.workspace()).is_err());

    let policy = Policy::from_file(&real).unwrap();
    assert_eq!(text(&fixture.run(&policy, "echo ran")), "ran\n");
}

#[rstest]
fn a_store_reached_through_the_workspace_is_refused() {
    let fixture = Fixture::at_home();
    fixture.file("safe/agent.json", r#"{ "version": 1, "network": "none" }"#);
    let store = through_the_workspace(&fixture, "store", &fixture.path("safe"));
    let policy = Store::at(store).load("agent").unwrap();
    let error = Launcher::prepare(&policy, fixture.workspace()).unwrap_err();
    assert!(error.to_string().contains("link to the policy"), "{error}");
}

#[rstest]
fn a_bubblewrap_reached_through_the_workspace_is_refused() {
    let fixture = Fixture::at_home();
    let found = Launcher::prepare(&Policy::strict(), fixture.workspace()).unwrap();
    let real = found.program().unwrap().path.clone();
    let path = through_the_workspace(&fixture, "bwrap", &real);
    let naming = |path: &Path| Policy {
        bubblewrap: Some(path.to_owned()),
        ..Policy::strict()
    };
    let error = Launcher::prepare(&naming(&path), fixture.workspace()).unwrap_err();
    assert!(error.to_string().contains("can write"), "{error}");
    let outer = fixture.link("outer", &real);
    assert_eq!(text(&fixture.run(&naming(&outer), "echo ran")), "ran\n");
}
