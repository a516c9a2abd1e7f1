//! Where a Mac has what a profile names.

use std::path::{Component, Path, PathBuf};

/// Directories that differ from user to user and from Mac to Mac.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The user's own temporary directory (`getconf DARWIN_USER_TEMP_DIR`), real.
    pub temporary: PathBuf,
    /// The user's own cache directory (`getconf DARWIN_USER_CACHE_DIR`), real.
    pub cache: PathBuf,
    /// The developer tools that `git`, `python3` and `clang` of /usr/bin stand for
    /// (`xcode-select --print-path`): the bundle, where they are in one.
    pub developer: Option<PathBuf>,
    /// The caller's effective user id.
    pub user: u32,
}

impl Places {
    /// Those of a Mac that is not at hand: names that such directories have, for a
    /// profile that is to be read and not to be run.
    #[must_use]
    pub fn usual() -> Places {
        let of_user = Path::new("/private/var/folders/xx/the-users-own");
        Places {
            temporary: of_user.join("T"),
            cache: of_user.join("C"),
            developer: Some("/Applications/Xcode.app".into()),
            user: 501,
        }
    }

    /// Those of this Mac and of this process.
    #[cfg(target_os = "macos")]
    #[must_use]
    pub fn of_this_mac() -> Places {
        let usual = Places::usual();
        Places {
            temporary: configured("DARWIN_USER_TEMP_DIR").unwrap_or(usual.temporary),
            cache: configured("DARWIN_USER_CACHE_DIR").unwrap_or(usual.cache),
            developer: std::fs::canonicalize("/private/var/db/xcode_select_link")
                .ok()
                .map(|directory| bundle(&directory)),
            user: nix::unistd::geteuid().as_raw(),
        }
    }
}

/// A directory that the system made for this user (confstr(3)). TMPDIR is not asked: it
/// says what its caller likes, and what it names becomes writable.
#[cfg(target_os = "macos")]
fn configured(name: &str) -> Option<PathBuf> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let output = std::process::Command::new("/usr/bin/getconf")
        .arg(name)
        .env_clear()
        .stdin(std::process::Stdio::null())
        .output()
        .ok()?;
    let mut text = output.stdout;
    while text.last().is_some_and(u8::is_ascii_whitespace) {
        text.pop();
    }
    let real = std::fs::canonicalize(OsString::from_vec(text)).ok()?;
    real.starts_with("/private/var/folders").then_some(real)
}

/// The application that a developer directory is in, or the directory itself. The
/// shims load a library of the application from beside it.
#[cfg_attr(
    not(target_os = "macos"),
    allow(dead_code, reason = "tested everywhere")
)]
fn bundle(directory: &Path) -> PathBuf {
    directory
        .ancestors()
        .filter(|part| part.extension().is_some_and(|end| end == "app"))
        .last()
        .unwrap_or(directory)
        .to_owned()
}

/// The directories that are links into /private on every Mac (hier(7)).
pub(crate) const PRIVATE_LINKS: [&str; 3] = ["/tmp", "/var", "/etc"];

/// The mount that firmlinks hide: its paths are the same files as the plain ones.
const DATA: &str = "/System/Volumes/Data";

/// A path as the kernel spells it, as far as that is the same on every Mac: /tmp, /var
/// and /etc are links into /private, and the data volume shows at the root. Rules are
/// compared with that spelling alone: one about `/tmp/x` never matches.
#[must_use]
pub fn real_spelling(path: &Path) -> PathBuf {
    let plain = match path.strip_prefix(DATA) {
        Ok(rest) => Path::new("/").join(rest),
        Err(_) => path.to_owned(),
    };
    let first = plain.components().find_map(|part| match part {
        Component::Normal(name) => Some(Path::new("/").join(name)),
        _ => None,
    });
    match first {
        Some(first) if PRIVATE_LINKS.iter().any(|link| first == Path::new(link)) => {
            let rest: PathBuf = plain.components().skip(1).collect();
            Path::new("/private").join(rest)
        }
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/tmp", "/private/tmp")]
    #[case("/tmp/x", "/private/tmp/x")]
    #[case("/var/folders/a", "/private/var/folders/a")]
    #[case("/private/var/folders/a", "/private/var/folders/a")]
    #[case("/tmpx/y", "/tmpx/y")]
    #[case("/System/Volumes/Data/private/tmp/p", "/private/tmp/p")]
    #[case("/System/Volumes/Data/tmp/p", "/private/tmp/p")]
    #[case("/Users/me", "/Users/me")]
    #[case("/", "/")]
    fn a_path_gets_the_kernels_spelling(#[case] path: &str, #[case] real: &str) {
        assert_eq!(real_spelling(Path::new(path)), Path::new(real));
    }

    #[rstest]
    #[case(
        "/Applications/Xcode_16.app/Contents/Developer",
        "/Applications/Xcode_16.app"
    )]
    #[case(
        "/Library/Developer/CommandLineTools",
        "/Library/Developer/CommandLineTools"
    )]
    fn tools_are_granted_with_their_bundle(#[case] directory: &str, #[case] granted: &str) {
        assert_eq!(bundle(Path::new(directory)), Path::new(granted));
    }
}
