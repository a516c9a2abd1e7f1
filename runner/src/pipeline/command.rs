//! The command as it is handed to a launcher, with a line before it that proves
//! that it started, and the launcher's own environment.

use std::collections::BTreeMap;
use std::path::Path;

use crate::corpus::case::Run;
use crate::facts::LAUNCH_PATH;

/// The launcher's own environment: the same for every launcher, so that a
/// result does not hang on who ran it. The fixture's variables win.
pub(crate) fn own_environment(
    home: &Path,
    user: &str,
    fixture: impl Iterator<Item = (String, String)>,
) -> BTreeMap<String, String> {
    let mut environment = BTreeMap::from([
        ("PATH".to_owned(), LAUNCH_PATH.to_owned()),
        ("HOME".to_owned(), home.display().to_string()),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ("TERM".to_owned(), "xterm".to_owned()),
        ("USER".to_owned(), user.to_owned()),
        ("LOGNAME".to_owned(), user.to_owned()),
    ]);
    environment.extend(fixture);
    environment
}

/// The argument vector of a command. With a start line, a shell prints it first
/// and then becomes the command.
pub(crate) fn arguments(run: &Run, start_line: Option<&str>) -> Vec<String> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    match (run, start_line) {
        (Run::Shell(text), None) => owned(&["bash", "-c", text]),
        // On a line of its own, so that here-documents and comments keep their
        // meaning; the script's text is otherwise what the case says.
        (Run::Shell(text), Some(line)) => {
            owned(&["bash", "-c", &format!("printf '%s\\n' {line}\n{text}")])
        }
        (Run::Arguments(words), None) => words.clone(),
        (Run::Arguments(words), Some(line)) => {
            let mut all: Vec<String> =
                owned(&["/bin/sh", "-c", "printf '%s\\n' \"$0\"; exec \"$@\"", line]);
            all.extend(words.iter().cloned());
            all
        }
    }
}

/// A launcher's command line, or that of a shell which starts it so many times
/// at once, waits for all, and ends with the last status that is not zero.
pub(crate) fn copies(command_line: Vec<String>, count: u32) -> Vec<String> {
    const START: &str = "count=$1; shift; launchers=(); status=0\n\
        for ((copy = 0; copy < count; copy++)); do \"$@\" & launchers+=($!); done\n\
        for launcher in \"${launchers[@]}\"; do wait \"$launcher\" || status=$?; done\n\
        exit \"$status\"";
    if count == 1 {
        return command_line;
    }
    let mut all: Vec<String> = ["bash", "-c", START, "copies"].map(str::to_owned).into();
    all.push(count.to_string());
    all.extend(command_line);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn copies_run_at_once_and_the_last_failure_is_theirs() {
        let single = ["sh", "-c", "echo x; exit 3"].map(str::to_owned).to_vec();
        assert_eq!(copies(single.clone(), 1), single);
        let words = copies(single, 3);
        let ran = std::process::Command::new(&words[0])
            .args(&words[1..])
            .output()
            .expect("a shell");
        assert_eq!(ran.stdout, b"x\nx\nx\n");
        assert_eq!(ran.status.code(), Some(3));
    }

    #[rstest]
    #[case::shell(Run::Shell("echo a; exit 3".to_owned()), "line\na\n", 3)]
    #[case::here_document(Run::Shell("cat <<X\nb\nX".to_owned()), "line\nb\n", 0)]
    #[case::vector(
        Run::Arguments(vec!["printf".to_owned(), "%s|".to_owned(), "a b".to_owned(), String::new()]),
        "line\na b||",
        0
    )]
    fn a_command_keeps_its_meaning(#[case] run: Run, #[case] output: &str, #[case] status: i32) {
        let words = arguments(&run, Some("line"));
        let ran = std::process::Command::new(&words[0])
            .args(&words[1..])
            .output()
            .expect("a shell");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), output);
        assert_eq!(ran.status.code(), Some(status));
    }
}
