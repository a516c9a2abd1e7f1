//! What the view needs to know of this host and of the caller.

use std::fs;
use std::path::PathBuf;

/// What the view needs to know of this host and of the caller. Collected once, so
/// that a test can say what it likes.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The caller's effective user id.
    pub user: u32,
    /// The caller's home directories: `$HOME` and that of the user database, as they
    /// are written and as they resolve.
    pub homes: Vec<PathBuf>,
    /// Where the caller's policies are kept.
    pub policy_store: Option<PathBuf>,
    /// This program.
    pub executable: Option<PathBuf>,
}

impl Facts {
    /// Those of this process.
    #[must_use]
    pub fn collect() -> Facts {
        let user = nix::unistd::geteuid().as_raw();
        let home = std::env::var_os("HOME")
            .map(PathBuf::from)
            .filter(|home| home.is_absolute());
        let mut homes = Vec::new();
        for each in [home.clone(), database_home(user)].into_iter().flatten() {
            // Without links too, since the workspace is compared by its real path.
            if let Ok(real) = fs::canonicalize(&each) {
                push_new(&mut homes, real);
            }
            push_new(&mut homes, each);
        }
        let configuration = std::env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| home.map(|home| home.join(".config")));
        Facts {
            user,
            homes,
            policy_store: configuration.map(|path| path.join("perimeter/sandbox")),
            executable: std::env::current_exe().ok(),
        }
    }
}

fn push_new(list: &mut Vec<PathBuf>, path: PathBuf) {
    if !list.contains(&path) {
        list.push(path);
    }
}

/// The home directory that the system's directory of users has (getpwuid(3)): /etc/passwd
/// lists none of its people here.
#[cfg(target_os = "macos")]
fn database_home(user: u32) -> Option<PathBuf> {
    let user = nix::unistd::User::from_uid(user.into()).ok()??;
    user.dir.is_absolute().then_some(user.dir)
}

/// The home directory in /etc/passwd (passwd(5)). Read directly: asking the C library
/// loads its name service modules, which costs more than a sandbox. A user who is
/// only known to such a service has `$HOME`.
#[cfg(target_os = "linux")]
fn database_home(user: u32) -> Option<PathBuf> {
    let text = fs::read("/etc/passwd").ok()?;
    home_in(&text, user)
}

#[cfg(any(target_os = "linux", test))]
fn home_in(text: &[u8], user: u32) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let wanted = user.to_string();
    text.split(|byte| *byte == b'\n').find_map(|line| {
        let mut fields = line.split(|byte| *byte == b':');
        let number = fields.nth(2)?;
        let home = fields.nth(2)?;
        let home = std::path::Path::new(std::ffi::OsStr::from_bytes(home));
        (number == wanted.as_bytes() && home.is_absolute()).then(|| home.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_is_the_sixth_field() {
        let text = b"root:x:0:0:root:/root:/bin/bash\nu:x:7:7:a,b:/home/u:/bin/sh\n";
        assert_eq!(home_in(text, 7), Some(PathBuf::from("/home/u")));
        assert_eq!(home_in(text, 0), Some(PathBuf::from("/root")));
        assert_eq!(home_in(text, 8), None);
    }
}
