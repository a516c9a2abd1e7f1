//! The runner's side: as many workers as it takes, a request at a time each.

use std::io::{self, BufRead, BufReader, Write};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::WORKER;
use super::serve::Answer;
use crate::launch::{ExitWatch, tree};

/// How long a worker may take to end its trial when it is told to: it kills,
/// waits for the killed and removes a small tree, which takes milliseconds.
const FAREWELL: Duration = Duration::from_secs(10);

/// Why a request was not answered.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// No worker could be started.
    #[error("cannot start a worker from {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The request could not be written as JSON.
    #[error("cannot write a request: {0}")]
    Request(serde_json::Error),
    /// The worker died.
    #[error("a worker died at this trial ({ending}); another takes its place")]
    Died {
        /// How it ended.
        ending: String,
    },
    /// The worker's answer is none.
    #[error("a worker answered nothing that can be read ({0}); another takes its place")]
    Garbled(serde_json::Error),
    /// The worker says that it failed.
    #[error("{0}")]
    Failed(String),
    /// The run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
}

/// A pool of workers.
#[derive(Debug)]
pub struct Pool<Request, Response> {
    program: PathBuf,
    jobs: usize,
    state: Mutex<State>,
    /// Told whenever a place has become free.
    free: Condvar,
    types: PhantomData<fn(&Request) -> Response>,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Worker>,
    /// Places that are taken: workers at work, or being started.
    busy: usize,
    /// The ends by which every living worker is told to end.
    leashes: Vec<Arc<Leash>>,
    cancelled: bool,
}

/// What a worker is told by; closing its input ends it.
#[derive(Debug)]
struct Leash {
    pid: i32,
    input: Mutex<Option<ChildStdin>>,
}

#[derive(Debug)]
struct Worker {
    child: Child,
    leash: Arc<Leash>,
    output: BufReader<ChildStdout>,
}

impl<Request, Response> Pool<Request, Response>
where
    Request: Serialize,
    Response: DeserializeOwned,
{
    /// A pool of at most so many workers, each started when it is first needed.
    /// The program's `main` calls [`enter`](super::enter) first.
    pub fn new(program: impl Into<PathBuf>, jobs: usize) -> Pool<Request, Response> {
        Pool {
            program: program.into(),
            jobs: jobs.max(1),
            state: Mutex::default(),
            free: Condvar::new(),
            types: PhantomData,
        }
    }

    /// How many workers there are at most.
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// Has a worker answer, waiting for one to be free.
    pub fn run(&self, request: &Request) -> Result<Response, PoolError> {
        let mut line = serde_json::to_string(request).map_err(PoolError::Request)?;
        line.push('\n');
        let mut worker = self.take()?;
        let answer = worker.ask(&line);
        let answer = answer.and_then(|text| {
            serde_json::from_str::<Answer<Response>>(&text).map_err(PoolError::Garbled)
        });
        match answer {
            Ok(answer) => {
                self.give_back(worker)?;
                match answer {
                    Answer::Done(response) => Ok(response),
                    Answer::Failed(reason) => Err(PoolError::Failed(reason)),
                }
            }
            Err(error) => Err(self.bury(worker, error)),
        }
    }

    /// Has all answered, as many at a time as there are workers. Each answer is
    /// handed over as it comes, with its request's place, on this thread. A request
    /// is made when a worker is to get it, so that there may be very many.
    pub fn map(
        &self,
        total: usize,
        request: impl Fn(usize) -> Request + Sync,
        mut answered: impl FnMut(usize, Result<Response, PoolError>),
    ) where
        Response: Send,
    {
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.min(total) {
                let sender = sender.clone();
                let (next, request) = (&next, &request);
                scope.spawn(move || {
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        if place >= total {
                            return;
                        }
                        if sender.send((place, self.run(&request(place)))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            for (place, answer) in receiver {
                answered(place, answer);
            }
        });
    }

    /// A free worker, or a new one while there are fewer than asked for.
    fn take(&self) -> Result<Worker, PoolError> {
        let mut state = self.state();
        loop {
            if state.cancelled {
                return Err(PoolError::Cancelled);
            }
            if let Some(worker) = state.idle.pop() {
                state.busy += 1;
                return Ok(worker);
            }
            if state.busy < self.jobs {
                break;
            }
            state = self
                .free
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        // What a worker leaves if it dies is to fall to us. Where that cannot be
        // had, such a death leaves processes behind; nothing else hangs on it.
        let _ = tree::adopt();
        // Started under the lock, so that none escapes a cancellation.
        let worker = Worker::start(&self.program).map_err(|source| PoolError::Start {
            program: self.program.clone(),
            source,
        })?;
        state.busy += 1;
        state.leashes.push(Arc::clone(&worker.leash));
        Ok(worker)
    }

    /// An answer that comes after the cancellation is none: the worker may have
    /// lost what it looked at.
    fn give_back(&self, worker: Worker) -> Result<(), PoolError> {
        let mut state = self.state();
        state.busy -= 1;
        self.free.notify_one();
        if state.cancelled {
            drop(state);
            worker.end();
            return Err(PoolError::Cancelled);
        }
        state.idle.push(worker);
        Ok(())
    }

    /// Ends a worker that did not answer, and says why it did not.
    fn bury(&self, worker: Worker, error: PoolError) -> PoolError {
        let leash = Arc::clone(&worker.leash);
        let ending = worker.end();
        let mut state = self.state();
        state.busy -= 1;
        state.leashes.retain(|other| !Arc::ptr_eq(other, &leash));
        self.free.notify_one();
        if !state.cancelled {
            // What it had started has come to us. No worker is started
            // meanwhile: the state is locked.
            let workers: Vec<i32> = state.leashes.iter().map(|leash| leash.pid).collect();
            tree::kill_strays(&workers);
        }
        match error {
            _ if state.cancelled => PoolError::Cancelled,
            PoolError::Died { .. } => PoolError::Died { ending },
            error => error,
        }
    }
}

impl<Request, Response> Pool<Request, Response> {
    /// Stops: no request is begun any more, and every worker ends what it has
    /// started, removes its trial's directory and exits. Requests under way are
    /// answered with [`PoolError::Cancelled`].
    pub fn cancel(&self) {
        let (idle, leashes) = {
            let mut state = self.state();
            state.cancelled = true;
            self.free.notify_all();
            (
                std::mem::take(&mut state.idle),
                std::mem::take(&mut state.leashes),
            )
        };
        let watches: Vec<_> = leashes
            .iter()
            .map(|leash| ExitWatch::new(leash.pid))
            .collect();
        for leash in &leashes {
            leash.let_go();
        }
        for watch in watches.into_iter().flatten() {
            watch.wait(FAREWELL);
        }
        for worker in idle {
            worker.end();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Request, Response> Drop for Pool<Request, Response> {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Worker {
    fn start(program: &PathBuf) -> io::Result<Worker> {
        let mut child = Command::new(program)
            .arg(WORKER)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("a worker's stream is no pipe");
        let output = child.stdout.take().ok_or_else(missing)?;
        let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
        #[cfg(target_os = "linux")]
        super::stopped::wake(pid);
        let leash = Leash {
            pid,
            input: Mutex::new(Some(child.stdin.take().ok_or_else(missing)?)),
        };
        Ok(Worker {
            child,
            leash: Arc::new(leash),
            output: BufReader::new(output),
        })
    }

    /// Writes a line and reads one.
    fn ask(&mut self, line: &str) -> Result<String, PoolError> {
        let died = || PoolError::Died {
            ending: String::new(),
        };
        self.leash.write(line).map_err(|_| died())?;
        let mut answer = String::new();
        match self.output.read_line(&mut answer) {
            Ok(_) if answer.ends_with('\n') => Ok(answer),
            Ok(_) => Err(died()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(PoolError::Garbled(serde::de::Error::custom(error)))
            }
            Err(_) => Err(died()),
        }
    }

    /// Tells it to end, waits, and says how it ended.
    fn end(mut self) -> String {
        self.leash.let_go();
        if let Ok(watch) = ExitWatch::new(self.leash.pid) {
            if !watch.wait(FAREWELL) {
                let _ = self.child.kill();
            }
        }
        self.child
            .wait()
            .map_or_else(|error| error.to_string(), |status| status.to_string())
    }
}

impl Leash {
    /// Writes a line. A worker always reads, whatever its trial does, so this
    /// never holds the lock for long.
    fn write(&self, line: &str) -> io::Result<()> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        input.as_mut().map_or_else(
            || Err(io::ErrorKind::BrokenPipe.into()),
            |input| {
                input
                    .write_all(line.as_bytes())
                    .and_then(|()| input.flush())
            },
        )
    }

    fn let_go(&self) {
        self.input
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}
