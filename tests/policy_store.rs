//! Whose word a store takes for an agent's policy.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;
use nix::unistd::{geteuid, mkfifo};
use perimeter::policy::{PolicyError, Store};
use perimeter::{Network, Policy};
use rstest::{fixture, rstest};
use tempfile::TempDir;

const OFFLINE: &str = r#"{ "version": 1, "network": "none" }"#;

#[fixture]
fn directory() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn untrusted(store: &Store, problem: &str, remedy: &str) {
    match store.load("work") {
        Err(PolicyError::File(error)) => {
            assert!(error.problem.contains(problem), "{error}");
            assert!(error.remedy.contains(remedy), "{error}");
        }
        other => panic!("gave {other:?}"),
    }
}

#[rstest]
fn an_agent_has_a_file(directory: TempDir) {
    let store = Store::at(directory.path());
    let path = directory.path().join("work.json");
    assert_eq!(store.path("work").unwrap(), path);
    fs::write(&path, OFFLINE).unwrap();
    mode(&path, 0o644);
    let policy = store.load("work").unwrap();
    assert_eq!(policy.network, Network::None);
    assert_eq!(policy.source, Some(path));
    assert_eq!(store.load("other").unwrap().network, Network::Host);
}

#[rstest]
#[case::no_file("", None)]
#[case::no_store("absent/store", None)]
#[case::empty_file("", Some(""))]
fn nothing_there_means_strict(
    directory: TempDir,
    #[case] beneath: &str,
    #[case] text: Option<&str>,
) {
    let place = directory.path().join(beneath);
    if let Some(text) = text {
        fs::write(place.join("work.json"), text).unwrap();
        mode(&place.join("work.json"), 0o600);
    }
    let policy = Store::at(&place).load("work").unwrap();
    let source = Some(place.join("work.json"));
    assert_eq!(
        policy,
        Policy {
            source,
            ..Policy::strict()
        }
    );
}

#[rstest]
#[case::letters("work")]
#[case::all_kinds("a.B-c_9")]
#[case::dots_inside("a..b")]
#[case::underscore("_")]
#[case::longest("nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn")]
fn a_name(#[case] name: &str) {
    let path = Store::at("/store").path(name).unwrap();
    assert_eq!(path, PathBuf::from(format!("/store/{name}.json")));
}

#[rstest]
#[case::empty("", "is empty")]
#[case::parent("..", "begins with \".\"")]
#[case::hidden(".work", "begins with \".\"")]
#[case::option("-work", "begins with \"-\"")]
#[case::climbs("../work", "holds \"/\"")]
#[case::absolute("/etc/passwd", "holds \"/\"")]
#[case::nul("a\0b", "holds \"\\0\"")]
#[case::newline("a\nb", "holds \"\\n\"")]
#[case::space("a b", "holds \" \"")]
#[case::accent("é", "holds \"é\"")]
#[case::long(
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
    "longer than 64"
)]
fn not_a_name(#[case] name: &str, #[case] said: &str) {
    let store = Store::at("/store");
    assert!(matches!(
        store.load(name),
        Err(PolicyError::AgentName { .. })
    ));
    match store.path(name) {
        Err(PolicyError::AgentName { problem, .. }) => assert!(problem.contains(said), "{problem}"),
        other => panic!("gave {other:?}"),
    }
}

#[rstest]
#[case::group(0o664)]
#[case::other(0o646)]
fn a_file_that_others_write(directory: TempDir, #[case] bits: u32) {
    let path = directory.path().join("work.json");
    fs::write(&path, OFFLINE).unwrap();
    mode(&path, bits);
    untrusted(
        &Store::at(directory.path()),
        "written by others",
        "chmod go-w",
    );
}

#[rstest]
#[case::group(0o770)]
#[case::other(0o707)]
#[case::sticky(0o1777)]
fn a_store_that_others_write(directory: TempDir, #[case] bits: u32) {
    mode(directory.path(), bits);
    // Also where the file is absent: somebody else could be about to make it.
    untrusted(
        &Store::at(directory.path()),
        "written by others",
        "chmod go-w",
    );
}

#[rstest]
#[case::to_a_policy("elsewhere.json")]
#[case::to_nothing("absent")]
#[case::to_a_device("/dev/null")]
fn a_link_in_a_file_s_place(directory: TempDir, #[case] target: &str) {
    fs::write(directory.path().join("elsewhere.json"), OFFLINE).unwrap();
    symlink(target, directory.path().join("work.json")).unwrap();
    untrusted(
        &Store::at(directory.path()),
        "is a symbolic link",
        "the file itself",
    );
}

#[rstest]
fn a_store_behind_a_link_is_the_user_s_own_choice(directory: TempDir) {
    fs::create_dir(directory.path().join("real")).unwrap();
    mode(&directory.path().join("real"), 0o700);
    fs::write(directory.path().join("real/work.json"), OFFLINE).unwrap();
    mode(&directory.path().join("real/work.json"), 0o600);
    symlink("real", directory.path().join("alias")).unwrap();
    let store = Store::at(directory.path().join("alias"));
    assert_eq!(store.load("work").unwrap().network, Network::None);
    symlink("absent", directory.path().join("dangling")).unwrap();
    untrusted(
        &Store::at(directory.path().join("dangling")),
        "cannot be read",
        "check",
    );
}

#[rstest]
fn not_a_file(directory: TempDir) {
    let store = Store::at(directory.path());
    let path = directory.path().join("work.json");
    mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
    untrusted(&store, "is a pipe", "regular file");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    mode(&path, 0o700);
    untrusted(&store, "is a directory", "regular file");
    untrusted(
        &Store::at(Path::new("/dev/null")),
        "cannot be read",
        "directories",
    );
}

/// Only root can give a file away, so an ordinary user checks the other half: that
/// what belongs to root is trusted.
#[rstest]
fn whose_it_is(directory: TempDir) {
    if !geteuid().is_root() {
        assert!(Store::at("/usr").load("work").is_ok());
        return;
    }
    let path = directory.path().join("work.json");
    fs::write(&path, OFFLINE).unwrap();
    mode(&path, 0o644);
    let store = Store::at(directory.path());
    store.load("work").unwrap();
    chown(&path, Some(12345), None).unwrap();
    untrusted(&store, "belongs to user 12345", "chown");
    fs::remove_file(&path).unwrap();
    chown(directory.path(), Some(12345), None).unwrap();
    untrusted(&store, "belongs to user 12345", "chown");
}

#[rstest]
#[case::configured(&[("XDG_CONFIG_HOME", "/c"), ("HOME", "/h")], Some("/c/perimeter/sandbox"))]
#[case::home(&[("HOME", "/h")], Some("/h/.config/perimeter/sandbox"))]
#[case::relative_is_none(&[("XDG_CONFIG_HOME", "c"), ("HOME", "/h")], Some("/h/.config/perimeter/sandbox"))]
#[case::empty_is_none(&[("XDG_CONFIG_HOME", ""), ("HOME", "")], None)]
#[case::neither(&[], None)]
fn the_user_s_store(#[case] variables: &[(&str, &str)], #[case] expected: Option<&str>) {
    let store = Store::from_variables(|name| {
        let pair = variables.iter().find(|(known, _)| *known == name);
        pair.map(|(_, value)| OsString::from(value))
    });
    match (store, expected) {
        (Ok(store), Some(expected)) => assert_eq!(store.directory(), Path::new(expected)),
        (Err(PolicyError::NoStore { .. }), None) => {}
        (other, _) => panic!("gave {other:?}"),
    }
}
