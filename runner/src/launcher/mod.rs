//! Launchers: the programs under test, and how each is driven.

pub mod file;
