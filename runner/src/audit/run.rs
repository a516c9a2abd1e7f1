//! One audit from its selection to its record: what is known already is not run again,
//! and what came out otherwise than last time is tried again before it is believed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;

use super::engine::{Engine, Pair};
use super::findings::{Finding, of_trials};
use super::record::{merge, record};
use super::seen::{Cell, Outcomes, Seen, SeenFault, by_case};
use super::store::{Store, StoreError};
use super::subject::{Chosen, DEAD, Programs, Role, Subject, control};
use super::tries::{cases_in_doubt, keep_doubts, settle};
use super::watch::Watch;
use crate::corpus::matrix::AuditRecord;
use crate::corpus::{Corpus, Trial};
use crate::launcher::file::LauncherFile;
use crate::session::{OPEN, Session};
use crate::verdict::Verdict;
use crate::worker::Interrupts;

/// How often a pair is run in all, whose result is in doubt.
const TRIES: usize = 3;

/// What is audited.
#[derive(Debug)]
pub struct Selection<'a> {
    /// The launcher that is right.
    pub reference: &'a LauncherFile,
    /// The trials.
    pub trials: &'a [Trial],
    /// The faults.
    pub faults: &'a [Chosen],
    /// Whether these are all the trials of the corpus.
    pub every_case: bool,
    /// Whether these are all its faults.
    pub every_fault: bool,
    /// Whether a fault is run against one trial of each case, and against all only
    /// where that leaves open whether it is caught, or whether a case catches anything.
    pub quick: bool,
    /// What this user's audits have shown before.
    pub known: Option<&'a AuditRecord>,
}

/// Why an audit came to no end.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The corpus lacks a launcher that every audit runs.
    #[error("the corpus has no launcher file named {0}; every audit runs it")]
    NoLauncher(&'static str),
    /// No mistake can be made in the right launcher, so there is no control.
    #[error(
        "launcher {launcher}: {problem}; name another with --launcher, or faults without mistakes with --fault"
    )]
    NoControl {
        /// The launcher.
        launcher: String,
        /// Why not.
        problem: String,
    },
    /// A program whose digest is needed cannot be read.
    #[error("{path}: {error}; results are kept by the digests of the programs", path = path.display())]
    Program {
        /// The program.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// Results cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A signal came.
    #[error("interrupted after {done} of {total} runs; the same command goes on from here")]
    Interrupted {
        /// How many had ended, those of earlier audits included.
        done: usize,
        /// How many there are.
        total: usize,
    },
}

/// What an audit came to.
#[derive(Debug)]
pub struct Audited {
    /// What was seen, of this selection alone.
    pub record: AuditRecord,
    /// What is known with that.
    pub merged: AuditRecord,
    /// What is wrong, trial by trial.
    pub findings: Vec<Finding>,
    /// How many runs there were.
    pub ran: usize,
    /// How many were known from before.
    pub kept: usize,
    /// How many pairs were tried again, for they had come out otherwise than in the
    /// committed matrix, or not at all.
    pub again: usize,
}

/// Runs an audit.
///
/// # Errors
/// See [`AuditError`].
pub fn run(
    session: &Session,
    corpus: &Corpus,
    selection: &Selection<'_>,
    store: &mut Store,
    watch: &mut Watch,
) -> Result<Audited, AuditError> {
    let subjects = subjects(session, corpus, selection)?;
    let mut work = Work {
        subjects: &subjects,
        trials: selection.trials,
        cells: vec![HashMap::new(); subjects.len()],
        engine: Engine::new(session, &subjects, selection.trials),
        ran: 0,
    };
    let mut known = Vec::with_capacity(subjects.len());
    for subject in &subjects {
        known.push(store.known(subject, selection.trials)?);
    }
    let mut kept = 0;
    let mut wanted = work.every_trial(|role| !selection.quick || !is_fault(role));
    loop {
        let mut missing = Vec::new();
        for (subject, trial) in wanted {
            match known[subject].remove(&trial) {
                Some(cell) => {
                    kept += 1;
                    work.cells[subject].insert(trial, vec![cell]);
                }
                None => missing.push((subject, trial)),
            }
        }
        watch.begin(&subjects, &missing, selection.trials.len());
        work.run(session, &missing, Some(store), watch)?;
        wanted = if selection.quick {
            work.left_open(&work.seen(session, selection), selection)
        } else {
            Vec::new()
        };
        if wanted.is_empty() {
            break;
        }
    }
    let mut again = 0;
    for _ in 1..TRIES {
        let doubtful = doubtful(&work.seen(session, selection), &work, selection);
        again = again.max(doubtful.len());
        watch.again(doubtful.len());
        work.run(session, &doubtful, None, watch)?;
    }
    let seen = work.seen(session, selection);
    let mut record = record(&seen);
    record.quick = selection.quick;
    keep_doubts(&mut record, selection.known);
    let (every_case, every_fault) = (selection.every_case, selection.every_fault);
    let present = super::stale::present(corpus);
    Ok(Audited {
        merged: merge(
            selection.known,
            record.clone(),
            every_case,
            every_fault,
            &present,
        ),
        findings: of_trials(&seen),
        record,
        ran: work.ran,
        kept,
        again,
    })
}

/// The subjects, in the order in which they are run.
fn subjects(
    session: &Session,
    corpus: &Corpus,
    selection: &Selection<'_>,
) -> Result<Vec<Subject>, AuditError> {
    let facts: Vec<_> = session.facts().iter().copied().collect();
    let places = session.places();
    let programs = Programs::read(&places.perimeter, places.faulty.as_deref())
        .map_err(|(path, error)| AuditError::Program { path, error })?;
    let subject = |role, name: &str, launcher: LauncherFile| Subject {
        identity: programs.identity(&launcher, &facts),
        role,
        name: name.to_owned(),
        launcher,
    };
    let named = |name: &'static str| {
        let launcher = corpus.launcher(name).cloned();
        launcher.ok_or(AuditError::NoLauncher(name))
    };
    let reference = selection.reference;
    let mut subjects = vec![
        subject(Role::Open, OPEN, named(OPEN)?),
        subject(Role::Reference, &reference.name, reference.clone()),
    ];
    let to_run = |chosen: &&Chosen| chosen.not_run.is_none();
    let mut chosen = selection.faults.iter().filter(to_run);
    if chosen.any(|chosen| chosen.fault.is_mistake()) {
        let launcher = control(reference).map_err(|problem| AuditError::NoControl {
            launcher: reference.name.clone(),
            problem,
        })?;
        subjects.push(subject(Role::Control, "control", launcher));
    }
    subjects.push(subject(Role::Dead, DEAD, named(DEAD)?));
    for (place, chosen) in selection.faults.iter().enumerate() {
        if chosen.not_run.is_none() {
            let launcher = chosen.launcher.clone();
            subjects.push(subject(Role::Fault(place), &chosen.fault.name, launcher));
        }
    }
    Ok(subjects)
}

fn is_fault(role: Role) -> bool {
    matches!(role, Role::Fault(_))
}

/// What is being run, and what has come of it.
struct Work<'a> {
    subjects: &'a [Subject],
    trials: &'a [Trial],
    /// For each subject what came of a trial, once or several times.
    cells: Vec<HashMap<usize, Vec<Cell>>>,
    engine: Engine<'a>,
    ran: usize,
}

impl Work<'_> {
    fn run(
        &mut self,
        session: &Session,
        pairs: &[Pair],
        mut store: Option<&mut Store>,
        watch: &mut Watch,
    ) -> Result<(), AuditError> {
        if pairs.is_empty() {
            return Ok(());
        }
        let mut lost = None;
        let (cells, ran) = (&mut self.cells, &mut self.ran);
        self.engine.run(pairs, |(subject, trial), result| {
            let cell = Cell::of(result);
            watch.ended(&self.subjects[subject], result);
            *ran += 1;
            if let (Some(store), None) = (store.as_mut(), &lost) {
                let kept = store.keep(&self.subjects[subject], &self.trials[trial], &cell);
                if let Err(error) = kept {
                    lost = Some(error);
                    session.cancel();
                }
            }
            cells[subject].entry(trial).or_default().push(cell);
        });
        watch.pause();
        if let Some(error) = lost {
            return Err(error.into());
        }
        if Interrupts::exit_status().is_some() {
            return Err(AuditError::Interrupted {
                done: self.cells.iter().map(HashMap::len).sum(),
                total: self.subjects.len() * self.trials.len(),
            });
        }
        Ok(())
    }

    /// All trials of the subjects with these roles.
    fn every_trial(&self, of: impl Fn(Role) -> bool) -> Vec<Pair> {
        let subjects = self.subjects.iter().enumerate();
        subjects
            .filter(|(_, subject)| of(subject.role))
            .flat_map(|(place, _)| (0..self.trials.len()).map(move |trial| (place, trial)))
            .collect()
    }

    /// What a quick audit has to run next: the first trial of each case in which the right
    /// launcher conforms, against every fault; then whatever can still tell whether a
    /// fault is caught and whether a case catches anything.
    fn left_open(&self, seen: &Seen<'_>, selection: &Selection<'_>) -> Vec<Pair> {
        let record = record(seen);
        let judged = |trial: &Trial| {
            let right = seen.reference.get(&trial.name);
            right.is_some_and(|right| right.verdict == Verdict::Conforms)
        };
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, trial) in self.trials.iter().enumerate() {
            if judged(trial) {
                first.entry(&trial.case.id).or_insert(place);
            }
        }
        let caught = |fault: &str| {
            let known = record.faults.get(fault);
            known.is_some_and(|known| known.extreme.is_some() || !known.caught_by.is_empty())
        };
        let catching: BTreeSet<&str> = record
            .faults
            .values()
            .flat_map(|fault| fault.caught_by.keys().map(String::as_str))
            .collect();
        let mut faults = self.subjects.iter().zip(&self.cells);
        let begun = faults.any(|(subject, cells)| is_fault(subject.role) && !cells.is_empty());
        // Of a part of the cases or faults nobody asks that.
        let open = |subject: &Subject, trial: &Trial| {
            let case = &trial.case;
            let required = seen.contract.requires(case.level, case.strength);
            let catches = !required || catching.contains(case.id.as_str());
            let fault_open = selection.every_case && !caught(&subject.name);
            let case_open = selection.every_fault && !catches;
            begun && judged(trial) && (fault_open || case_open)
        };
        self.every_trial(is_fault)
            .into_iter()
            .filter(|(subject, trial)| {
                let (of, at) = (&self.subjects[*subject], &self.trials[*trial]);
                let is_first = first.get(at.case.id.as_str()) == Some(trial);
                !self.cells[*subject].contains_key(trial) && (is_first || open(of, at))
            })
            .collect()
    }

    /// What was seen, each pair settled.
    fn seen<'s>(&self, session: &'s Session, selection: &'s Selection<'_>) -> Seen<'s> {
        let reference = self.settled(Role::Reference, None).unwrap_or_default();
        let settled = |role| {
            let outcomes = self.settled(role, Some(&reference.outcomes));
            outcomes.map(|settled| settled.outcomes)
        };
        let faults = selection.faults.iter().enumerate().map(|(place, chosen)| {
            let settled = self.settled(Role::Fault(place), None).unwrap_or_default();
            SeenFault {
                fault: &chosen.fault,
                digest: &chosen.digest,
                not_run: chosen.not_run.clone(),
                outcomes: settled.outcomes,
                sometimes: settled.sometimes,
            }
        });
        Seen {
            trials: selection.trials,
            contract: session.contract(),
            open: settled(Role::Open).unwrap_or_default(),
            dead: settled(Role::Dead).unwrap_or_default(),
            control: settled(Role::Control),
            faults: faults.collect(),
            reference: reference.outcomes,
            narrowed: !selection.every_case,
        }
    }

    fn settled(&self, role: Role, right: Option<&Outcomes>) -> Option<Settled> {
        let place = self
            .subjects
            .iter()
            .position(|subject| subject.role == role)?;
        let mut settled = Settled::default();
        for (trial, cells) in &self.cells[place] {
            let name = &self.trials[*trial].name;
            let right = right.and_then(|right| right.get(name));
            let (cell, sometimes) = settle(cells, role, right);
            if let Some(cell) = cell {
                settled.outcomes.insert(name.clone(), cell);
            }
            if sometimes {
                settled.sometimes.push(name.clone());
            }
        }
        settled.sometimes.sort();
        Some(settled)
    }
}

#[derive(Debug, Default)]
struct Settled {
    outcomes: Outcomes,
    sometimes: Vec<String>,
}

/// The pairs that are to be tried again: those that came out otherwise than is known of
/// the same case and the same fault, those in which the control differs, and those of
/// which the harness made nothing.
fn doubtful(seen: &Seen<'_>, work: &Work<'_>, selection: &Selection<'_>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let places: HashMap<&str, usize> = selection
        .trials
        .iter()
        .enumerate()
        .map(|(place, trial)| (trial.name.as_str(), place))
        .collect();
    let cases = by_case(seen.trials);
    for (subject, of) in work.subjects.iter().enumerate() {
        let errors = work.cells[subject]
            .iter()
            .filter(|(_, cells)| cells.iter().all(|cell| cell.verdict == Verdict::Error));
        pairs.extend(errors.map(|(trial, _)| (subject, *trial)));
        match of.role {
            Role::Control => {
                let differs = seen.control.iter().flatten().filter(|(name, cell)| {
                    let right = seen.reference.get(*name);
                    right.is_some_and(|right| right.verdict != cell.verdict)
                });
                pairs.extend(
                    differs.filter_map(|(name, _)| Some((subject, *places.get(name.as_str())?))),
                );
            }
            Role::Fault(fault) => {
                // What is known of all trials of a case cannot be held against one.
                let known = selection
                    .known
                    .filter(|known| known.quick == selection.quick);
                let doubted = cases_in_doubt(&seen.faults[fault], seen, &cases, known);
                pairs.extend(
                    doubted
                        .into_iter()
                        .filter_map(|name| Some((subject, *places.get(name)?))),
                );
            }
            Role::Open | Role::Reference | Role::Dead => {}
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
