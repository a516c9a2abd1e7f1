//! Ids: where their cases stand, and that each keeps its meaning for ever.

use super::Finding;
use super::material::{Material, in_file};
use crate::corpus::digest;
use crate::corpus::place::At;

const RETIRED: &str = "retired.json";
const REVISIONS: &str = "revisions.json";
const WRITE: &str = "run `perimeter lint --corpus DIR --write`";

/// The first word of an id is the directory that its case stands in, so that
/// whoever has an id knows where to look.
pub(crate) fn place(material: &Material) -> Vec<Finding> {
    let misplaced = material.cases().filter_map(|at| {
        let word = at.case.id.split('.').next()?;
        (word != at.area()).then(|| {
            at.finding(
                &[],
                format!("the id begins with {word} and stands in {}/", at.area()),
                format!("let it begin with {}, or move the case", at.area()),
            )
        })
    });
    misplaced.collect()
}

/// What was once a case and is none any more is in the list of retired ids.
pub(crate) fn removed(material: &Material) -> Vec<Finding> {
    let Some(revisions) = &material.read.revisions else {
        return Vec::new();
    };
    let gone = revisions.cases.keys().filter(|id| {
        material.case(id).is_none()
            && !material
                .read
                .retired
                .retired
                .iter()
                .any(|old| old.id == **id)
    });
    gone.map(|id| {
        material.in_file(
            REVISIONS,
            &[At::Field("cases"), At::Field(id)],
            format!("{id} was a case and is gone"),
            format!("list it in {RETIRED} with the reason, or bring it back"),
        )
    })
    .collect()
}

/// The list of retired ids is in order.
pub(crate) fn retired(material: &Material) -> Vec<Finding> {
    let mut findings = Vec::new();
    let retired = &material.read.retired.retired;
    for (index, old) in retired.iter().enumerate() {
        let mut add = |field: &str, problem: String, remedy: &str| {
            let path = [At::Field("retired"), At::Item(index), At::Field(field)];
            findings.push(material.in_file(RETIRED, &path, problem, remedy));
        };
        if retired[..index].iter().any(|other| other.id == old.id) {
            add(
                "id",
                format!("{} is listed twice", old.id),
                "keep one of the two",
            );
        }
        if old.reason.trim().is_empty() || old.since.trim().is_empty() {
            add(
                "reason",
                format!("{} is retired without a reason or a version", old.id),
                "write why, and the version of the corpus that first lacked it",
            );
        }
        if let Some(heir) = &old.replaced_by {
            if material.case(heir).is_none() {
                add(
                    "replaced_by",
                    format!("{heir} is no case"),
                    "name the case that asserts it now, or leave the field out",
                );
            }
        }
    }
    findings
}

/// A case whose meaning changed has a higher revision.
pub(crate) fn raised(material: &Material) -> Vec<Finding> {
    let Some(revisions) = &material.read.revisions else {
        return Vec::new();
    };
    material
        .cases()
        .filter_map(|at| {
            let locked = revisions.cases.get(&at.case.id)?;
            let rev = at.case.rev;
            let changed = digest::of_case(&at.topic.content, at.case) != locked.digest;
            let (problem, remedy) = if rev < locked.rev {
                (
                    format!("the revision went back from {} to {rev}", locked.rev),
                    format!("write {} or more", locked.rev),
                )
            } else if changed && rev == locked.rev {
                (
                    format!("the meaning changed and the revision is still {rev}"),
                    format!("write {}, then {WRITE}", rev + 1),
                )
            } else {
                return None;
            };
            Some(at.finding(&[At::Field("rev")], problem, remedy))
        })
        .collect()
}

/// The committed revisions are those of the cases.
pub(crate) fn locked(material: &Material) -> Vec<Finding> {
    let Some(revisions) = &material.read.revisions else {
        return vec![material.in_file(
            REVISIONS,
            &[],
            "there is no record of what each case means",
            WRITE,
        )];
    };
    let mut findings: Vec<Finding> = material
        .cases()
        .filter_map(|at| {
            let problem = match revisions.cases.get(&at.case.id) {
                None => format!("{REVISIONS} does not have the case"),
                Some(locked) if locked.rev < at.case.rev => {
                    format!("{REVISIONS} has revision {}", locked.rev)
                }
                Some(_) => return None,
            };
            Some(at.finding(&[], problem, WRITE))
        })
        .collect();
    let Some(file) = material.file(REVISIONS) else {
        return findings;
    };
    let retired = &material.read.retired.retired;
    for id in revisions.cases.keys() {
        if material.case(id).is_none() && retired.iter().any(|old| old.id == *id) {
            let path = [At::Field("cases"), At::Field(id)];
            let problem = format!("{id} is retired and still listed");
            findings.push(in_file(file, &path, problem, WRITE));
        }
    }
    findings
}
