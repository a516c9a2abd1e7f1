//! Trials: a case with one value of each of its axes.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::case::{Case, LaunchSpec, Step, TopicFile};
use super::expect::Outcome;
use super::fixture::FixtureSpec;
use super::placeholder::{PlaceholderError, Unknown, expand};
use super::policy::{NetworkSpec, PolicySpec, PostureSpec};
use super::vocabulary::Feature;
use crate::seatbelt::Action;

/// The axis that also sets the policy's posture.
pub const POSTURE_AXIS: &str = "posture";

/// One thing to run: what the topic shares is merged in, the axes are applied.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Trial {
    /// The case's id, and the values of its axes after slashes.
    pub name: String,
    /// The topic's name.
    pub topic: String,
    /// The file that the case stands in, as the corpus names it.
    pub file: String,
    /// The case's digest.
    pub digest: String,
    /// The values of the case's axes.
    pub axes: IndexMap<String, String>,
    /// The case, its axes expanded.
    pub case: Case,
    /// The topic's fixture and the case's.
    pub fixture: FixtureSpec,
    /// The policy of each launch that names none.
    pub policy: PolicySpec,
    /// Why no profile decides what comes of it, where that is so.
    #[serde(default)]
    pub unmodelled: Option<String>,
}

impl Trial {
    /// The trials of a case: one for each combination of its axes' values.
    pub fn of(
        topic: &TopicFile,
        file: &str,
        case: &Case,
        digest: &str,
    ) -> Result<Vec<Trial>, PlaceholderError> {
        combinations(case)
            .into_iter()
            .map(|values| Trial::with(topic, file, case, digest, &values))
            .collect()
    }

    fn with(
        topic: &TopicFile,
        file: &str,
        case: &Case,
        digest: &str,
        values: &[(String, String)],
    ) -> Result<Trial, PlaceholderError> {
        let lookup = |name: &str| {
            let axis = name.strip_prefix("axis.")?;
            values
                .iter()
                .find(|(name, _)| name == axis)
                .map(|(_, value)| value.clone())
        };
        let mut name = case.id.clone();
        for (_, value) in values {
            name.push('/');
            name.push_str(value);
        }
        let posture = values
            .iter()
            .find(|(name, _)| name == POSTURE_AXIS)
            .and_then(|(_, value)| match value.as_str() {
                "strict" => Some(PostureSpec::Strict),
                "host-readable" => Some(PostureSpec::HostReadable),
                _ => None,
            });
        let fixture = topic.fixture.with(&case.fixture);
        let policy = case
            .policy
            .clone()
            .or_else(|| topic.policy.clone())
            .unwrap_or_default();
        let mut trial = Trial {
            name,
            topic: topic.topic.clone(),
            file: file.to_owned(),
            digest: digest.to_owned(),
            axes: values.iter().cloned().collect(),
            case: expand(case, &lookup, Unknown::Keep)?,
            fixture: expand(&fixture, &lookup, Unknown::Keep)?,
            policy: expand(&policy, &lookup, Unknown::Keep)?,
            unmodelled: case
                .unmodelled
                .as_ref()
                .or(topic.unmodelled.as_ref())
                .cloned(),
        };
        trial.set_posture(posture);
        Ok(trial)
    }

    /// Gives every policy that names no posture the trial's.
    fn set_posture(&mut self, posture: Option<PostureSpec>) {
        let posture = self.policy.posture.or(posture).unwrap_or_default();
        self.policy.posture = Some(posture);
        let of_steps = self
            .case
            .steps
            .iter_mut()
            .filter_map(|step| step.launch.as_mut());
        let of_control = self.case.expect.control.as_deref_mut();
        for launch in of_steps.chain(of_control) {
            if let Some(policy) = &mut launch.policy {
                policy.posture.get_or_insert(posture);
            }
        }
    }

    /// The case's steps.
    pub fn steps(&self) -> Vec<Step> {
        self.case.steps()
    }

    /// What the command of a launch amounts to on macOS, in this trial; nothing where the
    /// case does not say it of each of its axes' values.
    pub fn modelled(&self, launch: &LaunchSpec) -> Option<Vec<Action>> {
        let mut actions = Vec::new();
        for (axis, values) in &launch.modelled_by {
            let value = self.axes.get(axis)?;
            actions.extend(values.get(value)?.iter().cloned());
        }
        if launch.modelled.is_none() && launch.modelled_by.is_empty() {
            return None;
        }
        actions.extend(launch.modelled.iter().flatten().cloned());
        Some(actions)
    }

    /// The policy of each launch.
    fn policies(&self) -> Vec<PolicySpec> {
        let mut policies: Vec<PolicySpec> = self
            .steps()
            .into_iter()
            .filter_map(|step| step.launch)
            .map(|launch| launch.policy.unwrap_or_else(|| self.policy.clone()))
            .collect();
        if let Some(control) = &self.case.expect.control {
            policies.push(
                control
                    .policy
                    .clone()
                    .unwrap_or_else(|| self.policy.clone()),
            );
        }
        policies
    }

    /// What a launcher must be able to do for this trial: what the case says,
    /// and what its policies and launches show.
    pub fn needs(&self) -> Vec<Feature> {
        let mut needs = self.case.needs.clone();
        for policy in self.policies() {
            needs.push(match policy.posture.unwrap_or_default() {
                PostureSpec::Strict => Feature::PostureStrict,
                PostureSpec::HostReadable => Feature::PostureHostReadable,
            });
            match policy.network {
                None => {}
                Some(NetworkSpec::Host) => needs.push(Feature::NetworkHost),
                Some(NetworkSpec::None) => needs.push(Feature::NetworkNone),
            }
            let stated = [
                (!policy.read_only.is_empty(), Feature::ReadOnlyGrants),
                (!policy.read_write.is_empty(), Feature::ReadWriteGrants),
                (!policy.hidden.is_empty(), Feature::HiddenPaths),
                (policy.document.is_some(), Feature::Documents),
                (policy.document_path.is_some(), Feature::Documents),
                (policy.absent, Feature::Documents),
                // Only who reads the document can be told of another program.
                (policy.bubblewrap.is_some(), Feature::Documents),
                (policy.enabled == Some(false), Feature::Unconfined),
            ];
            needs.extend(stated.iter().filter(|need| need.0).map(|need| need.1));
        }
        for launch in self.steps().into_iter().filter_map(|step| step.launch) {
            if launch.environment.is_some() {
                needs.push(Feature::Environment);
            }
            if launch.cwd.is_some() {
                needs.push(Feature::WorkingDirectory);
            }
            if launch.tty == super::case::Tty::Command {
                needs.push(Feature::Terminal);
            }
        }
        needs.sort_unstable();
        needs.dedup();
        needs
    }

    /// Whether the same case must be shown without a sandbox for a pass to mean
    /// anything.
    pub fn needs_baseline(&self) -> bool {
        self.case.expect.outcome != Outcome::Allowed
    }
}

/// Each combination of the values of a case's axes, in the order stated.
fn combinations(case: &Case) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::new()];
    for (axis, values) in &case.axes {
        all = all
            .into_iter()
            .flat_map(|chosen| {
                values.iter().map(move |value| {
                    let mut chosen = chosen.clone();
                    chosen.push((axis.clone(), value.clone()));
                    chosen
                })
            })
            .collect();
    }
    all
}
