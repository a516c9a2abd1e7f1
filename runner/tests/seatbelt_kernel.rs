//! On a Mac: the known outcomes, tried with the real sandbox-exec.
#![cfg(target_os = "macos")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use perimeter_runner::corpus::Source;
use perimeter_runner::seatbelt::Facts;
use perimeter_runner::seatbelt::kernel::{Outcome, preflight, run};

#[test]
fn this_mac_does_as_the_known_outcomes_say() {
    preflight().unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    let facts = Facts::load(&Source::Directory(corpus)).unwrap();
    let mut differing = Vec::new();
    let mut agreeing = 0;
    for fact in &facts.facts {
        match run(fact).unwrap() {
            Outcome::Agrees => agreeing += 1,
            Outcome::Differs(problem) => differing.push(format!("{}: {problem}", fact.id)),
            Outcome::NotProven(problem) => println!("{}: not proven: {problem}", fact.id),
            Outcome::NotExecutable(reason) => {
                println!("{}: not executable here: {reason}", fact.id);
            }
        }
    }
    println!(
        "{agreeing} of {} facts agree on this Mac",
        facts.facts.len()
    );
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(agreeing > 0, "no fact was tried");
}
