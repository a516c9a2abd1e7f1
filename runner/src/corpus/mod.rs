//! The corpus: cases as data, and how they are read.

pub mod case;
pub mod expect;
pub mod fixture;
pub mod policy;
pub mod vocabulary;
