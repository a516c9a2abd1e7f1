//! What the judge says of a case.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The one word for what came of a trial.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The forbidden effect showed, a canary leaked, or something protected changed.
    Escaped,
    /// A process outlived the launcher.
    Leaked,
    /// What must work did not.
    Overblocked,
    /// The right direction, in the wrong manner: exit status, output, a lost write.
    Deviates,
    /// The deadline passed.
    Timeout,
    /// The harness itself failed.
    Error,
    /// The same command without a sandbox does not bring the effect about here,
    /// so that its absence proves nothing.
    Vacuous,
    /// The host lacks what the case needs.
    Unmeasured,
    /// The launcher does not claim the feature.
    Unsupported,
    /// The case means nothing on this platform or for this user.
    NotApplicable,
    /// What was asserted holds.
    Conforms,
}

/// How verdicts are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// It holds.
    Pass,
    /// The launcher failed.
    Failure,
    /// Nothing was proven either way.
    Unproven,
    /// It does not count.
    Uncounted,
    /// The harness failed.
    Harness,
}

impl Verdict {
    /// Every verdict, worst first.
    pub const ALL: [Verdict; 11] = [
        Verdict::Escaped,
        Verdict::Leaked,
        Verdict::Overblocked,
        Verdict::Deviates,
        Verdict::Timeout,
        Verdict::Error,
        Verdict::Vacuous,
        Verdict::Unmeasured,
        Verdict::Unsupported,
        Verdict::NotApplicable,
        Verdict::Conforms,
    ];

    /// How the verdict is counted.
    pub fn class(self) -> Class {
        match self {
            Verdict::Conforms => Class::Pass,
            Verdict::Escaped
            | Verdict::Leaked
            | Verdict::Overblocked
            | Verdict::Deviates
            | Verdict::Timeout => Class::Failure,
            Verdict::Vacuous | Verdict::Unmeasured => Class::Unproven,
            Verdict::Unsupported | Verdict::NotApplicable => Class::Uncounted,
            Verdict::Error => Class::Harness,
        }
    }

    /// The word, as files and reports show it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Escaped => "escaped",
            Verdict::Leaked => "leaked",
            Verdict::Overblocked => "overblocked",
            Verdict::Deviates => "deviates",
            Verdict::Timeout => "timeout",
            Verdict::Error => "error",
            Verdict::Vacuous => "vacuous",
            Verdict::Unmeasured => "unmeasured",
            Verdict::Unsupported => "unsupported",
            Verdict::NotApplicable => "not-applicable",
            Verdict::Conforms => "conforms",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
