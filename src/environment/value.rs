//! What a variable's value stands for: itself, or a variable of the host.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::policy::{Fault, Policy, quote, variable_name};

/// A value, read once: nothing in it is expanded a second time.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// The value itself.
    Literal(OsString),
    /// The value of the host's variable of this name.
    Host(String),
}

impl Value {
    /// Reads a value. `${NAME}` is the host's NAME, and `$${NAME}` the text
    /// `${NAME}`, each only as the whole of the value.
    pub(super) fn parse(text: &OsStr) -> Result<Value, Fault> {
        if text.as_bytes().contains(&0) {
            return Err(Fault::new(
                "holds a NUL, which no variable can hold",
                "write the value without it",
            ));
        }
        let Some(utf8) = text.to_str() else {
            return Ok(Value::Literal(text.to_owned()));
        };
        if let Some(name) = braced(utf8) {
            variable_name(name).map_err(|_| {
                Fault::new(
                    format!("{} names no variable", quote(&format!("${{{name}}}"))),
                    "write \"${NAME}\" with a variable's name alone, \
                     or begin with `$$` for the text itself",
                )
            })?;
            return Ok(Value::Host(name.to_owned()));
        }
        match utf8.strip_prefix('$') {
            Some(rest) if braced(rest).is_some() => Ok(Value::Literal(rest.into())),
            _ => Ok(Value::Literal(text.to_owned())),
        }
    }

    /// The value that the command gets.
    pub(crate) fn resolve(
        &self,
        policy: &Policy,
        host: &impl Fn(&str) -> Option<OsString>,
    ) -> Result<OsString, Fault> {
        let name = match self {
            Value::Literal(text) => return Ok(text.clone()),
            Value::Host(name) => name,
        };
        if !policy.host_environment.iter().any(|listed| listed == name) {
            return Err(Fault::new(
                format!("the policy's host_environment does not list {name}"),
                format!("add {name:?} to it, or write the value itself"),
            ));
        }
        let value = host(name).ok_or_else(|| {
            Fault::new(
                format!("{name} is not set on the host"),
                format!("set {name} before the launch, or remove the entry"),
            )
        })?;
        if value.as_bytes().contains(&0) {
            return Err(Fault::new(
                format!("the host's {name} holds a NUL, which no variable can hold"),
                "set it to something else",
            ));
        }
        Ok(value)
    }
}

/// What stands between `${` and `}`, if that is all there is. `${A}/${B}` is not:
/// its braces belong to two references, and embedded ones mean nothing.
fn braced(text: &str) -> Option<&str> {
    text.strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .filter(|inside| !inside.contains(['{', '}']))
}

/// Whether the operating system can hold a variable of this name.
pub(super) fn check_name(name: &OsStr) -> Result<(), Fault> {
    const REMEDY: &str = "write a name such as \"RUST_BACKTRACE\"";
    let shown = name.to_string_lossy();
    if shown.is_empty() {
        return Err(Fault::new("the name is empty", REMEDY));
    }
    if let Some(bad) = shown.chars().find(|one| *one == '=' || one.is_control()) {
        let problem = format!("the name {} holds {bad:?}", quote(&shown));
        return Err(Fault::new(problem, REMEDY));
    }
    Ok(())
}
