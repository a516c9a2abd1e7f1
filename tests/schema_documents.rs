//! The schemas of the policy and of the environment document say what the launcher
//! reads: whatever it accepts is valid, and what is valid and refused all the same is
//! listed here, with what a schema cannot say.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/schema.rs"]
mod schema;

use perimeter::Policy;
use perimeter::environment::Environment;
use rstest::rstest;
use schema::Schema;

/// Whether the launcher reads the document, and whether the schema allows it.
fn both_of_policy(text: &str) -> (bool, bool) {
    let value = serde_json::from_str(text).unwrap();
    (
        Policy::from_json(text, "policy.json").is_ok(),
        Schema::named("policy.schema.json").allows(&value),
    )
}

/// A policy document with these fields beside its version.
fn policy(fields: &str) -> String {
    format!(r#"{{ "version": 1, {fields} }}"#)
}

#[rstest]
#[case::schema(r#""$schema": "https://example.org/policy.schema.json""#)]
#[case::posture(r#""posture": "strict""#)]
#[case::other_posture(r#""posture": "host-readable""#)]
#[case::enabled(r#""enabled": true"#)]
#[case::switched_off(r#""enabled": false"#)]
#[case::network(r#""network": "host""#)]
#[case::no_network(r#""network": "none""#)]
#[case::empty_lists(r#""read_only": [], "read_write": [], "hidden": [], "host_environment": []"#)]
#[case::grants(r#""read_only": ["/srv/a", "/srv/b"], "read_write": ["/srv/c/"]"#)]
#[case::hidden(r#""read_write": ["/a"], "hidden": ["/a/b", "/home"]"#)]
#[case::dots_in_names(r#""read_only": ["/a/..b/.c/d..", "/...", "/.e"]"#)]
#[case::odd_names(r#""hidden": ["/a b/é\"\\", "/--share-net", "/a:b=c"]"#)]
#[case::variables(r#""host_environment": ["SSH_AUTH_SOCK", "_x9", "a"]"#)]
#[case::bubblewrap(r#""bubblewrap": "/usr/bin/bwrap""#)]
fn both_accept_a_policy(#[case] fields: &str) {
    assert_eq!(both_of_policy(&policy(fields)), (true, true));
}

#[rstest]
#[case::unknown(r#""netwrok": "none""#)]
#[case::other_case(r#""Network": "none""#)]
#[case::comment(r#""$comment": "mine""#)]
#[case::schema_of_another_kind(r#""$schema": 1"#)]
#[case::posture(r#""posture": "open""#)]
#[case::posture_null(r#""posture": null"#)]
#[case::network(r#""network": "off""#)]
#[case::network_of_another_kind(r#""network": false"#)]
#[case::enabled(r#""enabled": "false""#)]
#[case::enabled_number(r#""enabled": 0"#)]
#[case::enabled_null(r#""enabled": null"#)]
#[case::list_null(r#""hidden": null"#)]
#[case::list_text(r#""read_only": "/usr/share""#)]
#[case::list_of_numbers(r#""read_write": [1]"#)]
#[case::empty_path(r#""hidden": [""]"#)]
#[case::whole_file_system(r#""hidden": ["/"]"#)]
#[case::relative(r#""read_only": ["data"]"#)]
#[case::home(r#""read_only": ["~/data"]"#)]
#[case::variable(r#""read_only": ["$HOME/data"]"#)]
#[case::dot(r#""read_only": ["/a/./b"]"#)]
#[case::last_dot(r#""read_only": ["/a/."]"#)]
#[case::parent(r#""read_only": ["/a/../b"]"#)]
#[case::parent_last(r#""read_only": ["/a/.."]"#)]
#[case::two_slashes(r#""read_only": ["/a//b"]"#)]
#[case::two_slashes_last(r#""read_only": ["/a//"]"#)]
#[case::control(r#""read_only": ["/a\nb"]"#)]
#[case::control_of_latin_1(r#""read_only": ["/a\u0085b"]"#)]
#[case::nul(r#""read_only": ["/a\u0000"]"#)]
#[case::twice(r#""hidden": ["/a", "/a"]"#)]
#[case::variable_name(r#""host_environment": ["A=B"]"#)]
#[case::variable_digit(r#""host_environment": ["1A"]"#)]
#[case::variable_empty(r#""host_environment": [""]"#)]
#[case::variable_twice(r#""host_environment": ["A", "A"]"#)]
#[case::bubblewrap(r#""bubblewrap": true"#)]
#[case::bubblewrap_relative(r#""bubblewrap": "bwrap""#)]
fn both_refuse_a_policy(#[case] fields: &str) {
    assert_eq!(both_of_policy(&policy(fields)), (false, false));
}

#[rstest]
#[case::other_version(r#"{ "version": 2 }"#)]
#[case::version_as_text(r#"{ "version": "1" }"#)]
#[case::version_missing(r#"{ "network": "none" }"#)]
#[case::empty("{}")]
#[case::list("[]")]
#[case::null("null")]
fn both_refuse_what_is_no_policy(#[case] text: &str) {
    assert_eq!(both_of_policy(text), (false, false));
}

/// What takes two values to see, or the host's files.
#[rstest]
#[case::beneath_a_grant(r#""read_only": ["/a"], "read_write": ["/a/b"]"#)]
#[case::in_two_lists(r#""read_only": ["/a"], "hidden": ["/a"]"#)]
#[case::twice_but_for_a_slash(r#""hidden": ["/a", "/a/"]"#)]
#[case::bubblewrap_in_reach(r#""read_write": ["/a"], "bubblewrap": "/a/bwrap""#)]
#[case::pattern(r#""hidden": ["/srv/**"]"#)]
#[case::long_name(&format!(r#""hidden": ["/{}"]"#, "a".repeat(256)))]
#[case::field_twice(r#""network": "none", "network": "host""#)]
fn the_launcher_alone_refuses_a_policy(#[case] fields: &str) {
    assert_eq!(both_of_policy(&policy(fields)), (false, true));
}

/// The one number that is written differently and is the same to JSON.
#[test]
fn a_version_is_written_as_1() {
    assert_eq!(both_of_policy(r#"{ "version": 1.0 }"#), (false, true));
}

fn both_of_environment(text: &str) -> (bool, bool) {
    let value = serde_json::from_str(text).unwrap();
    (
        Environment::from_json(text, "agent.json").is_ok(),
        Schema::named("environment.schema.json").allows(&value),
    )
}

#[rstest]
#[case::nothing("{}", true)]
#[case::beside_others(
    r#"{ "$schema": "x", "model": [1], "environment": { "A": "1" } }"#,
    true
)]
#[case::none(r#"{ "environment": {} }"#, true)]
#[case::odd_names(r#"{ "environment": { "a-b.c": "", "é": " ", "1": "x" } }"#, true)]
#[case::reference(r#"{ "environment": { "A": "${SSH_AUTH_SOCK}" } }"#, true)]
#[case::escaped(
    r#"{ "environment": { "A": "$${SSH_AUTH_SOCK}", "B": "$$", "C": "$" } }"#,
    true
)]
#[case::embedded(
    r#"{ "environment": { "A": "${A}/${B}", "B": "x${A}", "C": "${A}x" } }"#,
    true
)]
#[case::half_a_reference(
    r#"{ "environment": { "A": "${", "B": "${A", "C": "$A", "D": "a}" } }"#,
    true
)]
#[case::lines(r#"{ "environment": { "A": "one\ntwo" } }"#, true)]
#[case::list("[]", false)]
#[case::list_of_variables(r#"{ "environment": ["A=1"] }"#, false)]
#[case::null(r#"{ "environment": null }"#, false)]
#[case::number(r#"{ "environment": { "A": 1 } }"#, false)]
#[case::empty_name(r#"{ "environment": { "": "x" } }"#, false)]
#[case::equals(r#"{ "environment": { "A=B": "x" } }"#, false)]
#[case::control(r#"{ "environment": { "A\n": "x" } }"#, false)]
#[case::nul(r#"{ "environment": { "A": "a\u0000" } }"#, false)]
#[case::no_variable(r#"{ "environment": { "A": "${a-b}" } }"#, false)]
#[case::empty_reference(r#"{ "environment": { "A": "${}" } }"#, false)]
fn both_agree_on_an_environment(#[case] text: &str, #[case] accepted: bool) {
    assert_eq!(both_of_environment(text), (accepted, accepted));
}
