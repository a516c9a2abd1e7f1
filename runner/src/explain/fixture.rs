//! What the host holds before a case, in words.

use crate::corpus::fixture::{DescriptorSpec, Entry, FixtureSpec, Protocol, SocketKind, Text};

use super::{quoted, row};
use crate::report::harmless;

/// Each thing of a fixture, in the order in which it is made.
pub fn fixture_words(fixture: &FixtureSpec) -> Vec<String> {
    let mut words = Vec::new();
    for (name, listener) in &fixture.listeners {
        let protocol = match listener.protocol {
            Protocol::Tcp => "TCP",
            Protocol::Udp => "UDP",
        };
        words.push(format!(
            "a {protocol} service `{name}` on {}{}",
            listener.address,
            answer(listener.replies.as_ref())
        ));
    }
    for (name, socket) in &fixture.sockets {
        let kind = match socket.kind {
            SocketKind::Stream => "a stream socket",
            SocketKind::Datagram => "a datagram socket",
            SocketKind::SequencedPacket => "a socket of sequenced packets",
        };
        let place = match &socket.path {
            Some(path) => format!("at {path}"),
            None => "with an abstract name".to_owned(),
        };
        words.push(format!(
            "a service `{name}` on {kind} {place}{}",
            answer(socket.replies.as_ref())
        ));
    }
    for (name, process) in &fixture.processes {
        let mut has: Vec<String> = process
            .environment
            .iter()
            .map(|(variable, value)| format!("{variable} set to {}", text(value)))
            .collect();
        if let Some(argument) = &process.argument {
            has.push(format!("{} as an argument", text(argument)));
        }
        let with = if has.is_empty() { "" } else { ", with " };
        words.push(format!(
            "a process `{name}` of the same user, outside the sandbox{with}{}",
            row(&has)
        ));
    }
    for (name, content) in &fixture.shared_memory {
        words.push(format!(
            "a shared memory segment `{name}` that holds {}",
            text(content)
        ));
    }
    for (path, entry) in &fixture.files {
        words.push(format!("{}: {}", harmless(path), entry_words(entry)));
    }
    for (number, descriptor) in &fixture.descriptors {
        let what = match descriptor {
            DescriptorSpec::Read(path) => format!("{path}, open for reading"),
            DescriptorSpec::Append(path) => format!("{path}, open for appending"),
            DescriptorSpec::Directory(path) => format!("the directory {path}"),
            DescriptorSpec::Connection(name) => format!("a connection to the service `{name}`"),
        };
        words.push(format!("the launcher inherits descriptor {number}: {what}"));
    }
    for (name, value) in &fixture.environment {
        words.push(format!(
            "the launcher's own environment has {name} set to {}",
            text(value)
        ));
    }
    for (name, value) in &fixture.keyring {
        words.push(format!(
            "the launcher's session keyring has a key `{name}` that holds {}",
            text(value)
        ));
    }
    if let Some(signals) = &fixture.signals {
        for (names, state) in [(&signals.ignored, "ignored"), (&signals.blocked, "blocked")] {
            if !names.is_empty() {
                words.push(format!(
                    "the launcher inherits {} as {state}",
                    names.join(", ")
                ));
            }
        }
    }
    for directory in &fixture.mounts {
        words.push(format!(
            "the launcher, and what it starts, finds a temporary file system mounted at {}",
            harmless(directory)
        ));
    }
    for (at, shown) in &fixture.binds {
        words.push(format!(
            "the launcher, and what it starts, finds {} mounted a second time, at {}",
            harmless(shown),
            harmless(at)
        ));
    }
    for command in &fixture.setup {
        words.push(format!("at last the host runs: {command}"));
    }
    words
}

fn answer(replies: Option<&Text>) -> String {
    replies.map_or_else(String::new, |replies| {
        format!(", which answers with {}", text(replies))
    })
}

fn text(text: &Text) -> String {
    match text {
        Text::Plain(plain) => quoted(plain),
        Text::Secret(secret) => canary(&secret.secret),
    }
}

fn canary(name: &str) -> String {
    format!("the canary of the secret `{name}`")
}

fn entry_words(entry: &Entry) -> String {
    let entry = match entry {
        Entry::Content(content) => return file_words(content, ""),
        Entry::Detailed(entry) => entry,
    };
    let mode = entry
        .mode
        .as_ref()
        .map_or_else(String::new, |mode| format!(" of mode {mode}"));
    if let Some(content) = &entry.content {
        file_words(content, &mode)
    } else if let Some(secret) = &entry.secret {
        format!("a file{mode} that holds {}", canary(secret))
    } else if let Some(target) = &entry.symlink {
        format!("a symbolic link to {target}")
    } else if let Some(target) = &entry.hard_link {
        format!("a hard link to {target}")
    } else if entry.fifo {
        format!("a named pipe{mode}")
    } else {
        format!("a directory{mode}")
    }
}

fn file_words(content: &str, mode: &str) -> String {
    if content.is_empty() {
        format!("an empty file{mode}")
    } else {
        format!("a file{mode} that holds {}", quoted(content))
    }
}
