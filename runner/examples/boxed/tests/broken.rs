//! A target that cannot fail would show nothing: this one runs a few cases through one of
//! its own, against the launcher and against broken ones, and looks at what came of it.

use std::env;
use std::process::{Command, ExitCode, Output};

use perimeter_runner::target::Target;

/// Names the launcher that this executable, started again, is the target of.
const UNDER_TEST: &str = "BOXED_UNDER_TEST";

/// A denial and its twin.
const DENIAL: &str = "files.write.create-outside/host-readable";
const TWIN: &str = "files.write.create-inside/host-readable";

fn main() -> ExitCode {
    // This executable is also started as a worker of a run, and inside the sandbox.
    perimeter_runner::entry();
    if let Ok(launcher) = env::var(UNDER_TEST) {
        return Target::of(launcher)
            .program("boxed", env!("CARGO_BIN_EXE_boxed"))
            .main();
    }
    let file = |name: &str| format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
    let (own, broken) = (file("launcher.json"), file("tests/broken.json"));
    expect(&own, &["--exact", DENIAL], 0, "1 passed; 0 failed");
    expect(&own, &["--exact", TWIN], 0, "1 passed; 0 failed");
    expect(
        &broken,
        &["--exact", DENIAL],
        1,
        "escaped: the forbidden effect showed",
    );
    expect(&broken, &["--exact", TWIN], 0, "1 passed; 0 failed");
    expect("dead", &["--exact", TWIN], 1, "overblocked");
    expect(&own, &["no-such-case"], 4, "selects none of");
    expect(&file("tests/missing.json"), &[], 2, "missing.json");
    ExitCode::SUCCESS
}

/// Runs trials against a launcher; panics where the target does not end so, or does not
/// say this.
fn expect(launcher: &str, arguments: &[&str], code: i32, says: &str) {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env::current_exe().expect("this executable has a path"))
        .args(arguments)
        .env(UNDER_TEST, launcher)
        .env_remove("PERIMETER_LAUNCHER")
        .output()
        .expect("this executable can be started again");
    let said = String::from_utf8_lossy(&stdout) + String::from_utf8_lossy(&stderr);
    assert_eq!(
        status.code(),
        Some(code),
        "{launcher} {arguments:?}:\n{said}"
    );
    assert!(said.contains(says), "{launcher} {arguments:?}:\n{said}");
    println!("{launcher} {arguments:?} ends with {code}: {says}");
}
