//! The variables that an agent's file asks for.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use perimeter::Policy;
use perimeter::environment::{Environment, EnvironmentError};
use rstest::rstest;

fn policy() -> Policy {
    Policy {
        host_environment: vec![
            "TOKEN".into(),
            "EMPTY".into(),
            "MISSING".into(),
            "BYTES".into(),
        ],
        ..Policy::strict()
    }
}

fn host(name: &str) -> Option<OsString> {
    match name {
        "TOKEN" => Some("secret".into()),
        "UNLISTED" => Some("unlisted".into()),
        "NESTED" => Some("${TOKEN}".into()),
        "EMPTY" => Some("".into()),
        "BYTES" => Some(OsStr::from_bytes(b"a\xffb").to_owned()),
        _ => None,
    }
}

fn document(value: &str) -> String {
    format!("{{\"environment\":\n {{\"NAME\": {value}}}}}")
}

fn read(text: &str) -> Result<Vec<(OsString, OsString)>, EnvironmentError> {
    Environment::from_json(text, "agent.json")?.resolve(&policy(), host)
}

#[rstest]
#[case::plain("1", "1")]
#[case::empty("", "")]
#[case::copied("${TOKEN}", "secret")]
#[case::copied_empty("${EMPTY}", "")]
#[case::escaped("$${TOKEN}", "${TOKEN}")]
#[case::escaped_unlisted("$${UNLISTED}", "${UNLISTED}")]
#[case::escaped_no_name("$${A:-b}", "${A:-b}")]
#[case::escaped_twice("$$${TOKEN}", "$$${TOKEN}")]
#[case::before("x${TOKEN}", "x${TOKEN}")]
#[case::after("${TOKEN}x", "${TOKEN}x")]
#[case::space_after("${TOKEN} ", "${TOKEN} ")]
#[case::two("${TOKEN}${TOKEN}", "${TOKEN}${TOKEN}")]
#[case::a_path("${TOKEN}:${TOKEN}", "${TOKEN}:${TOKEN}")]
#[case::escaped_inside("a$${TOKEN}", "a$${TOKEN}")]
#[case::nested("${${TOKEN}}", "${${TOKEN}}")]
#[case::no_braces("$TOKEN", "$TOKEN")]
#[case::dollar("$", "$")]
#[case::two_dollars("$$", "$$")]
#[case::unclosed("${TOKEN", "${TOKEN")]
#[case::command("$(id)", "$(id)")]
fn values(#[case] written: &str, #[case] expected: &str) {
    let text = document(&format!("{written:?}"));
    let expected = vec![("NAME".into(), expected.into())];
    assert_eq!(read(&text).unwrap(), expected, "{written}");
    // What is set in code means the same.
    let mut environment = Environment::new();
    environment.set("NAME", written).unwrap();
    assert_eq!(environment.resolve(&policy(), host).unwrap(), expected);
}

#[test]
fn nothing_is_expanded_twice() {
    let policy = Policy {
        host_environment: vec!["NESTED".into(), "TOKEN".into()],
        ..policy()
    };
    let environment = Environment::from_json(&document("\"${NESTED}\""), "agent.json").unwrap();
    let expected = [("NAME".into(), "${TOKEN}".into())];
    assert_eq!(environment.resolve(&policy, host).unwrap(), expected);
}

#[test]
fn bytes_that_are_not_utf_8_survive() {
    let bytes = OsStr::from_bytes(b"a\xffb");
    let resolved = read(&document("\"${BYTES}\"")).unwrap();
    assert_eq!(resolved, [("NAME".into(), bytes.to_owned())]);
    let mut environment = Environment::new();
    environment.set(bytes, bytes).unwrap();
    let expected = [(bytes.to_owned(), bytes.to_owned())];
    assert_eq!(environment.resolve(&policy(), host).unwrap(), expected);
}

#[rstest]
#[case::unlisted(
    r#""${UNLISTED}""#,
    "host_environment does not list UNLISTED",
    "add \"UNLISTED\""
)]
#[case::missing(r#""${MISSING}""#, "MISSING is not set on the host", "set MISSING")]
#[case::empty_name(r#""${}""#, "names no variable", "`$$`")]
#[case::with_a_default(r#""${TOKEN:-x}""#, "\"${TOKEN:-x}\" names no variable", "`$$`")]
#[case::spaces(r#""${ TOKEN }""#, "names no variable", "`$$`")]
#[case::number("1", "is a number", "in double quotes")]
#[case::boolean("true", "is a truth value", "in double quotes")]
#[case::null("null", "is null", "in double quotes")]
#[case::object("{}", "is an object", "in double quotes")]
#[case::nul(r#""a\u0000b""#, "holds a NUL", "without it")]
#[case::half_a_pair(r#""\ud800""#, "not Unicode", "in pairs")]
fn refused_value(#[case] value: &str, #[case] problem: &str, #[case] remedy: &str) {
    let error = read(&document(value)).unwrap_err();
    let refusal = error.refusal().unwrap();
    assert_eq!((refusal.line, refusal.column), (2, 11), "{refusal}");
    assert_eq!(refusal.field.as_deref(), Some("environment.NAME"));
    assert!(refusal.problem.contains(problem), "{refusal}");
    assert!(refusal.remedy.contains(remedy), "{refusal}");
}

#[rstest]
#[case::not_an_object(r#"{"environment": ["A=1"]}"#, 1, 17, "is an array")]
#[case::null(r#"{"environment": null}"#, 1, 17, "is null")]
#[case::twice(r#"{"environment": {}, "environment": {}}"#, 1, 21, "occurs twice")]
#[case::name_twice(
    r#"{"environment": {"A": "1", "A": "2"}}"#,
    1,
    28,
    "the name \"A\" occurs twice"
)]
#[case::name_empty(r#"{"environment": {"": "1"}}"#, 1, 18, "the name is empty")]
#[case::name_equals(
    r#"{"environment": {"A=B": "1"}}"#,
    1,
    18,
    "the name \"A=B\" holds '='"
)]
#[case::name_nul(r#"{"environment": {"A\u0000": "1"}}"#, 1, 18, "holds '\\0'")]
#[case::array("[]", 1, 1, "the document is an array")]
#[case::empty("", 1, 1, "not JSON")]
#[case::cut("{\"environment\": {", 1, 17, "not JSON")]
fn refused_document(
    #[case] text: &str,
    #[case] line: usize,
    #[case] column: usize,
    #[case] problem: &str,
) {
    let error = read(text).unwrap_err();
    let refusal = error.refusal().unwrap();
    assert_eq!((refusal.line, refusal.column), (line, column), "{refusal}");
    assert!(refusal.problem.contains(problem), "{refusal}");
}

#[rstest]
#[case::none("{}")]
#[case::other_fields(r#"{"model": {"a": [1]}, "plugins": null}"#)]
#[case::other_fields_twice(r#"{"x": 1, "x": 2, "environment": {}}"#)]
fn the_rest_of_the_file_is_not_looked_at(#[case] text: &str) {
    assert_eq!(read(text).unwrap(), []);
}

#[test]
fn order_is_that_of_the_names() {
    let text = r#"{"environment": {"b": "1", "a": "2", "C": "3"}}"#;
    let expected = [("C", "3"), ("a", "2"), ("b", "1")];
    assert_eq!(
        read(text).unwrap(),
        expected.map(|(name, value)| (name.into(), value.into()))
    );
}

#[test]
fn code_replaces_the_document() {
    let text = r#"{"environment": {"A": "${UNLISTED}", "B": "1"}}"#;
    let mut environment = Environment::from_json(text, "agent.json").unwrap();
    environment.set("A", "2").unwrap();
    let expected = [("A", "2"), ("B", "1")].map(|(name, value)| (name.into(), value.into()));
    assert_eq!(environment.resolve(&policy(), host).unwrap(), expected);
}

#[rstest]
#[case::equals("A=B", "1", "holds '='")]
#[case::empty("", "1", "is empty")]
#[case::nul_in_the_name("A\0", "1", "holds '\\0'")]
#[case::nul_in_the_value("A", "1\0", "holds a NUL")]
fn refused_in_code(#[case] name: &str, #[case] value: &str, #[case] said: &str) {
    match Environment::new().set(name, value) {
        Err(EnvironmentError::Variable { problem, .. }) => {
            assert!(problem.contains(said), "{problem}");
        }
        other => panic!("gave {other:?}"),
    }
}

#[test]
fn a_variable_from_code_is_refused_by_name() {
    let mut environment = Environment::new();
    environment.set("A", "${UNLISTED}").unwrap();
    let error = environment.resolve(&policy(), host).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("variable \"A\": the policy's"),
        "{error}"
    );
}

#[test]
fn values_are_no_part_of_messages() {
    let text = r#"{"environment": {"A": "hunter2"}}"#;
    let environment = Environment::from_json(text, "agent.json").unwrap();
    assert!(!format!("{environment:?}").contains("hunter2"));
    assert!(format!("{environment:?}").contains("A"));
    let error = Environment::from_json(r#"{"environment": {"A": "hunter2\u0000"}}"#, "x");
    assert!(!format!("{error:?}").contains("hunter2"));
}

#[test]
fn a_file_is_there_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agent.json");
    assert!(matches!(
        Environment::from_file(&path),
        Err(EnvironmentError::File(_))
    ));
    std::fs::write(&path, document("\"1\"")).unwrap();
    let environment = Environment::from_file(&path).unwrap();
    let expected = [("NAME".into(), "1".into())];
    assert_eq!(environment.resolve(&policy(), host).unwrap(), expected);
    std::fs::write(&path, document("1")).unwrap();
    let error = Environment::from_file(&path).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(&format!("{}:2:11: ", path.display())),
        "{error}"
    );
}
