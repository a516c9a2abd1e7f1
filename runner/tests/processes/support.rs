//! Launches with as little said as a test needs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use libtest_mimic::Trial;
use perimeter_runner::corpus::case::During;
use perimeter_runner::corpus::streams::Streams;
use perimeter_runner::fixture::Inheritance;
use perimeter_runner::launch::{GRACE, LaunchError, LaunchRequest, Launched, launch};

/// Names the functions of a file as tests.
macro_rules! tests {
    ($($(#[$attribute:meta])* $name:ident),* $(,)?) => {
        pub fn tests() -> Vec<libtest_mimic::Trial> {
            Vec::from([
                $($(#[$attribute])* crate::support::trial(module_path!(), stringify!($name), $name)),*
            ])
        }
    };
}
pub(crate) use tests;

pub fn trial(module: &str, name: &str, test: fn()) -> Trial {
    let module = module.rsplit("::").next().unwrap_or_default();
    Trial::test(format!("{module}::{name}"), move || {
        test();
        Ok(())
    })
}

pub struct Launch {
    pub command_line: Vec<OsString>,
    pub directory: PathBuf,
    pub environment: Vec<(OsString, OsString)>,
    pub stdin: Vec<u8>,
    pub terminal: bool,
    pub start_line: Option<String>,
    pub streams: Streams,
    pub during: Vec<During>,
    pub deadline: Duration,
    pub grace: Duration,
    pub inherited: Inheritance,
    pub own_processes: Vec<i32>,
}

/// A shell command as the launcher.
pub fn shell(command: &str) -> Launch {
    arguments(&["/bin/bash", "-c", command])
}

/// The probe as the launcher.
pub fn probe(operation: &[&str]) -> Launch {
    let own = own_program();
    let mut all = vec![own.to_str().unwrap(), "--perimeter-probe"];
    all.extend(operation);
    arguments(&all)
}

pub fn own_program() -> PathBuf {
    std::env::current_exe().unwrap()
}

pub fn arguments(command_line: &[&str]) -> Launch {
    Launch {
        command_line: command_line.iter().map(Into::into).collect(),
        directory: "/".into(),
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        stdin: Vec::new(),
        terminal: false,
        start_line: None,
        streams: Streams::default(),
        during: Vec::new(),
        deadline: Duration::from_secs(20),
        grace: GRACE,
        inherited: Inheritance::default(),
        own_processes: Vec::new(),
    }
}

impl Launch {
    pub fn on_terminal(mut self) -> Launch {
        self.terminal = true;
        self
    }

    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Launch {
        self.stdin = text.into();
        self
    }

    pub fn start_line(mut self, line: &str) -> Launch {
        self.start_line = Some(line.to_owned());
        self
    }

    pub fn during(mut self, action: During) -> Launch {
        self.during.push(action);
        self
    }

    pub fn deadline(mut self, milliseconds: u64) -> Launch {
        self.deadline = Duration::from_millis(milliseconds);
        self
    }

    pub fn grace(mut self, milliseconds: u64) -> Launch {
        self.grace = Duration::from_millis(milliseconds);
        self
    }

    pub fn try_run(&self) -> Result<Launched, LaunchError> {
        launch(&LaunchRequest {
            command_line: self.command_line.clone(),
            working_directory: self.directory.clone(),
            environment: self.environment.clone(),
            stdin: self.stdin.clone(),
            terminal: self.terminal,
            streams: &self.streams,
            start_line: self.start_line.clone(),
            during: &self.during,
            host_directory: "/".into(),
            host_environment: self.environment.clone(),
            deadline: self.deadline,
            grace: self.grace,
            inherited: &self.inherited,
            own_processes: &self.own_processes,
        })
    }

    pub fn run(&self) -> Launched {
        self.try_run().unwrap()
    }
}

pub fn signal(name: &str) -> During {
    During {
        signal: Some(name.to_owned()),
        ..During::default()
    }
}

pub fn host(command: &str) -> During {
    During {
        host: Some(command.to_owned()),
        ..During::default()
    }
}

pub fn type_text(text: &str) -> During {
    During {
        typed: Some(text.to_owned()),
        ..During::default()
    }
}

pub fn after(line: &str, action: During) -> During {
    During {
        after: Some(line.to_owned()),
        ..action
    }
}

pub fn end_thread() -> During {
    During {
        end_thread: true,
        ..During::default()
    }
}

pub fn kill_parent() -> During {
    During {
        kill_parent: true,
        ..During::default()
    }
}

/// Whether a process is there and alive.
#[cfg(target_os = "linux")]
pub fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
    state.is_some_and(|rest| !rest.starts_with('Z'))
}
