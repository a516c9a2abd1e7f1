//! Axes and copies: each trial is there for something that no other shows.

use std::collections::HashMap;

use super::Finding;
use super::material::Material;
use crate::corpus::digest;
use crate::corpus::place::At;
use crate::corpus::trial::POSTURE_AXIS;

/// An axis has at least two values, each once. One value of the posture is a way to
/// set it without stating the topic's policy again.
pub(crate) fn several(material: &Material) -> Vec<Finding> {
    let mut findings = Vec::new();
    for at in material.cases() {
        for (axis, values) in &at.case.axes {
            let place = [At::Field("axes"), At::Field(axis)];
            if values.len() == 1 && axis != POSTURE_AXIS {
                findings.push(at.finding(
                    &place,
                    format!("the axis {axis} has one value"),
                    "write the value where it is used, or add another",
                ));
            }
            for (index, value) in values.iter().enumerate() {
                if values[..index].contains(value) {
                    findings.push(at.finding(
                        &[place[0], place[1], At::Item(index)],
                        format!("the axis {axis} has the value {value:?} twice"),
                        "keep one of the two",
                    ));
                }
            }
        }
    }
    findings
}

/// No two trials of a case are the same once their axes are applied.
pub(crate) fn trials(material: &Material) -> Vec<Finding> {
    let mut findings = Vec::new();
    for at in material.cases() {
        let mut seen: HashMap<String, &str> = HashMap::new();
        for trial in at.trials {
            let mut case = trial.case.clone();
            case.axes.clear();
            let meaning = digest::of_json(&(&case, &trial.fixture, &trial.policy));
            if let Some(first) = seen.insert(meaning, &trial.name) {
                findings.push(at.finding(
                    &[At::Field("axes")],
                    format!("the trial {} is the same as {first}", trial.name),
                    "leave one of the two values out",
                ));
                break;
            }
        }
    }
    findings
}

/// No two cases run the same and are judged the same.
pub(crate) fn cases(material: &Material) -> Vec<Finding> {
    let mut seen: HashMap<String, &str> = HashMap::new();
    material
        .cases()
        .filter_map(|at| {
            let behaviour = digest::of_behaviour(&at.topic.content, at.case);
            let first = *seen.entry(behaviour).or_insert(&at.case.id);
            (first != at.case.id).then(|| {
                at.finding(
                    &[],
                    format!("runs and is judged as {first} is"),
                    "keep one of the two, and let it cover what both do",
                )
            })
        })
        .collect()
}
