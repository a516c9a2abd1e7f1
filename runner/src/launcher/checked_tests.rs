//! What a launcher file is refused for, and where.

use rstest::rstest;

use super::*;

/// What is said of a launcher file that has this beside what every one has.
fn said(more: &str) -> String {
    let text =
        format!("{{\n\"name\": \"mine\", \"about\": \"Mine.\", \"features\": [],\n{more} }}");
    match read("mine.json", text.as_bytes()) {
        Ok(_) => String::from("right"),
        Err(error) => error.to_string(),
    }
}

#[rstest]
#[case::argument(
    r#""arguments": ["{outside}"]"#,
    "mine.json:3:15: arguments[0]: unknown placeholder {outside}"
)]
#[case::variable_as_item(
    r#""arguments": [{ "each": "environment", "arguments": ["{item}"] }]"#,
    "mine.json:3:54: arguments[0].arguments[0]: unknown placeholder {item}: here a launcher file may use {name}, {value}, {program}"
)]
#[case::item_as_variable(
    r#""arguments": [{ "each": "hidden", "arguments": ["{value-json}"] }]"#,
    "unknown placeholder {value-json}: here a launcher file may use {item}, "
)]
#[case::item_alone(r#""arguments": ["{item}"]"#, "{item} is for an `each` of paths")]
#[case::file_path(
    r#""arguments": [], "files": { "{state}/{nowhere}": "" }"#,
    "unknown placeholder {nowhere}"
)]
#[case::file_text(
    r#""arguments": [], "files": { "{state}/a": "{nowhere}" }"#,
    "unknown placeholder {nowhere}"
)]
#[case::file_line(
    r#""arguments": [], "files": { "{state}/a": ["{nowhere}"] }"#,
    "unknown placeholder {nowhere}"
)]
#[case::writes(
    r#""arguments": [], "writes": ["{home}", "{outside}"]"#,
    "mine.json:3:39: writes[1]: unknown"
)]
#[case::variable(
    r#""arguments": [], "own_environment": { "A": "{nowhere}" }"#,
    "mine.json:3:39: own_environment.A: unknown"
)]
#[case::profile(r#""arguments": [], "profile": ["{nowhere}"]"#, "profile[0]: unknown")]
#[case::version(
    r#""arguments": [], "version": ["{perimeter}", "{state}"]"#,
    "version[1]: \"{state}\""
)]
#[case::version_in_part(
    r#""arguments": [], "programs": ["a"], "version": ["x{program}"]"#,
    "version[0]: "
)]
#[case::no_program(r#""arguments": ["{program}"]"#, "this file has none")]
#[case::faulty(r#""arguments": ["{faulty}"]"#, "unknown placeholder {faulty}")]
#[case::file_elsewhere(
    r#""arguments": [], "files": { "/tmp/x/keep": "" }"#,
    "mine.json:3:29: files./tmp/x/keep: a launcher's files are written below its own state"
)]
#[case::file_around(
    r#""arguments": [], "files": { "{state}/../keep": "" }"#,
    "below its own state"
)]
#[case::file_by_home(
    r#""arguments": [], "files": { "{home}/keep": "" }"#,
    "below its own state"
)]
#[case::each_name(
    "\"arguments\": [\"a\",\n  { \"each\": \"readonly\", \"arguments\": [] }]",
    "mine.json:4:5: arguments[1].each: unknown variant `readonly`, expected one of `read-only`"
)]
#[case::when_name(
    "\"arguments\": [\n  { \"when\": [\"root\", \"offline\"], \"arguments\": [] }]",
    "mine.json:4:22: arguments[0].when[1]: unknown variant `offline`, expected one of `network-host`"
)]
#[case::when_text(
    r#""arguments": [{ "when": "root", "arguments": [] }]"#,
    "write a list of conditions"
)]
#[case::no_list(r#""arguments": [{ "when": ["root"] }]"#, "`arguments` is missing")]
#[case::field(
    r#""arguments": [{ "each": "hidden", "argument": [] }]"#,
    "arguments[0].argument: unknown field"
)]
#[case::number(r#""arguments": [1]"#, "arguments[0]: write an argument")]
#[case::not_the_command(
    r#""arguments": [{ "command": false }]"#,
    "mine.json:3:15: arguments[0]: write { \"command\": true }"
)]
#[case::command_twice(
    r#""arguments": [{ "command": true }, { "command": true }]"#,
    "mine.json:3:36: arguments[1]: the command stands here a second time"
)]
#[case::command_perhaps_twice(
    r#""arguments": [{ "command": true }, { "when": ["root"], "arguments": [{ "command": true }] }]"#,
    "a second time"
)]
#[case::command_repeated(
    r#""arguments": [{ "each": "hidden", "arguments": [{ "command": true }] }]"#,
    "which would repeat it"
)]
fn what_is_wrong_is_said_with_its_place(#[case] more: &str, #[case] says: &str) {
    let said = said(more);
    assert!(said.contains(says), "{said}");
}

#[rstest]
#[case::command_either_way(
    r#""arguments": [{ "when": ["root"], "arguments": ["a", { "command": true }] },
        { "when": ["unprivileged"], "arguments": ["b", { "command": true }] }]"#
)]
#[case::text_in_braces(r#""arguments": ["{{item}}", "${item}", "{a,b}"]"#)]
#[case::json(
    r#""arguments": ["{workspace-json}", { "each": "hidden", "arguments": ["{item-json}{cwd}"] }]"#
)]
#[case::file(r#""arguments": [], "files": { "{state}/a/b": [{ "each": "environment", "arguments": ["{name}={value}"] }] }"#)]
fn what_is_right_is_read(#[case] more: &str) {
    assert_eq!(said(more), "right");
}

#[rstest]
#[case::slash("a/b")]
#[case::space("a b")]
#[case::newline("a\\nb")]
#[case::empty("")]
fn a_name_that_cannot_be_typed_is_refused(#[case] name: &str) {
    let text = format!(r#"{{ "name": "{name}", "about": "", "features": [], "arguments": [] }}"#);
    let error = read("mine.json", text.as_bytes())
        .map(drop)
        .map_err(|error| error.to_string());
    let says = error.err().unwrap_or_default();
    assert!(says.starts_with("mine.json:1:3: name: "), "{says}");
}
