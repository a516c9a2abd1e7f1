//! What can be typed behind `perimeter audit`.

use std::path::PathBuf;

use clap::Args;
use perimeter_runner::corpus::vocabulary::Fact;

use crate::cli::arguments::{ColorFlag, Selection, fact};

/// Prove that every case can fail: run wrong launchers against the corpus.
///
/// Each fault of the corpus is a launcher with one mistake. Every fault has to be caught
/// by a case, and every required case has to catch a fault. Results are kept, so that an
/// audit that was stopped goes on, and one in which nothing has changed is done at once.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status:
  0   every fault is caught, and every required case catches one
  1   it is not so, or what is committed is stale (--check)
  2   the command line, the corpus, a launcher or a program is wrong
  3   a required case was not measured, or proves nothing here
  4   nothing was selected
  70  the harness itself failed

Examples:
  perimeter audit                                 the whole matrix
  perimeter audit --quick                         as much of it as it takes to say the same
  perimeter audit network. --fault network-kept   a part of it
  perimeter audit --check                         is the committed matrix stale? no launches
  perimeter audit --case files.write.create-outside
  perimeter audit --corpus conformance --quick --write
  perimeter audit --corpus conformance --stale --quick --write")]
pub struct AuditArguments {
    #[command(flatten)]
    pub selection: Selection,
    /// Faults to run, by name [default: all]
    #[arg(long = "fault", value_name = "NAME")]
    pub faults: Vec<String>,
    /// The launcher that is right: a name that the corpus has, or a launcher file
    #[arg(long, value_name = "NAME|FILE", default_value = "reference")]
    pub launcher: String,
    /// The program that makes mistakes [default: perimeter-faulty, beside this program]
    #[arg(long, value_name = "PATH", env = "PERIMETER_FAULTY")]
    pub faulty: Option<PathBuf>,
    /// Where results are kept [default: the user's cache directory]
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Run everything anew, whatever is kept
    #[arg(long)]
    pub fresh: bool,
    /// Run only what the committed matrix does not know: new and changed cases against
    /// every fault, new and changed faults against every case
    #[arg(long, conflicts_with_all = ["faults", "filters"])]
    pub stale: bool,
    /// Run a fault against one trial of each case, and against all only where that leaves
    /// open whether it is caught, or whether a case catches anything: the findings are
    /// those of the whole matrix
    #[arg(long)]
    pub quick: bool,
    /// Where fixtures are made [default: the user's cache directory]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// How many trials run at once [default: twice the processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// Facts that the host is known to lack: cases that need them may stay unmeasured
    #[arg(long, value_name = "FACT,…", value_delimiter = ',', value_parser = fact)]
    pub without: Vec<Fact>,
    /// Print each pair of fault and case
    #[arg(long)]
    pub matrix: bool,
    /// Add the report to a file, in Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write what was seen to the corpus's faults/matrix.json
    #[arg(long, requires = "corpus")]
    pub write: bool,
    /// Run nothing: say what of the committed matrix is stale or wrong
    #[arg(long, conflicts_with_all = ["write", "stale", "quick", "faults", "filters", "matrix", "markdown"])]
    pub check: bool,
    /// Run nothing: print which faults a case catches, of the committed matrix
    #[arg(long, value_name = "ID", conflicts_with_all = ["check", "write", "stale", "quick", "faults", "filters", "matrix", "markdown"])]
    pub case: Option<String>,
    /// When to use colour
    #[arg(long, value_enum, default_value = "auto")]
    pub color: ColorFlag,
    /// Do not say what is being run
    #[arg(long, short)]
    pub quiet: bool,
}
