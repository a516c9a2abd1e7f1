//! Where canaries show.

use std::collections::{BTreeSet, HashMap};
use std::fs::Permissions;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag};

use crate::fixture::Secrets;

use super::encoded::{self, Encodings};
use super::observation::Leak;
use super::read::{fill, open_quietly};

/// The random part of a canary, which is what is looked for.
const DIGITS: usize = 32;

/// How much of a file is looked through at once.
const PIECE: usize = 64 << 10;

/// How much of one file is looked through: a command that fills a disk with
/// zeros must not hold the run up.
const READ: u64 = 256 << 20;

/// Places where a canary may show.
#[derive(Debug, Clone, Copy, Default)]
pub struct Places<'a> {
    /// Texts by what they are, such as `standard output`.
    pub texts: &'a [(String, &'a [u8])],
    /// Paths that the command may have written: their names, what links there
    /// lead to, and what files there hold. See `Snapshot::written`.
    pub written: &'a [PathBuf],
}

/// Every canary that shows, allowed or not, once for each place. It shows in
/// either case of its letters, backwards, in base64 and in hexadecimal as well.
pub fn find(secrets: &Secrets, places: Places<'_>) -> Vec<Leak> {
    let canaries = Canaries::new(secrets);
    if canaries.by_digits.is_empty() {
        return Vec::new();
    }
    let mut leaks = Vec::new();
    let mut add = |place: String, found: BTreeSet<&str>| {
        leaks.extend(found.into_iter().map(|secret| Leak {
            secret: secret.to_owned(),
            place: place.clone(),
        }));
    };
    for (place, text) in places.texts {
        add(place.clone(), canaries.in_bytes(text));
    }
    for path in places.written {
        add(
            format!("the path {}", path.display()),
            canaries.in_bytes(path.file_name().unwrap_or_default().as_bytes()),
        );
        add(path.display().to_string(), canaries.at(path));
    }
    leaks
}

/// The leaks of secrets that are not in `allowed`.
pub fn forbidden(leaks: &[Leak], allowed: &[String]) -> Vec<Leak> {
    leaks
        .iter()
        .filter(|leak| !allowed.contains(&leak.secret))
        .cloned()
        .collect()
}

/// The secrets' names by the digits of their canaries, both ways round.
struct Canaries<'a> {
    by_digits: HashMap<[u8; DIGITS], &'a str>,
    encodings: Encodings<'a>,
}

impl<'a> Canaries<'a> {
    fn new(secrets: &'a Secrets) -> Canaries<'a> {
        let mut by_digits = HashMap::new();
        let mut encodings = Encodings::default();
        for (name, canary) in secrets.iter() {
            let start = canary.len().saturating_sub(DIGITS);
            if let Ok(digits) = <[u8; DIGITS]>::try_from(&canary.as_bytes()[start..]) {
                let mut backwards = digits;
                backwards.reverse();
                encodings.add(&digits, name);
                by_digits.insert(digits, name);
                by_digits.insert(backwards, name);
            }
        }
        Canaries {
            by_digits,
            encodings,
        }
    }

    /// The secrets that show in some bytes.
    fn in_bytes(&self, bytes: &[u8]) -> BTreeSet<&'a str> {
        let mut scan = Scan::new(self);
        scan.feed(bytes);
        scan.found
    }

    /// The secrets that show at a path; a link is not followed.
    fn at(&self, path: &Path) -> BTreeSet<&'a str> {
        if let Ok(target) = std::fs::read_link(path) {
            return self.in_bytes(target.as_os_str().as_bytes());
        }
        self.in_file(path).unwrap_or_default()
    }

    fn in_file(&self, path: &Path) -> io::Result<BTreeSet<&'a str>> {
        let mut scan = Scan::new(self);
        let metadata = std::fs::symlink_metadata(path)?;
        if !metadata.is_file() {
            return Ok(scan.found);
        }
        let file = open_regardless(path)?;
        // One more byte than there is room for tells the end.
        let size = usize::try_from(metadata.len()).unwrap_or(PIECE);
        let mut buffer = vec![0; size.saturating_add(1).clamp(4096, PIECE)];
        let mut total = 0;
        while total < READ {
            let length = fill(&file, &mut buffer)?;
            scan.feed(&buffer[..length]);
            total += length as u64;
            if length < buffer.len() {
                break;
            }
        }
        Ok(scan.found)
    }
}

/// Opens a file of the command's, though it may have taken the right to read it
/// away; the mode is put back.
fn open_regardless(path: &Path) -> io::Result<OwnedFd> {
    let open = || open_quietly(AT_FDCWD, path, OFlag::empty());
    match open() {
        Err(Errno::EACCES) => {}
        result => return Ok(result?),
    }
    let before = std::fs::symlink_metadata(path)?.permissions();
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    let opened = open();
    std::fs::set_permissions(path, before)?;
    Ok(opened?)
}

/// One pass over bytes that come in pieces.
struct Scan<'a, 'b> {
    canaries: &'b Canaries<'a>,
    /// The last digits of the run that the pass is in, in lower case.
    window: [u8; DIGITS],
    /// How long that run is.
    run: usize,
    encoded: encoded::Scan<'a, 'b>,
    found: BTreeSet<&'a str>,
}

impl<'a, 'b> Scan<'a, 'b> {
    fn new(canaries: &'b Canaries<'a>) -> Scan<'a, 'b> {
        Scan {
            canaries,
            window: [0; DIGITS],
            run: 0,
            encoded: canaries.encodings.scan(),
            found: BTreeSet::new(),
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if let Some(name) = self.encoded.feed(*byte) {
                self.found.insert(name);
            }
            if !byte.is_ascii_hexdigit() {
                self.run = 0;
                continue;
            }
            self.window.copy_within(1.., 0);
            self.window[DIGITS - 1] = byte.to_ascii_lowercase();
            self.run += 1;
            if self.run >= DIGITS {
                if let Some(name) = self.canaries.by_digits.get(&self.window) {
                    self.found.insert(name);
                }
            }
        }
    }
}
