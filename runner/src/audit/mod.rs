//! The kill matrix: wrong launchers × cases, and the proof that every case can fail.
//!
//! A run has a few subjects: the launcher that is right (the reference), the two that
//! are no sandbox and do nothing (`open`, `dead`), the control (the program that makes
//! mistakes, making none), and the faults. Each is run against every selected trial.
//! What was seen becomes a record, that can be committed, and findings, that fail the
//! audit. Running, and judging what was seen, are apart: the second is pure.
//!
//! **What counts as caught.** A case catches a fault if in one of its trials the right
//! launcher `conforms` and the wrong one fails: `escaped`, `leaked`, `overblocked`,
//! `deviates` or `timeout` (the right launcher ended in time, so the fault is why the
//! wrong one did not). `vacuous`, `unmeasured`, `unsupported` and `not-applicable` prove
//! nothing, and an `error` is the harness's own: none of them is ever a catch.

mod engine;
mod findings;
mod proof;
mod record;
mod report;
mod run;
mod seen;
mod stale;
mod store;
mod subject;
mod text;
mod tries;
mod watch;

#[cfg(test)]
mod sample;

pub use findings::{Finding, Kind, exit_code, of_trials};
pub use proof::{Scope, of_records};
pub use record::{Present, merge, record};
pub use report::{Report, faults_of_case, markdown, pairs, render};
pub use run::{AuditError, Audited, Selection, run};
pub use seen::{Cell, Outcomes, Seen, SeenFault};
pub use stale::{Change, Stale, of_corpus, still_true};
pub use store::{Store, StoreError};
pub use subject::{CONTROL, Chosen, DEAD, choose};
pub use text::text;
pub use watch::Watch;
