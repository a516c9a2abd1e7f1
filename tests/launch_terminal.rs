//! A command on a terminal: its own, or none.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod launch;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command};

use launch::Fixture;
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, tcgetattr};
use nix::unistd::Pid;
use perimeter::{Launcher, Policy};
use rstest::rstest;

/// This test program once more, on a terminal, running `launcher_on_a_terminal`.
struct Session {
    launcher: Child,
    keys: File,
    screen: File,
    terminal: OpenptyResult,
    seen: String,
}

impl Session {
    fn begin(fixture: &Fixture, line: &str, terminal: bool) -> Session {
        let size = Winsize {
            ws_row: 33,
            ws_col: 77,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pair = openpty(&size, None).unwrap();
        let slave = || pair.slave.try_clone().unwrap();
        // A test program has threads of its own; with these signals blocked in all of
        // them, the one that waits for them gets them.
        let launcher = Command::new("env")
            .arg("--block-signal=HUP,TERM")
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "launcher_on_a_terminal"])
            .env("WORKSPACE_ON_A_TERMINAL", fixture.workspace())
            .env("LINE_ON_A_TERMINAL", line)
            .env("OWN_TERMINAL", if terminal { "yes" } else { "no" })
            .stdin(slave())
            .stdout(slave())
            .stderr(slave())
            .spawn()
            .unwrap();
        let master = || File::from(pair.master.try_clone().unwrap());
        Session {
            launcher,
            keys: master(),
            screen: master(),
            seen: String::new(),
            terminal: pair,
        }
    }

    /// Reads the screen until this is on it.
    fn until(&mut self, text: &str) {
        let mut buffer = [0; 4096];
        while !self.seen.contains(text) {
            let ended = self
                .launcher
                .try_wait()
                .unwrap()
                .is_some_and(|status| !status.success());
            assert!(!ended, "{text} never came: {}", self.seen);
            let length = self.screen.read(&mut buffer).unwrap();
            self.seen
                .push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
    }

    fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
    }

    fn ends_with(&mut self, status: i32) {
        self.until(&format!("status {status}\r\n"));
        self.launcher.wait().unwrap();
    }
}

#[test]
fn launcher_on_a_terminal() {
    let Some(workspace) = std::env::var_os("WORKSPACE_ON_A_TERMINAL") else {
        return;
    };
    let launcher = Launcher::prepare(&Policy::strict(), workspace).unwrap();
    let mut command = launcher.shell(std::env::var("LINE_ON_A_TERMINAL").unwrap());
    command.terminal(std::env::var("OWN_TERMINAL").unwrap() == "yes");
    let exit = command.spawn().unwrap().wait_forwarding_signals().unwrap();
    println!("status {}", exit.shell_status());
}

#[test]
fn it_is_a_terminal_of_the_same_size() {
    let fixture = Fixture::at_home();
    let line = "test -t 0 && test -t 1 && test -t 2 && stty size && echo to >/dev/tty";
    let mut session = Session::begin(&fixture, line, true);
    session.ends_with(0);
    assert!(session.seen.contains("33 77\r\nto\r\n"), "{}", session.seen);
}

#[test]
fn keys_have_their_meaning_inside() {
    let fixture = Fixture::at_home();
    let line = "trap 'echo caught; exit 4' INT; echo begun; read word; echo got $word; while :; do sleep 1000; done";
    let mut session = Session::begin(&fixture, line, true);
    session.until("begun");
    session.press(b"typed\r");
    session.until("got typed");
    session.press(b"\x03");
    session.until("caught");
    session.ends_with(4);
}

#[test]
fn the_callers_terminal_is_as_it_was() {
    let fixture = Fixture::at_home();
    let mut session = Session::begin(&fixture, "echo begun; read word", true);
    let canonical = |session: &Session| {
        tcgetattr(session.terminal.slave.as_fd())
            .unwrap()
            .local_flags
            .contains(LocalFlags::ICANON)
    };
    let mut began = canonical(&session);
    session.until("begun");
    // What the command writes may come before its launcher has switched over; what it
    // reads may not.
    session.press(b"\r");
    session.ends_with(0);
    began &= canonical(&session);
    assert!(began);
}

#[rstest]
fn nothing_can_be_typed_for_the_caller(#[values(true, false)] own: bool) {
    let fixture = Fixture::at_home();
    // TIOCSTI, for each key; with an upper half that a filter may not look at.
    let line = r#"for request in 0x5412 0x100005412; do perl -e 'for (split //, "typed\n") {
        ioctl(STDIN, hex($ARGV[0]), $_); }' $request; done; echo done"#;
    let mut session = Session::begin(&fixture, line, own);
    session.until("done");
    session.ends_with(0);
    // Whatever was typed for the caller would be read before this.
    session.press(b"end\n");
    let mut typed = [0; 64];
    let length = nix::unistd::read(&session.terminal.slave, &mut typed).unwrap();
    assert_eq!(String::from_utf8_lossy(&typed[..length]), "end\n");
}

#[rstest]
fn a_signal_to_the_launcher_ends_a_command_on_a_terminal(
    #[values(Signal::SIGTERM, Signal::SIGHUP)] signal: Signal,
) {
    let fixture = Fixture::at_home();
    let mut session = Session::begin(&fixture, "echo begun; exec sleep 1000", true);
    session.until("begun");
    kill(Pid::from_raw(session.launcher.id() as i32), signal).unwrap();
    session.ends_with(128 + signal as i32);
}
