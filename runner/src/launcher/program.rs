//! Where the programs that launcher files name are on this host.

use std::env;
use std::path::{Path, PathBuf};

/// Finds a program: where the variable of its name leads, or else on PATH. The
/// variable of `nsjail` is PERIMETER_NSJAIL; what is neither a letter nor a digit is
/// `_` there.
pub fn find(name: &str) -> Option<PathBuf> {
    match env::var_os(variable(name)) {
        Some(path) => which::which(path).ok(),
        None => which::which(name).ok(),
    }
}

/// Why a program cannot be run here, and what to do; nothing where it can be.
pub fn absence(name: &str) -> Option<String> {
    if find(name).is_some() {
        return None;
    }
    let variable = variable(name);
    let led = env::var_os(&variable).map(PathBuf::from);
    let path = led.as_deref().unwrap_or(Path::new(name));
    let shown = path.display();
    Some(if path.is_file() && shown.to_string().contains('/') {
        format!("{shown} is not executable; make it so: chmod +x {shown}")
    } else if led.is_some() {
        format!("{variable} leads to {shown}, and no program is there")
    } else if name.contains('/') {
        format!("{name} is not on this host; install it, or name it by its path")
    } else {
        format!("{name} is not on this host; install it, or let {variable} name its place")
    })
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
        assert_eq!(absence("sh"), None);
        let absent = absence("no-such-program-anywhere").unwrap_or_default();
        assert!(
            absent.contains("or let PERIMETER_NO_SUCH_PROGRAM_ANYWHERE name its place"),
            "{absent}"
        );
    }

    #[test]
    fn a_program_that_may_not_be_run_is_said_to_be_there() {
        let said = absence("/etc/passwd").unwrap_or_default();
        assert_eq!(
            said,
            "/etc/passwd is not executable; make it so: chmod +x /etc/passwd"
        );
    }
}
