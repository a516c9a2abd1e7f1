use std::path::Path;

use super::*;
use crate::corpus::vocabulary::Platform;
use crate::corpus::{Corpus, Source};

fn corpus() -> Corpus {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    Corpus::load(&Source::Directory(directory)).unwrap()
}

fn written(corpus: &Corpus, trial: &Trial, launcher: &str) -> Result<String, CannotWrite> {
    script(Recipe {
        trial,
        launcher: corpus.launcher(launcher).unwrap(),
        open: corpus.launcher("open").unwrap(),
        plans: &[],
    })
}

/// The trials that no script can be written for, with the reason.
const CANNOT: [(&str, &str); 0] = [];

#[test]
fn every_trial_is_written_but_those_that_are_listed_with_their_reason() {
    let corpus = corpus();
    let mut refused = Vec::new();
    // A script is of the system that it is to be run on.
    let here = |trial: &&Trial| trial.case.platforms.contains(&Platform::HOST);
    for trial in corpus.trials.iter().filter(here) {
        if let Err(error) = written(&corpus, trial, "bubblewrap-004") {
            refused.push((trial.case.id.clone(), error.to_string()));
        }
    }
    let share = refused.len() * 100 / corpus.trials.len();
    assert!(share < 5, "{share} in a hundred cannot be written");
    refused.dedup_by(|one, other| one.0 == other.0);
    for (id, reason) in &refused {
        let listed = CANNOT
            .iter()
            .any(|(listed, why)| listed == id && reason.contains(why));
        assert!(
            listed,
            "{id} cannot be written, and is not listed: {reason}"
        );
    }
    for (id, _) in CANNOT {
        assert!(
            refused.iter().any(|(refused, _)| refused == id),
            "{id} can be written"
        );
    }
}

/// What a shell says of a script that it does not run.
fn faults(shell: &str, script: &str) -> String {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut child = Command::new(shell)
        .arg("-n")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_script_can_be_read_by_the_plainest_shell() {
    let corpus = corpus();
    let mut last = "";
    for trial in &corpus.trials {
        // The trials of one case differ in single words.
        if trial.case.id == last {
            continue;
        }
        last = &trial.case.id;
        let Ok(script) = written(&corpus, trial, "open") else {
            continue;
        };
        assert_eq!(faults("sh", &script), "", "{}", trial.name);
        // Nothing is left of what a placeholder or a mark was.
        assert!(!script.contains('\u{e000}'), "{}", trial.name);
    }
}

#[test]
fn a_script_has_no_secret_and_no_word_of_this_run() {
    let corpus = corpus();
    let with_secret = corpus
        .trials
        .iter()
        .find(|trial| trial.case.id == "reads.ungranted.file")
        .unwrap();
    let script = written(&corpus, with_secret, "open").unwrap();
    assert_eq!(script, written(&corpus, with_secret, "open").unwrap());
    let digits = |text: &str| text.len() == 32 && text.bytes().all(|it| it.is_ascii_hexdigit());
    let words = script.split(|letter: char| !letter.is_ascii_alphanumeric());
    assert_eq!(words.filter(|word| digits(word)).count(), 0);
    assert!(script.contains("secret_key=canary-$(random)"));
}

#[test]
fn only_what_a_case_needs_is_in_its_script() {
    let corpus = corpus();
    let script = |name: &str| {
        let trial = corpus.trials.iter().find(|trial| trial.name == name);
        written(&corpus, trial.unwrap(), "open").unwrap()
    };
    let plain = script("files.write.create-outside/strict");
    assert!(!plain.contains("python3"));
    let socket = script("sockets.abstract.stream/strict");
    assert!(socket.contains("def connect_abstract") && !socket.contains("def push("));
    let terminal = script("terminal.caller.output/strict");
    assert!(terminal.contains("--terminal") && terminal.contains("keeper.py"));
}

/// What a linter of shell scripts says, where there is one.
#[test]
fn scripts_of_every_kind_have_no_fault_that_a_linter_finds() {
    use std::process::Command;
    if Command::new("shellcheck")
        .arg("--version")
        .output()
        .is_err()
    {
        return;
    }
    let corpus = corpus();
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new("shellcheck");
    command.args(["-s", "sh"]);
    // One of each area; the areas differ in what a script must have.
    let mut last = "";
    for trial in &corpus.trials {
        let area = trial.file.split('/').next().unwrap();
        if area == last {
            continue;
        }
        last = area;
        let Ok(script) = written(&corpus, trial, "reference") else {
            continue;
        };
        let path = directory.path().join(&trial.case.id);
        std::fs::write(&path, script).unwrap();
        command.arg(path);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}
