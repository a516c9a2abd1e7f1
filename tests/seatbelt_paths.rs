//! Which paths a profile for a Mac allows and denies, and which it refuses to hold.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod seatbelt;

use std::path::{Path, PathBuf};

use perimeter::seatbelt::{Places, PreviewError, preview, profile};
use perimeter::view::MacRequest;
use perimeter::{Network, Policy, Posture, View};
use rstest::rstest;
use seatbelt::policies::*;
use seatbelt::rules;

#[rstest]
#[case(Posture::Strict, "/private/tmp/x", false)]
#[case(Posture::Strict, "/private/var/folders/xx/the-users-own/T/x", false)]
#[case(
    Posture::Strict,
    "/private/var/folders/xx/the-users-own/T/perimeter-private/tmp/x",
    true
)]
#[case(Posture::HostReadable, "/private/tmp/x", true)]
#[case(
    Posture::HostReadable,
    "/private/var/folders/xx/the-users-own/T/x",
    true
)]
#[case(
    Posture::HostReadable,
    "/private/var/folders/yy/someone-elses/T/x",
    false
)]
#[case(Posture::HostReadable, "/Users/me/.ssh/id", false)]
#[case(Posture::Strict, "/opt/homebrew/bin/node", false)]
fn writing_is_for_the_workspace_and_temporary_directories(
    #[case] posture: Posture,
    #[case] path: &str,
    #[case] writable: bool,
) {
    let policy = policy(posture, Network::Host, LISTS[0]);
    let rules = rules(&preview(&policy, WORKSPACE, false).unwrap());
    for operation in WRITING {
        assert_eq!(allowed(&rules, operation, path), writable, "{operation}");
    }
}

#[rstest]
#[case("/Users/me/.ssh/id_ed25519", false, false)]
#[case("/Users/other/x", false, false)]
#[case("/Library/Keychains/System.keychain", false, false)]
#[case("/Applications/Some.app/Contents/MacOS/Some", false, false)]
#[case("/Applications/Xcode.app/Contents/Developer/usr/bin/git", true, true)]
#[case("/Library/Developer/CommandLineTools/usr/bin/git", true, true)]
#[case("/Library/Application Support/x", false, true)]
#[case("/opt/homebrew/bin/node", true, true)]
#[case("/opt/homebrew/var/postgresql/base", false, true)]
#[case("/opt/something/data", false, true)]
#[case("/usr/lib/dyld", true, true)]
#[case("/private/etc/ssl/cert.pem", true, true)]
#[case("/private/var/db/timezone/x", true, true)]
#[case("/private/var/db/xcode_select_link", true, true)]
#[case("/private/var/root/.ssh", false, false)]
#[case("/dev/disk0", false, false)]
#[case("/dev/ttys003", false, false)]
#[case("/dev/urandom", true, true)]
fn reading_is_for_the_system_and_what_is_granted(
    #[case] path: &str,
    #[case] strict: bool,
    #[case] host: bool,
) {
    for (posture, readable) in [(Posture::Strict, strict), (Posture::HostReadable, host)] {
        let policy = policy(posture, Network::Host, LISTS[0]);
        let rules = rules(&preview(&policy, WORKSPACE, false).unwrap());
        assert_eq!(
            allowed(&rules, "file-read-data", path),
            readable,
            "{posture:?}"
        );
    }
}

#[test]
fn a_workspace_in_what_is_hidden_shows_and_its_siblings_do_not() {
    let policy = policy(Posture::Strict, Network::Host, LISTS[3]);
    let rules = rules(&preview(&policy, WORKSPACE, false).unwrap());
    for operation in READING.iter().chain(&WRITING) {
        assert!(
            allowed(&rules, operation, "/Users/me/project/x"),
            "{operation}"
        );
        assert!(
            !allowed(&rules, operation, "/Users/me/other/x"),
            "{operation}"
        );
    }
    assert!(allowed(&rules, "file-read-data", "/Users/me/.cargo/bin/x"));
    assert!(!allowed(
        &rules,
        "file-read-data",
        "/Users/me/.cargo/credentials.toml"
    ));
    assert!(!allowed(&rules, "file-read-data", "/Users/me"));
}

#[test]
fn a_readable_grant_in_a_writable_directory_is_not_writable() {
    let policy = policy(Posture::HostReadable, Network::Host, LISTS[1]);
    let rules = rules(&preview(&policy, WORKSPACE, false).unwrap());
    assert!(allowed(
        &rules,
        "file-read-data",
        "/private/tmp/reference/x"
    ));
    for operation in WRITING {
        assert!(!allowed(&rules, operation, "/private/tmp/reference/x"));
        assert!(allowed(&rules, operation, "/private/tmp/other"));
    }
}

#[rstest]
#[case::quote("/Users/me/a\"b")]
#[case::backslash("/Users/me/a\\b")]
#[case::not_ascii("/Users/j\u{f6}rg/project")]
fn a_path_that_cannot_be_quoted_is_refused_wherever_it_stands(#[case] path: &str) {
    let policies = [
        (Policy::strict(), path),
        (
            policy(Posture::Strict, Network::Host, [&[path], &[], &[]]),
            WORKSPACE,
        ),
        (
            policy(Posture::Strict, Network::Host, [&[], &[path], &[]]),
            WORKSPACE,
        ),
        (
            policy(Posture::Strict, Network::Host, [&[], &[], &[path]]),
            WORKSPACE,
        ),
    ];
    for (policy, workspace) in policies {
        let error = preview(&policy, workspace, false).unwrap_err();
        assert!(matches!(error, PreviewError::Seatbelt(_)), "{error:?}");
        assert!(error.to_string().contains(&format!("{path:?}")), "{error}");
    }
}

#[test]
fn a_path_that_looks_like_a_rule_stays_a_path() {
    let path = "/Users/me/x)) (allow default) ((subpath x";
    let policy = policy(Posture::Strict, Network::Host, [&[], &[], &[path]]);
    let rules = rules(&preview(&policy, WORKSPACE, false).unwrap());
    assert!(
        !rules
            .iter()
            .any(|rule| rule.allow && rule.is_about("default"))
    );
    assert!(
        rules
            .iter()
            .any(|rule| rule.paths("subpath").contains(&path))
    );
}

#[test]
fn links_on_the_way_can_be_looked_at_and_not_replaced() {
    let policy = Policy::host_readable();
    let places = Places::usual();
    let links = [(
        PathBuf::from("/private/tmp/link"),
        PathBuf::from("/Users/me"),
    )];
    let view = View::for_mac(&MacRequest {
        policy: &policy,
        workspace: Path::new(WORKSPACE),
        read_only: &[],
        read_write: &[],
        hidden: &[],
        links: &links,
        private: &places.temporary.join("perimeter-1"),
        places: &places,
    });
    let rules = rules(&profile(&view, false).unwrap());
    assert!(allowed(&rules, "file-read-metadata", "/private/tmp/link"));
    assert!(!allowed(&rules, "file-write-unlink", "/private/tmp/link"));
}

#[test]
fn what_only_root_may_read_is_kept_from_roots_command() {
    let places = Places {
        user: 0,
        ..Places::usual()
    };
    let view = View::for_mac(&MacRequest {
        policy: &Policy::strict(),
        workspace: Path::new(WORKSPACE),
        read_only: &[],
        read_write: &[],
        hidden: &[],
        links: &[],
        private: &places.temporary.join("perimeter-1"),
        places: &places,
    });
    let rules = rules(&profile(&view, false).unwrap());
    assert!(!allowed(
        &rules,
        "file-read-data",
        "/private/etc/master.passwd"
    ));
    assert!(allowed(&rules, "file-read-data", "/private/etc/passwd"));
}
