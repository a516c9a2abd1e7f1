//! `perimeter check`: what is wrong with its input or its surroundings, and how
//! that is told.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::process::Command;

use predicates::prelude::*;
use predicates::str::contains;
use rstest::rstest;
use support::corpus::{TOPIC, corpus};
use support::{PROGRAM, Place, one_paragraph, perimeter};

/// Checks that a run fails with this status before any trial, in one paragraph
/// that holds these words, and leaves its scratch directory empty.
fn refused(place: &Place, arguments: &[&str], status: i32, words: &[&str]) {
    let scratch = place.directory("scratch");
    let mut all = vec!["check", "--scratch", scratch.to_str().unwrap()];
    all.extend(arguments);
    let small = corpus_unless_there(place);
    if !arguments.contains(&"--corpus") {
        all.extend(["--corpus", &small]);
    }
    let mut assert = perimeter(&all)
        .assert()
        .code(status)
        .stdout("")
        .stderr(one_paragraph());
    for word in words {
        assert = assert.stderr(contains(*word));
    }
    let left: Vec<_> = fs::read_dir(&scratch).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A small corpus, which is read faster than the one in the program.
fn corpus_unless_there(place: &Place) -> String {
    match place.path("corpus").exists() {
        true => place.text("corpus"),
        false => corpus(place, TOPIC),
    }
}

/// `perimeter check` of the small corpus, in a scratch directory of its own.
fn check(place: &Place, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = perimeter(&["check", "--corpus", &corpus_unless_there(place)]);
    if !arguments.contains(&"--scratch") {
        command.arg("--scratch").arg(place.path("scratch"));
    }
    command.args(arguments);
    command
}

/// A corpus in which this text of the topic is that.
fn changed(place: &Place, from: &str, to: &str) -> String {
    assert!(TOPIC.contains(from));
    corpus(place, &TOPIC.replacen(from, to, 1))
}

#[rstest]
#[case::cut_short("\"rev\": 1,", "\"rev\": ", "one.json:8:", "")]
#[case::a_comma_too_many("}\n  ]", "},\n  ]", "one.json:16:3: ", "")]
#[case::an_unknown_field("\"rev\": 1", "\"rev\": 1, \"revision\": 2", "one.json:7:", "revision")]
#[case::a_missing_field("      \"rev\": 1,\n", "", "one.json:14:", "rev")]
#[case::an_unknown_word("\"must\"", "\"always\"", "one.json:12:", "always")]
#[case::an_unknown_placeholder(
    "echo some",
    "echo {nope} some",
    "one.json:6: case trying.one.says",
    "{nope}"
)]
#[case::an_odd_id(
    "trying.one.says",
    "Trying",
    "one.json:6: case Trying",
    "area.topic.words"
)]
#[case::nothing_to_run(
    "      \"run\": \"echo something\",\n",
    "",
    "one.json:6: case trying.one.says",
    "run"
)]
#[case::a_denial_without_a_twin(
    "\"allowed\"",
    "\"denied\"",
    "one.json:6: case trying.one.says",
    "sibling"
)]
fn a_broken_corpus_file_is_told_with_its_place(
    #[case] from: &str,
    #[case] to: &str,
    #[case] where_it_is: &str,
    #[case] what: &str,
) {
    let place = Place::new();
    let corpus = changed(&place, from, to);
    let shown = format!("{corpus}/trying/{where_it_is}");
    refused(&place, &["--corpus", &corpus], 2, &[&shown, what]);
}

#[test]
fn two_cases_of_one_id_are_told_with_the_place_of_the_second() {
    let place = Place::new();
    let corpus = corpus(&place, TOPIC);
    place.file("corpus/trying/two.json", &format!("\n\n{TOPIC}"));
    let shown = format!("{corpus}/trying/two.json:8: case trying.one.says");
    refused(
        &place,
        &["--corpus", &corpus],
        2,
        &[&shown, "choose a new one"],
    );
}

#[test]
fn a_corpus_that_is_not_text_is_told_with_its_place() {
    let place = Place::new();
    let corpus = corpus(&place, TOPIC);
    fs::write(
        place.path("corpus/trying/one.json"),
        b"{\n  \"topic\": \"\xff\"",
    )
    .unwrap();
    let shown = format!("{corpus}/trying/one.json:2:");
    refused(&place, &["--corpus", &corpus], 2, &[&shown, "UTF-8"]);
}

#[rstest]
#[case::absent("absent", "No such file")]
#[case::a_file("file", "Not a directory")]
#[case::no_corpus("empty", "holds no case")]
fn a_corpus_that_is_none_is_told_by_its_path(#[case] name: &str, #[case] reason: &str) {
    let place = Place::new();
    place.file("file", "");
    place.directory("empty");
    let path = place.text(name);
    refused(&place, &["--corpus", &path], 2, &[&path, reason, "corpus"]);
}

#[test]
fn what_this_user_cannot_read_is_told_by_its_path() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    if nix::unistd::geteuid().is_root() {
        // No permission keeps root from reading; a directory is none to read.
        let launcher = place.text("directory.json");
        place.directory("directory.json");
        let words = [launcher.as_str(), "Is a directory", "launcher file"];
        refused(&place, &["--launcher", &launcher], 2, &words);
        return;
    }
    let closed = |path: &std::path::Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        path.display().to_string()
    };
    let reason = ["Permission denied", "that this user can read"];
    let launcher = closed(&place.file("mine.json", "{}"));
    let words = [launcher.as_str(), reason[0], reason[1]];
    refused(&place, &["--launcher", &launcher], 2, &words);
    let corpus = corpus(&place, TOPIC);
    let topic = closed(&place.path("corpus/trying/one.json"));
    let words = [topic.as_str(), reason[0], reason[1]];
    refused(&place, &["--corpus", &corpus], 2, &words);
}

#[rstest]
#[case::broken("{ \"name\": \"mine\",\n", "mine.json:", "")]
#[case::an_unknown_field("{ \"name\": \"mine\",\n  \"argv\": [] }", "mine.json:2:8: ", "argv")]
#[case::an_unknown_feature(
    "{ \"name\": \"mine\", \"about\": \"\",\n\"features\": [\"magic\"] }",
    "mine.json:2:",
    "magic"
)]
#[case::a_wrong_type("{ \"name\": 1 }", "mine.json:1:11: name: ", "")]
fn a_broken_launcher_file_is_told_with_its_place(
    #[case] text: &str,
    #[case] where_it_is: &str,
    #[case] what: &str,
) {
    let place = Place::new();
    let file = place.file("mine.json", text);
    refused(
        &place,
        &["--launcher", file.to_str().unwrap()],
        2,
        &[where_it_is, what],
    );
}

#[test]
fn an_unknown_launcher_is_told_with_the_known_ones() {
    let place = Place::new();
    let words = ["\"nope\"", "reference", "open", "launcher file"];
    refused(&place, &["--launcher", "nope"], 2, &words);
    let absent = place.text("nope.json");
    refused(&place, &["--launcher", &absent], 2, &[&absent]);
}

#[rstest]
#[case::alone(&["no.such.case"])]
#[case::beside_one_that_matches(&["trying", "no.such.case"])]
fn a_filter_that_selects_nothing_is_named(#[case] filters: &[&str]) {
    let place = Place::new();
    refused(&place, filters, 4, &["\"no.such.case\"", "perimeter list"]);
}

#[test]
fn a_filter_with_a_slip_of_the_pen_is_answered_with_the_case_that_is_near() {
    let place = Place::new();
    refused(
        &place,
        &["trying.one.sais"],
        4,
        &["did you mean trying.one.says"],
    );
}

#[test]
fn without_bubblewrap_the_reference_launcher_is_not_checked() {
    let place = Place::new();
    check(&place, &[])
        .env("PATH", place.directory("bin"))
        .assert()
        .code(2)
        .stdout("")
        .stderr(
            one_paragraph()
                .and(contains("bwrap"))
                .and(contains("install")),
        );
}

#[rstest]
#[case::no_jobs(&["--jobs", "0"], "--jobs")]
#[case::many_jobs(&["--jobs", "1000000"], "--jobs")]
#[case::a_level(&["--level", "nope"], "confined-writes")]
#[case::a_required_fact(&["--require", "nope"], "python3")]
#[case::an_absent_fact(&["--without", "git,nope"], "python3")]
#[case::a_flag(&["--nope"], "--nope")]
#[case::a_flag_without_its_value(&["--launcher"], "--launcher")]
fn a_wrong_flag_is_answered_with_what_is_right(#[case] flags: &[&str], #[case] word: &str) {
    let mut all = vec!["check"];
    all.extend(flags);
    perimeter(&all)
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains(word).and(contains("panicked").not()));
}

/// A fact that this host has, and one that no run of this user can have.
fn facts() -> (&'static str, &'static str) {
    if nix::unistd::geteuid().is_root() {
        ("root", "unprivileged")
    } else {
        ("unprivileged", "root")
    }
}

#[test]
fn a_required_fact_that_the_host_lacks_fails_the_run_before_it_begins() {
    let place = Place::new();
    let (present, absent) = facts();
    let both = format!("{present},{absent}");
    let words = [absent, "--require", "perimeter doctor"];
    refused(&place, &["trying", "--require", &both], 3, &words);
    check(&place, &["--require", present, "--quiet"])
        .assert()
        .code(0);
}

#[test]
fn a_fact_that_is_said_to_be_absent_and_is_not_fails_the_run_before_it_begins() {
    let place = Place::new();
    let (present, absent) = facts();
    let words = [present, "--without"];
    refused(&place, &["trying", "--without", present], 2, &words);
    check(&place, &["--without", absent, "--quiet"])
        .assert()
        .code(0);
}

#[rstest]
fn a_report_that_cannot_be_written_fails_the_run_before_it_begins(
    #[values("--results", "--junit", "--summary")] flag: &str,
) {
    let place = Place::new();
    let directory = place.directory("directory");
    for path in ["absent/report", directory.to_str().unwrap(), "/proc/report"] {
        let path = place.text(path);
        let words = [path.as_str(), "name a file"];
        refused(&place, &["trying", flag, &path], 2, &words);
    }
}

#[test]
fn a_results_file_without_room_fails_the_run_before_it_begins() {
    let place = Place::new();
    let words = ["/dev/full", "No space left", "free some space"];
    refused(&place, &["trying", "--results", "/dev/full"], 2, &words);
}

#[rstest]
fn a_report_without_room_takes_no_result_with_it(#[values("--junit", "--summary")] flag: &str) {
    let place = Place::new();
    check(&place, &[flag, "/dev/full"])
        .assert()
        .code(70)
        .stdout(contains("required cases conform"))
        .stderr(
            one_paragraph()
                .and(contains("/dev/full"))
                .and(contains("make room")),
        );
}

#[test]
fn a_standard_output_without_room_is_told() {
    let place = Place::new();
    let line = format!(
        "'{PROGRAM}' check --corpus '{}' --scratch '{}' >/dev/full",
        corpus_unless_there(&place),
        place.text("scratch")
    );
    assert_cmd::Command::new("/bin/sh")
        .args(["-c", &line])
        .assert()
        .code(70)
        .stderr(one_paragraph().and(contains("No space left")));
}

#[rstest]
#[case::a_file("file", "File exists")]
#[case::below_a_file("file/below", "Not a directory")]
#[case::of_the_kernel("/proc/perimeter", "")]
fn a_scratch_directory_that_cannot_be_made_is_told(#[case] name: &str, #[case] reason: &str) {
    let place = Place::new();
    place.file("file", "");
    let path = place.text(name);
    check(&place, &["--scratch", &path])
        .assert()
        .code(2)
        .stdout("")
        .stderr(
            one_paragraph()
                .and(contains(&path))
                .and(contains(reason))
                .and(contains("--scratch DIR")),
        );
}

/// Runs a check whose scratch directory is on a file system of its own of this
/// many bytes.
fn on_small_file_system(
    place: &Place,
    bytes: u64,
    arguments: &[&str],
) -> assert_cmd::assert::Assert {
    let room = place.directory("room");
    let script = "mount -t tmpfs -o size=$1 none \"$2\" || exit 99; shift 2; exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            script,
            "sh",
        ])
        .arg(bytes.to_string())
        .arg(&room)
        .args([PROGRAM, "check", "--scratch"])
        .arg(&room)
        .args(arguments);
    let assert = assert_cmd::Command::from_std(command).assert();
    let output = assert.get_output();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() != Some(99) && !error.starts_with("unshare:"),
        "this test needs user namespaces in which a tmpfs can be mounted: {error}"
    );
    assert
}

#[rstest]
#[case::not_even_the_probe_fits(64 << 10)]
#[case::nothing_fits(4 << 10)]
fn a_full_scratch_file_system_fails_the_run_before_it_begins(#[case] bytes: u64) {
    let place = Place::new();
    let corpus = corpus(&place, TOPIC);
    on_small_file_system(&place, bytes, &["--corpus", &corpus])
        .code(2)
        .stdout("")
        .stderr(
            one_paragraph()
                .and(contains(place.text("room")))
                .and(contains("No space left"))
                .and(contains("--scratch")),
        );
}

#[test]
fn a_scratch_file_system_that_fills_up_is_the_harness_failing_and_no_verdict() {
    let place = Place::new();
    // The probe fits, and what the case finds on the host does not.
    let room = fs::metadata(PROGRAM).unwrap().len() + (512 << 10);
    let fixture = format!(
        "\"fixture\": {{ \"files\": {{ \"{{outside}}/large\": \"{}\" }} }}, \"run\"",
        "0123456789abcdef".repeat(1 << 16)
    );
    let corpus = changed(&place, "\"run\"", &fixture);
    on_small_file_system(&place, room, &["--corpus", &corpus, "--launcher", "open"])
        .code(70)
        .stdout(
            contains("left on device")
                .and(contains("The harness itself failed"))
                .and(contains("panicked").not()),
        )
        .stderr("");
}
