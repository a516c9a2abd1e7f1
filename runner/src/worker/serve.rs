//! A worker's side: requests come in as lines, answers go out as lines.

use std::any::Any;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::roots;
use crate::launch::tree;

/// What a worker writes in answer to a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer<Response> {
    /// The answer.
    Done(Response),
    /// The worker could not answer, and why.
    Failed(String),
}

/// Serves until the runner closes the other end, then exits.
pub(super) fn serve<Request, Response>(handle: fn(&Request) -> Response) -> !
where
    Request: DeserializeOwned,
    Response: Serialize,
{
    let status = match prepare() {
        Ok((requests, answers)) => answer_all(requests, answers, handle),
        Err(error) => {
            // The runner, which gets no answer, shows this.
            let _ = writeln!(io::stderr(), "a worker cannot start: {error}");
            1
        }
    };
    std::process::exit(status)
}

/// Leaves the runner's session, so that what is meant for the runner alone does
/// not hit the worker, adopts orphans, and moves the two pipes away from the
/// standard streams, where whatever a request starts would find them.
fn prepare() -> io::Result<(File, File)> {
    // The runner blocks the signals that ask it to end, and a mask is handed on
    // to whatever is started (sigprocmask(2)): to fixtures and host steps too.
    nix::sys::signal::SigSet::empty().thread_set_mask()?;
    // It fails only for a leader of a process group, which then is apart too.
    let _ = nix::unistd::setsid();
    tree::adopt()?;
    let requests = own(io::stdin())?;
    let answers = own(io::stdout())?;
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    nix::unistd::dup2_stdin(&nothing)?;
    nix::unistd::dup2_stdout(&nothing)?;
    Ok((requests, answers))
}

/// A duplicate that exec closes.
fn own(stream: impl std::os::fd::AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

/// Answers on the main thread: launchers that die with their parent die with
/// the thread which started them (PR_SET_PDEATHSIG(2const)), and this one stays.
fn answer_all<Request, Response>(
    requests: File,
    mut answers: File,
    handle: fn(&Request) -> Response,
) -> i32
where
    Request: DeserializeOwned,
    Response: Serialize,
{
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(requests).lines() {
            let Ok(line) = line else { break };
            if sender.send(line).is_err() {
                break;
            }
        }
        // The runner has gone, or wants no more. What is running is ended, and
        // what is there is removed, whatever the main thread is at.
        tree::end_all();
        roots::remove_all();
        std::process::exit(0)
    });
    for line in receiver {
        let answer = answer(&line, handle);
        let text = serde_json::to_string(&answer)
            .or_else(|error| serde_json::to_string(&failed::<Response>(&error)));
        let Ok(mut text) = text else { return 1 };
        text.push('\n');
        if answers.write_all(text.as_bytes()).is_err() {
            break;
        }
    }
    // The other thread is at its end too, and exits once all is gone.
    loop {
        std::thread::park();
    }
}

fn answer<Request, Response>(line: &str, handle: fn(&Request) -> Response) -> Answer<Response>
where
    Request: DeserializeOwned,
{
    let request: Request = match serde_json::from_str(line) {
        Ok(request) => request,
        Err(error) => return failed(&error),
    };
    let answer = catch_unwind(AssertUnwindSafe(|| handle(&request)));
    answer.map_or_else(
        |panic| {
            // It may have left anything behind.
            tree::kill_descendants(&[]);
            roots::remove_all();
            Answer::Failed(format!("a worker panicked: {}", text_of(&*panic)))
        },
        Answer::Done,
    )
}

fn failed<Response>(error: &serde_json::Error) -> Answer<Response> {
    Answer::Failed(format!("a worker and its runner differ: {error}"))
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no reason given")
}
