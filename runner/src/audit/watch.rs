//! What a person sees of an audit while it runs: a line that is rewritten on a
//! terminal, and one that stays for each fault that is done.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Stderr, Write};
use std::time::Instant;

use super::engine::Pair;
use super::subject::{Role, Subject};
use crate::report::progress::Progress;
use crate::report::results::TrialResult;
use crate::verdict::Class;

/// Tells how far an audit is, on the standard error.
#[derive(Debug)]
pub struct Watch {
    quiet: bool,
    line: Option<Progress<Stderr>>,
    /// What is still to be run of each subject, by its name.
    left: HashMap<String, Left>,
    faults: usize,
    done: usize,
}

#[derive(Debug)]
struct Left {
    runs: usize,
    failed: usize,
    since: Option<Instant>,
}

impl Watch {
    /// With `quiet` it says nothing but the line of a terminal.
    pub fn new(quiet: bool) -> Watch {
        Watch {
            quiet,
            line: None,
            left: HashMap::new(),
            faults: 0,
            done: 0,
        }
    }

    /// These pairs are to be run.
    pub(super) fn begin(&mut self, subjects: &[Subject], pairs: &[Pair], trials: usize) {
        self.left.clear();
        self.done = 0;
        for (subject, _) in pairs {
            let name = &subjects[*subject].name;
            let left = self.left.entry(name.clone()).or_insert(Left {
                runs: 0,
                failed: 0,
                since: None,
            });
            left.runs += 1;
        }
        let is_fault = |subject: &&Subject| matches!(subject.role, Role::Fault(_));
        let to_run = |subject: &&Subject| self.left.contains_key(&subject.name);
        let faults = subjects.iter().filter(is_fault);
        self.faults = faults.filter(to_run).count();
        self.line = Some(Progress::stderr(pairs.len()).counting("caught"));
        if !pairs.is_empty() {
            self.say(&format!(
                "{} runs: {} of {} launchers, {trials} trials",
                pairs.len(),
                self.left.len(),
                subjects.len(),
            ));
        }
    }

    /// So many pairs are to be tried again.
    pub(super) fn again(&mut self, pairs: usize) {
        self.left.clear();
        self.line = Some(Progress::stderr(pairs).counting("caught"));
        if pairs > 0 {
            self.say(&format!(
                "{pairs} runs came out otherwise than before, or not at all; they are tried again"
            ));
        }
    }

    pub(super) fn ended(&mut self, subject: &Subject, result: &TrialResult) {
        let mut told = None;
        if let Some(left) = self.left.get_mut(&subject.name) {
            let since = *left.since.get_or_insert_with(Instant::now);
            left.runs = left.runs.saturating_sub(1);
            left.failed += usize::from(result.verdict.class() == Class::Failure);
            if left.runs == 0 {
                told = Some((left.failed, since.elapsed().as_secs_f64()));
            }
        }
        if let Some((failed, seconds)) = told {
            let name = &subject.name;
            match subject.role {
                Role::Fault(_) => {
                    self.done += 1;
                    let (done, faults) = (self.done, self.faults);
                    self.say(&format!(
                        "fault {done}/{faults}  {name}  {failed} trials fail  {seconds:.1} s"
                    ));
                }
                _ => self.say(&format!("{name}  {failed} trials fail  {seconds:.1} s")),
            }
        }
        if let Some(line) = &mut self.line {
            line.heading(&format!("fault {}/{}", self.done, self.faults));
            line.ended(result);
        }
    }

    /// Clears the line.
    pub(super) fn pause(&mut self) {
        if let Some(line) = &mut self.line {
            line.finish();
        }
    }

    /// A line that stays. On a terminal the moving one says as much.
    fn say(&mut self, text: &str) {
        let mut error = io::stderr();
        if !self.quiet && !error.is_terminal() {
            // Whether it is read decides nothing.
            let _ = writeln!(error, "{text}");
        }
    }
}
