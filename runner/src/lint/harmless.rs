//! Harmlessness: a baseline runs each command without a sandbox, on the reader's
//! own machine. What a command is aimed at outside its fixture needs a reason, and
//! nothing there may change.
//!
//! This reads commands as a reviewer would, and no more: what a program is told
//! through a variable is not seen.

use std::collections::HashSet;

use regex_lite::Regex;

use super::Finding;
use super::material::{CaseAt, Material};
use super::shell::{Simple, absolute_paths, simple_commands};
use crate::corpus::place::At;
use crate::corpus::placeholder::names_in;

/// Where reading does no harm on any host: programs, libraries, what the kernel
/// says of processes, and files that every user reads all the time.
const HARMLESS: [&str; 24] = [
    "/bin",
    "/sbin",
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/proc",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/fd",
    "/dev/pts",
    "/dev/ptmx",
    "/dev/tcp",
    "/dev/udp",
    "/etc/passwd",
    "/etc/group",
];

/// Below these, even reading needs a thought.
const DOUBTFUL: [&str; 3] = ["/proc/sys", "/proc/sysrq-trigger", "/proc/kcore"];

/// What may be written to: it keeps nothing.
const SINKS: [&str; 15] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/fd",
    "/dev/pts",
    "/dev/ptmx",
    "/dev/tcp",
    "/dev/udp",
    "/proc/self/fd",
    "/proc/self/cwd",
    "/proc/thread-self/cwd",
];

/// Programs that change each path that they are given.
const CHANGE: [&str; 22] = [
    "rm",
    "rmdir",
    "mv",
    "mkdir",
    "mkfifo",
    "mknod",
    "touch",
    "chmod",
    "chown",
    "chgrp",
    "truncate",
    "tee",
    "shred",
    "unlink",
    "setfattr",
    "setfacl",
    "chattr",
    "mkfs",
    "fallocate",
    "split",
    "ed",
    "patch",
];

/// Programs that change the last path that they are given.
const CHANGE_LAST: [&str; 5] = ["cp", "ln", "install", "rsync", "link"];

/// Programs that change the host itself, whatever they are given.
const CHANGE_HOST: [&str; 27] = [
    "mount",
    "umount",
    "swapon",
    "swapoff",
    "reboot",
    "halt",
    "poweroff",
    "shutdown",
    "insmod",
    "rmmod",
    "modprobe",
    "iptables",
    "ip6tables",
    "nft",
    "useradd",
    "userdel",
    "usermod",
    "groupadd",
    "passwd",
    "chpasswd",
    "crontab",
    "at",
    "losetup",
    "pivot_root",
    "kexec",
    "hwclock",
    "setenforce",
];

/// Calls in Python and JavaScript that change the path that they are given.
const CALLS: &str = r#"(?:os|shutil|fs)\.(?:remove|unlink|rename|replace|rmdir|rmtree|removedirs|mkdir|makedirs|truncate|chmod|chown|lchown|symlink|link|utime|mknod|mkfifo|move|setxattr|removexattr|write|append|rm)\w*\(\s*["'](/[^"']*)["']"#;

/// A file that is opened in Python so that it is emptied or made.
const OPENED: &str = r#"open\(\s*["'](/[^"']*)["']\s*,\s*["'][^"']*[wx]"#;

/// A path of the host outside the fixture has a reason.
pub(crate) fn reasons(material: &Material) -> Vec<Finding> {
    let mut findings = Vec::new();
    for at in material.cases() {
        let named = host_paths(&at);
        let mut told = HashSet::new();
        for (field, path) in &named {
            if reason(&at, path).is_none() && told.insert(path.clone()) {
                findings.push(at.finding(
                    &[At::Field(field)],
                    format!("names {path}, a path of the host outside the fixture"),
                    "aim at the fixture, or say in host_paths why this does no harm",
                ));
            }
        }
        for (path, reason) in &at.case.host_paths {
            let place = [At::Field("host_paths"), At::Field(path)];
            if !path.starts_with('/') || reason.trim().is_empty() {
                findings.push(at.finding(
                    &place,
                    format!("{path} has no reason, or is no absolute path"),
                    "write the path and why it does no harm to name it",
                ));
            } else if !named.iter().any(|(_, named)| lies_below(named, path)) {
                findings.push(at.finding(
                    &place,
                    format!("no command names {path}"),
                    "leave it out",
                ));
            }
        }
    }
    findings
}

/// Nothing of the host outside the fixture is written, removed, signalled or mounted.
pub(crate) fn changes(material: &Material) -> Vec<Finding> {
    let mut findings = Vec::new();
    for at in material.cases() {
        let mut told = HashSet::new();
        for (text, field) in at.commands() {
            for problem in harm(&text) {
                if told.insert(problem.clone()) {
                    findings.push(at.finding(
                        &[At::Field(field)],
                        problem,
                        "a baseline runs this without a sandbox: act on the fixture, or open and do not write",
                    ));
                }
            }
        }
    }
    findings
}

/// The host's paths that a case's commands name, with the field that does.
fn host_paths(at: &CaseAt<'_>) -> Vec<(&'static str, String)> {
    let mut seen = HashSet::new();
    let mut named = Vec::new();
    for (text, field) in at.commands() {
        let outputs = simple_commands(&text)
            .into_iter()
            .flat_map(|simple| simple.outputs)
            .map(|(_, target)| target)
            .filter(|target| is_of_the_host(target) && !is_below_any(target, &SINKS));
        let read = absolute_paths(&text)
            .into_iter()
            .filter(|path| is_of_the_host(path) && !is_harmless(path))
            .map(str::to_owned);
        for path in read.chain(outputs) {
            if seen.insert(path.clone()) {
                named.push((field, path));
            }
        }
    }
    named
}

fn reason<'a>(at: &'a CaseAt<'_>, path: &str) -> Option<&'a str> {
    let reasons = at.case.host_paths.iter();
    reasons
        .filter(|(known, _)| lies_below(path, known))
        .map(|(_, reason)| reason.as_str())
        .next()
}

/// Whether a path is one of the host, and not of this run. `{uid}` names the user,
/// whose directories are the host's.
fn is_of_the_host(path: &str) -> bool {
    // A name that goes on with a variable is that of some other directory.
    let first = path.trim_start_matches('/').split('/').next();
    path.starts_with('/')
        && !path.starts_with("//")
        && !first.is_some_and(|name| name.contains('$'))
        && names_in(path).iter().all(|name| *name == "uid")
}

fn is_harmless(path: &str) -> bool {
    path == "/dev" || (is_below_any(path, &HARMLESS) && !is_below_any(path, &DOUBTFUL))
}

fn is_below_any(path: &str, directories: &[&str]) -> bool {
    directories
        .iter()
        .any(|directory| lies_below(path, directory))
}

fn lies_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What a text would change on the host.
fn harm(text: &str) -> Vec<String> {
    let mut found: Vec<String> = simple_commands(text)
        .iter()
        .flat_map(|simple| of_command(simple, text))
        .collect();
    for pattern in [CALLS, OPENED] {
        // Both are constants, and read by the tests below.
        let Ok(pattern) = Regex::new(pattern) else {
            continue;
        };
        for call in pattern.captures_iter(text) {
            let path = call.get(1).map_or("", |path| path.as_str());
            if is_target(path) {
                found.push(format!("changes {path}, a path of the host"));
            }
        }
    }
    found
}

fn of_command(simple: &Simple, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let program = simple.program();
    // `: >> FILE` and `exec 9>> FILE` open and write nothing. Without a program,
    // or with one that prints, something is written; a single `>` empties the file.
    let silent = program.is_none_or(|(name, _)| name == ":" || name == "true");
    for (operator, target) in &simple.outputs {
        if is_target(target) && !(silent && (operator == ">>" || operator == "<>")) {
            found.push(format!("writes {target}, a path of the host"));
        }
    }
    let Some((name, arguments)) = program else {
        return found;
    };
    let paths = arguments.iter().filter(|word| is_target(word));
    if CHANGE.contains(&name) || (name == "sed" && arguments.iter().any(|word| word == "-i")) {
        found.extend(paths.map(|path| format!("changes {path}, a path of the host")));
    } else if CHANGE_LAST.contains(&name) {
        let last = arguments.last().filter(|word| is_target(word));
        found.extend(last.map(|path| format!("changes {path}, a path of the host")));
    } else if name == "dd" {
        let target = arguments.iter().find_map(|word| word.strip_prefix("of="));
        let target = target.filter(|path| is_target(path));
        found.extend(target.map(|path| format!("writes {path}, a path of the host")));
    } else if name == "kill" {
        let targets = arguments.iter().skip_while(|word| word.starts_with('-'));
        let group = arguments.iter().skip(1).filter(|word| *word == "-1");
        let literal = targets.filter(|word| word.parse::<i64>().is_ok_and(|pid| pid != 0));
        found.extend(
            literal
                .chain(group)
                .map(|pid| format!("signals the process {pid} of the host")),
        );
    } else if ["pkill", "killall"].contains(&name) {
        if arguments.iter().all(|word| names_in(word).is_empty()) {
            found.push(format!("signals processes of the host by name ({name})"));
        }
    } else if !simple.apart
        && (CHANGE_HOST.contains(&name)
            || (name == "sysctl" && arguments.iter().any(|word| sets(word, text))))
    {
        let asks = arguments.is_empty()
            || arguments
                .iter()
                .any(|word| ["--help", "--version", "-l"].contains(&word.as_str()));
        if !asks {
            found.push(format!("changes the host itself ({name})"));
        }
    }
    found
}

/// Whether a word of sysctl(8) sets something. A setting that is given the value
/// which it was just asked for stays as it is.
fn sets(word: &str, text: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| {
        value != "$()" || !text.contains(&format!("$(sysctl -n {name})"))
    })
}

fn is_target(path: &str) -> bool {
    is_of_the_host(path) && !is_below_any(path, &SINKS)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::redirect("echo x > /etc/motd", "writes /etc/motd")]
    #[case::emptied(": > /sys/power/state", "writes /sys/power/state")]
    #[case::removal("rm -rf {outside}/a /home/b", "changes /home/b")]
    #[case::target("cp {workspace}/a /etc/b", "changes /etc/b")]
    #[case::device("dd if=/dev/zero of=/dev/sda", "writes /dev/sda")]
    #[case::process("kill -9 1", "the process 1")]
    #[case::all_processes("kill -KILL -1", "the process -1")]
    #[case::by_name("pkill sshd", "by name (pkill)")]
    #[case::mounted("mount -t tmpfs none {outside}", "(mount)")]
    #[case::setting("sysctl -w kernel.core_pattern=x", "(sysctl)")]
    #[case::python("python3 -c 'open(\"/etc/hosts\", \"w\")'", "changes /etc/hosts")]
    #[case::python_call(
        "python3 -c \"import os; os.unlink('/etc/hosts')\"",
        "changes /etc/hosts"
    )]
    #[case::nested("bash -c 'cd /; rm /etc/hosts'", "changes /etc/hosts")]
    fn harm_is_seen(#[case] text: &str, #[case] said: &str) {
        let found = harm(text);
        assert!(found.iter().any(|one| one.contains(said)), "{found:?}");
    }

    #[rstest]
    #[case::opened(": >> /sys/power/state")]
    #[case::opened_by_exec("( exec 9>> /etc/motd )")]
    #[case::opened_by_python("python3 -c 'open(\"/etc/hosts\", \"a\")'")]
    #[case::sink("echo x > /dev/null 2> /dev/null")]
    #[case::own("rm -rf {outside}/a; echo x > {workspace}/b; kill -TERM {pid.victim} $$")]
    #[case::shared_memory("echo x > /dev/shm/{nonce}")]
    #[case::asked("mount")]
    #[case::as_it_is("sysctl -w a.b=\"$(sysctl -n a.b)\"")]
    #[case::joined("cat /private${path#/private}; echo x > /$name/new")]
    #[case::probe("{probe} new-user-namespace then sh -c 'mount -t proc proc {workspace}/proc'")]
    #[case::own_namespace("unshare -rm bash -c 'mount -t tmpfs none /tmp'")]
    #[case::signal_to_itself("kill -1 $$; kill 0")]
    #[case::read("cp /etc/passwd {workspace}/a; dd if=/dev/zero of={workspace}/b")]
    fn what_does_no_harm_is_let_be(#[case] text: &str) {
        assert_eq!(harm(text), Vec::<String>::new());
    }
}
