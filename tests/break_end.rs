//! A launcher that is killed while it sets its sandbox up.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::pty::openpty;
use nix::sys::termios::tcgetattr;
use rstest::rstest;
use support::processes::{marker, wait_for_no, wait_until};
use support::{Place, exec, plain};

/// The moments of a launch, and somewhat more, that are tried.
const MOMENTS: u32 = 60;
const APART: Duration = Duration::from_micros(250);

#[rstest]
fn it_leaves_neither_a_process_nor_a_name(
    #[values("strict", "host-readable")] posture: &str,
    #[values(false, true)] hiding: bool,
) {
    let place = Place::new();
    let mut policy = format!("{{ \"version\": 1, \"posture\": \"{posture}\"");
    if hiding {
        let absent = place.text("workspace/absent/too/deep");
        policy += &format!(", \"hidden\": [\"{absent}\"]");
    }
    let policy = place.file("policy.json", &format!("{policy} }}"));
    for moment in 0..MOMENTS {
        let marker = marker();
        let line = format!("echo {marker} > begun; while :; do sleep 1000; done");
        let options = ["--policy", policy.to_str().unwrap()];
        let mut run = plain(&exec(&options, &line))
            .current_dir(place.workspace())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while start.elapsed() < APART * moment {
            std::hint::spin_loop();
        }
        run.kill().unwrap();
        run.wait().unwrap();
        wait_for_no(&marker);
        wait_until("a name is left", || {
            let left: Vec<_> = fs::read_dir(place.workspace())
                .unwrap()
                .flatten()
                .map(|entry| entry.file_name())
                .filter(|name| name != "begun")
                .collect();
            if left.is_empty() {
                Ok(())
            } else {
                Err(format!("{left:?} after {:?}", APART * moment))
            }
        });
    }
}

#[test]
fn its_terminal_gets_its_settings_back() {
    let place = Place::new();
    let pair = openpty(None, None).unwrap();
    let settings = || tcgetattr(&pair.slave).unwrap();
    let before = settings();
    let stream = || Stdio::from(pair.slave.try_clone().unwrap());
    let mut run = plain(&exec(
        &["--tty"],
        "echo begun; while :; do sleep 1000; done",
    ))
    .current_dir(place.workspace())
    .stdin(stream())
    .stdout(stream())
    .stderr(stream())
    .spawn()
    .unwrap();
    let mut line = String::new();
    let mut screen = BufReader::new(File::from(pair.master.try_clone().unwrap()));
    screen.read_line(&mut line).unwrap();
    assert_eq!(line.trim_end(), "begun");
    assert_ne!(settings(), before);
    run.kill().unwrap();
    run.wait().unwrap();
    wait_until("the terminal is as it was", || {
        if settings() == before {
            Ok(())
        } else {
            Err(format!("{:?}", settings()))
        }
    });
}
