//! Drives any sandbox launcher through a conformance corpus and judges by what
//! happened on the host.

pub mod corpus;
pub mod exit;
pub mod fixture;
pub mod launch;
pub mod launcher;
pub mod observe;
pub mod report;
pub mod verdict;
