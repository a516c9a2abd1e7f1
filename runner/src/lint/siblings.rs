//! Twins: the allowed case beside each denial shows that a launcher does not
//! simply break everything. It shows nothing if it is about something else.

use std::collections::HashSet;

use super::Finding;
use super::material::{CaseAt, Material};
use crate::corpus::expect::Outcome;
use crate::corpus::place::At;
use crate::corpus::policy::{NetworkSpec, PolicySpec, PostureSpec};

/// How many fields of the policy a twin may set that the case does not.
const FIELDS: usize = 2;

/// A twin stands in the same area and runs under the same kind of policy, or the
/// case says why it is the twin all the same.
pub(crate) fn twin(material: &Material) -> Vec<Finding> {
    material
        .cases()
        .filter(|at| at.case.sibling_reason.is_none())
        .filter_map(|at| {
            let twin = material.case(at.case.sibling.as_deref()?)?;
            let problem = difference(&at, &twin)?;
            Some(at.finding(
                &[At::Field("sibling")],
                format!("the twin {} {problem}", twin.case.id),
                "name a nearer one, or say in sibling_reason why it is the twin",
            ))
        })
        .collect()
}

/// A reason that is given for a twin is there for something.
pub(crate) fn reason(material: &Material) -> Vec<Finding> {
    material
        .cases()
        .filter_map(|at| {
            at.case.sibling_reason.as_ref()?;
            let twin = at.case.sibling.as_deref().and_then(|id| material.case(id));
            let needless = match twin {
                None => "the case has no twin",
                Some(twin) if difference(&at, &twin).is_none() => {
                    "the twin is near enough without one"
                }
                Some(_) => return None,
            };
            Some(at.finding(
                &[At::Field("sibling_reason")],
                format!("a reason is given, and {needless}"),
                "leave sibling_reason out",
            ))
        })
        .collect()
}

fn difference(at: &CaseAt<'_>, twin: &CaseAt<'_>) -> Option<String> {
    if at.area() != twin.area() {
        return Some(format!("stands in another area, {}", twin.area()));
    }
    // What a refused launch is compared with is its control.
    if at.case.expect.outcome == Outcome::Refused {
        return None;
    }
    if postures(at).is_disjoint(&postures(twin)) {
        return Some("runs under another posture".to_owned());
    }
    let (own, other) = (at.policies(), twin.policies());
    let near = own
        .iter()
        .any(|one| other.iter().any(|other| is_near(one, other)));
    (!near && !own.is_empty() && !other.is_empty())
        .then(|| "runs under a policy that differs in more than two fields".to_owned())
}

fn postures(at: &CaseAt<'_>) -> HashSet<bool> {
    at.trials
        .iter()
        .map(|trial| trial.policy.posture.unwrap_or_default() == PostureSpec::Strict)
        .collect()
}

/// Whether one policy becomes the other by a field or two: added, left out, or others
/// in their place. Most denials need a policy that shares nothing with their twin's
/// but the kind: a hidden path inside a grant, say, beside the grant alone.
fn is_near(one: &PolicySpec, other: &PolicySpec) -> bool {
    let (one, other) = (stated(one), stated(other));
    one.difference(&other).count() <= FIELDS && other.difference(&one).count() <= FIELDS
}

fn stated(policy: &PolicySpec) -> HashSet<&'static str> {
    let fields = [
        ("network", policy.network == Some(NetworkSpec::None)),
        ("read_only", !policy.read_only.is_empty()),
        ("read_write", !policy.read_write.is_empty()),
        ("hidden", !policy.hidden.is_empty()),
        ("host_environment", !policy.host_environment.is_empty()),
        ("enabled", policy.enabled == Some(false)),
        ("bubblewrap", policy.bubblewrap.is_some()),
        ("document", policy.document.is_some() || policy.absent),
        ("document_path", policy.document_path.is_some()),
    ];
    fields
        .into_iter()
        .filter_map(|(name, stated)| stated.then_some(name))
        .collect()
}
