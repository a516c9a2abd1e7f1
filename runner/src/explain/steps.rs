//! What goes on around a command, in words.

use crate::corpus::case::{During, LaunchSpec, Tty};
use crate::corpus::streams::Stream;

use super::quoted;

/// What the host does while a command runs.
pub fn action_words(action: &During) -> String {
    let when = match &action.after {
        Some(line) => format!("when the command has printed the line {}", quoted(line)),
        None => "when the command has started".to_owned(),
    };
    let what = if let Some(signal) = &action.signal {
        format!("the launcher is sent SIG{signal}")
    } else if let Some(command) = &action.host {
        format!("the host runs: {command}")
    } else if let Some(text) = &action.typed {
        format!("{} is typed into the terminal", quoted(text))
    } else if action.kill_parent {
        "the launcher's parent is killed".to_owned()
    } else {
        "the thread that started the launcher ends, and its process stays".to_owned()
    };
    format!("{when}, {what}")
}

/// What the launch has beside its command, where that is not the usual.
pub fn stream_words(launch: &LaunchSpec) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(input) = &launch.stdin {
        words.push(format!("its standard input is {}", quoted(input)));
    }
    match launch.tty {
        Tty::None => {}
        Tty::Caller => words.push("the launcher is started on a terminal".to_owned()),
        Tty::Command => words.push(
            "the launcher is started on a terminal, and asked to give the command one".to_owned(),
        ),
    }
    let streams = [
        ("standard input", &launch.streams.input),
        ("standard output", &launch.streams.output),
        ("standard error", &launch.streams.errors),
    ];
    for (name, stream) in streams {
        words.extend(stream.as_ref().map(|stream| match stream {
            Stream::Closed => format!("the launcher's {name} is closed"),
            Stream::Gone => format!("the launcher's {name} is a pipe whose other end is gone"),
            Stream::File(path) => format!("the launcher's {name} is {path}"),
        }));
    }
    if launch.copies > 1 {
        words.push(format!("{} launchers are started at once", launch.copies));
    }
    if launch.tries > 1 {
        words.push(format!(
            "it is tried up to {} times, until the effect shows",
            launch.tries
        ));
    }
    if let Some(command) = &launch.meanwhile {
        words.push(format!("beside it the host runs: {command}"));
    }
    if !launch.proves_start {
        words.push(
            "the command prints no line to prove its start: it is not to start, or cannot speak"
                .to_owned(),
        );
    }
    words
}
