//! What the model says of a trial under a launcher's profiles.

use std::path::PathBuf;

use crate::corpus::case::{LaunchSpec, Run, Step};
use crate::corpus::expect::{Expect, Outcome, Refusal};
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
use super::profile::{NoProfile, Profiles};
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
        let names = places::names(trial);
        let known = |name: &str| names.get(name).map(str::to_owned);
        let mut placed = trial.clone();
        // What an axis decides is looked up by the values that the case writes.
        told(&mut placed);
        let fixture = expand(&trial.fixture, &known, Unknown::Keep);
        let policy = expand(&trial.policy, &known, Unknown::Keep);
        let case = expand(&placed.case, &known, Unknown::Keep);
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
        if trial.case.expect.outcome == Outcome::Refused {
            return self.refusal(&placed);
        }
        let silent = |step: &Step| {
            let launch = step.launch.as_ref();
            launch.is_none_or(|launch| launch.modelled.is_none())
        };
        if placed.steps().iter().all(silent) {
            let silent = "the case does not say what its command amounts to";
            return undecided(
                trial
                    .unmodelled
                    .clone()
                    .unwrap_or_else(|| silent.to_owned()),
            );
        }
        let mut world = self.world(&placed);
        let mut launches = Vec::new();
        for step in placed.steps() {
            if let Some(launch) = &step.launch {
                match self.launch(&placed, launch, &mut world) {
                    Ok(launched) => launches.push(launched),
                    Err(decided) => return decided,
                }
            }
            for action in &step.modelled {
                world.change(action);
            }
        }
        judge(&trial.case.expect, &launches)
    }

    /// A usual Mac with the fixture on it.
    fn world(&self, trial: &Trial) -> World {
        World::new(self.tables.world()).with(&places::additions(&trial.fixture))
    }

    /// Whether the launcher refuses, told by what prints its profiles: that runs here, and
    /// looks at the documents, at paths, and at the links that it is told of.
    fn refusal(&mut self, trial: &Trial) -> Decided {
        let undecided = |reason: &str| (Decision::Undecided, reason.to_owned(), Vec::new());
        let mut said = None;
        for launch in trial.steps().into_iter().filter_map(|step| step.launch) {
            let mut world = self.world(trial);
            match self.launch(trial, &launch, &mut world) {
                Ok(Launched::Refused(reason)) => said = Some(reason),
                Ok(Launched::Began { .. }) => {}
                Err(decided) => return decided,
            }
        }
        let Some(said) = said else {
            return undecided(
                "the launcher prints a profile; whether a launch would be refused on a Mac is not modelled",
            );
        };
        let Some(control) = &trial.case.expect.control else {
            return undecided("the case has no control");
        };
        let mut world = self.world(trial);
        match self.launch(trial, control, &mut world) {
            Ok(control) if control.starts() => {
                let reason = format!(
                    "the launcher refuses, as it did here when asked for a profile: {said}"
                );
                (Decision::Conforms, reason, Vec::new())
            }
            Ok(Launched::Refused(said)) => {
                let reason = format!("the mended launch is refused too: {said}");
                (Decision::Overblocks, reason, Vec::new())
            }
            Ok(Launched::Began { .. }) => {
                undecided("whether the mended launch starts is not known")
            }
            Err(decided) => decided,
        }
    }

    /// What comes of one launch, or why that is decided already.
    fn launch(
        &mut self,
        trial: &Trial,
        launch: &LaunchSpec,
        world: &mut World,
    ) -> Result<Launched, Decided> {
        let undecided = |reason: String| (Decision::Undecided, reason, Vec::new());
        let policy = launch.policy.as_ref().unwrap_or(&trial.policy);
        if policy.document_path.is_some() {
            // It would be looked for here, and not on a Mac.
            return Err(undecided(
                "where a policy is kept is not modelled".to_owned(),
            ));
        }
        let links = world.links_beside(self.tables.world());
        let text = match self.profiles.of(trial, launch, links) {
            Ok(text) => text,
            Err(NoProfile::Refused(said)) => return Ok(Launched::Refused(said)),
            Err(NoProfile::Failed(reason)) => return Err(undecided(reason)),
        };
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
        let mut model = Model::with(&profile, &self.tables, world.clone(), Semantics::default());
        let program = match &launch.run {
            Run::Shell(_) => Some(SHELL.to_owned()),
            Run::Arguments(words) => words.first().filter(|word| word.starts_with('/')).cloned(),
        };
        let start = program.map(|program| model.perform(&Action::Start(program)));
        let actions = launch.modelled.iter().flatten();
        let actions = actions
            .map(|action| (action.clone(), model.perform(action)))
            .collect();
        *world = model.into_world();
        Ok(Launched::Began { start, actions })
    }
}

/// What each launch of a trial amounts to, the parts that its axes decide among it.
fn told(trial: &mut Trial) {
    let own = trial.case.run.is_some();
    let steps: Vec<Option<Vec<Action>>> = trial
        .steps()
        .iter()
        .map(|step| {
            step.launch
                .as_ref()
                .and_then(|launch| trial.modelled(launch))
        })
        .collect();
    if own {
        trial.case.modelled = steps.into_iter().flatten().next();
        return;
    }
    for (step, actions) in trial.case.steps.iter_mut().zip(steps) {
        if let Some(launch) = &mut step.launch {
            launch.modelled = actions;
        }
    }
}

/// What comes of one launch.
enum Launched {
    /// Nothing was started, for this reason.
    Refused(String),
    /// The launcher would begin.
    Began {
        /// The start of its program, where that is known.
        start: Option<Performed>,
        /// What the command amounts to.
        actions: Vec<(Action, Performed)>,
    },
}

impl Launched {
    fn start(&self) -> Option<&Performed> {
        match self {
            Launched::Began { start, .. } => start.as_ref(),
            Launched::Refused(_) => None,
        }
    }

    /// Whether its program surely starts.
    fn starts(&self) -> bool {
        match self {
            Launched::Began { start, .. } => start
                .as_ref()
                .is_none_or(|start| start.answer == Answer::Allowed),
            Launched::Refused(_) => false,
        }
    }

    fn actions(&self) -> &[(Action, Performed)] {
        match self {
            Launched::Began { actions, .. } => actions,
            Launched::Refused(_) => &[],
        }
    }
}

/// The effect shows if every action of every launch succeeds.
fn judge(expect: &Expect, launches: &[Launched]) -> Decided {
    let wants = expect.outcome == Outcome::Allowed;
    for start in launches.iter().filter_map(Launched::start) {
        if start.answer == Answer::Denied {
            let reason = "the command would not start".to_owned();
            return (Decision::Overblocks, reason, lines(start, Answer::Denied));
        }
    }
    let refused = launches.iter().find_map(|launch| match launch {
        Launched::Refused(said) => Some(said),
        Launched::Began { .. } => None,
    });
    if let Some(said) = refused {
        // A refusal is as good as a denial where the case says so, and another launch of
        // it shows that the launcher starts anything.
        let accepted =
            !wants && expect.refusal == Refusal::Accepted && launches.iter().any(Launched::starts);
        let reason =
            format!("the launcher refuses, as it did here when asked for a profile: {said}");
        let decision = if accepted {
            Decision::Conforms
        } else {
            Decision::Overblocks
        };
        return (decision, reason, Vec::new());
    }
    let actions = || launches.iter().flat_map(Launched::actions);
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
    let starts = launches.iter().filter_map(Launched::start);
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
