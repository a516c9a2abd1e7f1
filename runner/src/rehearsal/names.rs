//! The placeholders of a trial, each with a text.

use std::collections::BTreeSet;

use crate::corpus::placeholder::{names_in, texts_of};
use crate::corpus::{FIXED_NAMES, Trial};
use crate::fixture::Names;

/// Every placeholder that the texts of a trial have or could have, in a fixed order:
/// first those of every trial, then those of its fixture.
pub fn placeholders_of(trial: &Trial) -> Vec<String> {
    let fixture = &trial.fixture;
    let of = |kind: &str, name: &String| format!("{kind}.{name}");
    let mut own: BTreeSet<String> = crate::corpus::secrets_of(fixture)
        .iter()
        .map(|name| of("secret", name))
        .collect();
    own.extend(fixture.listeners.keys().map(|name| of("port", name)));
    own.extend(fixture.sockets.keys().map(|name| of("socket", name)));
    own.extend(fixture.processes.keys().map(|name| of("pid", name)));
    own.extend(fixture.shared_memory.keys().map(|name| of("shm", name)));
    // A secret may be mentioned in a text alone.
    for text in texts_of(trial) {
        let names = names_in(&text).into_iter();
        own.extend(
            names
                .filter(|name| name.starts_with("secret."))
                .map(str::to_owned),
        );
    }
    let fixed = FIXED_NAMES.iter().map(|name| (*name).to_owned());
    fixed.chain(own).collect()
}

/// A text for every placeholder of a trial.
pub fn names_of(trial: &Trial, text: impl Fn(&str) -> String) -> Names {
    let mut names = Names::default();
    for name in placeholders_of(trial) {
        let text = text(&name);
        names.insert(name, text);
    }
    // A socket with a path is named by it.
    for (name, socket) in &trial.fixture.sockets {
        if let Some(Ok(path)) = socket.path.as_ref().map(|path| names.expand(path)) {
            names.insert(format!("socket.{name}"), path);
        }
    }
    names
}
