//! What can be typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use perimeter_runner::corpus::partition::Partition;
use perimeter_runner::corpus::vocabulary::{Fact, Level, Platform};

use super::explain::Explain;
use super::repro::Repro;

/// Runs a command under a sandbox policy, and checks that any sandbox holds.
#[derive(Debug, Parser)]
#[command(name = "perimeter", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  perimeter check                              does the reference launcher hold on this host?
  perimeter check --launcher mine.json         does mine?
  perimeter exec -- npm test                   run a command in the current directory, confined
  perimeter exec --network none -- make        and without a network
  perimeter doctor                             what works here, and how to mend the rest";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a command in a sandbox
    Exec(Exec),
    /// Check that a launcher holds what it claims, and prove each denial
    Check(Check),
    /// Prove that every case can fail: run wrong launchers against the corpus
    Audit(super::audit::AuditArguments),
    /// Put results of several launchers, users and hosts side by side
    Compare(super::compare::Compare),
    /// List the launchers that are known, and their state on this host
    Launchers(super::launchers::Launchers),
    /// List the cases of the corpus
    List(List),
    /// Say what a case is about, what it runs, and what each verdict means
    Explain(Explain),
    /// Say what is wrong with a corpus, without running anything
    Lint(super::lint::Lint),
    /// Try random policies and file operations, and compare with what they mean
    Explore(super::explore::Explore),
    /// Write a case as one shell script, to be run by hand without this program
    Repro(Repro),
    /// Print the exact bubblewrap arguments of a launch, one a line, or the profile that a
    /// Mac would use
    Plan(Plan),
    /// Work with policy documents
    #[command(
        subcommand,
        after_help = "Example:\n  perimeter policy check policy.json"
    )]
    Policy(PolicyCommand),
    /// Say what this host offers, what is missing, and how to mend it
    Doctor(Doctor),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  perimeter completions bash > ~/.local/share/bash-completion/completions/perimeter"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// What a command may reach, from a document and from flags.
#[derive(Debug, Args)]
pub struct Confinement {
    /// The policy document; without one the strict default holds
    #[arg(long, value_name = "FILE", conflicts_with = "agent")]
    pub policy: Option<PathBuf>,
    /// The agent whose document is in the user's policy store
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The set of defaults; may narrow what a document says, never widen it
    #[arg(long, value_enum)]
    pub posture: Option<PostureFlag>,
    /// The network; may narrow what a document says, never widen it
    #[arg(long, value_enum)]
    pub network: Option<NetworkFlag>,
    /// The directory that the command may write [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The directory that the command starts in [default: the workspace]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// A document whose `environment` object holds the command's variables
    #[arg(long, value_name = "FILE")]
    pub environment: Option<PathBuf>,
    /// A variable for the command; ${NAME} as the whole value copies the
    /// caller's, if the policy lists it
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub variables: Vec<OsString>,
    /// `off` runs without a sandbox, and says nothing
    #[arg(
        long,
        value_enum,
        env = "PERIMETER_ENFORCEMENT",
        default_value = "required"
    )]
    pub enforcement: EnforcementFlag,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PostureFlag {
    /// Only the system, the workspace and what is granted
    Strict,
    /// The whole host, readable
    HostReadable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NetworkFlag {
    /// The host's network
    Host,
    /// No network
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EnforcementFlag {
    /// Refuse to run what cannot be confined
    Required,
    /// Run without a sandbox
    Off,
}

/// Run a command in a sandbox.
///
/// The exit status is the command's own, as a shell shows it: 126 if it cannot
/// be executed, 127 if it is not found, 128+N if signal N ended it. 125 means
/// that the launcher failed or refused, and that nothing was started.
///
/// SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on to the command; a second one
/// ends it and everything that it started. Nothing of it outlives this program, nor
/// the program that called this one.
#[derive(Debug, Parser)]
#[command(
    bin_name = "perimeter exec",
    max_term_width = 100,
    after_help = "\
Examples:
  perimeter exec -- make test
  perimeter exec --network none -- bash -c 'npm ci && npm test'
  perimeter exec --policy policy.json --workspace ~/project -- cargo build
  perimeter exec --tty -- bash"
)]
pub struct Exec {
    #[command(flatten)]
    pub confinement: Confinement,
    /// Give the command a terminal of its own
    #[arg(long)]
    pub tty: bool,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Print the exact arguments that a launch gives to bubblewrap, one a line; on macOS, to
/// sandbox-exec.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  perimeter plan -- true
  perimeter plan --platform macos --workspace /Users/me/project
  perimeter plan --policy policy.json --network none -- make")]
pub struct Plan {
    #[command(flatten)]
    pub confinement: Confinement,
    /// Plan for a terminal of the command's own
    #[arg(long)]
    pub tty: bool,
    /// End each argument with a NUL instead of a newline
    #[arg(short = '0', long)]
    pub null: bool,
    /// Print the Seatbelt profile that a usual Mac would use, without looking at any
    /// path; nothing of it is run
    #[arg(long, value_enum, conflicts_with = "null")]
    pub platform: Option<PlatformFlag>,
    /// The symbolic links of the Mac that is thought of: a file with a JSON object of
    /// paths, and what the link at each says
    #[arg(long, value_name = "FILE", requires = "platform")]
    pub links: Option<PathBuf>,
    /// The command and its arguments
    #[arg(last = true, value_name = "COMMAND", default_value = "true")]
    pub command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlatformFlag {
    /// Seatbelt
    Macos,
}

#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Read a policy document and say what is wrong with it
    #[command(after_help = "Example:\n  perimeter policy check policy.json")]
    Check {
        /// The document
        file: PathBuf,
    },
}

/// Say what this host offers, what is missing, and how to mend it.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 if a command can be confined here, 1 if not.

Example:
  perimeter doctor")]
pub struct Doctor {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Where the cases come from, and which of them.
#[derive(Debug, Args)]
pub struct Selection {
    /// Cases whose name, file or topic contains this; each must match some
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Another corpus than the one inside this program
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
}

/// Check that a launcher holds what it claims, and prove each denial.
///
/// Each case is run under the launcher, and each denial once more without any
/// sandbox, on fresh fixtures: a denial counts only if the same command brings
/// the effect about without the sandbox.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status:
  0   every required case conforms
  1   a required case fails
  2   the command line, the corpus or the launcher file is wrong
  3   a required case was not measured, or proves nothing here
  4   nothing was selected
  5   an expectation is stale, expired or matches nothing
  70  the harness itself failed

Examples:
  perimeter check
  perimeter check files. --launcher bubblewrap-004
  perimeter check --launcher ./mine.json --level confined-writes --junit junit.xml
  perimeter check --launcher ./mine.json --write-expectations mine.expectations.json
  perimeter check --launcher ./mine.json --expectations mine.expectations.json
  perimeter check --platform macos --modelled
  perimeter check --scratch /tmp/here --require git,python3 --results results.jsonl")]
pub struct Check {
    #[command(flatten)]
    pub selection: Selection,
    /// The launcher under test: a name that the corpus has, or a launcher file [default:
    /// reference; reference-macos for the cases of macOS]
    #[arg(long, value_name = "NAME|FILE")]
    pub launcher: Option<String>,
    /// Require the levels up to this one, whatever the launcher claims
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    pub level: Option<Level>,
    /// Where fixtures are made; on the user's own file system, not under /tmp,
    /// unless said [default: the user's cache directory]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// How many trials run at once [default: twice the processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// The launcher's known failures: they are counted apart, and do not fail the run.
    /// One that is gone, expired or about nothing does
    #[arg(long, value_name = "FILE")]
    pub expectations: Option<PathBuf>,
    /// Write what fails as expectations, whose reasons are to be written before the
    /// file can be used; entries that it has already are kept
    #[arg(long, value_name = "FILE")]
    pub write_expectations: Option<PathBuf>,
    /// Write the results as JSON lines
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Write a JUnit report
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write a summary in Markdown
    #[arg(long, value_name = "FILE")]
    pub summary: Option<PathBuf>,
    /// Write a SARIF report, for code scanning
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Write a TAP report
    #[arg(long, value_name = "FILE")]
    pub tap: Option<PathBuf>,
    /// Write one file to send to someone: results, what `doctor` says, versions; user
    /// names, home directories and secrets of the environment are taken out
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Run the K-th of N parts of what is selected, for several machines; the
    /// split is that of cargo-nextest's `count:K/N`
    #[arg(long, value_name = "K/N")]
    pub partition: Option<Partition>,
    /// Facts that the host must offer, or the run fails
    #[arg(long, value_name = "FACT,…", value_delimiter = ',', value_parser = fact)]
    pub require: Vec<Fact>,
    /// Facts that the host is known to lack: cases that need them may stay unmeasured
    #[arg(long, value_name = "FACT,…", value_delimiter = ',', value_parser = fact)]
    pub without: Vec<Fact>,
    /// The system whose cases are meant [default: this one]
    #[arg(long, value_name = "SYSTEM", value_parser = word::<Platform>)]
    pub platform: Option<Platform>,
    /// Run nothing: ask a model what the launcher's profile would decide on macOS.
    /// What it says is no pass
    #[arg(long, requires = "platform", conflicts_with_all = ["expectations", "write_expectations", "junit", "sarif", "tap", "report", "partition", "require", "without", "scratch", "jobs"])]
    pub modelled: bool,
    /// When to use colour
    #[arg(long, value_enum, default_value = "auto")]
    pub color: ColorFlag,
    /// Print failures, what was not proven though it is required, and the closing lines alone
    #[arg(long, short)]
    pub quiet: bool,
}

impl Check {
    /// The launcher under test: the one that was named, or the reference launcher of the
    /// system whose cases are tried.
    pub fn launcher(&self) -> &str {
        let reference = match self.platform.unwrap_or(Platform::HOST) {
            Platform::Linux => "reference",
            Platform::Macos => "reference-macos",
        };
        self.launcher.as_deref().unwrap_or(reference)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorFlag {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// List the cases of the corpus.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  perimeter list
  perimeter list network. --json")]
pub struct List {
    #[command(flatten)]
    pub selection: Selection,
    /// Print JSON, a case a line
    #[arg(long)]
    pub json: bool,
}

fn level(text: &str) -> Result<Level, String> {
    word(text)
}

pub fn fact(text: &str) -> Result<Fact, String> {
    word(text)
}

/// A word of a closed list, as the corpus's files write it.
fn word<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
        .map_err(|error| error.to_string())
}
