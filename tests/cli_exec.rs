//! `perimeter exec`: what comes of a command, and what flags and documents mean.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;
use rstest::rstest;
use support::{Place, one_paragraph};

const POSTURES: [&str; 2] = ["strict", "host-readable"];

#[rstest]
#[case::success("exit 0", 0)]
#[case::failure("exit 1", 1)]
#[case::any_other("exit 42", 42)]
#[case::the_launchers_own_number("exit 125", 125)]
#[case::the_highest("exit 255", 255)]
#[case::killed("kill -KILL $$", 137)]
#[case::terminated("kill -TERM $$", 143)]
#[case::aborted("kill -ABRT $$", 134)]
#[case::not_found_by_the_shell("no-such-program", 127)]
fn the_exit_status_is_the_commands(
    #[case] line: &str,
    #[case] status: i32,
    #[values("strict", "host-readable")] posture: &str,
) {
    let place = Place::new();
    place
        .exec(&["--posture", posture], line)
        .assert()
        .code(status);
}

#[rstest]
#[case::a_name("no-such-program", 127)]
#[case::a_path("/no/such/program", 127)]
#[case::a_directory("/usr", 126)]
#[case::a_plain_file("/etc/passwd", 126)]
fn what_cannot_be_executed_is_told_as_a_shell_tells_it(#[case] program: &str, #[case] status: i32) {
    let place = Place::new();
    place
        .perimeter(&["exec", "--", program])
        .assert()
        .code(status)
        .stdout("")
        .stderr(one_paragraph().and(contains(program)));
}

#[rstest]
#[case::nothing(&["exec"])]
#[case::no_command(&["exec", "--"])]
#[case::no_separator(&["exec", "true"])]
#[case::an_unknown_flag(&["exec", "--nope", "--", "touch", "begun"])]
#[case::an_unknown_posture(&["exec", "--posture", "open", "--", "touch", "begun"])]
#[case::an_unknown_network(&["exec", "--network", "some", "--", "touch", "begun"])]
#[case::two_policies(&["exec", "--policy", "a", "--agent", "b", "--", "touch", "begun"])]
#[case::a_variable_without_value(&["exec", "--env", "NAME", "--", "touch", "begun"])]
#[case::a_variable_without_name(&["exec", "--env", "=value", "--", "touch", "begun"])]
fn a_wrong_command_line_is_the_launchers_own_failure(#[case] arguments: &[&str]) {
    let place = Place::new();
    place
        .perimeter(arguments)
        .assert()
        .code(125)
        .stdout("")
        .stderr(contains("panicked").not().and(contains("e")));
    assert!(!place.path("workspace/begun").exists());
}

#[test]
fn the_streams_are_the_commands_and_stay_apart() {
    let place = Place::new();
    place
        .exec(&[], "cat; echo to the error >&2")
        .write_stdin("first\nlast without an end")
        .assert()
        .code(0)
        .stdout("first\nlast without an end")
        .stderr("to the error\n");
}

#[test]
fn a_large_input_arrives_whole_and_an_early_end_of_reading_does_no_harm() {
    let place = Place::new();
    let input = "0123456789abcdef".repeat(1 << 16);
    place
        .exec(&[], "wc -c")
        .write_stdin(input.clone())
        .assert()
        .code(0)
        .stdout(contains("1048576"));
    place
        .exec(&[], "head -c 4")
        .write_stdin(input)
        .assert()
        .code(0)
        .stdout("0123");
}

#[test]
fn arguments_arrive_as_they_are_and_options_after_the_separator_are_the_commands() {
    let place = Place::new();
    place
        .perimeter(&[
            "exec", "--", "printf", "[%s]", "", "a b", "--help", "--policy", "--", "é\n", "$HOME",
        ])
        .assert()
        .code(0)
        .stdout("[][a b][--help][--policy][--][é\n][$HOME]");
}

#[rstest]
fn the_workspace_is_the_current_directory_unless_named(
    #[values("strict", "host-readable")] posture: &str,
) {
    let place = Place::new();
    let flags = ["--posture", posture];
    place
        .exec(&flags, "pwd; echo text > made")
        .assert()
        .code(0)
        .stdout(format!("{}\n", place.text("workspace")));
    assert_eq!(
        fs::read_to_string(place.path("workspace/made")).unwrap(),
        "text\n"
    );
    place.directory("other");
    let named = place.text("other");
    place
        .exec(&["--posture", posture, "--workspace", &named], "pwd > made")
        .assert()
        .code(0);
    assert_eq!(
        fs::read_to_string(place.path("other/made")).unwrap(),
        format!("{named}\n")
    );
}

#[test]
fn a_relative_workspace_and_directory_are_taken_from_the_current_one() {
    let place = Place::new();
    place.directory("workspace/deep/er");
    place
        .exec(&["--workspace", "deep"], "pwd; touch made")
        .assert()
        .code(0)
        .stdout(format!("{}\n", place.text("workspace/deep")));
    assert!(place.path("workspace/deep/made").exists());
    place
        .exec(&["--cwd", "deep/er"], "pwd")
        .assert()
        .code(0)
        .stdout(format!("{}\n", place.text("workspace/deep/er")));
}

#[test]
fn a_workspace_reached_through_a_link_keeps_the_spelling_of_the_shell() {
    let place = Place::new();
    let link = place.path("link");
    std::os::unix::fs::symlink(place.workspace(), &link).unwrap();
    place
        .exec(&[], "echo $PWD; touch made")
        .current_dir(&link)
        .env("PWD", &link)
        .assert()
        .code(0)
        .stdout(format!("{}\n", link.display()));
    assert!(place.path("workspace/made").exists());
    // A spelling that is no longer true is not believed.
    place
        .exec(&[], "pwd")
        .current_dir(place.workspace())
        .env("PWD", "/usr")
        .assert()
        .code(0)
        .stdout(format!("{}\n", place.text("workspace")));
}

#[rstest]
#[case::absent("absent", "does not exist")]
#[case::a_file("file", "not a directory")]
fn a_directory_that_cannot_be_entered_starts_nothing(#[case] name: &str, #[case] reason: &str) {
    let place = Place::new();
    place.file("workspace/file", "");
    let named = place.text(format!("workspace/{name}"));
    place
        .exec(&["--cwd", &named], "touch begun")
        .assert()
        .code(125)
        .stderr(one_paragraph().and(contains(&named)).and(contains(reason)));
    assert!(!place.path("workspace/begun").exists());
}

#[test]
fn variables_come_from_the_document_and_the_flags_and_the_flags_win() {
    let place = Place::new();
    let document = place.file(
        "environment.json",
        r#"{ "environment": { "KEPT": "from the document", "CHANGED": "no", "COPIED": "${TOKEN}" } }"#,
    );
    let policy = place.file(
        "policy.json",
        r#"{ "version": 1, "host_environment": ["TOKEN"] }"#,
    );
    place
        .exec(
            &[
                "--policy",
                policy.to_str().unwrap(),
                "--environment",
                document.to_str().unwrap(),
                "--env",
                "CHANGED=a=b c",
                "--env",
                "ALSO=${TOKEN}",
            ],
            "echo \"$KEPT,$CHANGED,$COPIED,$ALSO,$UNASKED\"",
        )
        .env("TOKEN", "secret")
        .env("UNASKED", "never")
        .assert()
        .code(0)
        .stdout("from the document,a=b c,secret,secret,\n");
}

#[rstest]
#[case::unlisted("${UNLISTED}", "UNLISTED")]
#[case::unset("${UNSET}", "UNSET")]
fn a_variable_of_the_caller_is_copied_only_if_listed_and_set(
    #[case] value: &str,
    #[case] name: &str,
) {
    let place = Place::new();
    let policy = place.file(
        "policy.json",
        r#"{ "version": 1, "host_environment": ["UNSET"] }"#,
    );
    let variable = format!("MINE={value}");
    place
        .exec(
            &["--policy", policy.to_str().unwrap(), "--env", &variable],
            "touch begun",
        )
        .env("UNLISTED", "secret")
        .env_remove("UNSET")
        .assert()
        .code(125)
        .stderr(
            one_paragraph()
                .and(contains(name))
                .and(contains("secret").not()),
        );
    assert!(!place.path("workspace/begun").exists());
}

#[rstest]
#[case::broken("{ \"environment\": ", "environment.json:1:")]
#[case::not_text("{ \"environment\": {\n  \"A\": 1\n} }", "environment.json:2:")]
fn a_broken_environment_document_names_the_place(#[case] content: &str, #[case] place_of_it: &str) {
    let place = Place::new();
    let document = place.file("environment.json", content);
    place
        .exec(
            &["--environment", document.to_str().unwrap()],
            "touch begun",
        )
        .assert()
        .code(125)
        .stderr(one_paragraph().and(contains(place_of_it)));
    place
        .exec(
            &["--environment", &place.text("absent.json")],
            "touch begun",
        )
        .assert()
        .code(125)
        .stderr(one_paragraph().and(contains("absent.json")));
    assert!(!place.path("workspace/begun").exists());
}

/// Whether a launch with this policy and these flags reads what only the host has,
/// and whether it sees the host's network; none, if it is refused.
fn reach(place: &Place, document: Option<&str>, flags: &[&str]) -> Option<(bool, bool)> {
    place.file("outside/notes", "host's own\n");
    let policy = document.map(|text| place.file("policy.json", text));
    let policy = policy.as_ref().map(|path| path.to_str().unwrap());
    let mut all: Vec<&str> = policy.iter().flat_map(|path| ["--policy", path]).collect();
    all.extend(flags);
    let line = "echo begun; cat ../outside/notes 2>/dev/null; readlink /proc/self/ns/net";
    let output = place.exec(&all, line).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    if output.status.code() == Some(125) {
        assert_eq!(text, "");
        return None;
    }
    assert!(text.starts_with("begun\n"), "{text}");
    let network = fs::read_link("/proc/self/ns/net").unwrap();
    Some((
        text.contains("host's own"),
        text.contains(network.to_str().unwrap()),
    ))
}

fn document(posture: &str, network: &str) -> String {
    format!(r#"{{ "version": 1, "posture": "{posture}", "network": "{network}" }}"#)
}

#[rstest]
fn a_document_is_what_it_says_and_flags_that_repeat_it_change_nothing(
    #[values("strict", "host-readable")] posture: &str,
    #[values("none", "host")] network: &str,
) {
    let place = Place::new();
    let text = document(posture, network);
    let expected = Some((posture == "host-readable", network == "host"));
    assert_eq!(reach(&place, Some(&text), &[]), expected);
    let flags = ["--posture", posture, "--network", network];
    assert_eq!(reach(&place, Some(&text), &flags), expected);
}

#[test]
fn flags_narrow_a_document() {
    let place = Place::new();
    let text = document("host-readable", "host");
    let reached = |flags: &[&str]| reach(&place, Some(&text), flags);
    assert_eq!(reached(&["--network", "none"]), Some((true, false)));
    assert_eq!(reached(&["--posture", "strict"]), Some((false, true)));
    let both = ["--posture", "strict", "--network", "none"];
    assert_eq!(reached(&both), Some((false, false)));
}

#[rstest]
#[case::posture("strict", "host", &["--posture", "host-readable"])]
#[case::network("strict", "none", &["--network", "host"])]
#[case::network_of_the_other_posture("host-readable", "none", &["--network", "host"])]
#[case::one_narrows_and_one_widens("host-readable", "none", &["--posture", "strict", "--network", "host"])]
fn flags_never_widen_a_document(
    #[case] posture: &str,
    #[case] network: &str,
    #[case] flags: &[&str],
) {
    let place = Place::new();
    assert_eq!(
        reach(&place, Some(&document(posture, network)), flags),
        None
    );
    let policy = place.text("policy.json");
    let mut all = vec!["--policy", policy.as_str()];
    all.extend(flags);
    place.exec(&all, "true").assert().code(125).stderr(
        one_paragraph()
            .and(contains("would widen"))
            .and(contains(&policy)),
    );
}

#[rstest]
#[case::empty("")]
#[case::nothing_said("{ \"version\": 1 }")]
fn the_defaults_of_a_document_are_what_it_says_too(#[case] text: &str) {
    let place = Place::new();
    let plain = reach(&place, Some(text), &[]).unwrap();
    assert!(!plain.0, "the default is strict");
    assert_eq!(
        reach(&place, Some(text), &["--posture", "host-readable"]),
        None
    );
    let narrowed = reach(&place, Some(text), &["--network", "none"]);
    assert_eq!(narrowed, Some((false, false)));
}

#[test]
fn without_a_document_the_flags_say_all() {
    let place = Place::new();
    for posture in POSTURES {
        for network in ["none", "host"] {
            let flags = ["--posture", posture, "--network", network];
            let expected = Some((posture == "host-readable", network == "host"));
            assert_eq!(reach(&place, None, &flags), expected, "{flags:?}");
        }
    }
    assert!(
        !reach(&place, None, &[]).unwrap().0,
        "the default is strict"
    );
}

#[test]
fn an_agents_document_comes_from_the_users_store() {
    let place = Place::new();
    place.file("outside/notes", "granted\n");
    let grant = place.text("outside");
    place.file(
        "config/perimeter/sandbox/helper.json",
        &format!(r#"{{ "version": 1, "read_only": ["{grant}"] }}"#),
    );
    let read = |agent: &str| {
        let mut command = place.exec(&["--agent", agent], "cat ../outside/notes");
        command.env("XDG_CONFIG_HOME", place.path("config"));
        command.assert()
    };
    let shown = read("helper");
    let output = shown.get_output();
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(0), b"granted\n".as_slice()),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // An agent without a document has the strict default.
    read("stranger").code(1).stdout("");
    for name in ["../helper", "a/b", "", "."] {
        read(name)
            .code(125)
            .stdout("")
            .stderr(one_paragraph().and(contains("agent name")));
    }
}

#[rstest]
#[case::by_flag(&["--enforcement", "off"], None)]
#[case::by_variable(&[], Some("off"))]
#[case::by_flag_over_variable(&["--enforcement", "off"], Some("required"))]
fn enforcement_that_is_off_runs_the_command_as_it_is(
    #[case] flags: &[&str],
    #[case] variable: Option<&str>,
) {
    let place = Place::new();
    place.file("outside/notes", "host's own\n");
    let mut command = place.exec(flags, "cat ../outside/notes; exit 7");
    if let Some(value) = variable {
        command.env("PERIMETER_ENFORCEMENT", value);
    }
    command.assert().code(7).stdout("host's own\n");
}

#[rstest]
#[case::a_wrong_word("of")]
#[case::capitals("OFF")]
#[case::a_number("0")]
#[case::nothing("")]
fn an_enforcement_that_is_no_word_of_ours_starts_nothing(#[case] value: &str) {
    let place = Place::new();
    place
        .exec(&[], "touch begun")
        .env("PERIMETER_ENFORCEMENT", value)
        .assert()
        .code(125)
        .stderr(contains("required").and(contains("off")));
    place
        .exec(&["--enforcement", value], "touch begun")
        .assert()
        .code(125)
        .stderr(contains("--enforcement").and(contains("required")));
    assert!(!place.path("workspace/begun").exists());
}

#[test]
fn a_required_enforcement_confines_even_where_the_variable_says_off() {
    let place = Place::new();
    place.file("outside/notes", "host's own\n");
    place
        .exec(&["--enforcement", "required"], "cat ../outside/notes")
        .env("PERIMETER_ENFORCEMENT", "off")
        .assert()
        .code(1)
        .stdout("");
}

#[test]
fn a_document_may_switch_the_sandbox_off() {
    let place = Place::new();
    place.file("outside/notes", "host's own\n");
    let policy = place.file("policy.json", r#"{ "version": 1, "enabled": false }"#);
    place
        .exec(
            &["--policy", policy.to_str().unwrap()],
            "cat ../outside/notes",
        )
        .assert()
        .code(0)
        .stdout("host's own\n");
}
