//! Where the policies of a user's agents are kept: one directory, a file an agent.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;
use nix::unistd::geteuid;

use super::error::{PolicyError, Unreadable, quote};
use super::model::Policy;
use super::read::{FLAGS, cannot, contents};
use crate::links::links;

/// The longest name of an agent.
const LONGEST_NAME: usize = 64;

/// A directory of policy documents, `NAME.json` for the agent NAME.
///
/// The document decides what an agent's commands may reach, so nobody but the user
/// and root may be able to write it: a store or a file that belongs to someone
/// else, or that others can write, is refused, and so is a symbolic link in a
/// file's place.
///
/// ```
/// use perimeter::policy::Store;
///
/// let store = Store::at("/home/user/.aphid/alate/.sandbox");
/// assert_eq!(
///     store.path("work")?,
///     std::path::Path::new("/home/user/.aphid/alate/.sandbox/work.json"),
/// );
/// assert!(store.path("../work").is_err());
/// # Ok::<(), perimeter::policy::PolicyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    directory: PathBuf,
}

impl Store {
    /// The store in `directory`, which need not exist yet.
    pub fn at(directory: impl Into<PathBuf>) -> Store {
        Store {
            directory: directory.into(),
        }
    }

    /// The user's own store: `$XDG_CONFIG_HOME/perimeter/sandbox`, and
    /// `$HOME/.config/perimeter/sandbox` where the former is not set.
    ///
    /// # Errors
    ///
    /// [`PolicyError::NoStore`] if neither variable holds an absolute path.
    pub fn user() -> Result<Store, PolicyError> {
        Store::from_variables(|name| std::env::var_os(name))
    }

    /// The user's store as another environment has it: see [`Store::user`].
    ///
    /// A relative value counts as none, as the XDG base directory specification
    /// has it.
    ///
    /// # Errors
    ///
    /// [`PolicyError::NoStore`] if neither variable holds an absolute path.
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Store, PolicyError> {
        let directory = |name: &str| {
            variable(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let configuration = directory("XDG_CONFIG_HOME")
            .or_else(|| directory("HOME").map(|home| home.join(".config")))
            .ok_or_else(|| PolicyError::NoStore {
                problem: "neither XDG_CONFIG_HOME nor HOME holds an absolute path".to_owned(),
                remedy: "set HOME, or name the policy's file".to_owned(),
            })?;
        Ok(Store::at(configuration.join("perimeter/sandbox")))
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The file of an agent's policy, whether it exists or not.
    ///
    /// # Errors
    ///
    /// [`PolicyError::AgentName`] unless the name is 1 to 64 ASCII letters, digits,
    /// `.`, `_` and `-`, and begins with neither `.` nor `-`. Such a name can
    /// neither leave the directory nor be taken for an option.
    pub fn path(&self, agent: &str) -> Result<PathBuf, PolicyError> {
        check_name(agent)?;
        Ok(self.directory.join(format!("{agent}.json")))
    }

    /// An agent's policy; the strict default where the file or the store is
    /// absent, or the file is empty. [`Policy::source`] is [`Store::path`].
    ///
    /// # Errors
    ///
    /// [`PolicyError::AgentName`] as for [`Store::path`]; [`PolicyError::File`] for
    /// a store or a file that cannot be read or cannot be trusted;
    /// [`PolicyError::Document`] for content that is refused.
    pub fn load(&self, agent: &str) -> Result<Policy, PolicyError> {
        let path = self.path(agent)?;
        let mut policy = match self.open(&path)? {
            None => Policy::strict(),
            Some(file) => Policy::from_json(&contents(file, &path)?, &path)?,
        };
        policy.links = links(&path);
        policy.source = Some(path);
        Ok(policy)
    }

    /// The directory is opened once and the file in that very directory, so what
    /// was checked is what is read.
    fn open(&self, path: &Path) -> Result<Option<File>, Unreadable> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let directory = match open(&self.directory, flags, Mode::empty()) {
            Ok(directory) => File::from(directory),
            Err(Errno::ENOENT) if self.directory.symlink_metadata().is_err() => return Ok(None),
            Err(errno) => return Err(cannot(&self.directory, errno.into())),
        };
        let metadata = directory
            .metadata()
            .map_err(|error| cannot(&self.directory, error))?;
        check_ownership(&self.directory, &metadata)?;

        // A name without a slash cannot lead elsewhere but by being a link itself.
        let Some(name) = path.file_name() else {
            return Ok(None);
        };
        let file = match openat(&directory, name, FLAGS | OFlag::O_NOFOLLOW, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::ENOENT) => return Ok(None),
            Err(errno @ Errno::ELOOP) => {
                return Err(Unreadable {
                    file: path.to_owned(),
                    problem: "is a symbolic link".to_owned(),
                    remedy: "put the file itself there".to_owned(),
                    source: Some(errno.into()),
                });
            }
            Err(errno) => return Err(cannot(path, errno.into())),
        };
        let metadata = file.metadata().map_err(|error| cannot(path, error))?;
        check_ownership(path, &metadata)?;
        Ok(Some(file))
    }
}

fn check_name(name: &str) -> Result<(), PolicyError> {
    let allowed = |character: char| character.is_ascii_alphanumeric() || ".-_".contains(character);
    let problem = if name.is_empty() {
        "is empty".to_owned()
    } else if name.len() > LONGEST_NAME {
        format!("is longer than {LONGEST_NAME} characters")
    } else if let Some(other) = name.chars().find(|character| !allowed(*character)) {
        format!("holds {}", quote(&other.to_string()))
    } else if name.starts_with(['.', '-']) {
        format!("begins with {:?}", &name[..1])
    } else {
        return Ok(());
    };
    Err(PolicyError::AgentName {
        name: name.chars().take(LONGEST_NAME).collect(),
        problem,
        remedy: "use letters, digits, `.`, `_` and `-`, and begin with a letter, a digit or `_`"
            .to_owned(),
    })
}

fn check_ownership(path: &Path, metadata: &Metadata) -> Result<(), Unreadable> {
    const OTHERS_WRITE: u32 = 0o022;
    let user = geteuid().as_raw();
    let refuse = |problem: String, remedy: String| {
        Err(Unreadable {
            file: path.to_owned(),
            problem,
            remedy,
            source: None,
        })
    };
    let owner = metadata.uid();
    if owner != user && owner != 0 {
        return refuse(
            format!("belongs to user {owner}, who could change it"),
            format!("give it to the user who launches: chown {user}"),
        );
    }
    let mode = metadata.mode();
    if mode & OTHERS_WRITE != 0 {
        return refuse(
            format!("can be written by others (mode {:04o})", mode & 0o7777),
            "take that away: chmod go-w".to_owned(),
        );
    }
    Ok(())
}
