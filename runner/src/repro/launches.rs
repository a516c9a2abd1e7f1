//! The launches of a trial, as shell functions.

use crate::corpus::case::{During, Tty};
use crate::corpus::fixture::{DescriptorSpec, FixtureSpec, Text};
use crate::corpus::streams::{Stream, Streams};
use crate::explain::{action_words, stream_words};
use crate::launcher::file::{Argument, LauncherFile};
use crate::launcher::program;
use crate::pipeline::copies;
use crate::rehearsal::{Launch, Rehearsal, Step};
use crate::shell;

use super::text::{self, Script};
use super::{Plan, Recipe, launches_of};

const IN: &str = "    ";
const ARM: &str = "        ";
const DEEPER: &str = "            ";

/// Whether a launcher file is driven by the reference launcher's own program.
pub(super) fn launcher_is_reference(launcher: &LauncherFile) -> bool {
    matches!(launcher.arguments.first(), Some(Argument::Literal(text)) if text == "{perimeter}")
}

/// Whether a launch needs what a shell cannot give it.
pub(super) fn need_keeper(rehearsal: &Rehearsal) -> bool {
    let fixture = &rehearsal.trial.fixture;
    let daemonizes = |launch: &Launch| {
        let words = launch.request.command.iter();
        words.into_iter().any(|word| word.contains("daemonize"))
    };
    !fixture.descriptors.is_empty()
        || !fixture.keyring.is_empty()
        || fixture.signals.is_some()
        || !fixture.mounts.is_empty()
        || !fixture.binds.is_empty()
        || rehearsal.trial.case.expect.effect.survives
        || launches_of(rehearsal).any(|launch| {
            let spec = &launch.spec;
            spec.tty != Tty::None
                || !spec.during.is_empty()
                || !spec.streams.is_plain()
                || daemonizes(launch)
        })
}

/// Whether a launch is tried again and again.
pub(super) fn race(rehearsal: &Rehearsal) -> bool {
    launches_of(rehearsal).any(|launch| launch.spec.tries > 1)
}

/// Finds the programs that launches need.
pub(super) fn programs(script: &mut Script, recipe: Recipe<'_>) {
    if launcher_is_reference(recipe.launcher) {
        script.line("perimeter=${PERIMETER:-$(command -v perimeter || :)}");
        script.line("program=$(command -v bwrap || :)");
        script.line(
            "[ -n \"$perimeter\" ] || [ -n \"$program\" ] || die 'neither perimeter nor bwrap is here'",
        );
        return;
    }
    for (place, name) in recipe.launcher.programs.iter().enumerate() {
        let (word, variable) = (shell::word(name), program::variable(name));
        let found = if place == 0 { "program" } else { "other" };
        script.line(&format!(
            "{found}=${{{variable}:-$(command -v {word} || :)}}"
        ));
        script.line(&format!(
            "[ -n \"${found}\" ] || die {}",
            shell::word(&format!(
                "{name} is not here; install it, or set {variable}"
            ))
        ));
        if place == 0 {
            script.line("program_directory=$(dirname \"$(readlink -f \"$program\")\")");
        }
    }
}

pub(super) fn write(
    script: &mut Script,
    recipe: Recipe<'_>,
    baseline: &Rehearsal,
    launched: &Rehearsal,
) {
    let kept = need_keeper(launched);
    let pairs = launches_of(baseline).zip(launches_of(launched));
    for (place, (baseline, launched)) in pairs.enumerate() {
        Writer {
            script,
            recipe,
            trial: &launched.spec.during,
            kept,
        }
        .launch(place + 1, baseline, launched, recipe.plans.get(place));
    }
    steps(script, launched);
}

/// The steps in order, and the control.
fn steps(script: &mut Script, rehearsal: &Rehearsal) {
    script.line("# What happens, in order.");
    script.line("steps() {");
    let mut number = 0;
    for step in &rehearsal.steps {
        match step {
            Step::Host(command) => {
                script.line(&format!(
                    "{IN}say \"    the host runs a command\"\n{IN}on_host {}",
                    shell::word(command)
                ));
            }
            Step::Launch(launch) => {
                number += 1;
                run(script, launch, number);
            }
        }
    }
    script.line("}");
    script.blank();
    script.line("control() {");
    if rehearsal.control.is_some() {
        // What the control does is no part of what is looked for.
        for line in [
            "say '    the same launch, mended, which must start:'",
            "kept_shows=$shows kept_began=$began_all kept_last=$last kept_refusal=$refusal",
            "kept_leftovers=$leftovers kept_any=$any_started",
            &format!("launch_{}", number + 1),
            "control_started=$started",
            "shows=$kept_shows began_all=$kept_began last=$kept_last refusal=$kept_refusal",
            "leftovers=$kept_leftovers any_started=$kept_any",
        ] {
            script.line(&format!("{IN}{line}"));
        }
    } else {
        script.line("    :");
    }
    script.line("}");
    script.blank();
}

fn run(script: &mut Script, launch: &Launch, number: usize) {
    script.line(&format!("{IN}say '    launch {number}:'"));
    if let Some(command) = &launch.spec.meanwhile {
        let mut words = environment(&launch.request.own_environment);
        words.push(vec!["bash".to_owned(), "-c".to_owned(), command.clone()]);
        let mut first = vec!["run_beside".to_owned()];
        first.append(&mut words[0]);
        words[0] = first;
        script.line(&text::command(IN, &words));
    }
    match launch.spec.tries {
        1 => script.line(&format!("{IN}launch_{number}")),
        tries => script.line(&format!("{IN}race {tries} launch_{number}")),
    }
    if launch.spec.meanwhile.is_some() {
        script.line(&format!("{IN}end_beside"));
    }
}

/// `env -i` and variables, one a line.
fn environment<'a>(
    variables: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Vec<Vec<String>> {
    let mut lines = vec![vec!["env".to_owned(), "-i".to_owned()]];
    for (name, value) in variables {
        lines.push(vec![format!("{name}={value}")]);
    }
    lines
}

struct Writer<'a> {
    script: &'a mut Script,
    recipe: Recipe<'a>,
    trial: &'a [During],
    kept: bool,
}

impl Writer<'_> {
    fn launch(&mut self, number: usize, baseline: &Launch, launched: &Launch, plan: Option<&Plan>) {
        let spec = &launched.spec;
        for words in stream_words(spec) {
            self.script.comment_behind("", "- ", &words);
        }
        for action in self.trial {
            self.script.comment_behind("", "- ", &action_words(action));
        }
        self.script.line(&format!("launch_{number}() {{"));
        let timeout = self.recipe.trial.case.timeout;
        self.script.line(&format!("{IN}deadline={timeout}"));
        self.input(number, spec.stdin.as_deref());
        self.free(launched);
        self.command(launched);
        self.script.line(&format!("{IN}case $who in"));
        self.script.line(&format!("{IN}baseline)"));
        self.script.line(&format!("{IN}{IN}grace=05"));
        self.arm(ARM, baseline, baseline.rendered.command_line.clone());
        self.script.line(&format!("{IN}{IN};;"));
        self.script.line(&format!("{IN}launcher)"));
        self.script.line(&format!("{IN}{IN}grace=50"));
        self.files(launched);
        let words = launched.rendered.command_line.clone();
        match plan.filter(|_| launcher_is_reference(self.recipe.launcher)) {
            None => self.arm(ARM, launched, words),
            Some(plan) => {
                self.script
                    .line(&format!("{IN}{IN}if [ -n \"$perimeter\" ]; then"));
                self.arm(DEEPER, launched, words);
                self.script.line(&format!("{IN}{IN}else"));
                self.planned(launched, plan);
                self.script.line(&format!("{IN}{IN}fi"));
            }
        }
        self.script.line(&format!("{IN}{IN};;"));
        self.script.line(&format!("{IN}esac"));
        self.script.line("}");
        self.script.blank();
    }

    fn input(&mut self, number: usize, input: Option<&str>) {
        match input {
            None | Some("") => self.script.line(&format!("{IN}input=/dev/null")),
            Some(input) => {
                self.script
                    .line(&format!("{IN}input=$notes/input.{number}"));
                let command = text::write(input, "\"$input\"");
                self.script.line(&format!("{IN}{command}"));
            }
        }
    }

    /// What the command may change, as the runner has it: the workspace where it
    /// really is, the writable grants, the record, and what the case lets change.
    fn free(&mut self, launch: &Launch) {
        let mut free = launch.writable().into_iter();
        let workspace = shell::word(free.next().unwrap_or_default());
        let mut words = vec![format!("\"$(readlink -f {workspace})\"")];
        words.push("\"$root/record\"".to_owned());
        words.extend(free.map(shell::word));
        let own = launch.rendered.own_paths.iter();
        words.extend(own.map(|path| shell::word(&path.to_string_lossy())));
        let changes = self.recipe.trial.case.expect.changes.iter();
        let names = super::marks(self.recipe.trial);
        words.extend(
            changes
                .filter_map(|path| names.expand(path).ok())
                .map(|path| shell::word(&path)),
        );
        self.script
            .line(&format!("{IN}# What the command may change."));
        self.script.line(&format!(
            "{IN}free_paths() {{ \"$@\" {}; }}",
            words.join(" ")
        ));
    }

    /// The command, where it is a text for a shell: both attempts have it.
    fn command(&mut self, launch: &Launch) {
        if let Some(text) = shell_text(launch) {
            let why = match launch.start_line {
                Some(_) => "# The command; its first line proves that it has started.",
                None => "# The command.",
            };
            self.script.line(&format!("{IN}{why}"));
            self.script
                .line(&format!("{IN}command={}", shell::word(text)));
        }
    }

    /// The files that the launcher is given.
    fn files(&mut self, launch: &Launch) {
        for file in &launch.files {
            let path = shell::word(&file.path.to_string_lossy());
            // The directory of state is there; one in it may not be.
            let deeper = file.path.parent().filter(|it| it.components().count() > 1);
            if let (Some(directory), Some(_)) = (deeper, &file.text) {
                let directory = shell::word(&directory.to_string_lossy());
                self.script
                    .line(&format!("{IN}{IN}mkdir -p -- {directory}"));
            }
            match &file.text {
                None => self.script.line(&format!("{IN}{IN}rm -f {path}")),
                Some(text) => {
                    let command = text::write(text, &path);
                    self.script.line(&format!("{IN}{IN}{command}"));
                }
            }
        }
    }

    /// One command line, with its directory and environment.
    fn arm(&mut self, indent: &str, launch: &Launch, words: Vec<String>) {
        let environment = environment(
            launch
                .rendered
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        );
        let directory = launch.rendered.working_directory.to_string_lossy();
        self.line_of(indent, launch, &directory, environment, words);
    }

    fn line_of(
        &mut self,
        indent: &str,
        launch: &Launch,
        directory: &str,
        environment: Vec<Vec<String>>,
        words: Vec<String>,
    ) {
        self.script
            .line(&format!("{indent}directory={}", shell::word(directory)));
        let mut groups = vec![vec![
            "launch".to_owned(),
            launch.start_line.clone().unwrap_or_default(),
        ]];
        if self.kept {
            groups.extend(options(
                launch,
                &self.recipe.trial.fixture,
                &super::marks(self.recipe.trial),
            ));
        }
        groups.push(vec!["--".to_owned()]);
        groups.extend(environment);
        groups.extend(text::grouped(&copies(words, launch.spec.copies)));
        // The command's text is in a variable.
        if let Some(text) = shell_text(launch) {
            for word in groups.iter_mut().flatten().filter(|word| *word == text) {
                *word = shell::mark("command");
            }
        }
        self.script.line(&text::command(indent, &groups));
    }

    /// What is run where the reference launcher is not installed.
    fn planned(&mut self, launch: &Launch, plan: &Plan) {
        let directory = launch.rendered.working_directory.to_string_lossy();
        let nothing = vec![vec!["env".to_owned(), "-i".to_owned()]];
        match plan {
            Plan::Bubblewrap(arguments) => {
                self.script
                    .comment(DEEPER, "The plan that the launcher had on the host where this was written.");
                let mut words = vec![shell::mark("program")];
                words.extend(arguments.iter().cloned());
                words.extend(launch.request.command.iter().cloned());
                self.line_of(DEEPER, launch, &directory, nothing, words);
            }
            Plan::Refused(reason) => {
                self.script.comment(
                    DEEPER,
                    "The launcher refuses this, and starts nothing. So it said where this was written:",
                );
                let words = [
                    "sh",
                    "-c",
                    "printf '%s\\n' \"$1\" >&2; exit 125",
                    "refused",
                    &format!("perimeter: {reason}"),
                ];
                let words = words.map(str::to_owned).to_vec();
                self.line_of(DEEPER, launch, &directory, nothing, words);
            }
            Plan::Unconfined => self.script.line(
                "            die 'the launcher runs this command itself, without bubblewrap; set PERIMETER to the program'",
            ),
            Plan::Unknown(reason) => {
                let text = format!(
                    "what the launcher does here was not found out ({reason}); set PERIMETER to the program"
                );
                self.script
                    .line(&format!("            die {}", shell::word(&text)));
            }
        }
    }
}

/// The text that the command's shell is given.
fn shell_text(launch: &Launch) -> Option<&String> {
    match launch.request.command.as_slice() {
        [shell, option, text] if shell == "bash" && option == "-c" => Some(text),
        _ => None,
    }
}

/// What the helper is told of a launch.
fn options(
    launch: &Launch,
    fixture: &FixtureSpec,
    names: &crate::fixture::Names,
) -> Vec<Vec<String>> {
    let spec = &launch.spec;
    let expand = |text: &str| names.expand(text).unwrap_or_else(|_| text.to_owned());
    let mut all: Vec<Vec<String>> = Vec::new();
    let mut add = |words: &[&str]| all.push(words.iter().map(|it| (*it).to_owned()).collect());
    if spec.tty != Tty::None {
        add(&["--terminal"]);
    }
    let Streams {
        input,
        output,
        errors,
    } = &spec.streams;
    for (number, stream) in [("0", input), ("1", output), ("2", errors)] {
        match stream {
            None => {}
            Some(Stream::Closed) => add(&["--stream", number, "closed"]),
            Some(Stream::Gone) => add(&["--stream", number, "gone"]),
            Some(Stream::File(path)) => add(&["--stream", number, path]),
        }
    }
    for (number, descriptor) in &fixture.descriptors {
        let (option, what) = match descriptor {
            DescriptorSpec::Read(path) => ("--read", expand(path)),
            DescriptorSpec::Append(path) => ("--append", expand(path)),
            DescriptorSpec::Directory(path) => ("--directory", expand(path)),
            DescriptorSpec::Connection(name) => {
                ("--connection", shell::mark(&format!("port.{name}")))
            }
        };
        add(&[option, number, &what]);
    }
    for (name, value) in &fixture.keyring {
        let value = match value {
            Text::Plain(text) => expand(text),
            Text::Secret(secret) => shell::mark(&format!("secret.{}", secret.secret)),
        };
        add(&["--key", &expand(name), &value]);
    }
    if let Some(signals) = &fixture.signals {
        for name in &signals.ignored {
            add(&["--ignore", &expand(name)]);
        }
        for name in &signals.blocked {
            add(&["--block", &expand(name)]);
        }
    }
    for directory in &fixture.mounts {
        add(&["--mount", &expand(directory)]);
    }
    for (at, shown) in &fixture.binds {
        add(&["--bind", &expand(at), &expand(shown)]);
    }
    for action in &spec.during {
        let mut words: Vec<&str> = Vec::new();
        if let Some(line) = &action.after {
            words.extend(["--after", line]);
        }
        if let Some(signal) = &action.signal {
            words.extend(["--signal", signal]);
        } else if let Some(command) = &action.host {
            words.extend(["--host", command]);
        } else if let Some(text) = &action.typed {
            words.extend(["--type", text]);
        } else if action.kill_parent {
            words.push("--kill-parent");
        } else {
            words.push("--end-thread");
        }
        add(&words);
    }
    all
}
