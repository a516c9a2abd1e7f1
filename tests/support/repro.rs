//! Scripts of `perimeter repro`, run as a reviewer runs them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::{PROGRAM, Place, plain};

/// The reading of a script: its word, or what it said instead.
pub fn reading(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let found = text.lines().find_map(|line| line.strip_prefix("reading: "));
    found.map_or_else(
        || {
            let errors = String::from_utf8_lossy(&output.stderr);
            format!("none, status {:?}: {errors}", output.status.code())
        },
        str::to_owned,
    )
}

/// Writes the script of a trial.
pub fn written(place: &Place, trial: &str, more: &[&str]) -> PathBuf {
    let name: String = trial
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect();
    let path = place.path(format!("{}.sh", &name[..name.len().min(80)]));
    let mut words = vec!["repro", trial, "--output", path.to_str().unwrap()];
    words.extend(more);
    let output = plain(&words).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{trial}: {errors}");
    path
}

/// A script under a shell, with the reference launcher at hand; what it makes is
/// below the directory.
pub fn command(shell: &str, script: &Path, directory: &Path) -> Command {
    let mut command = Command::new("/usr/bin/env");
    command
        .args(["--default-signal=HUP,INT,QUIT,TERM", shell])
        .arg(script)
        .arg(directory)
        .env("PERIMETER", PROGRAM)
        .env_remove("PERIMETER_ENFORCEMENT")
        .stdin(Stdio::null());
    command
}

/// The verdict of each trial by `perimeter check`.
pub fn verdicts(place: &Place, launcher: &str, filters: &[&str]) -> BTreeMap<String, String> {
    let results = place.path(format!("results-{launcher}"));
    let scratch = place.text("scratch");
    let mut words = vec![
        "check",
        "--quiet",
        "--launcher",
        launcher,
        "--scratch",
        &scratch,
    ];
    words.extend(["--results", results.to_str().unwrap()]);
    words.extend(filters);
    plain(&words).output().unwrap();
    let text = std::fs::read_to_string(results).unwrap();
    text.lines()
        .filter_map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let trial = record["trial"].as_str()?.to_owned();
            Some((trial, record["verdict"].as_str()?.to_owned()))
        })
        .collect()
}

/// Whether a verdict is one that a run can come to.
pub fn is_measured(verdict: &str) -> bool {
    !["unsupported", "not-applicable", "unmeasured"].contains(&verdict)
}

/// Compares scripts with verdicts, several at once; each difference as a line.
pub fn differences(place: &Place, launcher: &str, trials: &[(String, String)]) -> Vec<String> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let found = std::sync::Mutex::new(Vec::new());
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let place_in_list = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some((trial, verdict)) = trials.get(place_in_list) else {
                        return;
                    };
                    let script = written(place, trial, &["--launcher", launcher]);
                    let output = command("dash", &script, &place.path("run"))
                        .output()
                        .unwrap();
                    let read = reading(&output);
                    if read != *verdict {
                        let line = format!("{trial}: check says {verdict}, the script {read}");
                        found.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    found
}

/// What is left in a directory.
pub fn left_in(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    entries.map(|entry| entry.unwrap().path()).collect()
}
