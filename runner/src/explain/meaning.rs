//! What each verdict would mean for one case, from what the case expects.

use serde::Serialize;

use crate::corpus::Trial;
use crate::corpus::case::Step;
use crate::corpus::expect::{Absorbed, Expect, Outcome, Refusal};
use crate::corpus::policy::PolicySpec;
use crate::corpus::vocabulary::{Fact, Platform};
use crate::judge::LauncherTraits;
use crate::verdict::Verdict;

use super::effect::{effect_words, text_words};
use super::row;

/// A verdict and what it would mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Meaning {
    /// The verdict.
    pub verdict: Verdict,
    /// In which event it would be that.
    pub means: String,
}

/// The verdicts that a trial can have, the wanted one first.
pub fn meanings(trial: &Trial, launcher: LauncherTraits) -> Vec<Meaning> {
    let expect = &trial.case.expect;
    let mut all = match expect.outcome {
        Outcome::Allowed => of_permission(trial),
        Outcome::Denied => of_denial(trial),
        Outcome::Refused => of_refusal(launcher),
    };
    if !expect.effect.survives {
        add(
            &mut all,
            Verdict::Leaked,
            "a process of the command is still there when the launcher has ended".to_owned(),
        );
    }
    add(
        &mut all,
        Verdict::Timeout,
        format!(
            "the launcher has not ended after {} seconds",
            trial.case.timeout
        ),
    );
    all.extend(uncounted(trial));
    all
}

fn add(all: &mut Vec<Meaning>, verdict: Verdict, means: String) {
    all.push(Meaning { verdict, means });
}

/// The parts of the effect as one clause.
fn effect_of(expect: &Expect) -> String {
    row(&effect_words(&expect.effect))
}

fn of_permission(trial: &Trial) -> Vec<Meaning> {
    let expect = &trial.case.expect;
    let effect = effect_of(expect);
    let manner = manner(expect);
    let mut all = Vec::new();
    let also = if manner.is_empty() {
        String::new()
    } else {
        format!("; and {}", row(&manner))
    };
    add(&mut all, Verdict::Conforms, format!("{effect}{also}"));
    let more = if effect_words(&expect.effect).len() > 1 {
        "not all of that shows"
    } else {
        "that does not show"
    };
    add(
        &mut all,
        Verdict::Overblocked,
        format!("the command never starts, or {more}, though it does without a sandbox"),
    );
    add(&mut all, Verdict::Escaped, watched(trial));
    if !manner.is_empty() {
        add(
            &mut all,
            Verdict::Deviates,
            format!("that shows, but it is not so that {}", row(&manner)),
        );
    }
    add(
        &mut all,
        Verdict::Vacuous,
        format!("{more}, and neither does it without a sandbox: this host cannot do it"),
    );
    all
}

fn of_denial(trial: &Trial) -> Vec<Meaning> {
    let expect = &trial.case.expect;
    let effect = effect_of(expect);
    let manner = manner(expect);
    let whole = if effect_words(&expect.effect).len() > 1 {
        "not all of this is so, as it is without a sandbox"
    } else {
        "this is not so, as it is without a sandbox"
    };
    let mut all = Vec::new();
    add(
        &mut all,
        Verdict::Conforms,
        format!("the command starts, and {whole}: {effect}"),
    );
    add(
        &mut all,
        Verdict::Escaped,
        format!("{effect}; or {}", watched(trial)),
    );
    let never = if expect.refusal == Refusal::Accepted {
        "no launch of the case starts its command; that only this one is refused is as good as a denial"
    } else {
        "the command never starts, so nothing was denied"
    };
    add(&mut all, Verdict::Overblocked, never.to_owned());
    let mut deviates = Vec::new();
    if let (Some(claim), Absorbed::Rejected) = (&expect.claim, expect.absorbed) {
        deviates.push(format!(
            "the command believes that it succeeded (its output {}), and nothing of it reaches the host",
            text_words(claim)
        ));
    }
    if !manner.is_empty() {
        deviates.push(format!("it is not so that {}", row(&manner)));
    }
    if expect.refusal == Refusal::Accepted {
        deviates.push("it is refused with success, or without a word".to_owned());
    }
    if !deviates.is_empty() {
        add(&mut all, Verdict::Deviates, deviates.join("; or "));
    }
    add(
        &mut all,
        Verdict::Vacuous,
        format!("without a sandbox it is not so either that {effect}: nothing is proven here"),
    );
    all
}

fn of_refusal(launcher: LauncherTraits) -> Vec<Meaning> {
    let status = launcher.refusal_status.map_or_else(
        || "a status other than 0".to_owned(),
        |status| format!("the status {status}"),
    );
    let all = [
        (
            Verdict::Conforms,
            format!(
                "the launcher starts nothing, says why and ends with {status}; the same launch, mended (the control), starts its command"
            ),
        ),
        (
            Verdict::Escaped,
            "the command is started, as if nothing were wrong".to_owned(),
        ),
        (
            Verdict::Overblocked,
            "the mended launch does not start its command either".to_owned(),
        ),
        (
            Verdict::Deviates,
            format!("nothing is started, but without a word, or not with {status}"),
        ),
        (
            Verdict::Vacuous,
            "the command does not start without a sandbox either".to_owned(),
        ),
    ];
    all.into_iter()
        .map(|(verdict, means)| Meaning { verdict, means })
        .collect()
}

/// What is stated of the manner of the last launch.
fn manner(expect: &Expect) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(status) = expect.exit {
        words.push(format!("the exit status is {status}"));
    }
    if let Some(output) = &expect.output {
        words.push(format!("the standard output {}", text_words(output)));
    }
    if let Some(errors) = &expect.error_output {
        words.push(format!("the standard error {}", text_words(errors)));
    }
    words
}

/// What is an escape in any case: a canary that shows, a protected thing that
/// changes.
fn watched(trial: &Trial) -> String {
    let expect = &trial.case.expect;
    let mut allowed = expect.reveals.clone();
    if expect.outcome == Outcome::Allowed {
        allowed.extend(expect.effect.reveals.iter().cloned());
    }
    let mut secrets: Vec<String> = crate::corpus::secrets_of(&trial.fixture)
        .into_iter()
        .filter(|secret| !allowed.contains(secret))
        .map(|secret| format!("`{secret}`"))
        .collect();
    secrets.sort();
    let mut words = Vec::new();
    if !secrets.is_empty() {
        words.push(format!("the canary of {} shows anywhere", row(&secrets)));
    }
    let mut free = writable(trial);
    free.extend(expect.changes.iter().cloned());
    words.push(format!(
        "anything of the fixture changes that is not below {}",
        row(&free)
    ));
    words.join(", or ")
}

/// What the launches of a trial may change.
fn writable(trial: &Trial) -> Vec<String> {
    let mut free = Vec::new();
    let launches = trial
        .steps()
        .into_iter()
        .filter_map(|step: Step| step.launch);
    for launch in launches {
        let policy: &PolicySpec = launch.policy.as_ref().unwrap_or(&trial.policy);
        let workspace = launch.workspace.as_deref().unwrap_or("the workspace");
        for path in std::iter::once(workspace).chain(policy.read_write.iter().map(String::as_str)) {
            if !free.iter().any(|known| known == path) {
                free.push(path.to_owned());
            }
        }
    }
    free
}

/// When it would not be measured at all.
fn uncounted(trial: &Trial) -> Vec<Meaning> {
    let mut all = Vec::new();
    let needs = listed(&trial.needs());
    if !needs.is_empty() {
        add(
            &mut all,
            Verdict::Unsupported,
            format!("the launcher does not claim {}", row(&needs)),
        );
    }
    let (users, facts): (Vec<Fact>, Vec<Fact>) = trial
        .case
        .facts
        .iter()
        .partition(|fact| matches!(fact, Fact::Root | Fact::Unprivileged));
    if !facts.is_empty() {
        add(
            &mut all,
            Verdict::Unmeasured,
            format!("the host does not offer {}", row(&listed(&facts))),
        );
    }
    let mut elsewhere = Vec::new();
    if trial.case.platforms.len() < Platform::unix().len() {
        let platforms = listed(&trial.case.platforms);
        elsewhere.push(format!("the system is not {}", row(&platforms)));
    }
    for user in users {
        elsewhere.push(match user {
            Fact::Root => "the run is not by uid 0".to_owned(),
            _ => "the run is by uid 0".to_owned(),
        });
    }
    if !elsewhere.is_empty() {
        add(&mut all, Verdict::NotApplicable, elsewhere.join(", or "));
    }
    all
}

/// Words of a closed list, as files write them.
fn listed<T: Serialize>(words: &[T]) -> Vec<String> {
    words.iter().map(crate::report::word).collect()
}
