//! Where the programs that launcher files name are on this host.

use std::env;
use std::path::PathBuf;

/// Finds a program: where the variable of its name leads, or else on PATH. The
/// variable of `nsjail` is PERIMETER_NSJAIL; what is neither a letter nor a digit is
/// `_` there.
pub fn find(name: &str) -> Option<PathBuf> {
    match env::var_os(variable(name)) {
        Some(path) => which::which(path).ok(),
        None => which::which(name).ok(),
    }
}

/// The variable that names a program's place.
pub fn variable(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    format!("PERIMETER_{}", name.chars().map(plain).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_a_variable() {
        assert_eq!(variable("ai-jail"), "PERIMETER_AI_JAIL");
    }

    #[test]
    fn a_program_that_is_nowhere_is_not_found() {
        assert_eq!(find("no-such-program-anywhere"), None);
        assert!(find("sh").is_some());
    }
}
