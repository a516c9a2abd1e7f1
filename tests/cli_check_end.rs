//! `perimeter check`: runs that are cut short, and what is left of them.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, mkfifo};
use rstest::rstest;
use support::corpus::{TOPIC, corpus, waiting};
use support::processes::{
    Process, descendants, marker, wait_for_end, wait_for_no, wait_until, with_argument,
};
use support::{PROGRAM, Place, perimeter, plain};

/// A run whose two trials wait for ever, each with the marker among the arguments
/// of what it runs.
struct Run {
    child: Child,
    marker: String,
    below: Vec<Process>,
    /// The run's own directories: below the scratch directory, and in /tmp.
    roots: Vec<PathBuf>,
}

impl Run {
    fn start(place: &Place, launcher: &str) -> Run {
        let marker = marker();
        let pipes = place.directory("pipes");
        let mut beginnings: Vec<fs::File> = ["strict", "host-readable"]
            .map(|posture| {
                let pipe = pipes.join(posture);
                mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
                fs::OpenOptions::new()
                    .read(true)
                    .custom_flags(OFlag::O_NONBLOCK.bits())
                    .open(pipe)
                    .unwrap()
            })
            .into();
        let corpus = corpus(place, &waiting(pipes.to_str().unwrap(), &marker));
        let arguments = ["check", "--corpus", &corpus, "--launcher", launcher];
        let child = plain(&arguments)
            .arg("--results")
            .arg(place.path("results.jsonl"))
            .arg("--scratch")
            .arg(place.path("scratch"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        for pipe in &mut beginnings {
            wait_for_a_line(pipe);
        }
        let id = i32::try_from(child.id()).unwrap();
        Run {
            below: descendants(id),
            roots: roots(id),
            child,
            marker,
        }
    }

    fn signal(&self, signal: Signal) {
        kill(
            Pid::from_raw(i32::try_from(self.child.id()).unwrap()),
            signal,
        )
        .unwrap();
    }

    /// Waits for the program to end, and then for everything that it has started.
    fn end(self) -> (std::process::Output, Vec<PathBuf>) {
        let output = self.child.wait_with_output().unwrap();
        wait_for_no(&self.marker);
        wait_for_end(&self.below);
        (output, self.roots)
    }
}

fn wait_for_a_line(pipe: &mut fs::File) {
    let seconds = PollTimeout::from(60_000_u16);
    let mut watched = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
    assert_eq!(poll(&mut watched, seconds).unwrap(), 1, "no trial began");
    let mut text = [0; 16];
    let count = pipe.read(&mut text).unwrap();
    assert_eq!(&text[..count], b"begun\n");
}

/// The directories whose lock files a process holds open.
fn roots(id: i32) -> Vec<PathBuf> {
    let open = fs::read_dir(format!("/proc/{id}/fd")).unwrap().flatten();
    let mut roots: Vec<PathBuf> = open
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .filter(|path| path.ends_with("run.lock"))
        .map(|path| path.parent().unwrap().to_owned())
        .collect();
    roots.sort();
    roots
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[rstest]
fn a_run_that_is_asked_to_end_leaves_no_process_and_no_file(
    #[values(Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP)] signal: Signal,
    #[values("reference", "open")] launcher: &str,
) {
    let place = Place::new();
    let run = Run::start(&place, launcher);
    assert!(with_argument(&run.marker).len() >= 2);
    assert_eq!(run.roots.len(), 2, "{:?}", run.roots);
    run.signal(signal);
    let (output, roots) = run.end();
    assert_eq!(output.status.code(), Some(128 + signal as i32));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!error.contains("panicked"), "{error}");
    for root in roots {
        assert!(!root.exists(), "{}", root.display());
    }
    assert_eq!(entries(&place.path("scratch")), [] as [PathBuf; 0]);
}

#[test]
fn a_run_that_is_asked_to_end_says_so_and_no_trial_of_it_failed() {
    let place = Place::new();
    let run = Run::start(&place, "reference");
    run.signal(Signal::SIGINT);
    let (output, _) = run.end();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("interrupted"), "{text}");
    assert!(text.contains("0 passed, 0 failed"), "{text}");
    let end = "exit code 130: interrupted\n";
    assert!(text.ends_with(end), "{text}");
    assert_eq!(output.status.code(), Some(130));
    let results = fs::read_to_string(place.path("results.jsonl")).unwrap();
    assert!(results.contains("\"interrupted\":true"), "{results}");
}

#[rstest]
fn a_run_that_is_killed_leaves_no_process_and_the_next_clears_its_files(
    #[values("reference", "open")] launcher: &str,
) {
    let place = Place::new();
    let mut run = Run::start(&place, launcher);
    assert!(with_argument(&run.marker).len() >= 2);
    run.child.kill().unwrap();
    let (output, roots) = run.end();
    assert_eq!(output.status.signal(), Some(9));
    assert_eq!(roots.len(), 2, "{roots:?}");
    // The workers have removed the trials' own; the lock and the probe stay.
    for root in roots.iter().filter(|root| root.exists()) {
        for left in entries(root) {
            assert!(!left.is_dir(), "{}", left.display());
        }
    }
    let small = corpus(&place, TOPIC);
    perimeter(&["check", "--corpus", &small, "--launcher", "open", "--quiet"])
        .arg("--scratch")
        .arg(place.path("scratch"))
        .assert()
        .code(0);
    for root in roots {
        assert!(!root.exists(), "{}", root.display());
    }
    assert_eq!(entries(&place.path("scratch")), [] as [PathBuf; 0]);
}

#[test]
fn a_run_clears_what_a_dead_one_left_and_nothing_of_a_living_one() {
    let place = Place::new();
    let living = Run::start(&place, "open");
    place.file("scratch/perimeter-dead/run.lock", "");
    place.file("scratch/perimeter-dead/7s/outside/notes", "");
    place.file("scratch/perimeter-without-a-lock/notes", "");
    place.file("scratch/mine/notes", "");
    let small = corpus(&place, TOPIC);
    perimeter(&["check", "--corpus", &small, "--launcher", "open", "--quiet"])
        .arg("--scratch")
        .arg(place.path("scratch"))
        .assert()
        .code(0);
    assert!(!place.path("scratch/perimeter-dead").exists());
    assert!(
        place
            .path("scratch/perimeter-without-a-lock/notes")
            .exists()
    );
    assert!(place.path("scratch/mine/notes").exists());
    for root in &living.roots {
        assert!(root.join("run.lock").exists(), "{}", root.display());
    }
    assert!(with_argument(&living.marker).len() >= 2);
    living.signal(Signal::SIGTERM);
    living.end();
}

#[test]
fn a_second_signal_does_not_wait_for_the_first() {
    let place = Place::new();
    let run = Run::start(&place, "reference");
    run.signal(Signal::SIGINT);
    run.signal(Signal::SIGTERM);
    let (output, roots) = run.end();
    // Nothing is waited for, so something may be left for the next run to clear.
    for root in roots {
        let _ = fs::remove_dir_all(root);
    }
    // Whichever was seen first; two signals may be seen in either order.
    assert!(matches!(output.status.code(), Some(130 | 143)));
}

#[test]
fn a_worker_that_dies_fails_the_run_as_the_harness() {
    let place = Place::new();
    let run = Run::start(&place, "open");
    let workers: Vec<i32> = with_argument("--perimeter-worker")
        .into_iter()
        .filter(|id| run.below.iter().any(|process| process.id == *id))
        .collect();
    assert_eq!(workers.len(), 2, "{:?}", run.below);
    for worker in workers {
        kill(Pid::from_raw(worker), Signal::SIGKILL).unwrap();
    }
    let (output, roots) = run.end();
    assert_eq!(output.status.code(), Some(70));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("The harness failed: 2"), "{text}");
    assert!(text.contains("signal: 9"), "{text}");
    wait_until("a directory is left", || {
        match roots.iter().find(|root| root.exists()) {
            None => Ok(()),
            Some(root) => Err(root.display().to_string()),
        }
    });
}

#[test]
fn ignored_signals_stay_ignored() {
    let place = Place::new();
    let small = corpus(&place, TOPIC);
    // As nohup(1) does it: the run ignores the signal that its own child sends.
    let line = format!(
        "trap '' HUP; exec '{PROGRAM}' check --corpus '{small}' --launcher '{}' --quiet --scratch '{}'",
        launcher_that_hangs_up(&place),
        place.text("scratch"),
    );
    let output = std::process::Command::new("/bin/sh")
        .args(["-c", &line])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
}

/// A launcher that sends SIGHUP to the run's program before it runs the command.
fn launcher_that_hangs_up(place: &Place) -> String {
    let text = r#"{
      "name": "hangs-up", "about": "A test.", "levels": ["launch"],
      "features": ["posture-strict", "network-host", "network-none"],
      "arguments": ["/bin/sh", "-c",
        "kill -HUP $(cut -d ' ' -f 4 /proc/$PPID/stat); cd \"$1\"; shift; exec \"$@\"",
        "sh", "{cwd}", { "command": true }]
    }"#;
    place.file("hangs-up.json", text).display().to_string()
}
