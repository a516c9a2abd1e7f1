//! What a guard does while someone exchanges what it looks at.
//!
//! In each race a thread keeps exchanging two names in the workspace: an honest one,
//! and a link that leads where the guard must not go. First a tool that checks a path
//! and then opens it is run until it has been fooled; if it never is, the race proves
//! nothing and the test fails. Then the guard has to hold for a while.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use perimeter::Policy;
use perimeter::guard::{Access, Guard, GuardError};
use rstest::rstest;
use tempfile::TempDir;

/// How often the naive tool has to be fooled before the race counts as one.
const FOOLED: u64 = 3;
/// How long it may take to fool it.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long the guard has to hold, and how many attempts that has to be at least.
const ENDURANCE: Duration = Duration::from_secs(1);
const FEWEST_ATTEMPTS: u64 = 2_000;

const SECRET: &str = "secret";
const HONEST: &str = "honest";

/// `workspace/now` and `workspace/other` are exchanged; both lead to a `data`.
struct Place {
    base: PathBuf,
    guard: Guard,
    _directory: TempDir,
}

impl Place {
    fn new(links: bool) -> Place {
        // In memory, names are exchanged many times faster.
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let directory = directory.unwrap();
        let base = directory.path().canonicalize().unwrap();
        for (name, text) in [
            ("workspace/now", HONEST),
            ("workspace/private", SECRET),
            ("outside", SECRET),
        ] {
            fs::create_dir_all(base.join(name)).unwrap();
            fs::write(base.join(name).join("data"), text).unwrap();
        }
        let policy = Policy {
            hidden: vec![base.join("workspace/private")],
            ..Policy::strict()
        };
        let mut guard = Guard::for_tools(&policy, base.join("workspace")).unwrap();
        if !links {
            guard = guard.without_links();
        }
        Place {
            base,
            guard,
            _directory: directory,
        }
    }

    fn path(&self, rest: &str) -> PathBuf {
        self.base.join("workspace").join(rest)
    }

    /// The check that a path is in the workspace and not hidden, as a tool without
    /// a guard makes it.
    fn looks_allowed(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|real| {
            real.starts_with(self.path("")) && !real.starts_with(self.path("private"))
        })
    }

    /// Runs both tools while the names are exchanged. Each says what came of one
    /// attempt.
    fn race(&self, name: &str, naive: impl Fn() -> Outcome, guarded: impl Fn() -> Outcome) {
        let over = AtomicBool::new(false);
        let exchanges = AtomicU64::new(0);
        thread::scope(|scope| {
            // Ends the exchange however the scope is left.
            let _end = Over(&over);
            scope.spawn(|| {
                let (now, other) = (self.path("now"), self.path("other"));
                while !over.load(Ordering::Relaxed) {
                    let exchange = RenameFlags::RENAME_EXCHANGE;
                    renameat2(AT_FDCWD, &now, AT_FDCWD, &other, exchange).unwrap();
                    exchanges.fetch_add(1, Ordering::Relaxed);
                }
            });

            let start = Instant::now();
            let (mut attempts, mut fooled) = (0, 0);
            while fooled < FOOLED && start.elapsed() < PATIENCE {
                attempts += 1;
                fooled += u64::from(naive() == Outcome::Escaped);
            }
            println!("{name}: naive tool fooled {fooled} times in {attempts} attempts");
            assert!(
                fooled >= FOOLED,
                "{name}: THIS RACE WAS NOT WON BY THE NAIVE TOOL EITHER ({fooled} in \
                 {attempts} attempts), so it says nothing about the guard"
            );

            let start = Instant::now();
            let (mut honest, mut refused) = (0, 0);
            while honest + refused < FEWEST_ATTEMPTS || start.elapsed() < ENDURANCE {
                match guarded() {
                    Outcome::Escaped => panic!("{name}: guard fooled after {honest}, {refused}"),
                    Outcome::Honest => honest += 1,
                    Outcome::Refused => refused += 1,
                }
            }
            let exchanges = exchanges.load(Ordering::Relaxed);
            println!(
                "{name}: guard let {honest} through and refused {refused}, \
                 over {exchanges} exchanges"
            );
            assert!(honest > 0, "{name}: the guard refuses everything");
            assert!(refused > 0, "{name}: the guard never met the link");
        });
    }
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Escaped,
    Honest,
    Refused,
}

/// What a file that was opened for reading says of where it came from.
fn read(file: Result<File, impl Sized>) -> Outcome {
    let Ok(mut file) = file else {
        return Outcome::Refused;
    };
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    match text.as_str() {
        SECRET => Outcome::Escaped,
        HONEST => Outcome::Honest,
        other => panic!("read {other:?}"),
    }
}

/// What a change did, by what is in the forbidden place now: put right at once, so
/// that the next attempt is judged by itself.
fn changed<T, E>(done: &Result<T, E>, forbidden: &Path, escape: impl Fn() -> bool) -> Outcome {
    if escape() {
        for entry in fs::read_dir(forbidden).unwrap() {
            let path = entry.unwrap().path();
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
        }
        fs::write(forbidden.join("data"), SECRET).unwrap();
        return Outcome::Escaped;
    }
    match done {
        Ok(_) => Outcome::Honest,
        Err(_) => Outcome::Refused,
    }
}

#[rstest]
fn opening_through_a_directory(
    #[values("../outside", "private")] target: &str,
    #[values(true, false)] links: bool,
) {
    let place = Place::new(links);
    symlink(target, place.path("other")).unwrap();
    let path = place.path("now/data");
    place.race(
        &format!("open {target}, links {links}"),
        || match place.looks_allowed(&path) {
            true => read(File::open(&path)),
            false => Outcome::Refused,
        },
        || read(place.guard.open("now/data")),
    );
}

#[rstest]
fn opening_a_name(
    #[values("../outside/data", "private/data")] target: &str,
    #[values(true, false)] links: bool,
) {
    let place = Place::new(links);
    fs::remove_dir_all(place.path("now")).unwrap();
    fs::write(place.path("now"), HONEST).unwrap();
    symlink(target, place.path("other")).unwrap();
    let path = place.path("now");
    place.race(
        &format!("open {target}, links {links}"),
        || match place.looks_allowed(&path) {
            true => read(File::open(&path)),
            false => Outcome::Refused,
        },
        || read(place.guard.open("now")),
    );
}

#[rstest]
fn creating_in_a_directory(
    #[values("../outside", "private")] target: &str,
    #[values(true, false)] links: bool,
) {
    let place = Place::new(links);
    symlink(target, place.path("other")).unwrap();
    let forbidden = place.path(target);
    let made = forbidden.join("new");
    let path = place.path("now");
    place.race(
        &format!("create in {target}, links {links}"),
        || match place.looks_allowed(&path) {
            true => changed(&File::create(path.join("new")), &forbidden, || {
                made.exists()
            }),
            false => Outcome::Refused,
        },
        || changed(&place.guard.create("now/new"), &forbidden, || made.exists()),
    );
}

#[rstest]
fn overwriting_a_name(#[values(true, false)] by_creating: bool) {
    let place = Place::new(true);
    fs::remove_dir_all(place.path("now")).unwrap();
    fs::write(place.path("now"), HONEST).unwrap();
    symlink("../outside/data", place.path("other")).unwrap();
    let forbidden = place.base.join("outside");
    let path = place.path("now");
    let touched = || fs::read(forbidden.join("data")).unwrap() != SECRET.as_bytes();
    let guarded = || -> Result<File, GuardError> {
        match by_creating {
            true => place.guard.create("now"),
            false => place.guard.open_with("now", Access::Write),
        }
    };
    place.race(
        &format!("overwrite, by creating {by_creating}"),
        || match place.looks_allowed(&path) {
            true => {
                let written = fs::write(&path, HONEST);
                changed(&written, &forbidden, touched)
            }
            false => Outcome::Refused,
        },
        || {
            let file = guarded();
            let written = file.map(|mut file| file.write_all(HONEST.as_bytes()).unwrap());
            changed(&written, &forbidden, touched)
        },
    );
}

#[rstest]
fn removing_and_moving(#[values("../outside", "private")] target: &str) {
    let place = Place::new(true);
    symlink(target, place.path("other")).unwrap();
    let forbidden = place.path(target);
    let path = place.path("now");
    // Gone from the forbidden place, or added to it.
    let touched = || {
        let names = fs::read_dir(&forbidden).unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        names != ["data"]
    };
    let give_back = || {
        for name in ["now", "other"] {
            let directory = place.path(name);
            if !directory.is_symlink() {
                let _ = fs::write(directory.join("data"), HONEST);
            }
        }
    };
    let naive_forbidden = forbidden.clone();
    place.race(
        &format!("remove, move and make in {target}"),
        || match place.looks_allowed(&path) {
            true => {
                let removed = fs::remove_file(path.join("data"));
                changed(&removed, &naive_forbidden, touched)
            }
            false => Outcome::Refused,
        },
        || {
            fs::write(place.path("moving"), HONEST).unwrap();
            let removed = place.guard.remove("now/data");
            let moved = place.guard.rename("moving", "now/moved");
            let made = place.guard.create_dir("now/made");
            let out = place.guard.rename("now/data", "taken");
            let _ = place.guard.remove("now/moved");
            let _ = place.guard.remove_dir("now/made");
            if !touched() {
                give_back();
            }
            let done = removed.and(moved).and(made).or(out);
            changed(&done, &forbidden, touched)
        },
    );
}

/// A pipe that takes a file's place is refused without waiting for its other end.
#[test]
fn a_pipe_in_a_file_s_place() {
    let place = Place::new(true);
    fs::remove_dir_all(place.path("now")).unwrap();
    fs::write(place.path("now"), HONEST).unwrap();
    mkfifo(&place.path("other"), Mode::S_IRWXU).unwrap();
    let path = place.path("now");
    place.race(
        "pipe",
        || {
            // A naive tool would hang here; looking twice shows that it could.
            let file = |path: &Path| path.metadata().is_ok_and(|found| found.is_file());
            match (file(&path), file(&path)) {
                (true, false) => Outcome::Escaped,
                _ => Outcome::Refused,
            }
        },
        || read(place.guard.open("now")),
    );
}
