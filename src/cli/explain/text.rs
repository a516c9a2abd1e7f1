//! What is said of a case, for a person to read.

use std::fmt::Write;

use perimeter_runner::corpus::case::Run;
use perimeter_runner::corpus::expect::Outcome;
use perimeter_runner::report::wrapped;
use perimeter_runner::shell;
use serde::Serialize;

use super::explanation::{Explanation, Part, Planned, Started};

/// The explanation as text, prose wrapped to this width. Commands are not wrapped,
/// so that they can be copied.
pub fn render(explanation: &Explanation, width: usize) -> String {
    let mut page = Page {
        text: String::new(),
        width,
    };
    page.head(explanation);
    page.place(explanation);
    page.launches(explanation);
    page.verdicts(explanation);
    page.text
}

struct Page {
    text: String,
    width: usize,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn title(&mut self, title: &str) {
        let _ = write!(self.text, "\n{title}\n");
    }

    /// Prose, behind this indent; the first line begins with `lead`.
    fn prose(&mut self, lead: &str, text: &str) {
        let indent = " ".repeat(lead.chars().count());
        let room = self.width.saturating_sub(indent.len()).max(20);
        // A command among the words has lines of its own.
        let mut first = true;
        for paragraph in text.lines() {
            for line in wrapped(paragraph, room) {
                let start = if first { lead } else { &indent };
                let _ = writeln!(self.text, "{start}{line}");
                first = false;
            }
        }
    }

    fn verbatim(&mut self, text: &str) {
        for line in text.lines() {
            let line = format!("    {line}");
            self.line(line.trim_end());
        }
    }

    fn head(&mut self, explanation: &Explanation) {
        self.prose("", &explanation.title);
        self.line(&explanation.trial);
        self.line("");
        self.prose("", &explanation.why);
        let about = &explanation.about;
        self.title("Where it stands");
        self.prose(
            "  ",
            &format!(
                "{} ({}), revision {}, digest {}",
                about.file, explanation.topic, about.rev, about.digest
            ),
        );
        let mut standing = format!(
            "level {}, {}, on {}, at most {} s",
            word(&about.level),
            word(&about.strength),
            words(&about.platforms),
            about.timeout
        );
        if !about.needs.is_empty() {
            let _ = write!(standing, "; the launcher must have {}", words(&about.needs));
        }
        if !about.facts.is_empty() {
            let _ = write!(standing, "; the host must offer {}", words(&about.facts));
        }
        self.prose("  ", &standing);
        self.title("What it covers");
        for promise in &explanation.covers {
            self.prose(&format!("  {:<11}", promise.id), &promise.text);
        }
        if !explanation.references.is_empty() {
            self.title("Public reports");
            for reference in &explanation.references {
                self.line(&format!("  {reference}"));
            }
        }
        if let Some(twin) = &explanation.sibling {
            self.title("Its allowed twin");
            self.prose("  ", &twin.title);
            self.line(&format!("  {}", twin.id));
        }
        if !explanation.axes.is_empty() {
            self.title("What it is tried with");
            for axis in &explanation.axes {
                // Values with spaces in them would run into one another.
                if axis
                    .values
                    .iter()
                    .any(|value| value.contains(char::is_whitespace))
                {
                    self.line(&format!("  {}:", axis.name));
                    for value in &axis.values {
                        self.verbatim(&shell::word(value));
                    }
                } else {
                    self.prose(&format!("  {}: ", axis.name), &axis.values.join(", "));
                }
            }
            let count = explanation.trials.len();
            if count > 1 {
                let note = format!("{count} trials in all; what follows is the first");
                self.prose("  ", &note);
            }
        }
    }

    fn place(&mut self, explanation: &Explanation) {
        self.title("What the host holds");
        self.prose(
            "  ",
            "/fixture stands for the directory of the run, /fixture/workspace for the workspace. Secrets are new and random in every run.",
        );
        for thing in &explanation.fixture {
            self.prose("  - ", thing);
        }
        self.title("The policy");
        self.verbatim(&json(&explanation.policy));
    }

    fn launches(&mut self, explanation: &Explanation) {
        let several = explanation.steps.len() > 1;
        for (place, part) in explanation.steps.iter().enumerate() {
            let number = place + 1;
            match part {
                Part::Host(command) => {
                    self.title(&format!("Step {number}: the host runs"));
                    self.verbatim(command);
                }
                Part::Launch(launch) => {
                    self.title(&if several {
                        format!("Step {number}: the launcher is asked to run")
                    } else {
                        "The launcher is asked to run".to_owned()
                    });
                    self.launch(launch, &explanation.launcher);
                }
            }
        }
        if let Some(control) = &explanation.control {
            self.title("At last, the same mended (the control), which must start");
            self.launch(control, &explanation.launcher);
        }
    }

    fn launch(&mut self, launch: &Started, launcher: &str) {
        match &launch.run {
            Run::Shell(text) => self.verbatim(text),
            Run::Arguments(words) => {
                self.verbatim(&shell::command_line(words.iter().map(String::as_str)));
            }
        }
        for words in launch.streams.iter().chain(&launch.meanwhile) {
            self.prose("  - ", words);
        }
        if let Some(policy) = &launch.policy {
            self.prose("  - ", "under another policy:");
            self.verbatim(&json(policy));
        }
        self.title(&format!("  What {launcher} is given"));
        if launch
            .command
            .iter()
            .any(|word| word.contains("perimeter-nonce"))
        {
            self.prose(
                "  ",
                "The random line that is printed first proves that the command started.",
            );
        }
        for file in &launch.files {
            match &file.text {
                Some(text) => {
                    self.line(&format!("  {} holds", file.path));
                    self.verbatim(text);
                }
                None => self.line(&format!("  {} is not there", file.path)),
            }
        }
        self.line(&format!("  in {}, by", launch.directory));
        self.verbatim(&shell::command_line(
            launch.command_line.iter().map(String::as_str),
        ));
        self.line("  with the variables");
        for variable in &launch.environment {
            self.verbatim(variable);
        }
        match &launch.plan {
            None => {}
            Some(Planned::Bubblewrap(arguments)) => {
                self.title("  What it then starts (the host's own as it is now)");
                self.verbatim("bwrap");
                for line in grouped(arguments) {
                    self.verbatim(&format!("  {line}"));
                }
                self.prose("  ", "and the command.");
            }
            Some(Planned::Unconfined) => {
                self.title("  What it then starts");
                self.prose(
                    "  ",
                    "the command itself, without a sandbox: the policy says so",
                );
            }
            Some(Planned::Refused(reason)) => {
                self.title("  What it then does");
                self.prose("  ", &format!("it refuses, with status 125: {reason}"));
            }
            Some(Planned::Unknown(reason)) => {
                self.title("  What it then starts");
                self.prose("  ", &format!("cannot be found out here: {reason}"));
            }
        }
    }

    fn verdicts(&mut self, explanation: &Explanation) {
        self.title("What is looked for");
        let lead = match explanation.outcome {
            Outcome::Allowed => "It must be so, under the launcher, that",
            Outcome::Denied => "Without a sandbox it must be so, and under the launcher not, that",
            Outcome::Refused => {
                "The launcher must refuse: the command must not start, and must without a sandbox."
            }
        };
        self.prose("  ", lead);
        for part in &explanation.effect {
            self.prose("  - ", part);
        }
        self.title("What a verdict means here");
        for meaning in &explanation.verdicts {
            let verdict = meaning.verdict.to_string();
            self.prose(&format!("  {verdict:<15}"), &meaning.means);
        }
        self.title("To run it alone, and by hand without this program");
        self.verbatim(&explanation.check);
        self.verbatim(&format!(
            "{} --output repro.sh && sh repro.sh",
            explanation.repro
        ));
    }
}

/// bubblewrap's arguments, an option with its values a line.
fn grouped(arguments: &[String]) -> Vec<String> {
    let mut lines: Vec<Vec<&str>> = Vec::new();
    for argument in arguments {
        match lines.last_mut() {
            // The mode belongs to the option that follows it.
            Some(line)
                if !argument.starts_with("--") || line.len() == 2 && line[0] == "--perms" =>
            {
                line.push(argument);
            }
            _ => lines.push(vec![argument]),
        }
    }
    lines.into_iter().map(shell::command_line).collect()
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// A word of a closed list, as the corpus's files write it.
fn word<T: Serialize>(value: &T) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn words<T: Serialize>(values: &[T]) -> String {
    values.iter().map(word).collect::<Vec<_>>().join(", ")
}
