//! What this host offers a sandbox, and what to change where it does not.

mod failure;

pub(crate) use failure::failure;
