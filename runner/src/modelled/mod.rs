//! A run that is modelled: what a launcher's profile would decide on a Mac, said
//! without one.
//!
//! A case says in `modelled` what its command amounts to. The launcher file's `profile`
//! prints the profile of a launch, and the model decides each action under it. What
//! comes of it is no verdict: a modelled case never counts as a pass, and stands in a
//! column of its own.

mod decide;
mod places;
mod profile;
mod records;
mod report;

pub use decide::{Modeller, ModellerError};
pub use records::{Decision, ModelledEnd, ModelledResult, ModelledRun, exit_code};
pub use report::{lines, markdown, text};
