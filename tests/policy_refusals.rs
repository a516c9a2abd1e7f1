//! What a policy document must not say, where the message points and what it advises.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use perimeter::Policy;
use perimeter::policy::{PolicyError, Refusal};
use rstest::rstest;

fn refusal(text: &str) -> Refusal {
    match Policy::from_json(text, "policy.json") {
        Err(PolicyError::Document(refusal)) => refusal,
        other => panic!("{text}\ngave {other:?}"),
    }
}

#[rstest]
// The document as a whole.
#[case::array("[]", 1, 1, "", "the document is an array", "write an object")]
#[case::null(" null", 1, 2, "", "the document is null", "write an object")]
#[case::text("\"x\"", 1, 1, "", "the document is text", "write an object")]
#[case::cut_short("{\n  \"version\": 1,\n", 3, 1, "", "not JSON", "write JSON")]
#[case::last_comma(
    "{\n \"version\": 1,\n}",
    3,
    1,
    "",
    "key must be a string",
    "write JSON"
)]
#[case::comment("{ // x\n \"version\": 1}", 1, 3, "", "not JSON", "no comments")]
#[case::second_value("{\"version\":1} {}", 1, 15, "", "trailing characters", "write JSON")]
#[case::column_in_characters("{\"é\": !}", 1, 7, "", "not JSON", "write JSON")]
#[case::byte_order_mark("\u{feff}{}", 1, 1, "", "byte order mark", "without one")]
#[case::duplicate(
    "{\"version\":1,\n\"hidden\":[],\n\"hidden\":[]}",
    3,
    1,
    "",
    "the name \"hidden\" occurs twice",
    "keep one"
)]
#[case::duplicate_escaped(
    "{\"version\":1,\"versio\\u006e\":1}",
    1,
    14,
    "",
    "occurs twice",
    "keep one"
)]
#[case::half_a_pair(
    "{\"version\":1,\n \"\\ud800\":1}",
    2,
    2,
    "",
    "not Unicode",
    "in pairs"
)]
// Fields.
#[case::slip(
    "{\"version\":1,\n  \"netwrok\": \"none\"}",
    2,
    3,
    "",
    "unknown field \"netwrok\"",
    "write \"network\""
)]
#[case::unknown(
    "{\"version\":1,\"allow\":[]}",
    1,
    14,
    "",
    "unknown field \"allow\"",
    "the fields are version, posture"
)]
#[case::no_version("  {}", 1, 3, "version", "is missing", "write \"version\": 1")]
#[case::version_before_the_rest(
    "{\"new\":1,\"version\":2}",
    1,
    20,
    "version",
    "2 is not supported",
    "write 1"
)]
#[case::version_as_text("{\"version\":\"1\"}", 1, 12, "version", "is text", "without quotes")]
#[case::version_one_point_zero(
    "{\"version\":1.0}",
    1,
    12,
    "version",
    "1.0 is not supported",
    "write 1"
)]
#[case::version_null(
    "{\"version\":null}",
    1,
    12,
    "version",
    "is null",
    "write the number 1"
)]
#[case::enabled_as_text(
    "{\"version\":1,\"enabled\":\"false\"}",
    1,
    24,
    "enabled",
    "is text",
    "write true or false"
)]
#[case::enabled_as_number(
    "{\"version\":1,\"enabled\":0}",
    1,
    24,
    "enabled",
    "is a number",
    "write true or false"
)]
#[case::posture(
    "{\"version\":1,\"posture\":\"Strict\"}",
    1,
    24,
    "posture",
    "\"Strict\" is not known",
    "write \"strict\" or \"host-readable\""
)]
#[case::network(
    "{\"version\":1,\"network\":\"off\"}",
    1,
    24,
    "network",
    "\"off\" is not known",
    "write \"host\" or \"none\""
)]
#[case::network_as_boolean(
    "{\"version\":1,\"network\":false}",
    1,
    24,
    "network",
    "is a truth value",
    "\"none\""
)]
#[case::list_as_text(
    "{\"version\":1,\"hidden\":\"/a\"}",
    1,
    23,
    "hidden",
    "is text",
    "write an array: [\"/a\"]"
)]
#[case::list_as_object(
    "{\"version\":1,\"hidden\":{}}",
    1,
    23,
    "hidden",
    "is an object",
    "write an array"
)]
#[case::list_null(
    "{\"version\":1,\"hidden\":null}",
    1,
    23,
    "hidden",
    "is null",
    "write an array"
)]
#[case::number_in_a_list(
    "{\"version\":1,\"hidden\":[\"/a\", 7]}",
    1,
    30,
    "hidden[1]",
    "is a number",
    "absolute path"
)]
#[case::list_in_a_list(
    "{\"version\":1,\"hidden\":[[\"/a\"]]}",
    1,
    24,
    "hidden[0]",
    "is an array",
    "absolute path"
)]
#[case::bubblewrap_null(
    "{\"version\":1,\"bubblewrap\":null}",
    1,
    27,
    "bubblewrap",
    "is null",
    "absolute path"
)]
#[case::bubblewrap_by_name(
    "{\"version\":1,\"bubblewrap\":\"bwrap\"}",
    1,
    27,
    "bubblewrap",
    "\"bwrap\" is relative",
    "/home/user/bwrap"
)]
#[case::bubblewrap_in_a_grant(
    "{\"version\":1,\"bubblewrap\":\"/a/b\",\"read_write\":[\"/a\"]}",
    1,
    27,
    "bubblewrap",
    "beneath read_write[0]",
    "/usr/bin/bwrap"
)]
// Names of variables.
#[case::variable_with_equals(
    "{\"version\":1,\"host_environment\":[\"A=B\"]}",
    1,
    34,
    "host_environment[0]",
    "\"A=B\" is not the name",
    "SSH_AUTH_SOCK"
)]
#[case::variable_empty(
    "{\"version\":1,\"host_environment\":[\"\"]}",
    1,
    34,
    "host_environment[0]",
    "is empty",
    "SSH_AUTH_SOCK"
)]
#[case::variable_digit(
    "{\"version\":1,\"host_environment\":[\"1A\"]}",
    1,
    34,
    "host_environment[0]",
    "is not the name",
    "digit"
)]
#[case::variable_reference(
    "{\"version\":1,\"host_environment\":[\"${A}\"]}",
    1,
    34,
    "host_environment[0]",
    "is not the name",
    "letters"
)]
#[case::variable_twice(
    "{\"version\":1,\"host_environment\":[\"A\",\"A\"]}",
    1,
    38,
    "host_environment[1]",
    "\"A\" is listed twice",
    "keep one"
)]
fn refused(
    #[case] text: &str,
    #[case] line: usize,
    #[case] column: usize,
    #[case] field: &str,
    #[case] problem: &str,
    #[case] remedy: &str,
) {
    check(refusal(text), line, column, field, problem, remedy);
}

#[rstest]
#[case::relative("data", "\"data\" is relative", "such as \"/home/user/data\"")]
#[case::relative_dots("../x/./y", "is relative", "such as \"/home/user/x/y\"")]
#[case::here(".", "is relative", "such as \"/home/user/data\"")]
#[case::empty("", "is empty", "write an absolute path")]
#[case::nul("/a\\u0000b", "holds a NUL", "without it")]
#[case::newline("/a\\nb", "\"/a\\nb\" holds a control character", "without it")]
#[case::escape("/a\\u001bb", "control character", "without it")]
#[case::dot("/a/./b", "holds a `.` component", "such as \"/a/b\"")]
#[case::final_dot("/a/.", "holds a `.` component", "such as \"/a\"")]
#[case::dot_dot("/a/../b", "holds a `..` component", "that it leads to")]
#[case::final_dot_dot("/a/..", "holds a `..` component", "that it leads to")]
#[case::two_slashes("/a//b", "holds an empty component", "such as \"/a/b\"")]
#[case::leading_slashes("//a", "holds an empty component", "such as \"/a\"")]
#[case::trailing_slashes("/a//", "holds an empty component", "such as \"/a\"")]
#[case::root("/", "whole file system", "name the directories")]
#[case::roots("//", "empty component", "")]
#[case::tilde("~/.ssh", "`~`, which is not expanded", "such as \"/home/user/.ssh\"")]
#[case::tilde_user("~other/x", "not expanded", "such as \"/home/user/x\"")]
#[case::tilde_alone("~", "not expanded", "such as \"/home/user\"")]
#[case::tilde_pattern("~/.gnupg/**", "not expanded", "such as \"/home/user/.gnupg\"")]
#[case::variable("$HOME/x", "variables are not expanded", "such as \"/home/user/x\"")]
#[case::star(
    "/absent/.gnupg/**",
    "patterns are not supported",
    "write \"/absent/.gnupg\""
)]
#[case::inner_star("/absent/*/keys", "patterns are not supported", "write \"/absent\"")]
#[case::question("/absent/a?", "patterns are not supported", "write \"/absent\"")]
#[case::brackets("/absent/[ab]", "patterns are not supported", "write \"/absent\"")]
#[case::braces("/absent/{a,b}", "patterns are not supported", "write \"/absent\"")]
fn refused_path(
    #[case] path: &str,
    #[case] problem: &str,
    #[case] remedy: &str,
    #[values("read_only", "read_write", "hidden")] list: &str,
) {
    let text = format!("{{\"version\": 1,\n \"{list}\": [\"/usr\",\n \"{path}\"]}}");
    let field = format!("{list}[1]");
    check(refusal(&text), 3, 2, &field, problem, remedy);
}

#[test]
fn a_path_longer_than_the_kernel_takes() {
    let long = "/a".repeat(2100);
    let text = format!("{{\"version\": 1, \"hidden\": [\"{long}\"]}}");
    check(
        refusal(&text),
        1,
        27,
        "hidden[0]",
        "longer than 4095",
        "further up",
    );
    let text = format!("{{\"version\": 1, \"hidden\": [\"/{}\"]}}", "n".repeat(256));
    check(
        refusal(&text),
        1,
        27,
        "hidden[0]",
        "more than 255",
        "can exist",
    );
}

#[rstest]
#[case::within_a_list(
    r#""read_only":["/a","/a"]"#,
    "read_only[1]",
    "\"/a\" is already read_only[0]"
)]
#[case::slash(
    r#""read_only":["/a","/a/"]"#,
    "read_only[1]",
    "\"/a\" is already read_only[0]"
)]
#[case::two_grants(
    r#""read_write":["/a"],"read_only":["/a"]"#,
    "read_only[0]",
    "is already read_write[0]"
)]
#[case::hidden_and_granted(
    r#""hidden":["/b","/a"],"read_only":["/a"]"#,
    "read_only[0]",
    "is already hidden[1]"
)]
#[case::beneath_itself(
    r#""read_only":["/a","/a/b/c"]"#,
    "read_only[1]",
    "\"/a/b/c\" lies beneath read_only[0]"
)]
#[case::beneath_later(
    r#""read_only":["/a/b/c","/a"]"#,
    "read_only[1]",
    "\"/a\" contains read_only[0]"
)]
#[case::beneath_other(
    r#""read_only":["/a"],"read_write":["/a/b"]"#,
    "read_write[0]",
    "lies beneath read_only[0]"
)]
#[case::past_a_hidden_one(
    r#""read_only":["/a"],"hidden":["/a/b"],"read_write":["/a/b/c"]"#,
    "read_write[0]",
    "lies beneath read_only[0]"
)]
fn contradictions(#[case] fields: &str, #[case] field: &str, #[case] problem: &str) {
    let text = format!("{{\"version\":1,{fields}}}");
    let refusal = refusal(&text);
    assert_eq!(refusal.field.as_deref(), Some(field), "{refusal}");
    assert!(refusal.problem.contains(problem), "{refusal}");
}

#[rstest]
#[case("[slug]")]
#[case("what?")]
#[case("*")]
#[case("{a,b}")]
fn a_file_may_be_called_like_a_pattern(#[case] name: &str) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    let text = format!(
        "{{\"version\":1,\"hidden\":[{:?}]}}",
        path.to_str().unwrap()
    );
    assert!(refusal(&text).problem.contains("patterns"), "{text}");
    std::fs::write(&path, "").unwrap();
    let policy = Policy::from_json(&text, "policy.json").unwrap();
    assert_eq!(policy.hidden, [path]);
}

#[test]
fn a_message_is_one_sentence() {
    let text = "{ \"version\": 1,\n\n  \"read_only\": [\"/srv\", \"data\"] }";
    assert_eq!(
        refusal(text).to_string(),
        "policy.json:3:25: read_only[1]: \"data\" is relative; \
         write an absolute path, such as \"/home/user/data\""
    );
}

#[test]
fn deep_nesting_is_refused_and_no_more() {
    for depth in [100, 1_000, 300_000] {
        let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let text = format!("{{\"version\":1,\"hidden\":{nested}}}");
        assert_eq!(refusal(&text).field.as_deref(), Some("hidden[0]"));
        assert_eq!(refusal(&"[".repeat(depth)).line, 1);
    }
}

fn check(refusal: Refusal, line: usize, column: usize, field: &str, problem: &str, remedy: &str) {
    assert_eq!(
        (
            refusal.line,
            refusal.column,
            refusal.field.as_deref().unwrap_or("")
        ),
        (line, column, field),
        "{refusal}"
    );
    assert!(refusal.problem.contains(problem), "{refusal}");
    assert!(refusal.remedy.contains(remedy), "{refusal}");
}
