//! The pieces of a script that are the same in each: shell functions, and the
//! helpers in Python for what a shell cannot do.

/// Directories, signals, cleaning up.
pub(super) const BEGIN: &str = include_str!("parts/begin.sh");
/// Commands of the host.
pub(super) const HOST: &str = include_str!("parts/host.sh");
/// The state of files.
pub(super) const WATCH: &str = include_str!("parts/watch.sh");
/// Canaries.
pub(super) const SECRETS: &str = include_str!("parts/secrets.sh");
/// Starting a launcher by the shell.
pub(super) const PLAIN: &str = include_str!("parts/plain.sh");
/// Starting a launcher by the helper.
pub(super) const KEPT: &str = include_str!("parts/kept.sh");
/// One launch, watched.
pub(super) const LAUNCH: &str = include_str!("parts/launch.sh");
/// Tests of what is looked for.
pub(super) const LOOK: &str = include_str!("parts/look.sh");
/// Regular expressions.
pub(super) const MATCHES: &str = include_str!("parts/matches.sh");
/// Launches that are tried again and again.
pub(super) const RACE: &str = include_str!("parts/race.sh");
/// One attempt.
pub(super) const ATTEMPT: &str = include_str!("parts/attempt.sh");
/// What every reading has.
pub(super) const READING: &str = include_str!("parts/reading.sh");
/// The reading of a permission.
pub(super) const READING_ALLOWED: &str = include_str!("parts/reading_allowed.sh");
/// The reading of a denial.
pub(super) const READING_DENIED: &str = include_str!("parts/reading_denied.sh");
/// The reading of a refusal.
pub(super) const READING_REFUSED: &str = include_str!("parts/reading_refused.sh");
/// Services, processes and shared memory of the host.
pub(super) const SERVICES: &str = include_str!("parts/host.py");
/// What starts a launcher with what a shell cannot give it.
pub(super) const KEEPER: &str = include_str!("parts/keeper.py");
/// The probe, in the order of its parts.
pub(super) const PROBE: [&str; 4] = [
    include_str!("parts/probe.py"),
    include_str!("parts/probe_kernel.py"),
    include_str!("parts/probe_calls.py"),
    include_str!("parts/probe_end.py"),
];
