//! What happened: the host's side of a run, and the command's own record.

pub mod observation;
