//! Launchers: the programs under test, and how each is driven.

pub(crate) mod checked;
pub mod consistency;
pub mod document;
pub mod file;
pub mod program;
pub mod request;
pub mod template;
pub mod version;
