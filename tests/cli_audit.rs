//! `perimeter audit`: real launches of a small corpus, and each way for it to fail.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use predicates::prelude::*;
use predicates::str::contains;
use rstest::rstest;
use serde_json::json;
use support::PROGRAM;
use support::audit::{Audited, changes, denial, launcher, permission};

/// The line of the right launcher.
const RIGHT: &str = "exec {perimeter} exec \"$@\"";

#[test]
fn where_each_case_catches_a_fault_nothing_is_wrong_and_nothing_is_run_twice() {
    let audited = Audited::new();
    audited.audit(&[]).assert().code(0).stderr("").stdout(
        contains("4 of 4 faults caught; 4 of 4 cases catch a fault")
            .and(contains("28 run, 0 kept"))
            .and(predicate::str::is_match("mute +1 case +trying.one.says \\(\\+0\\)").unwrap())
            .and(contains("nothing is wrong, exit code 0")),
    );
    audited
        .audit(&[])
        .assert()
        .code(0)
        .stdout(contains("0 run, 28 kept"));
    // A case that was changed is run again, and no other.
    let mut changed = audited;
    changed.cases[0]["run"] = json!("echo said; true");
    changed.write_cases();
    changed
        .audit(&["--matrix"])
        .assert()
        .code(0)
        .stdout(contains("7 run, 21 kept").and(contains("trying.one.plants  escaped")));
    changed
        .audit(&["--fresh"])
        .assert()
        .code(0)
        .stdout(contains("28 run, 0 kept"));
}

#[test]
fn a_case_that_catches_nothing_is_found() {
    let audited = Audited::new();
    audited.remove_fault("hidden-granted");
    audited.audit(&[]).assert().code(1).stdout(
        contains("a required case catches no fault: 1\n  trying.one.reads")
            .and(contains("3 of 4 cases catch a fault"))
            .and(contains("exit code 1")),
    );
}

#[rstest]
#[case::survives(
    launcher(RIGHT, "{workspace}", "{}"),
    1,
    "no case catches the fault: 1\n  spare"
)]
#[case::runs_nothing(
    launcher("echo broken >&2; exit 1", "{workspace}", "{}"),
    1,
    "nothing works under the fault, so it proves nothing of cases: 1\n  spare  \
     trying.one.says: overblocked: the command never started; stderr: broken"
)]
#[case::confines_nothing(
    launcher("shift 5; exec \"$@\"", "{workspace}", "{}"),
    1,
    "every denial escapes under the fault, so it proves nothing of cases: 1\n  spare"
)]
#[case::cannot_be_run(
    json!({ "launcher": { "name": "x", "about": "x", "features": ["posture-strict", "network-host"],
        "programs": ["no-such-program"], "arguments": ["{program}", { "command": true }] } }),
    70,
    "the harness failed: 4\n  spare  trying.one.keeps: launcher spare: no-such-program is not on this host"
)]
fn a_fault_that_proves_nothing_is_found(
    #[case] fault: serde_json::Value,
    #[case] code: i32,
    #[case] says: &str,
) {
    let audited = Audited::new();
    audited.fault("spare", &fault);
    audited
        .audit(&[])
        .assert()
        .code(code)
        .stdout(contains(says));
}

#[rstest]
#[case::runs_nothing("starts", "exit 0", "all permissions")]
#[case::confines_nothing("confines", "shift 5; exec \"$@\"", "all denials")]
fn a_fault_may_say_that_it_is_extreme_if_it_is(
    #[case] field: &str,
    #[case] line: &str,
    #[case] says: &str,
) {
    let audited = Audited::new();
    let fault = |line: &str| {
        let mut fault = launcher(line, "{workspace}", "{}");
        fault[field] = json!(false);
        fault["reason"] = json!("It is a test.");
        fault
    };
    audited.fault("spare", &fault(line));
    audited
        .audit(&[])
        .assert()
        .code(0)
        .stdout(contains(says).and(contains("5 of 5 faults caught; 4 of 4 cases catch a fault")));
    audited.fault("spare", &fault(RIGHT));
    audited.audit(&[]).assert().code(1).stdout(contains(
        "the fault's file says that it is extreme, and it is not: 1\n  spare",
    ));
}

#[rstest]
#[case::reference_fails(
    permission("trying.one.more", "echo said", json!({ "output": "something else\n" })),
    // Without a sandbox it does not hold either.
    3,
    "a required case was not measured, or proves nothing here: 1\n  trying.one.more  vacuous"
)]
#[case::reference_escapes(
    denial("trying.one.more", "echo planted > {workspace}/file",
        json!({ "host": [{ "path": "{workspace}/file", "is": "file" }] })),
    1,
    "the launcher fails what it claims: 1\n  trying.one.more  escaped, not conforms"
)]
#[case::not_escaped_without_a_sandbox(
    denial("trying.one.more", "true", json!({ "host": [{ "path": "{outside}/file", "is": "file" }] })),
    1,
    "a denial is not escaped without a sandbox: 1\n  trying.one.more  vacuous, not escaped"
)]
#[case::holds_where_nothing_runs(
    {
        let mut case = permission("trying.one.more", "exit 1", json!({ "exit": 1 }));
        case["proves_start"] = json!(false);
        case
    },
    1,
    "a case does not fail where nothing is run: 1\n  trying.one.more  conforms, not overblocked"
)]
fn a_case_that_is_wrong_is_found(
    #[case] case: serde_json::Value,
    #[case] code: i32,
    #[case] says: &str,
) {
    let mut audited = Audited::new();
    audited.cases.push(case);
    audited.write_cases();
    audited
        .audit(&[])
        .assert()
        .code(code)
        .stdout(contains(says));
}

/// A program that makes mistakes, of shell: it exits with 9 in one, and says something
/// of its own in another or, if `always`, in all.
fn faulty(audited: &Audited, always: &str) -> String {
    let script = format!(
        "#!/bin/sh\nmistake=$2\nshift 2\n\
         case $mistake in loud{always}) echo loud ;; esac\n\
         case $mistake in nine) {PROGRAM} \"$@\"; exit 9 ;; esac\n\
         exec {PROGRAM} \"$@\"\n"
    );
    let path = audited.place.script("faulty", &script);
    path.display().to_string()
}

#[test]
fn a_mistake_is_made_by_the_program_for_it_and_its_control_is_the_reference() {
    let audited = Audited::new();
    audited.fault("loud", &json!({ "mistake": "loud" }));
    let program = faulty(&audited, "");
    audited
        .audit(&["--faulty", &program])
        .assert()
        .code(1)
        // What is said before the command starts is the launcher's, and no case here
        // forbids it.
        .stdout(contains("no case catches the fault: 1\n  loud").and(contains("36 run")));
    let program = faulty(&audited, "|none");
    audited.remove_fault("loud");
    audited.fault("nine", &json!({ "mistake": "nine" }));
    let mut strict = permission(
        "trying.one.exits",
        "true",
        json!({ "exit": 0, "output": "" }),
    );
    strict["proves_start"] = json!(false);
    let mut audited = audited;
    audited.cases.push(strict);
    audited.write_cases();
    audited
        .audit(&["--faulty", &program])
        .assert()
        .code(1)
        .stdout(
            contains("the control differs from the reference launcher: 1\n  trying.one.exits")
                .and(contains("no case catches the fault").not()),
        );
}

#[test]
fn without_the_program_for_mistakes_it_says_how_to_build_it() {
    let audited = Audited::new();
    audited.fault("loud", &json!({ "mistake": "loud" }));
    let missing = audited.place.text("none");
    audited
        .audit(&["--faulty", &missing])
        .assert()
        .code(2)
        .stdout("")
        .stderr(
            contains("cargo build --release --features faults --bin perimeter-faulty")
                .and(support::one_paragraph()),
        );
    // Faults that do without it do without it.
    audited
        .audit(&["--faulty", &missing, "--fault", "mute"])
        .assert()
        .code(0)
        .stdout(contains(
            "not judged: whether each case catches a fault, for faults were left out",
        ));
}

#[test]
fn a_part_of_the_cases_says_nothing_of_whether_a_fault_is_caught() {
    let audited = Audited::new();
    audited
        .audit(&["trying.one.plants"])
        .assert()
        .code(0)
        .stdout(contains("1 of 1 case catch a fault").and(contains(
            "not judged: whether each fault is caught, for cases were left out",
        )));
    audited
        .audit(&[
            "trying.one.says",
            "--fault",
            "mute",
            "--markdown",
            &audited.place.text("m.md"),
        ])
        .assert()
        .code(0);
    let text = std::fs::read_to_string(audited.place.path("m.md")).unwrap();
    assert!(
        text.contains("| `mute` | It is mute. | 1 case | `trying.one.says` (+0) |"),
        "{text}"
    );
}

#[test]
fn a_quick_audit_runs_less_and_finds_the_same() {
    let mut audited = Audited::new();
    let effect = json!({ "output": "{axis.word}\n" });
    let mut case = permission("trying.one.says", "echo {axis.word}", effect);
    case["axes"] = json!({ "word": ["said", "also", "more"] });
    audited.cases[0] = case;
    audited.write_cases();
    // The first trial does not catch it, so that the others are run too.
    audited.fault("late", &changes("also", "ALSO"));
    audited
        .audit(&["--quick"])
        .assert()
        .code(0)
        .stdout(contains("5 of 5 faults caught").and(contains("40 run, 0 kept")));
    audited.audit(&["--matrix"]).assert().code(0).stdout(
        contains("trying.one.says  overblocked  word=also").and(contains("10 run, 40 kept")),
    );
    // What is committed says that it was quick, and how it is brought up to date.
    audited.audit(&["--quick", "--write"]).assert().code(0);
    let matrix = std::fs::read_to_string(audited.place.path("corpus/faults/matrix.json")).unwrap();
    assert!(matrix.contains("\"quick\": true"), "{matrix}");
    audited.fault("late", &changes("never", "NEVER"));
    audited
        .audit(&["--check"])
        .assert()
        .code(1)
        .stdout(contains("fault late was changed").and(contains("--stale --quick --write")));
    audited
        .audit(&["--quick"])
        .assert()
        .code(1)
        .stdout(contains("no case catches the fault: 1\n  late"));
}

#[rstest]
#[case::no_such_fault(&["--fault", "none"], "no fault is named \"none\"; the corpus has elsewhere, ")]
#[case::no_such_case(&["none.such"], "matches no case")]
#[case::case_not_known(&["--case", "trying.one.says"], "the committed matrix does not know")]
fn what_selects_nothing_is_told(#[case] arguments: &[&str], #[case] says: &str) {
    let audited = Audited::new();
    audited
        .audit(arguments)
        .assert()
        .code(4)
        .stdout("")
        .stderr(contains(says).and(support::one_paragraph()));
}
