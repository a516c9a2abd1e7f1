//! A model of Seatbelt, the sandbox of macOS: what a profile decides, said
//! without a Mac.
//!
//! A [`Profile`] is read from its text, a [`World`] holds the links of a Mac, and
//! [`Model::perform`] expands an [`Action`] to the checks that the system makes and
//! decides each. There are three answers: what the model cannot know is
//! [`Answer::Unknown`], and what it cannot read is an error with line and column.
//!
//! What rests on observation and not on logic is data, each entry with its source:
//! the operations and what decides where no rule does (`macos/operations.json`), the
//! links and programs of a usual Mac (`macos/world.json`), what is known of the
//! profiles that a system brings along (`macos/imports.json`), and outcomes that were
//! seen on Macs (`macos/facts/`), which the model has to agree with.
//!
//! A green model says that a profile means what its author thinks, and not that a
//! Mac enforces it.

mod action;
mod answer;
mod decide;
mod error;
mod execution;
mod expand;
mod facts;
mod filter;
mod imports;
#[cfg(target_os = "macos")]
pub mod kernel;
mod language;
mod operations;
mod perform;
mod profile;
mod semantics;
mod subject;
mod tables;
mod text_test;
mod world;

pub use action::{
    Action, Bind, Connect, Ioctl, LinkTo, Metadata, RawCheck, Shared, SocketSpec, TwoPaths, Update,
};
pub use answer::{Answer, Basis, Decision};
pub use error::{Problem, ProfileError, TableError};
pub use execution::{BAD_PROFILE, Execution, FAILED, REFUSED, SANDBOX_EXEC, Trial};
pub use facts::{Denial, Disagreement, Evidence, Expected, Fact, FactFile, Facts, Lines, Step};
pub use imports::ImportsFile;
pub use operations::{OperationsFile, Terminal};
pub use perform::{Checked, Model, Performed};
pub use profile::{Parameters, Profile};
pub use semantics::{Rule, Semantics};
pub use subject::{Address, Protocol, Subject, Target};
pub use tables::Tables;
pub(crate) use tables::is_data;
pub use world::{Additions, ProgramEntry, World, WorldFile};
