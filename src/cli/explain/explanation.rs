//! What is said of a case, as a value.

use std::path::PathBuf;

use perimeter_runner::corpus::case::Run;
use perimeter_runner::corpus::policy::PolicySpec;
use perimeter_runner::corpus::vocabulary::{Fact, Feature, Level, Platform, Strength};
use perimeter_runner::corpus::{Corpus, Trial};
use perimeter_runner::explain::{
    Meaning, action_words, effect_words, fixture_words, meanings, stream_words,
};
use perimeter_runner::fixture::Names;
use perimeter_runner::judge::LauncherTraits;
use perimeter_runner::launcher::file::LauncherFile;
use perimeter_runner::rehearsal::{Launch, Rehearsal, Setting, Step, names_of, rehearse};
use perimeter_runner::repro::Plan;
use serde::Serialize;

use crate::cli::failure::{Failure, USAGE};
use crate::cli::plans::{has_plans, plans};

/// Everything that is said of a case; its texts show the trial `trial`.
#[derive(Debug, Serialize)]
pub struct Explanation {
    pub id: String,
    pub trial: String,
    pub title: String,
    pub why: String,
    pub topic: String,
    pub about: Standing,
    pub covers: Vec<Promise>,
    pub references: Vec<String>,
    pub sibling: Option<Twin>,
    pub axes: Vec<Axis>,
    pub trials: Vec<String>,
    pub fixture: Vec<String>,
    pub policy: PolicySpec,
    pub launcher: String,
    pub steps: Vec<Part>,
    pub control: Option<Started>,
    pub outcome: perimeter_runner::corpus::expect::Outcome,
    pub effect: Vec<String>,
    pub verdicts: Vec<Meaning>,
    pub check: String,
    pub repro: String,
}

#[derive(Debug, Serialize)]
pub struct Standing {
    pub file: String,
    pub rev: u32,
    pub digest: String,
    pub level: Level,
    pub strength: Strength,
    pub platforms: Vec<Platform>,
    pub needs: Vec<Feature>,
    pub facts: Vec<Fact>,
    pub timeout: u32,
}

#[derive(Debug, Serialize)]
pub struct Promise {
    pub id: String,
    pub text: String,
}

#[derive(Debug, Serialize)]
pub struct Twin {
    pub id: String,
    pub title: String,
}

#[derive(Debug, Serialize)]
pub struct Axis {
    pub name: String,
    pub values: Vec<String>,
}

/// One thing that happens.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    Host(String),
    Launch(Box<Started>),
}

/// One launch, as it would be started.
#[derive(Debug, Serialize)]
pub struct Started {
    /// The command as the case has it: a text for `bash -c`, or a vector.
    pub run: Run,
    /// The command as the launcher is given it, with a line before it that proves
    /// that it started.
    pub command: Vec<String>,
    /// The policy, where it is not the trial's.
    pub policy: Option<PolicySpec>,
    pub streams: Vec<String>,
    pub meanwhile: Vec<String>,
    pub files: Vec<Written>,
    pub directory: String,
    pub environment: Vec<String>,
    pub command_line: Vec<String>,
    pub plan: Option<Planned>,
}

#[derive(Debug, Serialize)]
pub struct Written {
    pub path: String,
    pub text: Option<String>,
}

/// What the reference launcher makes of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Planned {
    /// The arguments of bubblewrap, without the command.
    Bubblewrap(Vec<String>),
    Unconfined,
    Refused(String),
    Unknown(String),
}

/// Explains the first of a case's trials, and names the others.
/// `given` is what was typed beside the name, for the commands that are shown.
///
/// # Errors
/// A launcher file that cannot be rendered.
pub fn explain(
    corpus: &Corpus,
    named: &[&Trial],
    launcher: &LauncherFile,
    given: &str,
) -> Result<Explanation, Failure> {
    let first = named
        .first()
        .ok_or_else(|| Failure::new(USAGE, "no trial is named"))?;
    let names = names_of(first, example);
    let setting = Setting {
        names: names.clone(),
        user: "you".to_owned(),
        program: PathBuf::from(launcher.programs.first().map_or("", String::as_str)),
        perimeter: PathBuf::from("perimeter"),
    };
    let rehearsal = rehearse(first, launcher, &setting)
        .map_err(|error| Failure::new(USAGE, format_args!("{}: {error}", first.name)))?;
    let planned = planned(first, launcher, &names)?;
    Ok(put_together(
        corpus, named, launcher, rehearsal, planned, given,
    ))
}

/// What a person reads instead of a placeholder.
fn example(name: &str) -> String {
    match name.split_once('.') {
        Some(("secret", name)) => format!("canary-of-{name}"),
        Some(("socket", name)) => format!("{name}-0123456789abcdef"),
        Some(("port", _)) => "40000".to_owned(),
        Some(("shm", _)) => "7".to_owned(),
        Some(_) => "4242".to_owned(),
        None => match name {
            "root" => "/fixture".to_owned(),
            "probe" => "/fixture/workspace/.perimeter-probe".to_owned(),
            "host-temporary" => "/tmp/fixture".to_owned(),
            "nonce" => "perimeter-nonce".to_owned(),
            "uid" => "1000".to_owned(),
            "toolchain" => "/home/you/.rustup/toolchain".to_owned(),
            place => format!("/fixture/{place}"),
        },
    }
}

/// The plans of the launches, where the launcher is the reference.
fn planned(trial: &Trial, launcher: &LauncherFile, names: &Names) -> Result<Vec<Planned>, Failure> {
    if !has_plans(launcher) || !trial.case.platforms.contains(&Platform::HOST) {
        return Ok(Vec::new());
    }
    let plans = plans(trial, launcher, names)?;
    let planned = plans.into_iter().map(|plan| match plan {
        Plan::Bubblewrap(arguments) => Planned::Bubblewrap(arguments),
        Plan::Unconfined => Planned::Unconfined,
        Plan::Refused(text) => Planned::Refused(text),
        Plan::Unknown(text) => Planned::Unknown(text),
    });
    Ok(planned.collect())
}

fn put_together(
    corpus: &Corpus,
    named: &[&Trial],
    launcher: &LauncherFile,
    rehearsal: Rehearsal,
    planned: Vec<Planned>,
    given: &str,
) -> Explanation {
    let trial = rehearsal.trial;
    let case = &trial.case;
    let mut planned = planned.into_iter();
    let steps = rehearsal
        .steps
        .into_iter()
        .map(|step| match step {
            Step::Host(command) => Part::Host(command),
            Step::Launch(launch) => Part::Launch(Box::new(started(*launch, planned.next()))),
        })
        .collect();
    let control = rehearsal
        .control
        .map(|launch| started(launch, planned.next()));
    let promise = |id: &String| {
        let known = corpus.requirements.iter().find(|known| known.id == *id);
        Promise {
            id: id.clone(),
            text: known.map_or_else(String::new, |known| known.text.clone()),
        }
    };
    let twin = |id: &String| {
        let twin = corpus.trials.iter().find(|other| other.case.id == *id);
        Twin {
            id: id.clone(),
            title: twin.map_or_else(String::new, |twin| twin.case.title.clone()),
        }
    };
    let axes = case.axes.iter().map(|(name, values)| Axis {
        name: name.clone(),
        values: values.clone(),
    });
    let only = named.len() == 1 && case.axes.values().any(|values| values.len() > 1);
    let asked = if only { &trial.name } else { &case.id };
    let traits = LauncherTraits {
        refusal_status: launcher.refusal_status,
    };
    Explanation {
        id: case.id.clone(),
        title: case.title.clone(),
        why: case.why.clone(),
        topic: trial.topic.clone(),
        about: Standing {
            file: trial.file.clone(),
            rev: case.rev,
            digest: trial.digest.clone(),
            level: case.level,
            strength: case.strength,
            platforms: case.platforms.clone(),
            needs: trial.needs(),
            facts: case.facts.clone(),
            timeout: case.timeout,
        },
        covers: case.covers.iter().map(promise).collect(),
        references: case.references.clone(),
        sibling: case.sibling.as_ref().map(twin),
        axes: axes.collect(),
        trials: named.iter().map(|trial| trial.name.clone()).collect(),
        fixture: fixture_words(&trial.fixture),
        policy: trial.policy.clone(),
        launcher: launcher.name.clone(),
        steps,
        control,
        outcome: case.expect.outcome,
        effect: effect_words(&case.expect.effect),
        verdicts: meanings(&trial, traits),
        check: format!("perimeter check {}{given}", quoted(asked)),
        repro: format!("perimeter repro {}{given}", quoted(&trial.name)),
        trial: trial.name,
    }
}

fn quoted(name: &str) -> String {
    perimeter_runner::shell::word(name)
}

fn started(launch: Launch, plan: Option<Planned>) -> Started {
    let text = |path: PathBuf| path.display().to_string();
    Started {
        command: launch.request.command,
        streams: stream_words(&launch.spec),
        meanwhile: launch.spec.during.iter().map(action_words).collect(),
        run: launch.spec.run,
        policy: launch.spec.policy,
        files: launch
            .files
            .into_iter()
            .map(|file| Written {
                path: text(file.path),
                text: file.text,
            })
            .collect(),
        directory: text(launch.rendered.working_directory),
        environment: launch
            .rendered
            .environment
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect(),
        command_line: launch.rendered.command_line,
        plan,
    }
}
