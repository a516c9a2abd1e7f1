//! What the model says of a trial under a launcher's profiles.

use std::path::PathBuf;

use crate::corpus::case::{LaunchSpec, Run, Step};
use crate::corpus::expect::Outcome;
use crate::corpus::placeholder::{Unknown, expand};
use crate::corpus::vocabulary::Feature;
use crate::corpus::{Source, Trial};
use crate::launcher::file::LauncherFile;
use crate::report::results::Contract;
use crate::seatbelt::{
    Action, Answer, Checked, Model, Parameters, Performed, Profile, Semantics, TableError, Tables,
    World,
};

use super::places;
use super::profile::Profiles;
use super::records::{Decision, ModelledResult};

/// The shell that runs the commands of cases on a Mac.
const SHELL: &str = "/bin/bash";

/// Why a launcher cannot be modelled.
#[derive(Debug, thiserror::Error)]
pub enum ModellerError {
    /// The model's data cannot be used.
    #[error(transparent)]
    Tables(#[from] TableError),
    /// The launcher prints no profile.
    #[error(
        "launcher {launcher} yields no profile; its file states in \"profile\" the command line that prints one"
    )]
    NoProfile {
        /// The launcher.
        launcher: String,
    },
    /// No directory for the launcher's own files.
    #[error(
        "cannot make a directory for temporary files: {0}; set TMPDIR to one that can be written"
    )]
    Temporary(std::io::Error),
}

/// Decides trials for one launcher.
#[derive(Debug)]
pub struct Modeller {
    tables: Tables,
    profiles: Profiles,
    features: Vec<Feature>,
    contract: Contract,
}

/// A decision, its reason, and the checks behind it.
type Decided = (Decision, String, Vec<String>);

impl Modeller {
    /// Prepares the model for a launcher; `perimeter` is the command line's own
    /// program, and `faulty` the launcher that makes mistakes on request.
    ///
    /// # Errors
    /// See [`ModellerError`].
    pub fn new(
        source: &Source,
        launcher: &LauncherFile,
        contract: Contract,
        perimeter: PathBuf,
        faulty: Option<PathBuf>,
    ) -> Result<Modeller, ModellerError> {
        if launcher.profile.is_empty() {
            return Err(ModellerError::NoProfile {
                launcher: launcher.name.clone(),
            });
        }
        Ok(Modeller {
            tables: Tables::load(source)?,
            profiles: Profiles::new(launcher, perimeter, faulty)
                .map_err(ModellerError::Temporary)?,
            features: launcher.features.clone(),
            contract,
        })
    }

    /// What the model says of a trial.
    pub fn decide(&mut self, trial: &Trial) -> ModelledResult {
        let (modelled, reason, evidence) = self.decision(trial);
        let case = &trial.case;
        ModelledResult {
            id: case.id.clone(),
            trial: trial.name.clone(),
            rev: case.rev,
            digest: trial.digest.clone(),
            title: case.title.clone(),
            topic: trial.topic.clone(),
            level: case.level,
            strength: case.strength,
            outcome: case.expect.outcome,
            modelled,
            required: self.contract.requires(case.level, case.strength),
            reason,
            evidence,
        }
    }

    fn decision(&mut self, trial: &Trial) -> Decided {
        let undecided = |reason: String| (Decision::Undecided, reason, Vec::new());
        let needs = trial.needs();
        if let Some(lacking) = needs.iter().find(|need| !self.features.contains(need)) {
            let reason = format!(
                "the launcher does not claim {}",
                crate::report::text::word(lacking)
            );
            return (Decision::Unsupported, reason, Vec::new());
        }
        if trial.case.expect.outcome == Outcome::Refused {
            return undecided("whether a launcher refuses is not modelled".to_owned());
        }
        let silent = |step: &Step| {
            let launch = step.launch.as_ref();
            launch.is_none_or(|launch| launch.modelled.is_empty())
        };
        if trial.steps().iter().all(silent) {
            return undecided("the case does not say what its command amounts to".to_owned());
        }
        let names = places::names(trial);
        let known = |name: &str| names.get(name).map(str::to_owned);
        let mut placed = trial.clone();
        let fixture = expand(&trial.fixture, &known, Unknown::Keep);
        let policy = expand(&trial.policy, &known, Unknown::Keep);
        let case = expand(&trial.case, &known, Unknown::Keep);
        match (fixture, policy, case) {
            (Ok(fixture), Ok(policy), Ok(case)) => {
                placed.fixture = fixture;
                placed.policy = policy;
                placed.case = case;
            }
            (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
                return undecided(error.to_string());
            }
        }
        let launches: Vec<LaunchSpec> = placed
            .steps()
            .into_iter()
            .filter_map(|step| step.launch)
            .collect();
        let mut outcomes = Vec::new();
        for launch in &launches {
            match self.launch(&placed, launch) {
                Ok(outcome) => outcomes.push(outcome),
                Err(decided) => return decided,
            }
        }
        judge(trial.case.expect.outcome, &outcomes)
    }

    /// What comes of one launch, or why that is decided already.
    fn launch(&mut self, trial: &Trial, launch: &LaunchSpec) -> Result<Launched, Decided> {
        let undecided = |reason: String| (Decision::Undecided, reason, Vec::new());
        let text = self.profiles.of(trial, launch).map_err(undecided)?;
        let profile = Profile::read(&text, &Parameters::new(), &self.tables).map_err(|error| {
            if error.problem.is_refused_by_macos() {
                let reason = format!("a Mac refuses the profile, and no command starts: {error}");
                (Decision::Overblocks, reason, Vec::new())
            } else {
                (
                    Decision::Undecided,
                    format!("the profile: {error}"),
                    Vec::new(),
                )
            }
        })?;
        let world = World::new(self.tables.world()).with(&places::additions(&trial.fixture));
        let mut model = Model::with(&profile, &self.tables, world, Semantics::default());
        let program = match &launch.run {
            Run::Shell(_) => Some(SHELL.to_owned()),
            Run::Arguments(words) => words.first().filter(|word| word.starts_with('/')).cloned(),
        };
        let start = program.map(|program| model.perform(&Action::Start(program)));
        let actions = launch.modelled.iter();
        let actions = actions
            .map(|action| (action.clone(), model.perform(action)))
            .collect();
        Ok(Launched { start, actions })
    }
}

/// What comes of one launch.
struct Launched {
    /// The start of its program, where that is known.
    start: Option<Performed>,
    /// What the command amounts to.
    actions: Vec<(Action, Performed)>,
}

/// The effect shows if every action of every launch succeeds.
fn judge(outcome: Outcome, launches: &[Launched]) -> Decided {
    let starts = launches.iter().filter_map(|launch| launch.start.as_ref());
    for start in starts {
        if start.answer == Answer::Denied {
            let reason = "the command would not start".to_owned();
            return (Decision::Overblocks, reason, lines(start, Answer::Denied));
        }
    }
    let actions = || launches.iter().flat_map(|launch| &launch.actions);
    let wants = outcome == Outcome::Allowed;
    if let Some((action, denied)) = actions().find(|(_, one)| one.answer == Answer::Denied) {
        let reason = format!("{} would be denied", said(action));
        let evidence = lines(denied, Answer::Denied);
        let decision = if wants {
            Decision::Overblocks
        } else {
            Decision::Conforms
        };
        return (decision, reason, evidence);
    }
    let starts = launches.iter().filter_map(|launch| launch.start.as_ref());
    let all = starts.chain(actions().map(|(_, performed)| performed));
    if let Some(unknown) = all.clone().find(|one| one.answer == Answer::Unknown) {
        let reason = "the model cannot say what comes of it".to_owned();
        return (Decision::Undecided, reason, lines(unknown, Answer::Unknown));
    }
    let evidence = actions()
        .flat_map(|(_, performed)| lines(performed, Answer::Allowed))
        .collect();
    if wants {
        let reason = "everything that the case asks for would be allowed".to_owned();
        (Decision::Conforms, reason, evidence)
    } else {
        let reason = "what the case forbids would be allowed".to_owned();
        (Decision::Escapes, reason, evidence)
    }
}

/// An action, as the case writes it.
fn said(action: &Action) -> String {
    serde_json::to_string(action).unwrap_or_default()
}

fn lines(performed: &Performed, answer: Answer) -> Vec<String> {
    let checks = performed.checks.iter();
    checks
        .filter(|check| check.answer == answer || (answer == Answer::Unknown && !check.sure))
        .map(Checked::to_string)
        .collect()
}
