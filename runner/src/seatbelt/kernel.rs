//! Tries known outcomes on this Mac: `sandbox-exec` and the kernel are the oracle.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::execution::{BAD_PROFILE, Execution, FAILED, REFUSED, SANDBOX_EXEC, Trial};
use super::facts::{Expected, Fact};

/// What came of a fact on this Mac.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The Mac does as the fact says.
    Agrees,
    /// It does not.
    Differs(String),
    /// Without a profile the steps do not succeed either, so that nothing is shown.
    NotProven(String),
    /// It cannot be tried here.
    NotExecutable(String),
}

/// Whether this Mac enforces profiles at all, and this process may use them: one that
/// allows all lets a program run, and one that allows nothing does not.
///
/// # Errors
/// What is missing.
pub fn preflight() -> Result<(), String> {
    let run = |profile: &str| {
        let command = Command::new(SANDBOX_EXEC)
            .args(["-p", profile, "/usr/bin/true"])
            .stdin(Stdio::null())
            .output();
        command.map_err(|error| format!("{SANDBOX_EXEC}: {error}"))
    };
    let open = run("(version 1)(allow default)")?;
    if !open.status.success() {
        let said = String::from_utf8_lossy(&open.stderr).trim().to_owned();
        return Err(format!("a profile that allows all is refused: {said}"));
    }
    if run("(version 1)(deny default)")?.status.success() {
        return Err("a profile that allows nothing is not enforced".to_owned());
    }
    Ok(())
}

/// Tries a fact in directories of its own.
///
/// # Errors
/// What kept the harness itself from making the directories or starting a program.
pub fn run(fact: &Fact) -> io::Result<Outcome> {
    if fact.refused.is_none() {
        // The same steps without a profile show that nothing else stops them.
        let base = tempfile::tempdir()?;
        let base = base.path().canonicalize()?;
        let base = base.to_string_lossy();
        let open = fact.in_root(&base);
        match open.execution(&base, std::process::id()) {
            Err(reason) => return Ok(Outcome::NotExecutable(reason)),
            Ok(execution) => {
                let made = make(&open, Path::new(base.as_ref()))?;
                let result = baseline(&execution);
                made.remove();
                if let Some(problem) = result? {
                    return Ok(Outcome::NotProven(problem));
                }
            }
        }
    }
    let root = tempfile::tempdir()?;
    let root = root.path().canonicalize()?;
    let text = root.to_string_lossy();
    let placed = fact.in_root(&text);
    let execution = match placed.execution(&text, std::process::id()) {
        Ok(execution) => execution,
        Err(reason) => return Ok(Outcome::NotExecutable(reason)),
    };
    let made = make(&placed, &root)?;
    let result = confined(&execution);
    made.remove();
    Ok(result?.map_or(Outcome::Agrees, Outcome::Differs))
}

/// Files outside of the fact's own directory, to be removed again.
#[derive(Default)]
struct Made(Vec<PathBuf>);

impl Made {
    fn remove(self) {
        for path in self.0.iter().rev() {
            // A step may have moved or removed it.
            let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
        }
    }
}

fn make(fact: &Fact, root: &Path) -> io::Result<Made> {
    let mut made = Made::default();
    let world = &fact.world;
    let parents = |path: &Path, made: &mut Made| {
        let missing: Vec<PathBuf> = path
            .ancestors()
            .skip(1)
            .take_while(|parent| !parent.exists())
            .map(Path::to_owned)
            .collect();
        for parent in missing.into_iter().rev() {
            fs::create_dir(&parent)?;
            if !parent.starts_with(root) {
                made.0.push(parent);
            }
        }
        io::Result::Ok(())
    };
    for path in &world.directories {
        parents(&Path::new(path).join("x"), &mut made)?;
    }
    for (path, content) in &world.files {
        let path = Path::new(path);
        parents(path, &mut made)?;
        let mut file = fs::File::create_new(path)?;
        io::Write::write_all(&mut file, content.as_bytes())?;
        if !path.starts_with(root) {
            made.0.push(path.to_owned());
        }
    }
    for (path, target) in &world.links {
        parents(Path::new(path), &mut made)?;
        symlink(target, path)?;
    }
    for (path, file) in &world.hard_links {
        fs::hard_link(file, path)?;
    }
    Ok(made)
}

fn output(words: &[String]) -> io::Result<Output> {
    let mut words = words.iter();
    let program = words.next().map_or("", String::as_str);
    Command::new(program)
        .args(words)
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
}

/// What is wrong without a profile.
fn baseline(execution: &Execution) -> io::Result<Option<String>> {
    let Trial::Steps(steps) = &execution.trial else {
        return Ok(None);
    };
    for (number, (words, _)) in steps.iter().enumerate() {
        let output = output(words)?;
        if !output.status.success() {
            return Ok(Some(format!(
                "step {} fails without a profile: {}",
                number + 1,
                output.status
            )));
        }
    }
    Ok(None)
}

/// What differs under the profile.
fn confined(execution: &Execution) -> io::Result<Option<String>> {
    let under = |words: &[String]| {
        let start = [SANDBOX_EXEC, "-p", &execution.profile].map(str::to_owned);
        let start = start.into_iter().chain(execution.parameters.clone());
        output(&start.chain(words.iter().cloned()).collect::<Vec<_>>())
    };
    match &execution.trial {
        Trial::Refusal(message) => {
            let output = under(&["/usr/bin/true".to_owned()])?;
            let said = String::from_utf8_lossy(&output.stderr);
            let refused = output.status.code() == Some(BAD_PROFILE) && said.contains(message);
            Ok((!refused).then(|| format!("{}: {}", output.status, said.trim())))
        }
        Trial::Steps(steps) => {
            for (number, (words, expected)) in steps.iter().enumerate() {
                let output = under(words)?;
                let code = output.status.code();
                let found = match code {
                    Some(0) => Expected::Allowed,
                    Some(FAILED | BAD_PROFILE) => Expected::Unknown,
                    // A program that cannot start ends by a signal, or with the
                    // status of sandbox-exec itself; a refused step says so.
                    Some(REFUSED) | None | Some(_) => Expected::Denied,
                };
                if found != *expected {
                    let said = String::from_utf8_lossy(&output.stderr);
                    return Ok(Some(format!(
                        "step {} is {found:?} and not {expected:?}: {} {}",
                        number + 1,
                        output.status,
                        said.trim()
                    )));
                }
            }
            Ok(None)
        }
    }
}
