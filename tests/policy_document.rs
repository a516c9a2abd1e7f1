//! What a policy document says.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use perimeter::policy::PolicyError;
use perimeter::{Network, Policy, Posture};
use rstest::rstest;

const WHOLE: &str = r#"{
  "version": 1,
  "posture": "host-readable",
  "enabled": false,
  "network": "none",
  "read_only": ["/home/user/reference", "/srv/ré"],
  "read_write": ["/home/user/output/"],
  "hidden": ["/home/user", "/home/user/output/keys"],
  "host_environment": ["SSH_AUTH_SOCK", "_x9"],
  "bubblewrap": "/usr/bin/bwrap"
}"#;

#[test]
fn every_field_is_read() {
    let policy = Policy::from_json(WHOLE, "policy.json").unwrap();
    let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(
        policy,
        Policy {
            enabled: false,
            posture: Posture::HostReadable,
            network: Network::None,
            read_only: paths(&["/home/user/reference", "/srv/ré"]),
            read_write: paths(&["/home/user/output"]),
            hidden: paths(&["/home/user", "/home/user/output/keys"]),
            host_environment: vec!["SSH_AUTH_SOCK".into(), "_x9".into()],
            bubblewrap: Some("/usr/bin/bwrap".into()),
            source: None,
            links: Vec::new(),
        }
    );
    // The path comparison above does not see a trailing slash.
    assert_eq!(policy.read_write[0].as_os_str(), "/home/user/output");
}

#[rstest]
#[case::empty("")]
#[case::white_space(" \n\t\r\n")]
#[case::version_alone(r#"{"version":1}"#)]
#[case::escaped_name(r#"{"v\u0065rsion":1}"#)]
#[case::empty_lists(r#"{"version":1,"read_only":[],"hidden":[ ]}"#)]
fn the_default_is_strict(#[case] text: &str) {
    let policy = Policy::from_json(text, "policy.json").unwrap();
    assert_eq!(policy, Policy::strict());
    assert!(policy.enabled);
    assert_eq!(policy.posture, Posture::Strict);
    assert_eq!(policy.network, Network::Host);
    assert!(policy.plugin_http_allowed());
}

#[rstest]
#[case::host("host", true)]
#[case::none("none", false)]
fn plug_ins_use_http_only_where_commands_have_a_network(
    #[case] network: &str,
    #[case] allowed: bool,
) {
    let text = format!(r#"{{"version":1,"network":"{network}"}}"#);
    let policy = Policy::from_json(&text, "policy.json").unwrap();
    assert_eq!(policy.plugin_http_allowed(), allowed);
}

#[rstest]
#[case::prefix_is_no_ancestor(r#"{"version":1,"read_only":["/a/b"],"read_write":["/a/bc"]}"#)]
#[case::hidden_beneath_a_grant(r#"{"version":1,"read_write":["/a"],"hidden":["/a/b"]}"#)]
#[case::grant_beneath_hidden(r#"{"version":1,"hidden":["/a"],"read_only":["/a/b"]}"#)]
#[case::hidden_beneath_hidden(r#"{"version":1,"hidden":["/a","/a/b"]}"#)]
#[case::dots_in_a_name(r#"{"version":1,"read_only":["/a/..b/.c/d.."]}"#)]
#[case::leading_dash(r#"{"version":1,"read_only":["/--share-net"]}"#)]
#[case::quotes(r#"{"version":1,"read_only":["/a\")(allow default)(\"b\\"]}"#)]
#[case::open_bracket_alone(r#"{"version":1,"hidden":["/absent/a[b"]}"#)]
fn accepted(#[case] text: &str) {
    Policy::from_json(text, "policy.json").unwrap();
}

#[test]
fn many_grants_are_compared_quickly() {
    let paths: Vec<String> = (0..40_000).map(|n| format!("\"/data/{n}/x\"")).collect();
    let text = format!("{{\"version\":1,\"read_only\":[{}]}}", paths.join(","));
    let policy = Policy::from_json(&text, "policy.json").unwrap();
    assert_eq!(policy.read_only.len(), 40_000);
}

/// Each single change of a valid document either still reads or is refused with a
/// place inside the document.
#[test]
fn no_change_of_a_byte_panics() {
    let bytes = WHOLE.as_bytes();
    let lines = WHOLE.lines().count();
    let interesting = b"\0\n \"'\\,:[]{}/.~*1-eut\x7f\x80\xc3\xff";
    let mut accepted = 0;
    let mut refused = 0;
    let mut read = |changed: &[u8]| {
        let Ok(text) = std::str::from_utf8(changed) else {
            return;
        };
        match Policy::from_json(text, "policy.json") {
            Ok(_) => accepted += 1,
            Err(PolicyError::Document(refusal)) => {
                refused += 1;
                assert!((1..=lines + 1).contains(&refusal.line), "{refusal}");
                assert!(refusal.column >= 1, "{refusal}");
                assert!(!refusal.problem.is_empty() && !refusal.remedy.is_empty());
            }
            Err(other) => panic!("{text}\ngave {other:?}"),
        }
    };
    for place in 0..bytes.len() {
        read(&bytes[..place]);
        read(&[&bytes[..place], &bytes[place + 1..]].concat());
        for byte in interesting {
            read(&[&bytes[..place], &[*byte], &bytes[place + 1..]].concat());
            read(&[&bytes[..place], &[*byte], &bytes[place..]].concat());
        }
    }
    assert!(accepted > 100 && refused > 10_000, "{accepted} {refused}");
}

#[test]
fn a_policy_survives_its_own_document() {
    for policy in [
        Policy::strict(),
        Policy::host_readable(),
        Policy::from_json(WHOLE, "policy.json").unwrap(),
    ] {
        let text = policy.to_json();
        assert_eq!(Policy::from_json(&text, "again").unwrap(), policy, "{text}");
        assert_eq!(text, policy.to_json());
        policy.check().unwrap();
    }
}

#[rstest]
#[case::relative(Policy { read_only: vec!["data".into()], ..Policy::strict() }, "read_only[0]", "is relative")]
#[case::nested(Policy { read_only: vec!["/a/b".into()], read_write: vec!["/a".into()], ..Policy::strict() }, "read_write[0]", "contains read_only[0]")]
#[case::variable(Policy { host_environment: vec!["A B".into()], ..Policy::strict() }, "host_environment[0]", "is not the name")]
#[case::bubblewrap(Policy { bubblewrap: Some("bwrap".into()), ..Policy::strict() }, "bubblewrap", "is relative")]
fn a_policy_built_in_code_keeps_the_same_rules(
    #[case] policy: Policy,
    #[case] expected: &str,
    #[case] said: &str,
) {
    match policy.check() {
        Err(PolicyError::Field { field, problem, .. }) => {
            assert_eq!(field, expected);
            assert!(problem.contains(said), "{problem}");
        }
        other => panic!("gave {other:?}"),
    }
}
