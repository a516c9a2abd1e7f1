//! The variables that a command begins with, before any document adds to them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::policy::Posture;

/// The host's variables that a strict command keeps: those that say what the
/// terminal can show and how people write. The list is closed, `LC_*` by its
/// categories (locale(7)), since a prefix would let anything through by that name.
pub const COPIED_VARIABLES: [&str; 19] = [
    "COLORTERM",
    "LANG",
    "LANGUAGE",
    "LC_ADDRESS",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
    "NO_COLOR",
    "TERM",
    "TZ",
];

/// The search path of a strict command: the system's directories, none of the
/// user's.
pub const STRICT_SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The variables that a host-readable command does not inherit. With them it could
/// find the caller's own socket, and speak to it with the caller's authority.
pub const STRIPPED_VARIABLES: [&str; 3] =
    ["ASTRID_HOME", "ASTRID_SOCKET_PATH", "ASTRID_SESSION_TOKEN"];

/// Where, as the command sees it, its private directories are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateDirectories {
    /// `HOME`.
    pub home: PathBuf,
    /// `TMPDIR`.
    pub temporary: PathBuf,
    /// `XDG_RUNTIME_DIR`.
    pub runtime: PathBuf,
    /// `XDG_CACHE_HOME`.
    pub cache: PathBuf,
    /// `XDG_CONFIG_HOME`.
    pub configuration: PathBuf,
    /// `XDG_DATA_HOME`.
    pub data: PathBuf,
    /// `XDG_STATE_HOME`.
    pub state: PathBuf,
}

impl PrivateDirectories {
    /// The XDG directories beneath `home`, where the XDG base directory
    /// specification has them by default.
    pub fn new(
        home: impl Into<PathBuf>,
        temporary: impl Into<PathBuf>,
        runtime: impl Into<PathBuf>,
    ) -> PrivateDirectories {
        let home = home.into();
        PrivateDirectories {
            cache: home.join(".cache"),
            configuration: home.join(".config"),
            data: home.join(".local/share"),
            state: home.join(".local/state"),
            temporary: temporary.into(),
            runtime: runtime.into(),
            home,
        }
    }

    /// Each directory with the variable that names it, in the order of the
    /// variables' names.
    pub fn variables(&self) -> [(&'static str, &PathBuf); 7] {
        [
            ("HOME", &self.home),
            ("TMPDIR", &self.temporary),
            ("XDG_CACHE_HOME", &self.cache),
            ("XDG_CONFIG_HOME", &self.configuration),
            ("XDG_DATA_HOME", &self.data),
            ("XDG_RUNTIME_DIR", &self.runtime),
            ("XDG_STATE_HOME", &self.state),
        ]
    }
}

/// `/tmp/home`, `/tmp` and `/tmp/runtime`: the private temporary directory of a
/// Linux command.
impl Default for PrivateDirectories {
    fn default() -> PrivateDirectories {
        PrivateDirectories::new("/tmp/home", "/tmp", "/tmp/runtime")
    }
}

/// The variables that a posture begins with.
///
/// A strict command gets [`COPIED_VARIABLES`] as far as the host has them,
/// [`STRICT_SEARCH_PATH`] as `PATH`, and its private directories. Nothing names the
/// user: the account's name and shell are no variables of a terminal or a locale.
///
/// A host-readable command gets the host's variables, save [`STRIPPED_VARIABLES`].
/// A `TMPDIR` of the host's becomes [`PrivateDirectories::temporary`], since the
/// directory that it names cannot be written; pass the host's own where it can.
///
/// Values are copied byte for byte, whether they are UTF-8 or not. What has no name, such
/// as the `=C:=…` that programs of Windows leave behind, is left out: no program could be
/// asked to set it.
///
/// ```
/// use perimeter::Posture;
/// use perimeter::environment::{PrivateDirectories, base};
///
/// let host = [("TERM", "xterm"), ("TOKEN", "secret"), ("HOME", "/home/user")]
///     .map(|(name, value)| (name.into(), value.into()));
/// let variables = base(Posture::Strict, &PrivateDirectories::default(), host);
/// assert_eq!(variables["TERM".as_ref() as &std::ffi::OsStr], "xterm");
/// assert_eq!(variables["HOME".as_ref() as &std::ffi::OsStr], "/tmp/home");
/// assert!(!variables.contains_key("TOKEN".as_ref() as &std::ffi::OsStr));
/// ```
pub fn base(
    posture: Posture,
    private: &PrivateDirectories,
    host: impl IntoIterator<Item = (OsString, OsString)>,
) -> BTreeMap<OsString, OsString> {
    let host = host
        .into_iter()
        .filter(|(name, _)| !name.is_empty() && !name.as_bytes().contains(&b'='));
    let named = |names: &[&str], name: &OsString| names.iter().any(|known| name == known);
    match posture {
        Posture::Strict => {
            let mut variables: BTreeMap<OsString, OsString> = host
                .filter(|(name, _)| named(&COPIED_VARIABLES, name))
                .collect();
            variables.insert("PATH".into(), STRICT_SEARCH_PATH.into());
            for (name, directory) in private.variables() {
                variables.insert(name.into(), directory.into());
            }
            variables
        }
        Posture::HostReadable => {
            let mut variables: BTreeMap<OsString, OsString> = host
                .filter(|(name, _)| !named(&STRIPPED_VARIABLES, name))
                .collect();
            if let Some(temporary) = variables.get_mut(&OsString::from("TMPDIR")) {
                *temporary = private.temporary.clone().into();
            }
            variables
        }
    }
}
