//! Which paths a profile for a Mac allows and denies, and which it refuses to hold.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod seatbelt;

use std::path::{Path, PathBuf};

use perimeter::seatbelt::{ImaginedMac, Places, PreviewError, preview, preview_on, profile};
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

/// A Mac with one symbolic link, and a home.
fn mac(link: &str, target: &str) -> ImaginedMac {
    ImaginedMac {
        links: [(link.into(), target.into())].into(),
        homes: vec!["/Users/me".into()],
    }
}

#[rstest]
#[case("private")]
#[case("/Users/me/project/private")]
#[case("../project/private")]
fn a_hidden_link_hides_what_it_leads_to(#[case] target: &str) {
    let mac = mac("/Users/me/project/link", target);
    for hidden in ["/Users/me/project/link", "/Users/me/project/link/key"] {
        let policy = policy(Posture::Strict, Network::Host, [&[], &[], &[hidden]]);
        let rules = rules(&preview_on(&mac, &policy, WORKSPACE, false).unwrap());
        let key = "/Users/me/project/private/key";
        for operation in READING.iter().chain(&WRITING) {
            assert!(!allowed(&rules, operation, key), "{operation} {hidden}");
        }
        // Neither can be moved for the next launch to find.
        for place in ["/Users/me/project/link", "/Users/me/project/private"] {
            assert!(
                !allowed(&rules, "file-write-unlink", place),
                "{place} {hidden}"
            );
        }
    }
}

#[test]
fn a_workspace_that_is_named_through_a_link_is_where_it_leads() {
    let mac = mac("/Users/me/alias", "project");
    let policy = Policy::strict();
    let rules = rules(&preview_on(&mac, &policy, "/Users/me/alias", false).unwrap());
    assert!(allowed(
        &rules,
        "file-write-create",
        "/Users/me/project/new"
    ));
    assert!(allowed(&rules, "file-read-metadata", "/Users/me/alias"));
    assert!(!allowed(&rules, "file-write-create", "/Users/me/alias/new"));
}

#[rstest]
#[case::grant_through_a_link("/Users/me/link/out", WORKSPACE, "symbolic link")]
#[case::home("/Users/me/other", "/Users/me", "home")]
#[case::workspace_of_the_system("/Users/me/other", "/private/var", "directory of the system")]
#[case::writable_directory_of_the_system("/tmp", WORKSPACE, "directory of the system")]
fn what_a_launch_would_refuse_is_refused(
    #[case] writable: &str,
    #[case] workspace: &str,
    #[case] said: &str,
) {
    let mac = mac("/Users/me/link", "elsewhere");
    let policy = policy(Posture::Strict, Network::Host, [&[], &[writable], &[]]);
    let error = preview_on(&mac, &policy, workspace, false).unwrap_err();
    assert!(error.to_string().contains(said), "{error}");
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
