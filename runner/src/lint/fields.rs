//! Fields of the policy: each is proven by a case that fails where it is ignored.
//!
//! A case says in `decided_by` which fields decide its outcome. That it sets them
//! can be read from the data. That it fails where they are ignored is what the
//! fault whose `ignores` names the field shows, and the committed matrix of the audit records.

use super::Finding;
use super::material::{CaseAt, Material};
use crate::corpus::case::EnvironmentSpec;
use crate::corpus::expect::Outcome;
use crate::corpus::matrix::{FaultRecord, MatrixFile};
use crate::corpus::place::At;
use crate::corpus::policy::{NetworkSpec, PolicySpec, PostureSpec};
use crate::corpus::vocabulary::{PolicyField, Strength};

/// Every field decides the outcome of a MUST case.
pub(crate) fn proven(material: &Material) -> Vec<Finding> {
    PolicyField::ALL
        .into_iter()
        .filter(|field| {
            !material
                .cases()
                .any(|at| at.case.strength == Strength::Must && at.case.decided_by.contains(field))
        })
        .map(|field| {
            material.in_file(
                "corpus.json",
                &[],
                format!(
                    "no MUST case is decided by the policy's field {}",
                    field.as_str()
                ),
                "name the field in decided_by of a case that fails where it is ignored",
            )
        })
        .collect()
}

/// A case that is decided by a field sets it to something else than its default.
pub(crate) fn set(material: &Material) -> Vec<Finding> {
    each(material, |at, field| {
        let sets = at.policies().iter().any(|policy| sets(policy, field))
            || (field == PolicyField::Environment && has_variables(&at));
        (!sets).then(|| {
            (
                format!(
                    "decided by {}, which no launch of the case sets",
                    field.as_str()
                ),
                "set the field to something else than its default, or leave it out of decided_by",
            )
        })
    })
}

/// Where the corpus has faults, each field has the fault that ignores it, and the
/// cases that it decides catch that fault.
pub(crate) fn ignored(material: &Material) -> Vec<Finding> {
    let read = &material.read;
    if read.faults.is_empty() {
        return Vec::new();
    }
    each(material, |at, field| {
        let faults: Vec<&str> = read
            .faults
            .iter()
            .filter(|known| known.content.ignores.contains(&field))
            .map(|known| known.content.name.as_str())
            .collect();
        if faults.is_empty() {
            return Some((
                format!(
                    "decided by {}, and no fault ignores that field",
                    field.as_str()
                ),
                "write a fault that passes over the field, and name the field in its `ignores`",
            ));
        }
        let matrix = read.matrix.as_ref()?;
        let caught = |fault: &&str| catches(matrix, &at.case.id, fault);
        (!faults.iter().any(caught)).then(|| {
            (
                format!(
                    "decided by {}, and does not catch {}, which ignores it",
                    field.as_str(),
                    faults.join(" or ")
                ),
                "let the outcome depend on the field, or leave it out of decided_by",
            )
        })
    })
}

/// Whether any run of the audit saw the case catch the fault. A case that was not
/// judged says nothing, and so does a fault that was not run or breaks everything.
fn catches(matrix: &MatrixFile, case: &str, fault: &str) -> bool {
    let mut asked = false;
    for run in matrix.runs.values() {
        let record = run.faults.get(fault);
        let ran = |record: &&FaultRecord| record.not_run.is_none() && record.extreme.is_none();
        let Some(record) = record.filter(ran) else {
            continue;
        };
        if !run.cases.contains_key(case) || run.not_judged.contains_key(case) {
            continue;
        }
        asked = true;
        if record.caught_by.contains_key(case) {
            return true;
        }
    }
    !asked
}

fn each(
    material: &Material,
    check: impl Fn(CaseAt<'_>, PolicyField) -> Option<(String, &'static str)>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for at in material.cases() {
        for (index, field) in at.case.decided_by.iter().enumerate() {
            if let Some((problem, remedy)) = check(at, *field) {
                let path = [At::Field("decided_by"), At::Item(index)];
                findings.push(at.finding(&path, problem, remedy));
            }
        }
    }
    findings
}

fn sets(policy: &PolicySpec, field: PolicyField) -> bool {
    if let Some(document) = &policy.document {
        return document.contains(&format!("\"{}\"", field.as_str()));
    }
    match field {
        PolicyField::Version | PolicyField::Environment => false,
        PolicyField::Posture => policy.posture == Some(PostureSpec::HostReadable),
        PolicyField::Enabled => policy.enabled == Some(false),
        PolicyField::Network => policy.network == Some(NetworkSpec::None),
        PolicyField::ReadOnly => !policy.read_only.is_empty(),
        PolicyField::ReadWrite => !policy.read_write.is_empty(),
        PolicyField::Hidden => !policy.hidden.is_empty(),
        PolicyField::HostEnvironment => !policy.host_environment.is_empty(),
        PolicyField::Bubblewrap => policy.bubblewrap.is_some(),
    }
}

fn has_variables(at: &CaseAt<'_>) -> bool {
    let launches = at.case.steps().into_iter().filter_map(|step| step.launch);
    let allowed_or_denied = at.case.expect.outcome != Outcome::Refused;
    launches
        .filter_map(|launch| launch.environment)
        .any(|environment| match environment {
            EnvironmentSpec::Variables(variables) => !variables.is_empty(),
            EnvironmentSpec::Document(_) => allowed_or_denied,
        })
}
