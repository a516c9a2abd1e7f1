//! The variables that a posture begins with.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use perimeter::Posture;
use perimeter::environment::{PrivateDirectories, base};

fn host() -> Vec<(OsString, OsString)> {
    let mut host: Vec<(OsString, OsString)> = [
        ("ASTRID_HOME", "/a"),
        ("ASTRID_SESSION_TOKEN", "t"),
        ("ASTRID_SOCKET_PATH", "/s"),
        ("ASTRID_LOG", "debug"),
        ("HOME", "/home/user"),
        ("LANG", "de_CH.UTF-8"),
        ("LC_ALL", "C"),
        ("LC_SMUGGLED", "x"),
        ("LD_PRELOAD", "/evil.so"),
        ("PATH", "/home/user/bin:/usr/bin"),
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("TERM", "xterm"),
        ("TMPDIR", "/var/tmp/user"),
        ("USER", "user"),
        ("XDG_CONFIG_HOME", "/home/user/.config"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into();
    host.push(("TZ".into(), OsStr::from_bytes(b"\xff").to_owned()));
    host
}

fn variables(pairs: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
    pairs
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

#[test]
fn strict_is_a_closed_list() {
    let mut expected = variables(&[
        ("HOME", "/tmp/home"),
        ("LANG", "de_CH.UTF-8"),
        ("LC_ALL", "C"),
        (
            "PATH",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        ),
        ("TERM", "xterm"),
        ("TMPDIR", "/tmp"),
        ("XDG_CACHE_HOME", "/tmp/home/.cache"),
        ("XDG_CONFIG_HOME", "/tmp/home/.config"),
        ("XDG_DATA_HOME", "/tmp/home/.local/share"),
        ("XDG_RUNTIME_DIR", "/tmp/runtime"),
        ("XDG_STATE_HOME", "/tmp/home/.local/state"),
    ]);
    expected.insert("TZ".into(), OsStr::from_bytes(b"\xff").to_owned());
    let private = PrivateDirectories::default();
    assert_eq!(base(Posture::Strict, &private, host()), expected);
}

#[test]
fn strict_needs_nothing_of_the_host() {
    let private = PrivateDirectories::new("/p/home", "/p/tmp", "/p/run");
    let base = base(Posture::Strict, &private, []);
    assert_eq!(base.len(), 8);
    assert_eq!(base[OsStr::new("TMPDIR")], "/p/tmp");
    assert_eq!(base[OsStr::new("XDG_RUNTIME_DIR")], "/p/run");
    assert_eq!(base[OsStr::new("XDG_DATA_HOME")], "/p/home/.local/share");
}

#[test]
fn host_readable_is_the_host_s_own_save_a_named_set() {
    let mut expected: BTreeMap<OsString, OsString> = host().into_iter().collect();
    for name in ["ASTRID_HOME", "ASTRID_SESSION_TOKEN", "ASTRID_SOCKET_PATH"] {
        expected.remove(OsStr::new(name));
    }
    expected.insert("TMPDIR".into(), "/tmp".into());
    let private = PrivateDirectories::default();
    assert_eq!(base(Posture::HostReadable, &private, host()), expected);
}

#[test]
fn host_readable_adds_no_variable() {
    let private = PrivateDirectories::default();
    assert_eq!(base(Posture::HostReadable, &private, []), BTreeMap::new());
}

/// A program of Windows leaves such variables to what it starts.
#[test]
fn what_has_no_name_is_left_out() {
    let private = PrivateDirectories::default();
    let host = [("=C:", "C:\\work"), ("", "nothing"), ("KEPT", "value")]
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let kept = base(Posture::HostReadable, &private, host);
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[OsStr::new("KEPT")], "value");
}
