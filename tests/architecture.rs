//! The rules of the house that a compiler does not check.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// No file has more lines: what is longer holds more than one thing.
const LONGEST: usize = 500;

/// The files that may hold unsafe code, each for one thing that has no safe way.
const UNSAFE: [&str; 10] = [
    "runner/src/fixture/linux.rs",
    "runner/src/fixture/shared_memory.rs",
    "runner/src/launch/child.rs",
    "runner/src/launch/tree/macos.rs",
    "runner/src/probe/calls.rs",
    "runner/tests/processes/inheritance.rs",
    "src/cli/unsafe_stdout.rs",
    "src/unsafe_calls.rs",
    "src/unsafe_spawn.rs",
    "src/unsafe_spawn_macos.rs",
];

/// What such a file has to name; in two parts, so that this file is none of them.
const LINT: &str = concat!("unsafe", "_code");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file of the repository, by its path in it, with its text.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut directories = vec![root().to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_link = path.symlink_metadata().unwrap().is_symlink();
            if path.is_dir() && !is_link && !is_foreign(&path, &name) {
                directories.push(path);
            } else if name.ends_with(".rs") && path.is_file() {
                let shown = path.strip_prefix(root()).unwrap().display().to_string();
                found.push((shown, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(found.len() > 100, "{} files", found.len());
    found.sort();
    found
}

/// Directories that are not written by hand: hidden ones and those of builds.
fn is_foreign(path: &Path, name: &str) -> bool {
    name.starts_with('.') || path.join("CACHEDIR.TAG").exists() || name == "target"
}

fn is_below(path: &str, directory: &str) -> bool {
    PathBuf::from(path).starts_with(directory)
}

/// The lines of a source that are no comment, with their numbers.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate();
    lines
        .map(|(place, line)| (place + 1, line.trim()))
        .filter(|(_, line)| !line.starts_with("//"))
}

/// Whether a line uses this crate.
fn names(line: &str, name: &str) -> bool {
    let starts = [
        format!("{name}::"),
        format!("use {name};"),
        format!("use {name} "),
    ];
    starts.iter().any(|wanted| {
        line.match_indices(wanted.as_str()).any(|(place, _)| {
            let before = line[..place].chars().next_back();
            !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_' || letter == ':')
        })
    })
}

fn assert_none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

fn users(name: &str, of: impl Fn(&str) -> bool) -> Vec<String> {
    sources()
        .iter()
        .filter(|(path, _)| of(path))
        .flat_map(|(path, text)| {
            code(text)
                .filter(|(_, line)| names(line, name))
                .map(move |(number, line)| format!("{path}:{number}: {line}"))
        })
        .collect()
}

#[test]
fn the_runner_knows_nothing_of_the_launcher() {
    let found = users("perimeter", |path| is_below(path, "runner"));
    assert_none(&found, "the runner drives any launcher, and imports none");
    let manifest = fs::read_to_string(root().join("runner/Cargo.toml")).unwrap();
    let depends = manifest
        .lines()
        .any(|line| line.split(['=', '.']).next().unwrap_or_default().trim() == "perimeter");
    assert!(!depends, "runner/Cargo.toml depends on the launcher");
}

#[test]
fn the_launcher_knows_nothing_of_the_runner() {
    let found = users("perimeter_runner", |path| {
        is_below(path, "src") && !is_below(path, "src/cli") && path != "src/main.rs"
    });
    assert_none(&found, "only the command line knows launcher and runner");
}

#[test]
fn the_command_line_is_what_knows_both() {
    // That the two rules above find what they look for.
    for name in ["perimeter", "perimeter_runner"] {
        assert!(!users(name, |path| is_below(path, "src/cli")).is_empty());
    }
}

#[test]
fn no_file_is_too_long_to_hold_one_thing() {
    let found: Vec<String> = sources()
        .iter()
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > LONGEST)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    assert_none(&found, "a file has more than 500 lines");
}

#[test]
fn unsafe_blocks_are_where_the_list_says_and_nowhere_else() {
    let found: Vec<String> = sources()
        .into_iter()
        .filter(|(_, text)| code(text).any(|(_, line)| line.contains(LINT)))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(found, UNSAFE);
}

#[test]
fn the_lint_that_the_list_is_about_is_on() {
    for manifest in ["Cargo.toml", "runner/Cargo.toml"] {
        let text = fs::read_to_string(root().join(manifest)).unwrap();
        assert!(text.contains("[lints]\nworkspace = true"), "{manifest}");
    }
    let text = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(text.contains(&format!("{LINT} = \"deny\"")));
}

#[test]
fn a_use_is_told_from_a_name_that_only_ends_so() {
    assert!(names("use perimeter::Policy;", "perimeter"));
    assert!(names("let x = perimeter::probe();", "perimeter"));
    assert!(!names("use perimeter_runner::corpus;", "perimeter"));
    assert!(!names("let x = self.perimeter.clone();", "perimeter"));
    assert!(!names("use crate::perimeter::x;", "perimeter"));
}
