//! `perimeter doctor`.

use std::process::ExitCode;

use super::arguments::Doctor;
use super::failure::Failure;

pub fn run(_doctor: &Doctor) -> Result<ExitCode, Failure> {
    Err(Failure::new(1, "not yet"))
}
