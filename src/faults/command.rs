//! Mistakes about the command, and about how bubblewrap is told.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

use nix::sys::stat::{Mode, umask};

use super::mistake::{Mistake, made};
use super::{Asked, filter};
use crate::launcher::Stdio;

/// What was asked of the launcher.
pub(crate) fn asked(asked: Asked<'_>) {
    let words = asked.words;
    match made() {
        Mistake::ShellString => {
            let line = words.join(OsStr::new(" "));
            *words = vec!["/bin/sh".into(), "-c".into(), line];
        }
        Mistake::ArgumentsTrimmed => {
            for word in words {
                if let Some(text) = word.to_str().map(|text| text.trim().to_owned()) {
                    *word = text.into();
                }
            }
        }
        Mistake::ShellStopsAtErrors if words.get(1).is_some_and(|option| option == "-c") => {
            words[1] = "-ec".into();
        }
        Mistake::EmptyArgumentsDropped => words.retain(|word| !word.is_empty()),
        Mistake::VariablesOnCommandLine if !asked.variables.is_empty() => {
            let assign = |(name, value): &(OsString, OsString)| {
                let mut word = name.clone();
                word.push("=");
                word.push(value);
                word
            };
            let mut all: Vec<OsString> = vec!["env".into()];
            all.extend(asked.variables.iter().map(assign));
            all.append(words);
            *words = all;
        }
        Mistake::StreamsMerged => {
            if let Ok(output) = std::io::stdout().as_fd().try_clone_to_owned() {
                asked.streams[2] = Stdio::Descriptor(output);
            }
        }
        Mistake::InputUnreadable => {
            if let Ok(file) = File::options().write(true).open("/dev/null") {
                asked.streams[0] = file.into();
            }
        }
        Mistake::DirectoryIgnored => *asked.directory = None,
        Mistake::DirectoryNotSet if asked.directory.is_none() => {
            *asked.directory = Some("/tmp".into());
        }
        Mistake::TerminalShared => *asked.terminal = false,
        Mistake::UmaskSet => {
            umask(Mode::from_bits_truncate(0o077));
        }
        _ => {}
    }
}

/// The options of bubblewrap.
pub(crate) fn arguments(list: &mut Vec<OsString>) {
    if let Some(filter) = filter::descriptor() {
        list.push("--seccomp".into());
        list.push(filter.as_raw_fd().to_string().into());
    }
    match made() {
        Mistake::EnvironmentClearedInside => {
            let first = list.iter().position(|word| word == "--setenv");
            list.insert(first.unwrap_or(list.len()), "--clearenv".into());
        }
        Mistake::UserNamespaceShared => {
            without(list, &["--unshare-user"]);
            without(list, &["--disable-userns"]);
        }
        Mistake::SuperUserKept => {
            without(list, &["--unshare-user"]);
            without(list, &["--disable-userns"]);
            replace(list, &["--cap-drop", "ALL"], &["--cap-add", "ALL"]);
        }
        Mistake::SuperUserAmongProcesses => {
            without(list, &["--unshare-user"]);
            without(list, &["--unshare-pid"]);
            without(list, &["--disable-userns"]);
            replace(list, &["--cap-drop", "ALL"], &["--cap-add", "ALL"]);
        }
        Mistake::CapabilitiesKept => without(list, &["--cap-drop", "ALL"]),
        Mistake::ProcessNamespaceShared => without(list, &["--unshare-pid"]),
        Mistake::IpcNamespaceShared => without(list, &["--unshare-ipc"]),
        Mistake::HostNameShared => without(list, &["--unshare-uts"]),
        Mistake::ControlGroupNamespaceShared => without(list, &["--unshare-cgroup"]),
        Mistake::NestedNamespacesAllowed => without(list, &["--disable-userns"]),
        Mistake::OutlivesLauncher => without(list, &["--die-with-parent"]),
        Mistake::HostDevices => {
            replace(list, &["--dev", "/dev"], &["--dev-bind", "/dev", "/dev"]);
            without(list, &["--remount-ro", "/dev"]);
        }
        Mistake::DevicesLost => replace(list, &["--dev", "/dev"], &["--tmpfs", "/dev"]),
        Mistake::DevicesFew => {
            let mut few = vec!["--tmpfs", "/dev"];
            for device in ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"] {
                few.extend(["--dev-bind", device, device]);
            }
            replace(list, &["--dev", "/dev"], &few);
        }
        Mistake::DirectoryFallsBack => {
            let place = list.iter().position(|word| word == "--chdir");
            if let Some(place) = place.filter(|place| !Path::new(&list[place + 1]).is_dir()) {
                list.drain(place..place + 2);
            }
        }
        Mistake::UserChanged => list.extend(["--uid".into(), "4711".into()]),
        _ => {}
    }
}

/// The words of bubblewrap's command line.
pub(crate) fn words(words: &mut Vec<OsString>) {
    if made() == Mistake::SeparatorLeftOut {
        without(words, &["--"]);
    }
}

/// Takes the first occurrence of these words out.
fn without(list: &mut Vec<OsString>, words: &[&str]) {
    replace(list, words, &[]);
}

fn replace(list: &mut Vec<OsString>, words: &[&str], others: &[&str]) {
    let place = list
        .windows(words.len())
        .position(|window| window.iter().zip(words).all(|(one, other)| one == other));
    if let Some(place) = place {
        let others = others.iter().map(OsString::from);
        list.splice(place..place + words.len(), others);
    }
}
