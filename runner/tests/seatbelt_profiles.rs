//! Profiles that are read, and those that are refused with their place.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use perimeter_runner::corpus::Source;
use perimeter_runner::seatbelt::{
    Action, Answer, Basis, Model, Parameters, Profile, ProfileError, RawCheck, Tables,
};
use rstest::rstest;

fn tables() -> Tables {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    Tables::load(&Source::Directory(corpus)).unwrap()
}

fn read(text: &str) -> Result<Profile, ProfileError> {
    Profile::read(text, &Parameters::new(), &tables())
}

#[rstest]
#[case("(version 1)\n(allow file-read*", 2, 1, "not closed")]
#[case("(version 1))", 1, 12, "closing parenthesis")]
#[case("(version 1)\n(deny default \"x", 2, 15, "does not end")]
#[case(
    "(version 1)(deny default)(allow file-reed*)",
    1,
    33,
    "unbound variable: file-reed*"
)]
#[case(
    "(version 1)\n  (allow (subpath \"/a\"))",
    2,
    3,
    "without an operation"
)]
#[case("(version 1)(allow file-read* (subpath 7))", 1, 39, "got integer")]
#[case("(version 1)(allow file-read* (subpath #t))", 1, 39, "got boolean")]
#[case("(version 1)(allow file-read* \"/a\")", 1, 30, "given a string")]
#[case(
    "(version 1)(allow file-read* (sysctl-name \"a\"))",
    1,
    30,
    "does not apply to file-read*"
)]
#[case(
    "(version 1)(allow signal (target friend))",
    1,
    34,
    "this value of the filter target"
)]
#[case(
    "(version 1)(allow network* (remote ip \"a.b:1\"))",
    1,
    39,
    "host must be * or localhost"
)]
#[case(
    "(version 1)(allow network* (remote ip \"*\"))",
    1,
    39,
    "without a port"
)]
#[case(
    "(version 1)(allow network* (remote sctp \"*:1\"))",
    1,
    28,
    "address family sctp"
)]
#[case(
    "(version 1)(deny default (with no-sandbox))",
    1,
    32,
    "the modifier no-sandbox"
)]
#[case(
    "(version 1)(allow file-read* (literal \"/a\\q\"))",
    1,
    42,
    "the escape \\q"
)]
#[case(
    "(version 1)(allow file-read* (regex #\"a{2}\"))",
    1,
    37,
    "counted repetition"
)]
#[case(
    "(version 1)(import \"unheard.sb\")",
    1,
    12,
    "of which nothing is known"
)]
#[case("(version 3)", 1, 10, "a version other than 1")]
#[case("(version 1)(trace \"/tmp/t\")", 1, 12, "a trace")]
#[case("(version 1)(system-network)", 1, 12, "differ between releases")]
#[case("(version 1)(subpath \"/a\")", 1, 12, "stands alone")]
#[case(
    "(version 1)(define (f . rest) (list))",
    1,
    23,
    "any number of parameters"
)]
#[case("(version 1)(define literal 1)", 1, 12, "a meaning of its own")]
#[case("(version 1)(define (f x) (f x))(f 1)", 1, 27, "takes this long")]
#[case("(version 1)`(a)", 1, 12, "the character `")]
#[case(
    "(version 1)(allow file-read* (literal #<x>))",
    1,
    39,
    "undefined sharp expression"
)]
fn what_cannot_be_read_is_named_with_its_place(
    #[case] text: &str,
    #[case] line: usize,
    #[case] column: usize,
    #[case] wanted: &str,
) {
    let error = read(text).map(drop).unwrap_err();
    assert!(error.to_string().contains(wanted), "{error}");
    assert_eq!((error.line, error.column), (line, column), "{error}");
}

#[test]
fn deep_nesting_is_refused_and_overflows_no_stack() {
    let text = format!("(version 1){}", "(".repeat(100_000));
    let error = read(&text).map(drop).unwrap_err();
    assert!(error.to_string().contains("nesting"), "{error}");
}

/// Functions, conditions and lists as published profiles use them.
const WRITTEN: &str = r#"(version 1)
; a comment
(define HOME "/Users/me")
(define (home-subpath rel) (subpath (string-append HOME rel)))
(define extra (if (param "EXTRA") (param "EXTRA") "/none"))
(deny default (with message "x"))
(allow (with no-log) file-read* file-write*
    (home-subpath "/a") ; one
    (literal "/b" "/c"))
(for-each (lambda (path) (allow file-read* (literal path))) (list "/d" "/e"))
(let ((f "/f") (g "/g")) (allow file-read* (literal f) (literal g)))
(when (string=? HOME "/Users/me") (allow file-read* (literal "/h")))
(allow file-read* (regex (string-append "^" (regex-quote "/k.x") "/")))
(with-filter (subpath "/i") (allow file-read* (regex #"\.txt$")))
(allow file-read* (literal extra))
"#;

#[rstest]
#[case("/Users/me/a/x", Answer::Allowed)]
#[case("/Users/me/b", Answer::Denied)]
#[case("/c", Answer::Allowed)]
#[case("/e", Answer::Allowed)]
#[case("/g", Answer::Allowed)]
#[case("/h", Answer::Allowed)]
#[case("/i/a.txt", Answer::Allowed)]
#[case("/i/a", Answer::Denied)]
#[case("/j/a.txt", Answer::Denied)]
#[case("/k.x/a", Answer::Allowed)]
#[case("/kyx/a", Answer::Denied)]
#[case("/extra", Answer::Allowed)]
fn functions_and_conditions_come_to_rules(#[case] path: &str, #[case] wanted: Answer) {
    let tables = tables();
    let parameters = Parameters::from([("EXTRA".to_owned(), "/extra".to_owned())]);
    let profile = Profile::read(WRITTEN, &parameters, &tables).unwrap();
    let mut model = Model::new(&profile, &tables);
    let performed = model.perform(&Action::Read(path.to_owned()));
    assert_eq!(performed.answer, wanted);
}

#[test]
fn the_trace_names_the_line_that_decided() {
    let tables = tables();
    let text = "(version 1)\n(deny default)\n(allow file-read* (subpath \"/a\"))\n(deny file-read*\n  (literal \"/a/b\"))\n";
    let profile = Profile::read(text, &Parameters::new(), &tables).unwrap();
    let mut model = Model::new(&profile, &tables);
    let basis = |model: &mut Model, path: &str| {
        let performed = model.perform(&Action::Read(path.to_owned()));
        performed.checks.last().unwrap().basis.clone()
    };
    let of = |operation: &str, line| Basis::Rule {
        operation: operation.to_owned(),
        line,
    };
    assert_eq!(basis(&mut model, "/a/b"), of("file-read*", 4));
    assert_eq!(basis(&mut model, "/a/c"), of("file-read*", 3));
    assert_eq!(basis(&mut model, "/x"), of("default", 2));
}

#[test]
fn an_operation_whose_fallback_is_assumed_is_unknown() {
    let tables = tables();
    let profile = read("(version 1)(deny default)").unwrap();
    let mut model = Model::new(&profile, &tables);
    let check = RawCheck {
        operation: "mach-task-inspect".to_owned(),
        ..RawCheck::default()
    };
    assert_eq!(model.perform(&Action::Check(check)).answer, Answer::Unknown);
}
