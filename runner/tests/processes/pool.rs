//! Workers, and what becomes of them.

use std::path::PathBuf;
#[cfg(target_os = "linux")]
use std::{
    io::{BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

#[cfg(target_os = "linux")]
use perimeter_runner::worker::{Interrupts, Scratch};
use perimeter_runner::worker::{Pool, PoolError, in_use};
use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
use crate::support::is_alive;
use crate::support::{host, own_program, shell, tests};

tests![
    requests_are_answered,
    many_at_a_time_and_each_in_its_place,
    from_many_threads,
    a_panic_is_an_answer,
    a_dead_worker_is_replaced,
    #[cfg(target_os = "linux")]
    a_killed_worker_leaves_no_process,
    what_a_request_prints_is_no_answer,
    a_worker_is_out_of_the_runners_session,
    #[cfg(target_os = "linux")]
    cancelling_ends_all_at_once,
    #[cfg(target_os = "linux")]
    a_killed_runner_leaves_nothing,
    #[cfg(target_os = "linux")]
    an_interrupted_runner_leaves_nothing,
    a_program_that_is_none_is_an_error,
];

/// What the test's workers can do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Request {
    Echo(String),
    Print,
    Panic,
    Exit(i32),
    Session,
    /// Dies in the middle of a launch, whose processes it prints first.
    Die(PathBuf),
    /// Makes the root, then hangs with a tree of processes, having written
    /// their ids into the file.
    Hang(PathBuf),
}

pub fn handle(request: &Request) -> String {
    match request {
        Request::Echo(text) => text.clone(),
        Request::Print => {
            println!("garbage");
            "printed".to_owned()
        }
        Request::Panic => panic!("on purpose"),
        Request::Exit(status) => std::process::exit(*status),
        Request::Session => nix::unistd::getsid(None).unwrap().to_string(),
        Request::Die(file) => {
            let command = format!("sleep 300 & echo $! $$ > {}; wait", file.display());
            let kill = format!(
                "until [ -s {} ]; do :; done; kill -KILL $PPID",
                file.display()
            );
            let launched = shell(&command).during(host(&kill)).run();
            format!("{launched:?}")
        }
        Request::Hang(root) => {
            let _in_use = in_use(&[root]);
            std::fs::create_dir_all(root.join("deep")).unwrap();
            let pids = root.join("pids");
            let shown = root.with_extension("pids");
            let (pids, shown) = (pids.display(), shown.display());
            let command = format!(
                "sleep 300 & echo $! >> {pids}; setsid sleep 300 & echo $! >> {pids}; \
                 echo $$ >> {pids}; mv {pids} {shown}; wait"
            );
            let launched = shell(&command).during(host("true")).deadline(300_000).run();
            format!("{launched:?}")
        }
    }
}

/// The runner of its own that some tests kill.
#[cfg(target_os = "linux")]
pub fn enter() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some("--test-runner") {
        return;
    }
    let directory = PathBuf::from(arguments.next().unwrap());
    let pool = std::sync::Arc::new(Pool::<Request, String>::new(own_program(), 2));
    let cancelled = std::sync::Arc::clone(&pool);
    Interrupts::watch(move |status| {
        cancelled.cancel();
        Scratch::remove_all();
        std::process::exit(status);
    })
    .unwrap();
    let scratch = Scratch::create(&directory).unwrap();
    println!("{}", scratch.path().display());
    let requests = [
        Request::Hang(scratch.path().join("1")),
        Request::Hang(scratch.path().join("2")),
    ];
    pool.map(
        requests.len(),
        |place| requests[place].clone(),
        |_, answer| drop(answer),
    );
    loop {
        std::thread::park();
    }
}

fn pool(jobs: usize) -> Pool<Request, String> {
    Pool::new(own_program(), jobs)
}

fn echo(text: &str) -> Request {
    Request::Echo(text.to_owned())
}

fn requests_are_answered() {
    let pool = pool(1);
    let text = "line\nbreaks and \u{fc}".repeat(10_000);
    assert_eq!(pool.run(&echo("one")).unwrap(), "one");
    assert_eq!(pool.run(&echo(&text)).unwrap(), text);
}

fn many_at_a_time_and_each_in_its_place() {
    let requests: Vec<Request> = (0..200).map(|number| echo(&number.to_string())).collect();
    let mut answers = vec![None; 200];
    pool(4).map(
        requests.len(),
        |place| requests[place].clone(),
        |place, answer| answers[place] = answer.ok(),
    );
    let expected: Vec<_> = (0..200).map(|number| Some(number.to_string())).collect();
    assert_eq!(answers, expected);
    pool(4).map(0, |_| unreachable!(), |_, _| unreachable!());
}

fn from_many_threads() {
    let pool = pool(2);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let pool = &pool;
            scope.spawn(move || {
                for _ in 0..20 {
                    let text = number.to_string();
                    assert_eq!(pool.run(&echo(&text)).unwrap(), text);
                }
            });
        }
    });
}

fn a_panic_is_an_answer() {
    let pool = pool(1);
    let error = pool.run(&Request::Panic).unwrap_err();
    assert!(
        matches!(&error, PoolError::Failed(why) if why.contains("on purpose")),
        "{error:?}"
    );
    assert_eq!(pool.run(&echo("on")).unwrap(), "on");
}

fn a_dead_worker_is_replaced() {
    let pool = pool(1);
    for _ in 0..3 {
        let error = pool.run(&Request::Exit(7)).unwrap_err();
        assert!(error.to_string().contains("exit status: 7"), "{error}");
        assert_eq!(pool.run(&echo("on")).unwrap(), "on");
    }
}

#[cfg(target_os = "linux")]
fn a_killed_worker_leaves_no_process() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pids");
    let mut own = Command::new("sleep").arg("300").spawn().unwrap();
    let pool = pool(2);
    let error = pool.run(&Request::Die(file.clone())).unwrap_err();
    assert!(error.to_string().contains("signal: 9"), "{error}");
    let pids = std::fs::read_to_string(file).unwrap();
    assert!(
        !pids
            .split_whitespace()
            .any(|pid| is_alive(pid.parse().unwrap()))
    );
    // What is not a worker's is left alone.
    assert!(own.try_wait().unwrap().is_none());
    own.kill().unwrap();
    own.wait().unwrap();
    assert_eq!(pool.run(&echo("on")).unwrap(), "on");
}

fn what_a_request_prints_is_no_answer() {
    assert_eq!(pool(1).run(&Request::Print).unwrap(), "printed");
}

fn a_worker_is_out_of_the_runners_session() {
    let own = nix::unistd::getsid(None).unwrap().to_string();
    assert_ne!(pool(1).run(&Request::Session).unwrap(), own);
}

/// Waits for both trees of a runner to be there, and returns their processes.
#[cfg(target_os = "linux")]
fn processes_of(scratch: &Path) -> Vec<i32> {
    let limit = Instant::now() + Duration::from_secs(20);
    let text = |name| std::fs::read_to_string(scratch.join(name)).ok();
    loop {
        if let (Some(first), Some(second)) = (text("1.pids"), text("2.pids")) {
            let lines = first.lines().chain(second.lines());
            let pids: Vec<i32> = lines.map(|line| line.parse().unwrap()).collect();
            assert_eq!(pids.len(), 6);
            return pids;
        }
        assert!(Instant::now() < limit, "nothing was started");
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
fn cancelling_ends_all_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let pool = pool(2);
    let path = directory.path();
    let requests = [Request::Hang(path.join("1")), Request::Hang(path.join("2"))];
    std::thread::scope(|scope| {
        let pool = &pool;
        let answers = scope.spawn(move || {
            pool.map(
                requests.len(),
                |place| requests[place].clone(),
                |_, answer| {
                    let error = answer.unwrap_err();
                    assert!(matches!(error, PoolError::Cancelled), "{error:?}");
                },
            );
        });
        let pids = processes_of(path);
        let began = Instant::now();
        pool.cancel();
        assert!(began.elapsed() < Duration::from_secs(2));
        assert!(!pids.into_iter().any(is_alive));
        answers.join().unwrap();
    });
    assert!(!path.join("1").exists() && !path.join("2").exists());
    assert!(matches!(pool.run(&echo("on")), Err(PoolError::Cancelled)));
}

/// Ends a runner by a signal to its whole process group, as a terminal or a
/// pipeline does, and returns its status and its scratch directory.
#[cfg(target_os = "linux")]
fn end_runner(signal: nix::sys::signal::Signal) -> (std::process::ExitStatus, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let mut runner = Command::new(own_program())
        .arg("--test-runner")
        .arg(directory.path())
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(runner.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let scratch = PathBuf::from(line.trim());
    let pids = processes_of(&scratch);
    let group = nix::unistd::Pid::from_raw(i32::try_from(runner.id()).unwrap());
    nix::sys::signal::killpg(group, signal).unwrap();
    let status = runner.wait().unwrap();
    // Being orphans, the workers are ours now; they end by themselves.
    let left = perimeter_runner::launch::tree::leftovers(&[], Duration::from_secs(5));
    assert_eq!(left, []);
    assert!(!pids.into_iter().any(is_alive));
    assert!(!scratch.join("1").exists() && !scratch.join("2").exists());
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    // The next run clears the rest.
    drop(Scratch::create(directory.path()).unwrap());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    (status, scratch)
}

#[cfg(target_os = "linux")]
fn a_killed_runner_leaves_nothing() {
    end_runner(nix::sys::signal::Signal::SIGKILL);
}

#[cfg(target_os = "linux")]
fn an_interrupted_runner_leaves_nothing() {
    use nix::sys::signal::Signal;
    let expected = [
        (Signal::SIGINT, 130),
        (Signal::SIGTERM, 143),
        (Signal::SIGHUP, 129),
    ];
    for (signal, expected) in expected {
        let (status, _) = end_runner(signal);
        assert_eq!(status.code(), Some(expected));
    }
}

fn a_program_that_is_none_is_an_error() {
    let pool: Pool<Request, String> = Pool::new("/no/such/program", 2);
    for _ in 0..3 {
        let error = pool.run(&echo("on")).unwrap_err();
        assert!(matches!(error, PoolError::Start { .. }), "{error:?}");
    }
    let pool: Pool<Request, String> = Pool::new("/bin/echo", 2);
    let error = pool.run(&echo("on")).unwrap_err();
    assert!(
        matches!(error, PoolError::Garbled(_) | PoolError::Died { .. }),
        "{error:?}"
    );
}
