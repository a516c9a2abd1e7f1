//! What a run says to the shell: the one list of exit codes.
//!
//! One run can deserve several. The order of the variants of [`ExitCode`] is the
//! order of precedence, and the first that applies is the code:
//!
//! 1. `Harness` wins over all: a harness that failed once cannot vouch for the
//!    cases that it calls failed or conforming.
//! 2. `Usage` and `Nothing` end a run before any case, so they meet no other.
//! 3. `Failure` is never masked by what was not proven: an escape stays an
//!    escape on a host where half of the cases cannot be measured.
//! 4. `Expectations` wins over `Unproven`, since the list is wrong whatever the
//!    host offers.
//! 5. `Unproven` wins over `Conforms`, so that zero means that something was
//!    required and all of it was proven.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The exit codes of every command that runs cases; the first that applies wins.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(into = "u8", try_from = "u8")]
#[schemars(with = "u8", extend("enum" = [0, 1, 2, 3, 4, 5, 70]))]
pub enum ExitCode {
    /// 70: the harness itself failed, so nothing of the run can be trusted.
    Harness,
    /// 2: the command line, the corpus or the launcher file is wrong.
    Usage,
    /// 4: the filters select no case.
    Nothing,
    /// 1: a required case failed.
    Failure,
    /// 5: an expectation is stale, expired or matches nothing.
    Expectations,
    /// 3: a required case is vacuous or was not measured and the run did not
    /// declare that the host lacks what it needs; or no case was required.
    Unproven,
    /// 0: all required cases conform.
    Conforms,
}

impl ExitCode {
    /// Every code, in order of precedence.
    pub const ALL: [ExitCode; 7] = [
        ExitCode::Harness,
        ExitCode::Usage,
        ExitCode::Nothing,
        ExitCode::Failure,
        ExitCode::Expectations,
        ExitCode::Unproven,
        ExitCode::Conforms,
    ];

    /// The number.
    pub const fn code(self) -> u8 {
        match self {
            ExitCode::Conforms => 0,
            ExitCode::Failure => 1,
            ExitCode::Usage => 2,
            ExitCode::Unproven => 3,
            ExitCode::Nothing => 4,
            ExitCode::Expectations => 5,
            ExitCode::Harness => 70,
        }
    }

    /// What the number means, as help texts and reports put it.
    pub const fn meaning(self) -> &'static str {
        match self {
            ExitCode::Conforms => "all required cases conform",
            ExitCode::Failure => "a required case failed",
            ExitCode::Usage => "the command line, the corpus or the launcher file is wrong",
            ExitCode::Unproven => "a required case was not proven, or none was required",
            ExitCode::Nothing => "the filters select no case",
            ExitCode::Expectations => "an expectation is stale, expired or matches nothing",
            ExitCode::Harness => "the harness itself failed",
        }
    }

    /// The code of two reasons: the one that takes precedence.
    #[must_use]
    pub fn or(self, other: ExitCode) -> ExitCode {
        self.min(other)
    }
}

impl From<ExitCode> for u8 {
    fn from(code: ExitCode) -> u8 {
        code.code()
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> std::process::ExitCode {
        std::process::ExitCode::from(code.code())
    }
}

impl TryFrom<u8> for ExitCode {
    type Error = String;

    fn try_from(number: u8) -> Result<ExitCode, String> {
        ExitCode::ALL
            .into_iter()
            .find(|code| code.code() == number)
            .ok_or_else(|| format!("no run ends with the exit code {number}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_a_number_of_its_own_and_is_read_back_from_it() {
        for code in ExitCode::ALL {
            assert_eq!(ExitCode::try_from(code.code()), Ok(code));
        }
        assert!(ExitCode::try_from(6).is_err());
    }

    #[test]
    fn a_failure_is_not_masked_by_what_was_not_proven() {
        assert_eq!(ExitCode::Unproven.or(ExitCode::Failure), ExitCode::Failure,);
    }

    #[test]
    fn a_harness_error_takes_precedence_over_all() {
        for code in ExitCode::ALL {
            assert_eq!(code.or(ExitCode::Harness), ExitCode::Harness);
            assert_eq!(code.or(ExitCode::Conforms), code);
        }
    }
}
