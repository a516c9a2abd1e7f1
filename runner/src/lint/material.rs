//! What the rules look at: the files of a corpus, and where in them things stand.

use indexmap::IndexMap;

use super::Finding;
use crate::corpus::case::{Case, Run, Step};
use crate::corpus::check::{self, Problem};
use crate::corpus::place::{self, At};
use crate::corpus::policy::PolicySpec;
use crate::corpus::read::{Read, Topic};
use crate::corpus::source::SourceFile;
use crate::corpus::{CorpusError, Source, Trial};

/// A corpus, as far as it can be read.
pub(crate) struct Material {
    source: Source,
    pub(crate) read: Read,
    /// What the loader finds wrong with single cases.
    pub(crate) problems: Vec<Problem>,
    /// The committed table of requirements.
    pub(crate) table: Option<String>,
    trials: Vec<Vec<Vec<Trial>>>,
}

impl Material {
    pub(crate) fn from(source: &Source) -> Result<Material, CorpusError> {
        let read = Read::from(source)?;
        if read.topics.is_empty() && read.malformed.is_empty() {
            return Err(CorpusError::Empty {
                place: source.shown(),
            });
        }
        let mut problems = check::all(&read);
        let mut trials = Vec::new();
        for (place, topic) in read.topics.iter().enumerate() {
            let mut of_topic = Vec::new();
            for (index, case) in topic.content.cases.iter().enumerate() {
                let of_case = Trial::of(&topic.content, &topic.source.name, case, "");
                of_topic.push(of_case.unwrap_or_else(|error| {
                    problems.push(Problem {
                        rule: "placeholder-known",
                        topic: place,
                        case: index,
                        text: error.to_string(),
                    });
                    Vec::new()
                }));
            }
            trials.push(of_topic);
        }
        Ok(Material {
            source: source.clone(),
            problems,
            table: source.text(super::table::NAME)?,
            trials,
            read,
        })
    }

    /// Every case, with its topic.
    pub(crate) fn cases(&self) -> impl Iterator<Item = CaseAt<'_>> {
        self.read
            .topics
            .iter()
            .zip(&self.trials)
            .flat_map(|(topic, trials)| {
                let cases = topic.content.cases.iter().zip(trials);
                cases.enumerate().map(|(index, (case, trials))| CaseAt {
                    topic,
                    case,
                    index,
                    trials,
                })
            })
    }

    /// The case of this id.
    pub(crate) fn case(&self, id: &str) -> Option<CaseAt<'_>> {
        let (topic, index) = *self.read.places.get(id)?;
        Some(self.at(topic, index))
    }

    /// The case at this place.
    pub(crate) fn at(&self, topic: usize, index: usize) -> CaseAt<'_> {
        let trials = &self.trials[topic][index];
        let topic = &self.read.topics[topic];
        CaseAt {
            topic,
            case: &topic.content.cases[index],
            index,
            trials,
        }
    }

    /// The file of this name.
    pub(crate) fn file(&self, name: &str) -> Option<&SourceFile> {
        self.read.files.iter().find(|file| file.name == name)
    }

    /// A finding in the file of this name, which need not be there.
    pub(crate) fn in_file(
        &self,
        name: &str,
        path: &[At<'_>],
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        match self.file(name) {
            Some(file) => in_file(file, path, problem, remedy),
            None => Finding {
                file: self.source.shown_file(name),
                line: 1,
                column: None,
                case: None,
                rule: "",
                problem: problem.into(),
                remedy: remedy.into(),
            },
        }
    }
}

/// A finding at a path within a file.
pub(crate) fn in_file(
    file: &SourceFile,
    path: &[At<'_>],
    problem: impl Into<String>,
    remedy: impl Into<String>,
) -> Finding {
    let place = place::of(&String::from_utf8_lossy(&file.bytes), path);
    Finding {
        file: file.shown.clone(),
        line: place.line,
        column: Some(place.column),
        case: None,
        rule: "",
        problem: problem.into(),
        remedy: remedy.into(),
    }
}

/// A case and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct CaseAt<'a> {
    pub(crate) topic: &'a Topic,
    pub(crate) case: &'a Case,
    pub(crate) index: usize,
    pub(crate) trials: &'a [Trial],
}

impl<'a> CaseAt<'a> {
    /// A finding at a path within the case.
    pub(crate) fn finding(
        &self,
        path: &[At<'_>],
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        let mut whole = vec![At::Field("cases"), At::Item(self.index)];
        // The id stands for the case.
        whole.extend_from_slice(if path.is_empty() {
            &[At::Field("id")]
        } else {
            path
        });
        Finding {
            case: Some(self.case.id.clone()),
            ..in_file(&self.topic.source, &whole, problem, remedy)
        }
    }

    /// The area: the directory that the case stands in.
    pub(crate) fn area(&self) -> &'a str {
        self.topic.source.name.split('/').next().unwrap_or_default()
    }

    /// The policies of its launches, each once; that of the launch which a refusal
    /// is compared with is not among them.
    pub(crate) fn policies(&self) -> Vec<PolicySpec> {
        let mut policies = Vec::new();
        for trial in self.trials {
            let launches = trial.steps().into_iter().filter_map(|step| step.launch);
            for launch in launches {
                let policy = launch.policy.unwrap_or_else(|| trial.policy.clone());
                if !policies.contains(&policy) {
                    policies.push(policy);
                }
            }
        }
        policies
    }

    /// The texts that a shell or a launcher runs in any trial, each once, with the
    /// field that it stands in.
    pub(crate) fn commands(&self) -> IndexMap<String, &'static str> {
        let mut commands = IndexMap::new();
        for trial in self.trials {
            add_commands(trial, &mut commands);
        }
        commands
    }
}

fn add_commands(trial: &Trial, commands: &mut IndexMap<String, &'static str>) {
    let field = match trial.case.run {
        Some(_) => "run",
        None => "steps",
    };
    let mut add = |text: String, field: &'static str| {
        commands.entry(text).or_insert(field);
    };
    for Step { host, launch, .. } in trial.steps() {
        host.into_iter().for_each(|line| add(line, field));
        let Some(launch) = launch else { continue };
        match launch.run {
            Run::Shell(line) => add(line, field),
            Run::Arguments(words) => words.into_iter().for_each(|word| add(word, field)),
        }
        let meanwhile = launch.meanwhile.into_iter();
        meanwhile.for_each(|line| add(line, "meanwhile"));
        let during = launch.during.into_iter().filter_map(|during| during.host);
        during.for_each(|line| add(line, "during"));
    }
    let setup = trial.fixture.setup.iter().cloned();
    setup.for_each(|line| add(line, "fixture"));
}
