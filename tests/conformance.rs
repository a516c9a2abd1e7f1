//! The conformance corpus as tests of cargo, against the reference launcher.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use perimeter_runner::corpus::Source;
use perimeter_runner::target::Target;

fn main() -> ExitCode {
    Target {
        corpus: Source::Directory(Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")),
        launcher: "reference".to_owned(),
        perimeter: PathBuf::from(env!("CARGO_BIN_EXE_perimeter")),
        programs: Vec::new(),
        expectations: None,
    }
    .main()
}
