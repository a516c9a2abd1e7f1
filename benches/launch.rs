//! What a launch costs, against bubblewrap with the very same arguments: from a program
//! that embeds the launcher, and from the command line, which is a process more. The
//! cheapest process there can be is measured too, since no command line can cost less.
//!
//! Each round runs every contender once, in turn, so that whatever else the machine does
//! meets them all; a ratio is the median of the rounds' own ratios.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use perimeter::{Launcher, Policy, Stdio as Stream};

const ROUNDS: usize = 200;
const PERIMETER: &str = env!("CARGO_BIN_EXE_perimeter");

fn main() {
    // `cargo test --benches` only wants to know that it runs.
    perimeter::launcher::this_thread_stays();
    let rounds = if std::env::args().any(|argument| argument == "--bench") {
        ROUNDS
    } else {
        2
    };
    let scratch = Scratch::make();
    println!(
        "{rounds} rounds of `true`, strict, on {} processors",
        processors()
    );
    for grants in [0, 1, 10, 100] {
        compare(
            &scratch,
            grants,
            if grants == 100 {
                rounds.div_ceil(4)
            } else {
                rounds
            },
        );
    }
}

fn compare(scratch: &Scratch, grants: usize, rounds: usize) {
    let policy = Policy {
        read_only: (0..grants)
            .map(|number| scratch.directory(&format!("granted-{number}")))
            .collect(),
        ..Policy::strict()
    };
    let file = scratch.0.join(format!("policy-{grants}.json"));
    fs::write(&file, policy.to_json()).expect("the scratch directory is writable");
    let workspace = scratch.directory("workspace");
    let launcher = Launcher::prepare(&policy, &workspace).expect("this host can confine");
    let plan = launcher.plan(&launcher.command("true")).expect("a plan");
    let bubblewrap = launcher.program_path().expect("it confines").to_owned();

    let mut bare = Vec::new();
    let mut raw = Vec::new();
    let mut wrapped = Vec::new();
    let mut embedded = Vec::new();
    let mut ours = Vec::new();
    for _ in 0..rounds {
        bare.push(time(
            Command::new("true")
                .env_clear()
                .env("PATH", "/usr/bin:/bin"),
        ));
        let before = time(Command::new(&bubblewrap).args(&plan).env_clear());
        wrapped.push(time(
            Command::new("/bin/sh")
                .args(["-c", "\"$@\"; exit $?", "sh"])
                .arg(&bubblewrap)
                .args(&plan)
                .env_clear(),
        ));
        ours.push(time(
            Command::new(PERIMETER)
                .args(["exec", "--policy"])
                .arg(&file)
                .arg("--workspace")
                .arg(&workspace)
                .args(["--", "true"]),
        ));
        let begin = Instant::now();
        let exit = launcher
            .command("true")
            .stdin(Stream::Null)
            .status()
            .expect("it is confined");
        embedded.push(begin.elapsed());
        assert!(exit.success());
        let after = time(Command::new(&bubblewrap).args(&plan).env_clear());
        raw.push((before + after) / 2);
    }
    println!("\n{grants} grants");
    row("fork and exec", &bare);
    row("bubblewrap", &raw);
    // What any program between the caller and bubblewrap costs at the least.
    row("a bare wrapper", &wrapped);
    ratio(&wrapped, &raw);
    row("embedded", &embedded);
    ratio(&embedded, &raw);
    row("perimeter exec", &ours);
    ratio(&ours, &raw);
}

fn ratio(times: &[Duration], raw: &[Duration]) {
    let ratios = times
        .iter()
        .zip(raw)
        .map(|(time, raw)| time.div_duration_f64(*raw));
    let spread = spread(ratios);
    println!(
        "    to bubblewrap   median {:.3}   half of all {:.3} to {:.3}   of minima {:.3}",
        spread[1],
        spread[0],
        spread[2],
        least(times).div_duration_f64(least(raw)),
    );
}

fn time(command: &mut Command) -> Duration {
    let begin = Instant::now();
    let status = command.stdin(Stdio::null()).status().expect("it starts");
    let took = begin.elapsed();
    assert!(status.success(), "{command:?} ended with {status}");
    took
}

fn row(name: &str, times: &[Duration]) {
    let spread = spread(times.iter().map(|time| time.as_secs_f64() * 1000.0));
    println!(
        "  {name:<16}median {:.2} ms   half of all {:.2} to {:.2}   minimum {:.2}",
        spread[1],
        spread[0],
        spread[2],
        least(times).as_secs_f64() * 1000.0,
    );
}

fn least(times: &[Duration]) -> Duration {
    times.iter().copied().min().unwrap_or_default()
}

/// The quartiles.
fn spread(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[values.len() * quarter / 4])
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A directory beneath the home, removed when this is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Scratch {
        let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
        let path = home.join(format!("perimeter-bench-{}", std::process::id()));
        fs::create_dir(&path).expect("the home is writable");
        Scratch(path.canonicalize().expect("it was just made"))
    }

    fn directory(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(&path).expect("the scratch directory is writable");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(Path::new(&self.0));
    }
}
