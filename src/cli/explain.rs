//! `perimeter explain`.

use std::fmt::Write;
use std::process::ExitCode;

use perimeter_runner::corpus::case::Run;
use perimeter_runner::corpus::expect::Outcome;
use perimeter_runner::corpus::{Corpus, Trial};
use serde::Serialize;

use super::arguments::Explain;
use super::corpus::load;
use super::failure::Failure;
use super::print::print;

/// Prints a case: why it is there, what it sets up, what it runs, and what each
/// verdict would mean.
pub fn run(explain: &Explain) -> Result<ExitCode, Failure> {
    let corpus = load(explain.corpus.as_deref())?;
    let named: Vec<&Trial> = corpus
        .trials
        .iter()
        .filter(|trial| trial.case.id == explain.case || trial.name == explain.case)
        .collect();
    let Some(trial) = named.first() else {
        return Err(Failure::new(
            perimeter_runner::exit::ExitCode::Nothing.code(),
            format_args!(
                "no case is named {:?}; `perimeter list` shows them all",
                explain.case
            ),
        ));
    };
    print(text(&corpus, trial, &named).as_bytes())
}

fn text(corpus: &Corpus, trial: &Trial, named: &[&Trial]) -> String {
    let case = &trial.case;
    let mut text = format!("{}\n{}\n\n{}\n", case.title, case.id, case.why);
    let mut section = |title: &str, body: &str| {
        let _ = write!(text, "\n{title}\n");
        for line in body.trim_end().lines() {
            let _ = writeln!(text, "  {line}");
        }
    };
    let about = format!(
        "{}, revision {}, digest {}\nlevel {}, {}",
        trial.file,
        case.rev,
        trial.digest,
        word(&case.level),
        word(&case.strength)
    );
    section("Where it stands", &about);
    let covers = case.covers.iter().fold(String::new(), |mut lines, id| {
        let known = corpus.requirements.iter().find(|known| known.id == *id);
        let promise = known.map_or("", |known| known.text.as_str());
        let _ = writeln!(lines, "{id}  {promise}");
        lines
    });
    section("What it covers", &covers);
    if !case.references.is_empty() {
        section("Public reports", &case.references.join("\n"));
    }
    if let Some(sibling) = &case.sibling {
        let twin = corpus.trials.iter().find(|other| other.case.id == *sibling);
        let title = twin.map_or("", |twin| twin.case.title.as_str());
        section("Its allowed twin", &format!("{sibling}\n{title}"));
    }
    if named.len() > 1 {
        let names: Vec<&str> = named.iter().map(|trial| trial.name.as_str()).collect();
        section("Its trials; what follows is the first", &names.join("\n"));
    }
    if !trial.fixture.is_empty() {
        section("What the host holds", &json(&trial.fixture));
    }
    section("The policy", &json(&trial.policy));
    for step in trial.steps() {
        if let Some(command) = &step.host {
            section("The host runs", command);
        }
        if let Some(launch) = &step.launch {
            match &launch.run {
                Run::Shell(command) => section("The launcher is asked to run, by bash -c", command),
                Run::Arguments(words) => section("The launcher is asked to run", &json(words)),
            }
        }
    }
    section("What is expected", &json(&case.expect));
    section("What a verdict means here", meaning(case.expect.outcome));
    text
}

fn meaning(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Allowed => {
            "conforms     the effect shows, in the manner stated\n\
             overblocked  it does not, and does without a sandbox\n\
             deviates     it does, in another manner\n\
             vacuous      it does not, and neither does it without a sandbox: this host cannot"
        }
        Outcome::Denied => {
            "conforms     the command started, and the effect that shows without a sandbox does not show\n\
             escaped      the effect showed, a canary leaked, or something protected changed\n\
             overblocked  the command never started, so nothing was denied\n\
             vacuous      the effect does not show without a sandbox either: nothing is proven"
        }
        Outcome::Refused => {
            "conforms     the launcher refused with a reason, and the mended launch (control) started\n\
             escaped      the command was started all the same\n\
             overblocked  the mended launch did not start either\n\
             deviates     refused with success, without a word, or with another status than its own"
        }
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// A word of a closed list, as the corpus's files write it.
fn word<T: Serialize>(value: &T) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
