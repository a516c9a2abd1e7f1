//! What the corpus costs, against the floor of its launches.
//!
//! A run of `perimeter check` says how many launches it took. The floor is as many bare
//! ones: bubblewrap with the reference launcher's arguments for each launch in a sandbox,
//! and a shell for each baseline, by as many threads as the run has workers. Both are
//! timed in turn; a ratio is of one round.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use perimeter::{Launcher, Policy};

const PERIMETER: &str = env!("CARGO_BIN_EXE_perimeter");
const ROUNDS: usize = 5;

fn main() {
    // `cargo test --benches` only wants to know that it runs.
    let (rounds, filter) = if std::env::args().any(|argument| argument == "--bench") {
        (ROUNDS, None)
    } else {
        (1, Some("files.write.create"))
    };
    let home = std::env::var_os("HOME").expect("a home");
    let scratch = tempfile::tempdir_in(home).expect("a scratch directory");
    let workers = 2 * std::thread::available_parallelism().map_or(1, usize::from);
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        let results = scratch.path().join("results.jsonl");
        let mut check = Command::new(PERIMETER);
        check.args([
            "check",
            "--quiet",
            "--jobs",
            &workers.to_string(),
            "--results",
        ]);
        check.arg(&results).args(filter).stdout(Stdio::null());
        let corpus = time(|| {
            assert!(check.status().expect("perimeter runs").success());
        });
        let launches = Launches::of(&results);
        let floor = launches.bare(scratch.path(), workers);
        let ratio = corpus.div_duration_f64(floor);
        println!(
            "{} trials, {} launches in a sandbox and {} without: {:.2} s, {:.0} trials a second; the launches alone {:.2} s; ratio {ratio:.2}",
            launches.trials,
            launches.confined,
            launches.unconfined,
            corpus.as_secs_f64(),
            launches.trials as f64 / corpus.as_secs_f64(),
            floor.as_secs_f64(),
        );
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    let (first, last) = (ratios[0], ratios[ratios.len() - 1]);
    let median = ratios[ratios.len() / 2];
    println!("ratio to the floor: {first:.2} to {last:.2}, median {median:.2}");
}

/// What a run launched.
#[derive(Default)]
struct Launches {
    trials: usize,
    confined: usize,
    unconfined: usize,
}

impl Launches {
    fn of(results: &Path) -> Launches {
        let text = std::fs::read_to_string(results).expect("the results");
        let mut all = Launches::default();
        let count = |observation: &serde_json::Value| {
            let launches = observation["launches"].as_array().map_or(0, Vec::len);
            launches + usize::from(observation["control"].is_object())
        };
        for line in text.lines() {
            let line: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
            if line["kind"] == "trial" && line["observed"].is_object() {
                all.trials += 1;
                all.confined += count(&line["observed"]);
                all.unconfined += count(&line["baseline"]);
            }
        }
        all
    }

    /// As many bare launches.
    fn bare(&self, scratch: &Path, workers: usize) -> Duration {
        let workspace = scratch.join("workspace");
        std::fs::create_dir_all(&workspace).expect("a workspace");
        let launcher = Launcher::prepare(&Policy::strict(), &workspace).expect("it can confine");
        let mut command = launcher.command("bash");
        let plan = launcher.plan(command.args(["-c", "true"])).expect("a plan");
        let bubblewrap = launcher.program_path().expect("it confines").to_owned();
        let next = AtomicUsize::new(0);
        time(|| {
            std::thread::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(|| {
                        loop {
                            let number = next.fetch_add(1, Ordering::Relaxed);
                            let mut launch = if number < self.confined {
                                let mut launch = Command::new(&bubblewrap);
                                launch.args(&plan).env_clear();
                                launch
                            } else if number < self.confined + self.unconfined {
                                let mut launch = Command::new("bash");
                                launch.args(["-c", "true"]);
                                launch
                            } else {
                                return;
                            };
                            let ended = launch.stdin(Stdio::null()).status();
                            assert!(ended.expect("it starts").success());
                        }
                    });
                }
            });
        })
    }
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}
