//! What comes of an action under a profile.

use super::action::Action;
use super::answer::{Answer, Basis};
use super::decide::decide;
use super::expand::{Expander, Kind, Planned};
use super::filter::Conditions;
use super::profile::{Parameters, Profile};
use super::semantics::{Rule, Semantics};
use super::tables::Tables;
use super::world::World;

/// A Mac with a process under a profile. Actions change it: what is renamed is found
/// under its new name.
#[derive(Debug, Clone)]
pub struct Model<'a> {
    tables: &'a Tables,
    profile: &'a Profile,
    world: World,
    semantics: Semantics,
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Performed {
    /// The answer.
    pub answer: Answer,
    /// Every check, in order.
    pub checks: Vec<Checked>,
}

/// One check, decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The operation.
    pub operation: String,
    /// What it was about.
    pub subject: String,
    /// The answer.
    pub answer: Answer,
    /// What decided.
    pub basis: Basis,
    /// Whether a real system is known to make this check.
    pub sure: bool,
}

impl std::fmt::Display for Checked {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Checked {
            operation,
            subject,
            answer,
            basis,
            ..
        } = self;
        write!(formatter, "{answer} {operation} {subject} ({basis})")
    }
}

impl Performed {
    /// The checks that deny it.
    pub fn denials(&self) -> impl Iterator<Item = &Checked> {
        let checks = self.checks.iter();
        checks.filter(|check| check.sure && check.answer == Answer::Denied)
    }

    fn unknown(reason: String) -> Performed {
        Performed {
            answer: Answer::Unknown,
            checks: vec![Checked {
                operation: "default".to_owned(),
                subject: String::new(),
                answer: Answer::Unknown,
                basis: Basis::Unknown(reason),
                sure: true,
            }],
        }
    }
}

impl<'a> Model<'a> {
    /// A process under a profile, on a usual Mac.
    pub fn new(profile: &'a Profile, tables: &'a Tables) -> Model<'a> {
        let world = World::new(&tables.world);
        Model::with(profile, tables, world, Semantics::default())
    }

    /// The same in another world, and under other semantics.
    pub fn with(
        profile: &'a Profile,
        tables: &'a Tables,
        world: World,
        semantics: Semantics,
    ) -> Model<'a> {
        Model {
            tables,
            profile,
            world,
            semantics,
        }
    }

    /// What comes of an action.
    pub fn perform(&mut self, action: &Action) -> Performed {
        match action {
            Action::Sandbox(inner) => return self.sandbox(inner),
            Action::Any(ways) => return self.any(ways),
            _ => {}
        }
        let expander = Expander {
            world: &self.world,
            tables: self.tables,
            semantics: self.semantics,
        };
        let planned = match expander.checks(action) {
            Ok(planned) => planned,
            Err(reason) => return Performed::unknown(reason),
        };
        let checks: Vec<Checked> = planned.into_iter().map(|one| self.check(one)).collect();
        let performed = Performed {
            answer: answer(&checks),
            checks,
        };
        if performed.answer == Answer::Allowed {
            self.world.change(action);
        }
        performed
    }

    /// The world as the actions left it.
    pub fn into_world(self) -> World {
        self.world
    }

    /// Goes each way from where things stand. The first that is open leaves its changes.
    fn any(&mut self, ways: &[Vec<Action>]) -> Performed {
        let mut all = Performed {
            answer: Answer::Denied,
            checks: Vec::new(),
        };
        for way in ways {
            let mut model = self.clone();
            let mut checks = Vec::new();
            let mut answer = Answer::Allowed;
            for action in way {
                let performed = model.perform(action);
                checks.extend(performed.checks);
                answer = answer.max(performed.answer);
                if answer == Answer::Denied {
                    break;
                }
            }
            if answer == Answer::Allowed {
                *self = model;
                return Performed { answer, checks };
            }
            all.answer = all.answer.min(answer);
            all.checks.extend(checks);
        }
        all
    }

    fn check(&self, planned: Planned) -> Checked {
        let subject = planned.subject.to_string();
        let sure = planned.kind != Kind::Perhaps;
        let with_aliases = self.semantics.has(Rule::Aliases);
        let operation = self
            .tables
            .operations
            .find(&planned.operation, with_aliases);
        let (answer, basis) = match (planned.kind, operation) {
            (Kind::Never(reason), _) => (Answer::Denied, Basis::System(reason)),
            (_, None) => {
                let reason = format!("no operation is called {}", planned.operation);
                (Answer::Unknown, Basis::Unknown(reason))
            }
            (_, Some(operation)) => {
                let conditions = Conditions {
                    folds_case: self.world.folds_case,
                    semantics: self.semantics,
                };
                let decision = decide(
                    self.profile,
                    self.tables,
                    operation,
                    &planned.subject,
                    conditions,
                );
                (decision.answer, decision.basis)
            }
        };
        Checked {
            operation: planned.operation,
            subject,
            answer,
            basis,
            sure,
        }
    }

    /// A process that is confined cannot confine itself anew, except where neither
    /// profile denies anything.
    fn sandbox(&self, inner: &str) -> Performed {
        let inner = Profile::read_with(inner, &Parameters::new(), self.tables, self.semantics);
        let inner = match inner {
            Ok(inner) => inner,
            Err(error) => return Performed::unknown(format!("the inner profile: {error}")),
        };
        let default = self
            .tables
            .operations
            .find("default", false)
            .unwrap_or_default();
        let harmless = self.profile.denies_nothing(default) && inner.denies_nothing(default);
        let refused = !harmless && self.semantics.has(Rule::Nested);
        let answer = if refused {
            Answer::Denied
        } else {
            Answer::Allowed
        };
        let reason = "a sandbox inside of another is refused, unless neither denies anything";
        let check = Checked {
            operation: "forbidden-sandbox-reinit".to_owned(),
            subject: String::new(),
            answer,
            basis: Basis::System(reason),
            sure: true,
        };
        Performed {
            answer,
            checks: vec![check],
        }
    }
}

/// The answer of an action: one denial is enough, and what is not known of a check
/// is not known of the action.
fn answer(checks: &[Checked]) -> Answer {
    let sure = |wanted| {
        let mut checks = checks.iter();
        checks.any(|check| check.sure && check.answer == wanted)
    };
    if sure(Answer::Denied) {
        return Answer::Denied;
    }
    let doubtful = checks.iter().any(|check| check.answer != Answer::Allowed);
    if doubtful {
        Answer::Unknown
    } else {
        Answer::Allowed
    }
}
