//! Launchers: the programs under test, and how each is driven.

pub mod document;
pub mod file;
pub mod request;
pub mod template;
