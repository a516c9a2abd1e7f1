use rstest::rstest;

use super::*;
use crate::corpus::Corpus;
use crate::corpus::source::Source;

fn corpus() -> Corpus {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    Corpus::load(&Source::Directory(directory)).unwrap()
}

fn setting(trial: &Trial) -> Setting {
    Setting {
        names: names_of(trial, |name| format!("<{name}>")),
        user: "<user>".to_owned(),
        program: PathBuf::from("<program>"),
        perimeter: PathBuf::from("<perimeter>"),
    }
}

#[test]
fn every_trial_can_be_rehearsed_under_every_launcher() {
    let corpus = corpus();
    for launcher in &corpus.launchers {
        for trial in &corpus.trials {
            let rehearsal = rehearse(trial, launcher, &setting(trial));
            let rehearsal = rehearsal.unwrap_or_else(|error| panic!("{}: {error}", trial.name));
            assert_eq!(rehearsal.steps.len(), trial.steps().len(), "{}", trial.name);
        }
    }
}

#[test]
fn a_rehearsal_has_what_the_launch_would_have_and_writes_nothing() {
    let corpus = corpus();
    let trial = corpus
        .trials
        .iter()
        .find(|trial| trial.name == "files.write.create-outside/strict")
        .unwrap();
    let launcher = corpus.launcher("reference").unwrap();
    let rehearsal = rehearse(trial, launcher, &setting(trial)).unwrap();
    let [Step::Launch(launch)] = rehearsal.steps.as_slice() else {
        panic!("{:?}", rehearsal.steps);
    };
    assert_eq!(
        launch.rendered.command_line[..6],
        [
            "<perimeter>",
            "exec",
            "--policy",
            "<state>/policy.json",
            "--workspace",
            "<workspace>"
        ]
    );
    let command = launch.rendered.command_line.last().unwrap();
    assert_eq!(
        command,
        "printf '%s\\n' <nonce>\necho planted > <outside>/new"
    );
    assert_eq!(launch.files.len(), 1);
    assert_eq!(launch.files[0].path, Path::new("<state>/policy.json"));
    assert_eq!(launch.rendered.working_directory, Path::new("<root>"));
    assert!(!launch.files[0].path.exists());
}

#[rstest]
#[case::readable_file("read-only.one-file", "--read-file <outside>/one ", "--read <")]
#[case::writable_file(
    "read-write.one-file",
    "--allow-file <outside>/one ",
    "--allow <outside>"
)]
#[case::readable_directory("read-only.create", "--read <readable> ", "-file")]
#[case::writable_directory("read-write.create", "--allow <writable> ", "-file")]
fn grants_of_files_are_told_from_grants_of_directories(
    #[case] case: &str,
    #[case] given: &str,
    #[case] lacking: &str,
) {
    let corpus = corpus();
    let name = format!("grants.{case}/strict");
    let trial = corpus.trials.iter().find(|it| it.name.starts_with(&name));
    let trial = trial.unwrap();
    let launcher = corpus.launcher("nono").unwrap();
    let rehearsal = rehearse(trial, launcher, &setting(trial)).unwrap();
    let [Step::Launch(launch)] = rehearsal.steps.as_slice() else {
        panic!("{:?}", rehearsal.steps);
    };
    let line = launch.rendered.command_line.join(" ");
    assert!(line.contains(given), "{line}");
    assert!(!line.contains(lacking), "{line}");
}
