//! The command `perimeter exec`, wrong in one respect: what the corpus is proven with.
//!
//! `perimeter-faulty --mistake NAME exec …`

#[path = "../cli/mod.rs"]
mod cli;

use std::ffi::OsString;
use std::process::ExitCode;

use perimeter::faults::{Mistake, make};

/// As the reference launcher has it for a command line that is wrong.
const USAGE: u8 = 125;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let [program, option, name, rest @ ..] = words.as_slice() else {
        return usage("no mistake is named");
    };
    if option != "--mistake" {
        return usage("the first word is not `--mistake`");
    }
    let mistake = match name.to_string_lossy().parse() {
        Ok(mistake) => mistake,
        Err(error) => return usage(&format!("{error}")),
    };
    if rest.first().is_none_or(|word| word != "exec") {
        return usage("only `exec` can be got wrong");
    }
    make(mistake);
    let words = std::iter::once(program).chain(rest).cloned();
    cli::run(words.collect())
}

fn usage(problem: &str) -> ExitCode {
    let names: Vec<&str> = Mistake::ALL.iter().map(|mistake| mistake.name()).collect();
    eprintln!(
        "perimeter-faulty: {problem}; usage: perimeter-faulty --mistake NAME exec …, where NAME \
         is one of {}",
        names.join(", ")
    );
    ExitCode::from(USAGE)
}
