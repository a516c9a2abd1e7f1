//! Promises: each is covered by a case, or the data says what shows it instead.

use std::collections::HashSet;

use super::Finding;
use super::material::Material;
use crate::corpus::place::At;

const FILE: &str = "requirements.json";

/// Every promise is covered by a case, unless only something else can show it.
pub(crate) fn covered(material: &Material) -> Vec<Finding> {
    let covered: HashSet<&str> = material
        .cases()
        .flat_map(|at| at.case.covers.iter().map(String::as_str))
        .collect();
    each(material, |requirement| {
        if requirement.elsewhere.is_some() || covered.contains(requirement.id.as_str()) {
            return None;
        }
        Some((
            "id",
            format!("no case covers {}", requirement.id),
            "write one, or say in elsewhere what shows it and why no case can",
        ))
    })
}

/// Ids of promises are unique, and what is shown elsewhere says why and by what.
pub(crate) fn whole(material: &Material) -> Vec<Finding> {
    let mut seen = HashSet::new();
    each(material, |requirement| {
        if !seen.insert(requirement.id.clone()) {
            let problem = format!("{} is there twice", requirement.id);
            return Some(("id", problem, "give one of the two another id"));
        }
        if requirement.text.trim().is_empty() {
            let problem = format!("{} promises nothing", requirement.id);
            return Some(("text", problem, "write the promise, in one sentence"));
        }
        let elsewhere = requirement.elsewhere.as_ref()?;
        if elsewhere.reason.trim().is_empty() {
            let problem = format!("{} says nothing of why no case shows it", requirement.id);
            return Some(("elsewhere", problem, "write the reason"));
        }
        None
    })
}

fn each(
    material: &Material,
    mut check: impl FnMut(
        &crate::corpus::requirement::Requirement,
    ) -> Option<(&'static str, String, &'static str)>,
) -> Vec<Finding> {
    let all = material.read.requirements.requirements.iter().enumerate();
    all.filter_map(|(index, requirement)| {
        let (field, problem, remedy) = check(requirement)?;
        let path = [At::Field("requirements"), At::Item(index), At::Field(field)];
        Some(material.in_file(FILE, &path, problem, remedy))
    })
    .collect()
}
