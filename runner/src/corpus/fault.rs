//! Faults: launchers that are wrong on purpose, so that each case can be seen to
//! fail. Data, one a file in `faults/`; `perimeter audit` runs them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::CorpusError;
use super::source::SourceFile;
use super::vocabulary::{Fact, Platform, PolicyField};
use crate::launcher::file::{Argument, LauncherFile};

/// The placeholder of the program that makes mistakes on request.
pub const FAULTY: &str = "{faulty}";
/// The launcher that a mistake is made in where the fault names no other.
const DEFAULT_BASE: &str = "reference";
/// How the command line of a launcher begins that a mistake can be made in.
const RIGHT: [&str; 2] = ["{perimeter}", "exec"];

/// One way for a launcher to be wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Its name, which is its file's too; never used again for something else.
    pub name: String,
    /// The fields of the policy that the launcher passes over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignores: Vec<PolicyField>,
    /// What the launcher does wrong, as a sentence.
    pub title: String,
    /// Who made this mistake, or how easily it is made, and what follows from it.
    pub why: String,
    /// Public reports of the mistake.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// Where the fault means anything.
    #[serde(default = "Platform::unix")]
    pub platforms: Vec<Platform>,
    /// What the host must offer for the fault to be one: as root alone, say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Fact>,
    /// The mistake that `perimeter-faulty` is to make. The launcher is then `base`,
    /// with `"{faulty}", "--mistake", NAME` in the place of `"{perimeter}"`. Either
    /// this or `launcher`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mistake: Option<String>,
    /// The launcher of the corpus that the mistake is made in; `reference` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// A whole wrong launcher: the fields of a launcher file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launcher: Option<LauncherFile>,
    /// `false` where a launcher with this fault never does what is asked, so that
    /// not one permission can conform. Such a fault proves nothing of single cases.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub starts: bool,
    /// `false` where a launcher with this fault confines nothing, so that every denial
    /// escapes. Such a fault proves nothing of single cases either.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub confines: bool,
    /// Why `starts` or `confines` is `false`: stated exactly where one of them is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_true(value: &bool) -> bool {
    *value
}

impl Fault {
    /// The launcher that has the fault. The name in it is the fault's.
    ///
    /// # Errors
    /// What is wrong with the file: a base that is no launcher, or that is not run
    /// through this program, so that no mistake can be made in it.
    pub fn wrong_launcher(&self, launchers: &[LauncherFile]) -> Result<LauncherFile, String> {
        let mut wrong = match (&self.mistake, &self.launcher) {
            (Some(mistake), None) => {
                let base = self.base.as_deref().unwrap_or(DEFAULT_BASE);
                mistaken(launchers, base, mistake)?
            }
            (None, Some(launcher)) => launcher.clone(),
            _ => return Err("state either mistake or launcher".to_owned()),
        };
        wrong.name.clone_from(&self.name);
        wrong.about.clone_from(&self.title);
        Ok(wrong)
    }

    /// Whether its launcher is run through `perimeter-faulty`.
    pub fn is_mistake(&self) -> bool {
        self.mistake.is_some() || self.launcher.as_ref().is_some_and(mentions_faulty)
    }

    /// What of its needs the host does not offer.
    pub fn missing<'a>(&'a self, offered: &'a [Fact]) -> impl Iterator<Item = Fact> + 'a {
        let needs = self.needs.iter().copied();
        needs.filter(|fact| !offered.contains(fact))
    }
}

/// A launcher of the corpus with a mistake in it.
///
/// # Errors
/// See [`Fault::wrong_launcher`].
pub fn mistaken(
    launchers: &[LauncherFile],
    base: &str,
    mistake: &str,
) -> Result<LauncherFile, String> {
    let Some(right) = launchers.iter().find(|launcher| launcher.name == base) else {
        return Err(format!("base {base} is no launcher of the corpus"));
    };
    let mut wrong = right.clone();
    let literal = |text: &str| Argument::Literal(text.to_owned());
    let place = wrong
        .arguments
        .windows(2)
        .position(|pair| pair == RIGHT.map(literal));
    let Some(place) = place else {
        return Err(format!(
            "base {base} has no arguments \"{{perimeter}}\", \"exec\", so no mistake can be made in it"
        ));
    };
    wrong
        .arguments
        .splice(place..=place, [FAULTY, "--mistake", mistake].map(literal));
    Ok(wrong)
}

/// Whether a launcher's command line names the program that makes mistakes.
fn mentions_faulty(launcher: &LauncherFile) -> bool {
    serde_json::to_string(&launcher.arguments).is_ok_and(|text| text.contains(FAULTY))
}

/// A fault and where it stands.
#[derive(Debug)]
pub(crate) struct FaultSource {
    pub(crate) source: SourceFile,
    pub(crate) content: Fault,
}

/// Checks every fault, alone and against the launchers: what is wrong with each.
pub(crate) fn check(faults: &[FaultSource], launchers: &[LauncherFile]) -> Vec<CorpusError> {
    let problem = |FaultSource { source, content }: &FaultSource| {
        let problem = alone(source, content)
            .and_then(|()| content.wrong_launcher(launchers).map(drop))
            .err()?;
        Some(CorpusError::Fault {
            file: source.shown.clone(),
            fault: content.name.clone(),
            problem,
        })
    };
    faults.iter().filter_map(problem).collect()
}

fn alone(source: &SourceFile, fault: &Fault) -> Result<(), String> {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if fault.name.is_empty() || !fault.name.bytes().all(is_word) {
        return Err("a name is lower-case letters, digits and hyphens".to_owned());
    }
    // The name of the file keeps names apart.
    let stem = source.name.rsplit('/').next().unwrap_or_default();
    if stem != format!("{}.json", fault.name) {
        return Err(format!("the file of this fault is {}.json", fault.name));
    }
    if fault.title.trim().is_empty() || fault.why.trim().is_empty() {
        return Err("title and why are never empty".to_owned());
    }
    if fault.base.is_some() && fault.mistake.is_none() {
        return Err("base is the launcher that a mistake is made in; there is none".to_owned());
    }
    match (fault.starts && fault.confines, &fault.reason) {
        (true, Some(_)) => Err(
            "reason says why a fault never starts or confines nothing; this one does".to_owned(),
        ),
        (false, None) => {
            Err("state in reason why this fault never starts, or confines nothing".to_owned())
        }
        _ => Ok(()),
    }
}
