//! `perimeter exec`: signals, the launcher's own death, and terminals.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;
use rstest::rstest;
use support::processes::{descendants, marker, wait_for_end, wait_for_no, with_argument};
use support::terminal::Terminal;
use support::{PROGRAM, Place, exec, plain, started};

/// Waits for ever, with the marker among its arguments, and has a child that does
/// too and that has left the group and the session.
fn waiting(marker: &str) -> String {
    format!(
        "setsid sh -c 'while :; do sleep 1000; done' {marker}-apart & \
         sh -c 'while :; do sleep 1000; done' {marker}-child & \
         echo begun; wait; wait"
    )
}

#[rstest]
fn a_signal_to_the_launcher_ends_it_and_leaves_no_process(
    #[values(Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP)] signal: Signal,
    #[values("strict", "host-readable")] posture: &str,
) {
    let place = Place::new();
    let marker = marker();
    let line = waiting(&marker);
    let mut command = plain(&exec(&["--posture", posture], &line));
    let mut run = started(command.current_dir(place.workspace()));
    assert_eq!(run.first, "begun\n");
    let below = descendants(run.id());
    assert!(with_argument(&marker).len() >= 3, "{below:?}");
    run.signal(signal);
    let status = run.child.wait().unwrap();
    assert_eq!(status.code(), Some(128 + signal as i32), "{status}");
    // All is gone by the time that the launcher is: nothing needs waiting for.
    assert_eq!(with_argument(&marker), [0_i32; 0]);
    wait_for_end(&below);
}

#[test]
fn the_command_may_handle_a_signal_and_its_status_counts() {
    let place = Place::new();
    let line = "trap 'echo caught; exit 7' TERM; echo begun; while :; do sleep 0.01; done";
    let mut command = plain(&exec(&[], line));
    let mut run = started(command.current_dir(place.workspace()));
    run.signal(Signal::SIGTERM);
    let mut rest = String::new();
    run.output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "caught\n");
    assert_eq!(run.child.wait().unwrap().code(), Some(7));
}

#[test]
fn a_second_signal_ends_a_command_that_ignores_the_first() {
    let place = Place::new();
    let marker = marker();
    let line = format!(
        "trap 'echo ignored' TERM; echo begun; \
         while :; do sh -c 'sleep 0.01' {marker}; done"
    );
    let mut command = plain(&exec(&[], &line));
    let mut run = started(command.current_dir(place.workspace()));
    run.signal(Signal::SIGTERM);
    let mut first = [0; 8];
    run.output.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"ignored\n");
    run.signal(Signal::SIGTERM);
    let status = run.child.wait().unwrap();
    assert!(!status.success(), "{status}");
    assert_eq!(with_argument(&marker), [0_i32; 0]);
}

#[test]
fn what_the_caller_ignores_the_launcher_ignores() {
    let place = Place::new();
    let line = "echo begun; read line; echo \"$line\"; exit 3";
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh", PROGRAM])
        .args(exec(&[], line))
        .env_remove("PERIMETER_ENFORCEMENT")
        .current_dir(place.workspace())
        .stdin(Stdio::piped());
    let mut run = started(&mut command);
    run.signal(Signal::SIGHUP);
    let mut input = run.child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, b"still here\n").unwrap();
    let mut rest = String::new();
    run.output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "still here\n");
    assert_eq!(run.child.wait().unwrap().code(), Some(3));
}

#[rstest]
fn nothing_survives_a_killed_launcher(
    #[values("strict", "host-readable")] posture: &str,
    #[values("none", "host")] network: &str,
) {
    let place = Place::new();
    let marker = marker();
    let line = waiting(&marker);
    let flags = ["--posture", posture, "--network", network];
    let mut command = plain(&exec(&flags, &line));
    let mut run = started(command.current_dir(place.workspace()));
    let below = descendants(run.id());
    assert!(with_argument(&marker).len() >= 3, "{below:?}");
    run.child.kill().unwrap();
    assert_eq!(run.child.wait().unwrap().signal(), Some(9));
    wait_for_no(&marker);
    wait_for_end(&below);
}

#[test]
fn nothing_survives_a_killed_caller() {
    let place = Place::new();
    let marker = marker();
    let line = waiting(&marker);
    let mut caller = Command::new("/bin/sh");
    // Two commands, so that the shell stays the launcher's parent.
    caller
        .args(["-c", "\"$@\"; echo after", "sh", PROGRAM])
        .args(exec(&[], &line))
        .env_remove("PERIMETER_ENFORCEMENT")
        .stdin(Stdio::null())
        .current_dir(place.workspace());
    let mut run = started(&mut caller);
    assert_eq!(run.first, "begun\n");
    let below = descendants(run.id());
    run.child.kill().unwrap();
    run.child.wait().unwrap();
    wait_for_no(&marker);
    wait_for_end(&below);
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    let place = Place::new();
    let marker = marker();
    let line = format!(
        "setsid sh -c 'while :; do sleep 1000; done' {marker} >/dev/null 2>&1 & \
         while ! tr '\\0' ' ' </proc/$!/cmdline | grep -q {marker}; do :; done; exit 5"
    );
    place.exec(&[], &line).assert().code(5);
    assert_eq!(with_argument(&marker), [0_i32; 0]);
}

#[test]
fn a_terminal_that_is_asked_for_is_one_of_the_same_size() {
    let place = Place::new();
    let line = "test -t 0 && test -t 1 && test -t 2 && echo a terminal; stty size; \
                read -r answer; echo \"answer: $answer\"; exit 5";
    let mut terminal = Terminal::new(31, 97);
    let mut child = terminal.start(plain(&exec(&["--tty"], line)).current_dir(place.workspace()));
    let seen = terminal.read_until("31 97\r\n");
    assert!(seen.contains("a terminal\r\n"), "{seen:?}");
    terminal.write("forty two\n");
    let seen = terminal.read_to_end();
    assert!(seen.contains("answer: forty two\r\n"), "{seen:?}");
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

#[test]
fn keys_of_the_terminal_reach_a_command_on_its_own() {
    let place = Place::new();
    let line = "trap 'echo interrupted; exit 9' INT; echo ready; \
                while :; do sleep 0.01; done";
    let mut terminal = Terminal::new(24, 80);
    let mut child = terminal.start(plain(&exec(&["--tty"], line)).current_dir(place.workspace()));
    terminal.read_until("ready\r\n");
    terminal.write("\u{3}");
    let seen = terminal.read_to_end();
    assert!(seen.contains("interrupted"), "{seen:?}");
    assert_eq!(child.wait().unwrap().code(), Some(9));
}

#[test]
fn a_terminal_that_hangs_up_ends_all() {
    let place = Place::new();
    let marker = marker();
    let line = waiting(&marker);
    let mut terminal = Terminal::new(24, 80);
    let mut child = terminal.start(plain(&exec(&["--tty"], &line)).current_dir(place.workspace()));
    terminal.read_until("begun\r\n");
    assert!(with_argument(&marker).len() >= 3);
    drop(terminal);
    let status = child.wait().unwrap();
    assert!(!status.success(), "{status}");
    wait_for_no(&marker);
}

#[rstest]
fn without_being_asked_for_the_callers_terminal_does_not_become_the_commands(
    #[values("strict", "host-readable")] posture: &str,
) {
    let place = Place::new();
    // The controlling terminal is the seventh field of proc_pid_stat(5).
    let line = "sed 's/.*) //' /proc/self/stat | cut -d ' ' -f 5; (: </dev/tty) && echo open";
    let mut terminal = Terminal::new(24, 80);
    let mut child =
        terminal.start(plain(&exec(&["--posture", posture], line)).current_dir(place.workspace()));
    let seen = terminal.read_to_end().to_owned();
    child.wait().unwrap();
    assert!(seen.starts_with("0\r\n"), "{seen:?}");
    assert!(!seen.contains("open\r\n"), "{seen:?}");
}

#[test]
fn asked_for_a_terminal_where_there_is_none_a_command_runs_as_in_a_pipeline() {
    let place = Place::new();
    place
        .exec(&["--tty"], "test -t 0 || echo no terminal; cat")
        .write_stdin("text")
        .assert()
        .code(0)
        .stdout("no terminal\ntext");
}
