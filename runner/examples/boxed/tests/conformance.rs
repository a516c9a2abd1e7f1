//! The conformance corpus as tests of this crate.

fn main() -> std::process::ExitCode {
    perimeter_runner::target::Target::of(concat!(env!("CARGO_MANIFEST_DIR"), "/launcher.json"))
        .program("boxed", env!("CARGO_BIN_EXE_boxed"))
        .expectations(concat!(env!("CARGO_MANIFEST_DIR"), "/expectations.json"))
        .main()
}
