//! `perimeter audit`: what is committed of it, and what is told once that is stale.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::io::Read;
use std::process::Stdio;

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};
use support::audit::{Audited, changes, launcher, permission};

/// This user, as the matrix names it.
fn user() -> &'static str {
    if nix::unistd::geteuid().is_root() {
        "root"
    } else {
        "unprivileged"
    }
}

/// This user's part of the committed matrix is given to the other user too, so that
/// a check finds both.
fn written(audited: &Audited) -> Value {
    let path = audited.place.path("corpus/faults/matrix.json");
    let mut matrix: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let runs = matrix["runs"].as_object_mut().unwrap();
    let record = runs[user()].clone();
    runs.clear();
    runs.insert("root".to_owned(), record.clone());
    runs.insert("unprivileged".to_owned(), record);
    fs::write(&path, matrix.to_string()).unwrap();
    matrix
}

#[test]
fn what_is_written_is_true_until_something_changes() {
    let mut audited = Audited::new();
    let says = |id: &str, word: &str| {
        let effect = json!({ "output": format!("{word}\n") });
        permission(id, &format!("echo {word}"), effect)
    };
    audited.cases.push(says("trying.one.gone", "gone"));
    audited.write_cases();
    audited.fault("gone", &changes("gone", "GONE"));
    audited
        .audit(&["--check"])
        .assert()
        .code(1)
        .stdout(contains("stale as root: case trying.one.keeps was added"));
    audited
        .audit(&["--write"])
        .assert()
        .code(0)
        .stdout(contains("written: "));
    written(&audited);
    audited
        .audit(&["--check"])
        .assert()
        .code(0)
        .stdout(contains(
            "the committed matrix is that of the corpus; each of 5 faults is caught",
        ));
    audited
        .audit(&["--case", "trying.one.reads"])
        .assert()
        .code(0)
        .stdout(
            "as root:\n  hidden-granted  escaped\nas unprivileged:\n  hidden-granted  escaped\n",
        );
    // A title is prose.
    audited.cases[0]["title"] = json!("Something is said");
    audited.write_cases();
    audited.audit(&["--check"]).assert().code(0);

    audited.cases[0]["run"] = json!("echo said; true");
    audited.cases[4] = says("trying.one.more", "more");
    audited.write_cases();
    audited.remove_fault("gone");
    audited.fault("more", &changes("more", "MORE"));
    audited.fault("mute", &changes("said", "Said"));
    audited.audit(&["--check"]).assert().code(1).stdout(
        contains("stale as root: case trying.one.gone was removed")
            .and(contains("stale as root: case trying.one.more was added"))
            .and(contains(
                "stale as unprivileged: case trying.one.says was changed",
            ))
            .and(contains("stale as root: fault gone was removed"))
            .and(contains("stale as root: fault more was added"))
            .and(contains("stale as root: fault mute was changed"))
            .and(contains("trying.one.plants was").not()),
    );
    // Only what is stale is run, and then nothing is.
    audited.audit(&["--stale", "--write"]).assert().code(0);
    audited
        .audit(&["--check"])
        .assert()
        .stdout(contains(format!("stale as {}", user())).not());
    written(&audited);
    audited.audit(&["--check"]).assert().code(0);
    audited
        .audit(&["--stale"])
        .assert()
        .code(0)
        .stdout("nothing is stale\n");
}

#[test]
fn the_same_is_written_every_time() {
    let audited = Audited::new();
    let path = audited.place.path("corpus/faults/matrix.json");
    audited.audit(&["--write"]).assert().code(0);
    let first = fs::read_to_string(&path).unwrap();
    audited.audit(&["--write", "--fresh"]).assert().code(0);
    assert_eq!(fs::read_to_string(&path).unwrap(), first);
    assert!(
        first.contains("\n            \"trying.one.says\": {\"verdict\":\"overblocked\"}\n"),
        "{first}"
    );
}

#[test]
fn what_is_committed_has_to_prove_what_it_is_for() {
    let audited = Audited::new();
    audited.audit(&["--write"]).assert().code(0);
    let mut matrix = written(&audited);
    for user in ["root", "unprivileged"] {
        let fault = &mut matrix["runs"][user]["faults"]["mute"];
        fault.as_object_mut().unwrap().remove("caught_by");
    }
    audited
        .place
        .file("corpus/faults/matrix.json", &matrix.to_string());
    audited.audit(&["--check"]).assert().code(1).stdout(
        contains("no case catches the fault: mute")
            .and(contains(
                "a required case catches no fault: trying.one.says",
            ))
            .and(contains("stale").not()),
    );
}

#[test]
fn a_pair_that_comes_out_otherwise_is_tried_again() {
    let audited = Audited::new();
    audited.audit(&["--write"]).assert().code(0);
    let mut matrix = written(&audited);
    for user in ["root", "unprivileged"] {
        let fault = &mut matrix["runs"][user]["faults"]["mute"];
        fault["caught_by"] = json!({ "trying.one.keeps": { "verdict": "overblocked" } });
    }
    audited
        .place
        .file("corpus/faults/matrix.json", &matrix.to_string());
    audited
        .audit(&["--write"])
        .assert()
        .code(0)
        .stdout(contains("6 run, 28 kept from before, 2 tried again"));
    // Two pairs twice, and what they do without a sandbox once.
    // What was committed was never so: tried three times it always came out alike.
    let text = fs::read_to_string(audited.place.path("corpus/faults/matrix.json")).unwrap();
    assert!(!text.contains("sometimes"), "{text}");
}

#[test]
fn a_fault_that_is_caught_now_and_then_proves_nothing() {
    let audited = Audited::new();
    let count = audited.place.text("count");
    // Of the launches of one case every other is wrong, the first to begin with.
    let line = format!(
        "case $* in *'echo said'*) echo >> {count} ;; *) exec {{perimeter}} exec \"$@\" ;; esac; \
         case $(wc -l < {count}) in *[02468]) exec {{perimeter}} exec \"$@\" ;; esac; \
         {{perimeter}} exec \"$@\" | sed s/said/SAID/"
    );
    audited.fault("mute", &launcher(&line, "{workspace}", "{}"));
    let found = |results: &str| audited.audit_in(results, &["--write"]).assert();
    found("first").code(0);
    let now_and_then =
        "no case catches the fault: 1\n  mute  caught now and then by trying.one.says";
    found("second")
        .code(1)
        .stdout(contains(now_and_then).and(contains("1 tried again")));
    let path = audited.place.path("corpus/faults/matrix.json");
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("\"trying.one.says\": {\"verdict\":\"overblocked\",\"sometimes\":true}"),
        "{text}"
    );
    // However it comes out from now on, it stays so.
    found("third")
        .code(1)
        .stdout(contains(now_and_then).and(contains("0 tried again")));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn an_audit_that_is_interrupted_goes_on_where_it_was() {
    let audited = Audited::new();
    let (pipe, gate) = (audited.place.text("pipe"), audited.place.path("gate"));
    nix::unistd::mkfifo(pipe.as_str(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    // The last fault waits for ever, unless the gate is there.
    let line = format!(
        "if test ! -e {}; then echo begun > {pipe}; exec sleep 1000; fi; \
         exec {{perimeter}} exec \"$@\"",
        gate.display()
    );
    let fault = launcher(&line, "{root}/outside", "{}");
    audited.remove_fault("elsewhere");
    audited.fault("waits", &fault);
    let mut child = support::plain(&["audit", "--quiet", "--jobs", "1", "--corpus"])
        .arg(audited.place.path("corpus"))
        .arg("--scratch")
        .arg(audited.place.path("scratch"))
        .arg("--results")
        .arg(audited.place.path("results"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(fs::read_to_string(&pipe).unwrap(), "begun\n");
    let id = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).unwrap();
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        said.contains("interrupted after 24 of 28 runs; the same command goes on"),
        "{said}"
    );
    let left: Vec<_> = fs::read_dir(audited.place.path("scratch"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
    fs::write(gate, "").unwrap();
    // Four are left, each with what it does without a sandbox.
    audited
        .audit(&[])
        .assert()
        .code(0)
        .stdout(contains("8 run, 24 kept from before"));
}
