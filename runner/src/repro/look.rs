//! What is looked for, as tests of the shell.

use crate::corpus::Trial;
use crate::corpus::expect::{Absorbed, Effect, HostFact, Outcome, PathKind, TextMatch, TextParts};
use crate::explain::effect_words;
use crate::shell;

use super::text::{self, Script};

const IN: &str = "    ";

/// Whether a regular expression is among the patterns, which a shell has none for.
pub(super) fn needs_python(trial: &Trial) -> bool {
    let expect = &trial.case.expect;
    let texts = [
        &expect.effect.output,
        &expect.output,
        &expect.error_output,
        &expect.claim,
    ];
    texts.into_iter().flatten().any(|text| match text {
        TextMatch::Parts(parts) => parts.matches.is_some(),
        TextMatch::Equals(_) => false,
    })
}

pub(super) fn write(script: &mut Script, trial: &Trial) {
    secrets(script, trial);
    script.blank();
    script.line("# What is looked for, on the host, when all is over.");
    script.line("look() {");
    script.line("    shows=yes");
    if trial.case.expect.outcome == Outcome::Refused {
        script.line("    part 'the command starts' is_same \"$started\" yes");
    }
    effect(script, &trial.case.expect.effect);
    manner(script, trial);
    script.line("}");
    script.blank();
}

/// Where the canaries of the fixture's secrets are looked for after each launch.
fn secrets(script: &mut Script, trial: &Trial) {
    let expect = &trial.case.expect;
    let mut secrets: Vec<String> = crate::corpus::secrets_of(&trial.fixture)
        .into_iter()
        .collect();
    secrets.sort();
    let services = super::fixture::needs_services(&trial.fixture);
    if services {
        script.line("# Waits until the services have taken in all that was said to them.");
        script.line("hear() {");
        script.line("    echo >\"$notes/ask\"");
        script.line("    read -r _ <\"$notes/answer\"");
        script.line("}");
        script.blank();
    }
    script.line("look_for_secrets() {");
    script.line(if services { "    hear" } else { "    :" });
    if !secrets.is_empty() {
        script.line("    free_paths note_written 2>/dev/null");
    }
    for secret in secrets {
        let shown = expect.outcome == Outcome::Allowed && expect.effect.reveals.contains(&secret);
        let allowed = if shown || expect.reveals.contains(&secret) {
            "allowed"
        } else {
            "forbidden"
        };
        let mark = shell::mark(&format!("secret.{secret}"));
        script.line(&format!(
            "    look_for {} {} {allowed}",
            shell::word(&secret),
            shell::word(&mark)
        ));
    }
    script.line("}");
}

/// Each part of the effect, with its words.
fn effect(script: &mut Script, effect: &Effect) {
    for (number, fact) in effect.host.iter().enumerate() {
        for (fact, prepare, test) in tests(number, fact) {
            let words = Effect {
                host: vec![fact],
                ..Effect::default()
            };
            prepared(script, &prepare);
            part(script, &words, test);
        }
    }
    if let Some(output) = &effect.output {
        let words = Effect {
            output: Some(output.clone()),
            ..Effect::default()
        };
        let said = effect_words(&words).concat();
        for (prepare, test) in text_tests(output, "\"$notes/output\"") {
            prepared(script, &prepare);
            script.line(&format!("{IN}part {} {test}", shell::word(&said)));
        }
    }
    for secret in &effect.reveals {
        let words = Effect {
            reveals: vec![secret.clone()],
            ..Effect::default()
        };
        part(script, &words, format!("shown {}", shell::word(secret)));
    }
    for name in &effect.heard {
        let words = Effect {
            heard: vec![name.clone()],
            ..Effect::default()
        };
        part(script, &words, format!("has_heard {}", shell::word(name)));
    }
    if let Some(typed) = &effect.typed {
        let words = Effect {
            typed: Some(typed.clone()),
            ..Effect::default()
        };
        let test = format!("contains \"$notes/typed\" {}", shell::word(typed));
        part(script, &words, test);
    }
    if effect.survives {
        let words = Effect {
            survives: true,
            ..Effect::default()
        };
        part(script, &words, "has_survived".to_owned());
    }
    if let Some(status) = effect.exit {
        let words = Effect {
            exit: Some(status),
            ..Effect::default()
        };
        part(script, &words, format!("is_same \"$status\" {status}"));
    }
}

/// What is to be done before a test, if anything is.
fn prepared(script: &mut Script, line: &str) {
    if !line.is_empty() {
        script.line(line);
    }
}

fn part(script: &mut Script, words: &Effect, test: String) {
    let words = effect_words(words).concat();
    script.line(&format!("{IN}part {} {test}", shell::word(&words)));
}

/// Each stated part of a fact, what is done before its test, and the test.
fn tests(number: usize, fact: &HostFact) -> Vec<(HostFact, String, String)> {
    let path = shell::word(&fact.path);
    let alone = || HostFact {
        path: fact.path.clone(),
        is: None,
        content: None,
        contains: None,
        mode: None,
        target: None,
        changed: None,
    };
    let mut tests = Vec::new();
    if let Some(kind) = fact.is {
        let test = match kind {
            PathKind::Absent => "is_absent",
            PathKind::Present => "is_present",
            PathKind::File => "is_file",
            PathKind::Directory => "is_directory",
            PathKind::Symlink => "is_symlink",
        };
        let fact = HostFact {
            is: Some(kind),
            ..alone()
        };
        tests.push((fact, String::new(), format!("{test} {path}")));
    }
    if let Some(content) = &fact.content {
        let fact = HostFact {
            content: Some(content.clone()),
            ..alone()
        };
        let wanted = text::write(content, "\"$notes/wanted\"");
        tests.push((fact, format!("{IN}{wanted}"), format!("is_text {path}")));
    }
    if let Some(part) = &fact.contains {
        let fact = HostFact {
            contains: Some(part.clone()),
            ..alone()
        };
        tests.push((
            fact,
            String::new(),
            format!("contains {path} {}", shell::word(part)),
        ));
    }
    if let Some(mode) = &fact.mode {
        let wanted = u32::from_str_radix(mode, 8).unwrap_or_default();
        let fact = HostFact {
            mode: Some(mode.clone()),
            ..alone()
        };
        tests.push((fact, String::new(), format!("has_mode {path} {wanted:04o}")));
    }
    if let Some(target) = &fact.target {
        let fact = HostFact {
            target: Some(target.clone()),
            ..alone()
        };
        tests.push((
            fact,
            String::new(),
            format!("leads_to {path} {}", shell::word(target)),
        ));
    }
    if let Some(changed) = fact.changed {
        let test = match changed {
            true => "is_changed",
            false => "is_unchanged",
        };
        let fact = HostFact {
            changed: Some(changed),
            ..alone()
        };
        tests.push((fact, String::new(), format!("{test} {number} {path}")));
    }
    tests
}

/// What is done before a test of a text, and the test; each part of the text has
/// its own.
fn text_tests(text: &TextMatch, file: &str) -> Vec<(String, String)> {
    let parts: &TextParts = match text {
        TextMatch::Equals(whole) => {
            let wanted = text::write(whole, "\"$notes/wanted\"");
            return vec![(format!("{IN}{wanted}"), format!("is_text {file}"))];
        }
        TextMatch::Parts(parts) => parts,
    };
    let stated = [
        ("has_line", parts.line.clone()),
        ("contains", parts.contains.clone()),
        ("lacks", parts.lacks.clone()),
        ("matches", parts.matches.as_deref().map(expression)),
    ];
    stated
        .into_iter()
        .filter_map(|(test, wanted)| Some((test, wanted?)))
        .map(|(test, wanted)| {
            let test = format!("{test} {file} {}", shell::word(&wanted));
            (String::new(), test)
        })
        .collect()
}

/// A regular expression as Python has it: there, a `$` outside of `(?m)` also
/// stands before a newline at the end.
fn expression(pattern: &str) -> String {
    let flags = pattern
        .strip_prefix("(?")
        .and_then(|rest| rest.split_once(')'));
    if flags.is_some_and(|(flags, _)| flags.contains('m')) {
        return pattern.to_owned();
    }
    let mut changed = String::new();
    let mut within_class = false;
    let mut escaped = false;
    for letter in pattern.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => within_class = true,
            ']' => within_class = false,
            '$' if !within_class => {
                changed.push_str("\\Z");
                continue;
            }
            _ => {}
        }
        changed.push(letter);
    }
    changed
}

/// The manner of the last launch, and the command's own record of success.
fn manner(script: &mut Script, trial: &Trial) {
    let expect = &trial.case.expect;
    if let Some(status) = expect.exit {
        script.line(&format!(
            "{IN}is_same \"$status\" {status} || manner=\"exit status $status and not {status}\""
        ));
    }
    for (name, text, file) in [
        ("standard output", &expect.output, "\"$notes/output\""),
        ("standard error", &expect.error_output, "\"$notes/errors\""),
    ] {
        for (prepare, test) in text.iter().flat_map(|text| text_tests(text, file)) {
            prepared(script, &prepare);
            script.line(&format!("{IN}{test} || manner='{name} is not as stated'"));
        }
    }
    if expect.absorbed == Absorbed::Rejected {
        if let Some(claim) = &expect.claim {
            script.line(&format!("{IN}lost=yes"));
            for (prepare, test) in text_tests(claim, "\"$notes/output\"") {
                prepared(script, &prepare);
                script.line(&format!("{IN}{test} || lost=no"));
            }
        }
    }
}
