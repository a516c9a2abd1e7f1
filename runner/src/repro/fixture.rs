//! The fixture of a trial, as shell commands.

use crate::corpus::Trial;
use crate::corpus::fixture::{DetailedEntry, Entry, FixtureSpec, Protocol, SocketKind, Text};
use crate::corpus::placeholder::texts_of;
use crate::explain::fixture_words;
use crate::shell;

use super::text::{self, Script};

/// Indent of what a function does.
const IN: &str = "    ";

/// The directories, and whether every attempt has each.
const DIRECTORIES: [(&str, bool); 8] = [
    ("workspace", true),
    ("outside", true),
    ("hidden", false),
    ("readable", false),
    ("writable", false),
    ("home", true),
    ("record", false),
    ("state", true),
];

/// Whether anything of the host must run, or be held, for the fixture to stand.
pub(super) fn needs_services(fixture: &FixtureSpec) -> bool {
    !fixture.sockets.is_empty()
        || !fixture.listeners.is_empty()
        || !fixture.processes.is_empty()
        || !fixture.shared_memory.is_empty()
}

pub(super) fn write(script: &mut Script, trial: &Trial) {
    places(script, trial);
    let fixture = &trial.fixture;
    script.blank();
    script.line("# What the host holds. Secrets are new in each attempt.");
    for words in fixture_words(fixture) {
        script.comment_behind("", "- ", &words);
    }
    script.line("fixture() {");
    let mut body = Script::default();
    services(&mut body, fixture);
    files(&mut body, fixture);
    for command in &fixture.setup {
        body.line(&format!("{IN}on_host {}", shell::word(command)));
    }
    was(&mut body, trial);
    let body = body.into_text();
    script.line(if body.is_empty() {
        "    :"
    } else {
        body.trim_end()
    });
    script.line("}");
    script.blank();
}

/// The directories of an attempt, and the words that are new in each.
fn places(script: &mut Script, trial: &Trial) {
    let texts = texts_of(trial);
    let mentions = |name: &str| texts.iter().any(|text| text.contains(&shell::mark(name)));
    script.line("# The places of one attempt.");
    script.line("places() {");
    let mut made = Vec::new();
    for (name, always) in DIRECTORIES {
        if always || mentions(name) {
            script.line(&format!("{IN}{name}=$root/{name}"));
            made.push(format!("\"${name}\""));
        }
    }
    script.line(&format!("{IN}mkdir {}", made.join(" ")));
    script.line(&format!("{IN}nonce=perimeter-$(random)"));
    let mut secrets: Vec<String> = crate::corpus::secrets_of(&trial.fixture)
        .into_iter()
        .collect();
    secrets.sort();
    for secret in secrets {
        let variable = shell::variable(&format!("secret.{secret}"));
        script.line(&format!("{IN}{variable}=canary-$(random)"));
    }
    for (name, socket) in &trial.fixture.sockets {
        if socket.path.is_none() {
            let variable = shell::variable(&format!("socket.{name}"));
            script.line(&format!("{IN}{variable}={name}-$(random)"));
        }
    }
    if mentions("host-temporary") {
        script.line(&format!(
            "{IN}# In the host's own /tmp; removed like the rest."
        ));
        script.line(&format!(
            "{IN}host_temporary=$(mktemp -d /tmp/perimeter-repro.XXXXXXXX) || die 'cannot make a directory in /tmp'"
        ));
        script.line(&format!("{IN}chmod 755 \"$host_temporary\""));
        script.line(&format!("{IN}temporary=\"$temporary $host_temporary\""));
    }
    if mentions("toolchain") {
        script.line(&format!("{IN}# Where the caller's Rust toolchain lies."));
        script.line(&format!(
            "{IN}toolchain=$(rustc --print sysroot 2>/dev/null || say /absent-toolchain)"
        ));
    }
    if mentions("probe") {
        script.line(&format!("{IN}probe=$workspace/{}", crate::probe::NAME));
        script.line(&format!("{IN}cp \"$tools/probe\" \"$probe\""));
        script.line(&format!("{IN}chmod 555 \"$probe\""));
    }
    script.line("}");
}

/// The text as a word.
fn word(text: &Text) -> String {
    shell::word(&plain(text))
}

fn plain(text: &Text) -> String {
    match text {
        Text::Plain(text) => text.clone(),
        Text::Secret(secret) => shell::mark(&format!("secret.{}", secret.secret)),
    }
}

fn answer(text: Option<&Text>) -> String {
    text.map_or_else(|| "''".to_owned(), word)
}

/// Services, processes and shared memory, which one helper makes and keeps.
fn services(script: &mut Script, fixture: &FixtureSpec) {
    if !needs_services(fixture) {
        return;
    }
    let mut lines = vec![format!("{IN}printf '%s\\0' \"$notes\" \"$root\"")];
    for (name, listener) in &fixture.listeners {
        let protocol = match listener.protocol {
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
        };
        lines.push(format!(
            "listener {} {} {protocol} {} {}",
            shell::word(name),
            shell::variable(&format!("port.{name}")),
            shell::word(&listener.address),
            answer(listener.replies.as_ref())
        ));
    }
    for (name, process) in &fixture.processes {
        let variables: Vec<String> = process
            .environment
            .iter()
            .map(|(name, value)| shell::word(&format!("{name}={}", plain(value))))
            .collect();
        let argument = process.argument.as_ref().map(word);
        lines.push(
            [
                "process".to_owned(),
                shell::word(name),
                shell::variable(&format!("pid.{name}")),
                usize::from(argument.is_some()).to_string(),
                variables.len().to_string(),
            ]
            .into_iter()
            .chain(argument)
            .chain(variables)
            .collect::<Vec<_>>()
            .join(" "),
        );
    }
    for (name, content) in &fixture.shared_memory {
        let variable = shell::variable(&format!("shm.{name}"));
        lines.push(format!("segment {variable} {}", word(content)));
    }
    for (name, socket) in &fixture.sockets {
        let kind = match socket.kind {
            SocketKind::Stream => "stream",
            SocketKind::Datagram => "datagram",
            SocketKind::SequencedPacket => "sequenced-packet",
        };
        let (path, address) = match &socket.path {
            Some(path) => (shell::word(path), "''".to_owned()),
            None => {
                let mark = shell::mark(&format!("socket.{name}"));
                ("''".to_owned(), shell::word(&mark))
            }
        };
        lines.push(format!(
            "socket {} {kind} {path} {address} {}",
            shell::word(name),
            answer(socket.replies.as_ref())
        ));
    }
    script.line(&format!(
        "{} >\"$notes/host.words\"",
        lines.join(" \\\n        ")
    ));
    script.line(&format!(
        "{IN}python3 \"$tools/host.py\" <\"$notes/host.words\" >\"$notes/host.sh\" ||\n{IN}{IN}die 'the fixture cannot be made'"
    ));
    script.line(&format!("{IN}# shellcheck source=/dev/null"));
    script.line(&format!("{IN}. \"$notes/host.sh\""));
}

/// Files, directories and links, in the order stated.
fn files(script: &mut Script, fixture: &FixtureSpec) {
    let mut made: Vec<&str> = Vec::new();
    let mut later = Vec::new();
    for (path, entry) in &fixture.files {
        if let Some((parent, _)) = path.rsplit_once('/') {
            // The places themselves are there.
            let is_place = parent == shell::mark("root")
                || DIRECTORIES
                    .iter()
                    .any(|(name, _)| parent == shell::mark(name));
            if !is_place && !made.contains(&parent) {
                script.line(&format!("{IN}mkdir -p {}", shell::word(parent)));
                made.push(parent);
            }
        }
        one_file(script, path, entry, &mut later);
    }
    for line in later.iter().rev() {
        script.line(line);
    }
}

fn one_file(script: &mut Script, path: &str, entry: &Entry, later: &mut Vec<String>) {
    let target = shell::word(path);
    let content = |script: &mut Script, content: &str| {
        script.line(&format!("{IN}{}", text::write(content, &target)));
    };
    let entry = match entry {
        Entry::Content(text) => return content(script, text),
        Entry::Detailed(entry) => entry,
    };
    if let Some(text) = &entry.content {
        content(script, text);
    } else if let Some(secret) = &entry.secret {
        let mark = shell::mark(&format!("secret.{secret}"));
        content(script, &format!("{mark}\n"));
    } else if let Some(link) = &entry.symlink {
        script.line(&format!("{IN}ln -s -- {} {target}", shell::word(link)));
    } else if let Some(link) = &entry.hard_link {
        script.line(&format!("{IN}ln -P -- {} {target}", shell::word(link)));
    } else if entry.fifo {
        script.line(&format!("{IN}mkfifo {target}"));
    } else {
        script.line(&format!("{IN}mkdir -p {target}"));
    }
    mode(script, entry, &target, later);
}

/// The mode; one that would keep this user from filling a directory comes last.
fn mode(script: &mut Script, entry: &DetailedEntry, target: &str, later: &mut Vec<String>) {
    let Some(mode) = &entry.mode else {
        return;
    };
    let line = format!("{IN}chmod {} {target}", shell::word(mode));
    let owner = u32::from_str_radix(mode, 8).unwrap_or(0o700) & 0o700;
    if entry.directory && owner != 0o700 {
        later.push(line);
    } else {
        script.line(&line);
    }
}

/// Notes the state of what is asked about afterwards.
fn was(script: &mut Script, trial: &Trial) {
    for (number, fact) in trial.case.expect.effect.host.iter().enumerate() {
        if fact.changed.is_some() {
            script.line(&format!(
                "{IN}state_of {} >\"$notes/was.{number}\" 2>/dev/null",
                shell::word(&fact.path)
            ));
        }
    }
}
