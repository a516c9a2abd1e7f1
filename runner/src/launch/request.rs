//! What a launch is asked to do, and what came of it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::corpus::case::During;
use crate::corpus::streams::Streams;
use crate::fixture::Inheritance;
use crate::observe::observation::{LaunchObservation, Leftover};

/// How long a launcher's tree may take to end after the launcher has. The
/// kernel takes a process-id namespace down after the launcher has returned;
/// up to 16 ms of it were measured on a loaded machine, and this is thirty
/// times that.
pub const GRACE: Duration = Duration::from_millis(500);

/// One launch of a launcher.
#[derive(Debug)]
pub struct LaunchRequest<'a> {
    /// The launcher's program and arguments.
    pub command_line: Vec<OsString>,
    /// Where the launcher itself is started.
    pub working_directory: PathBuf,
    /// The launcher's whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What the launcher reads on its standard input. On a terminal it is typed.
    pub stdin: Vec<u8>,
    /// Whether the launcher is started on a terminal of its own.
    pub terminal: bool,
    /// The line by which the command proves that it started.
    pub start_line: Option<String>,
    /// What the launcher finds in the place of its standard streams, save on a
    /// terminal.
    pub streams: &'a Streams,
    /// What happens on the host meanwhile, in this order.
    pub during: &'a [During],
    /// The working directory of the host's shell commands.
    pub host_directory: PathBuf,
    /// The whole environment of the host's shell commands.
    pub host_environment: Vec<(OsString, OsString)>,
    /// How long the launcher may run; then its whole tree is killed.
    pub deadline: Duration,
    /// How long its tree may outlive it before that is a leftover; [`GRACE`]
    /// for a launcher that takes namespaces down.
    pub grace: Duration,
    /// What the launcher inherits beside its streams. Its variables are not
    /// read here: `environment` is the whole.
    pub inherited: &'a Inheritance,
    /// Children of this process that are not the launcher's: never leftovers,
    /// never killed.
    pub own_processes: &'a [i32],
}

/// What came of a launch. None of its processes is left when this is returned.
#[derive(Debug, Clone, Default)]
pub struct Launched {
    /// What was seen of the launcher.
    pub observation: LaunchObservation,
    /// Its processes that outlived it by more than the grace; they were killed.
    pub leftovers: Vec<Leftover>,
    /// What waited in the input queue of its terminal after it had ended.
    pub typed: String,
}
