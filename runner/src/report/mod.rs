//! What is told of a run: the records, and the reports that are derived from them.

pub mod results;
