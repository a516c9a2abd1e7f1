//! Mistakes about a command's variables.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use super::mistake::{Mistake, made};
use super::policy::offline;
use super::view::elsewhere;
use crate::bubblewrap::Setting;
use crate::environment::{COPIED_VARIABLES, STRIPPED_VARIABLES, Value};
use crate::policy::{Fault, Policy, Posture, Refusal};

/// The variables of a document, once they were read.
pub(crate) fn variables<T: Default>(read: Result<T, Refusal>) -> Result<T, Refusal> {
    match made() {
        Mistake::VariablesPassedOver => Ok(read.unwrap_or_default()),
        _ => read,
    }
}

/// What a variable's value stands for.
pub(crate) fn value(
    value: &Value,
    policy: &Policy,
    host: &impl Fn(&str) -> Option<OsString>,
) -> Result<OsString, Fault> {
    match (made(), value) {
        (Mistake::UnlistedVariablesCopied, Value::Host(name)) => {
            host(name).map_or_else(|| value.resolve(policy, host), Ok)
        }
        (Mistake::MissingVariablesEmpty, Value::Host(name)) => Ok(value
            .resolve(policy, host)
            .unwrap_or_else(|_| host(name).unwrap_or_default())),
        (Mistake::ReferencesNotExpanded, Value::Host(name)) => Ok(format!("${{{name}}}").into()),
        (Mistake::ReferencesExpandedWithin, Value::Literal(text)) => Ok(expand(text, host)),
        (Mistake::ReferencesExpandedTwice, Value::Host(_)) => {
            value.resolve(policy, host).map(|text| expand(&text, host))
        }
        _ => value.resolve(policy, host),
    }
}

/// Expands every `${NAME}` of a text.
fn expand(text: &OsStr, host: &impl Fn(&str) -> Option<OsString>) -> OsString {
    let Some(text) = text.to_str() else {
        return text.to_owned();
    };
    let mut expanded = OsString::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push(before);
        let Some((name, after)) = after.split_once('}') else {
            expanded.push("${");
            rest = after;
            continue;
        };
        expanded.push(host(name).unwrap_or_default());
        rest = after;
    }
    expanded.push(rest);
    expanded
}

/// What a launch has besides its view.
pub(crate) fn setting(mut setting: Setting, policy: &Policy) -> Setting {
    let strict = policy.posture == Posture::Strict;
    let list = &mut setting.variables;
    match made() {
        Mistake::SessionShared | Mistake::TerminalShared => setting.new_session = false,
        Mistake::NetworkByVariables if offline() => {
            for name in ["http_proxy", "https_proxy", "all_proxy"] {
                set(list, name, "http://127.0.0.1:9".into());
            }
        }
        Mistake::TemporaryShared if strict => {
            for (_, value) in list.iter_mut() {
                *value = elsewhere(Path::new(value)).into();
            }
            set(list, "TMPDIR", "/tmp".into());
        }
        Mistake::EnvironmentKept if strict => {
            for (name, value) in std::env::vars_os() {
                if !list.iter().any(|(each, _)| *each == name) {
                    list.push((name, value));
                }
            }
        }
        Mistake::ServiceVariablesKept => {
            for name in STRIPPED_VARIABLES {
                copy(list, name);
            }
        }
        Mistake::ListedVariablesCopied => {
            for name in &policy.host_environment {
                copy(list, name);
            }
        }
        Mistake::SearchPathLost => list.retain(|(name, _)| name != "PATH"),
        Mistake::LocaleLost => {
            list.retain(|(name, _)| !COPIED_VARIABLES.iter().any(|copied| name == copied));
        }
        Mistake::HostReadableCleared if !strict => {
            let kept = |name: &OsStr| {
                name == "PATH" || COPIED_VARIABLES.iter().any(|copied| name == *copied)
            };
            let caller = |name: &OsStr| std::env::var_os(name).is_some();
            list.retain(|(name, _)| kept(name) || !caller(name));
        }
        Mistake::PrivateDirectoriesLost if strict => {
            for name in ["HOME", "TMPDIR"] {
                copy(list, name);
            }
        }
        Mistake::HomeReplaced if !strict => set(list, "HOME", "/tmp/home".into()),
        Mistake::CallerVariablesWin => {
            for (name, value) in list.iter_mut() {
                if let Some(host) = std::env::var_os(&*name) {
                    *value = host;
                }
            }
        }
        Mistake::LinesCutOff => {
            for (_, value) in list.iter_mut() {
                let line = value.as_bytes().split(|byte| *byte == b'\n').next();
                *value = OsString::from_vec(line.unwrap_or_default().to_vec());
            }
        }
        Mistake::EmptyValuesDropped => list.retain(|(_, value)| !value.is_empty()),
        _ => {}
    }
    setting
}

/// Copies a variable of the caller.
fn copy(list: &mut Vec<(OsString, OsString)>, name: &str) {
    if let Some(value) = std::env::var_os(name) {
        set(list, name, value);
    }
}

fn set(list: &mut Vec<(OsString, OsString)>, name: &str, value: OsString) {
    list.retain(|(each, _)| each != name);
    list.push((name.into(), value));
}
