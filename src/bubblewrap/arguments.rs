//! The arguments that make bubblewrap show a view.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::{Path, PathBuf};

use super::{BubblewrapError, Features};
use crate::faults;
use crate::policy::Network;
use crate::view::{Access, Content, View};

/// The most arguments that bubblewrap takes from `--args` (MAX_ARGS of its source),
/// less what the command line itself has and what a launch adds.
pub const LIMIT: usize = 8985;

/// What a launch asks for besides its view.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The command's variables.
    pub variables: Vec<(OsString, OsString)>,
    /// The directory to start in, as the command will spell it.
    pub directory: PathBuf,
    /// Whether the command is cut off from any terminal. Not so where it gets a
    /// terminal of its own, whose keys it could only push to itself.
    pub new_session: bool,
}

/// How the host's files are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sources {
    /// By the handles that were opened when they were checked, where there are any.
    Descriptors,
    /// By their paths, for a person to read and to run.
    Paths,
}

/// All arguments up to the command, and the descriptors that they name.
pub(crate) fn arguments(
    view: &View,
    setting: &Setting,
    features: Features,
    sources: Sources,
) -> Result<(Vec<OsString>, Vec<RawFd>), BubblewrapError> {
    let mut list = List {
        arguments: Vec::with_capacity(256),
        descriptors: Vec::new(),
    };
    for flag in [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup",
        "--die-with-parent",
    ] {
        list.add([flag]);
    }
    if view.network() == Network::None {
        list.add(["--unshare-net"]);
    }
    if features.disable_user_namespaces {
        list.add(["--disable-userns"]);
    }
    if setting.new_session {
        list.add(["--new-session"]);
    }
    list.add(["--cap-drop", "ALL"]);
    for mount in view.mounts() {
        list.mount(&mount.at, &mount.content, features, sources);
    }
    // Only when every mount point beneath is in place.
    for mount in view.mounts().iter().rev() {
        if matches!(
            mount.content,
            Content::Private { sealed: true, .. } | Content::Devices
        ) {
            list.add([OsStr::new("--remount-ro"), mount.at.as_os_str()]);
        }
    }
    for (name, value) in &setting.variables {
        list.add([OsStr::new("--setenv"), name, value]);
    }
    list.add([OsStr::new("--chdir"), setting.directory.as_os_str()]);
    faults::arguments(&mut list.arguments);
    let count = list.arguments.len();
    if count > LIMIT {
        return Err(BubblewrapError::TooMany {
            count,
            limit: LIMIT,
        });
    }
    Ok((list.arguments, list.descriptors))
}

struct List {
    arguments: Vec<OsString>,
    descriptors: Vec<RawFd>,
}

impl List {
    fn add<const COUNT: usize>(&mut self, arguments: [impl AsRef<OsStr>; COUNT]) {
        self.arguments.extend(
            arguments
                .iter()
                .map(|argument| argument.as_ref().to_owned()),
        );
    }

    fn mount(&mut self, at: &Path, content: &Content, features: Features, sources: Sources) {
        let at = at.as_os_str();
        match content {
            Content::Host {
                source,
                access,
                pin,
            } => {
                let pin = pin
                    .as_ref()
                    .filter(|_| sources == Sources::Descriptors && features.bind_descriptor);
                let (by_descriptor, by_path) = match access {
                    Access::ReadOnly => ("--ro-bind-fd", "--ro-bind"),
                    Access::ReadWrite => ("--bind-fd", "--bind"),
                };
                match pin {
                    Some(pin) => {
                        let descriptor = pin.as_fd().as_raw_fd();
                        self.descriptors.push(descriptor);
                        let number = descriptor.to_string();
                        self.add([OsStr::new(by_descriptor), OsStr::new(&number), at]);
                    }
                    None => self.add([OsStr::new(by_path), source.as_os_str(), at]),
                }
            }
            // The root is a temporary directory to begin with.
            Content::Private { .. } if at == "/" => {}
            Content::Private { mode, .. } => {
                let mode = format!("{mode:04o}");
                self.add([
                    OsStr::new("--perms"),
                    OsStr::new(&mode),
                    OsStr::new("--tmpfs"),
                    at,
                ]);
            }
            Content::Directory { mode } => {
                let mode = format!("{mode:04o}");
                self.add([
                    OsStr::new("--perms"),
                    OsStr::new(&mode),
                    OsStr::new("--dir"),
                    at,
                ]);
            }
            Content::Link { target } => {
                self.add([OsStr::new("--symlink"), target.as_os_str(), at]);
            }
            Content::Processes => self.add([OsStr::new("--proc"), at]),
            Content::Devices => self.add([OsStr::new("--dev"), at]),
            // A device on a mount without devices can be opened by nobody.
            Content::Blank => {
                self.add([OsStr::new("--ro-bind"), OsStr::new("/dev/null"), at]);
            }
        }
    }
}
