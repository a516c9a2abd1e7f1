//! What a command will see on a Mac.
//!
//! Seatbelt mounts nothing: every path stays where it is, and the view says which of
//! them can be read, written or neither. The private directory is a real one, made for
//! one launch.
//!
//! Nothing here looks at a file system, so that the view of a Mac can be made, printed
//! and judged anywhere.

use std::path::{Path, PathBuf};

use super::resolve::locate_among;
use super::{Access, Content, View};
use crate::environment::PrivateDirectories;
use crate::links::{ReadLink, links_among};
use crate::policy::{Network, Policy, Posture};
use crate::seatbelt::{PRIVATE_LINKS, Places, real_spelling};

/// The system's programs, libraries and configuration, in both postures.
const SYSTEM: [&str; 5] = ["/usr", "/bin", "/sbin", "/System", "/private/etc"];

/// Single files and directories of /private/var that programs need of the system: what
/// resolv.conf is a link to, the time zone, which shell /bin/sh is, where the developer
/// tools are. Whoever lacks them has no name service, the wrong time, no `sh`, no `git`.
const VARIABLE: [&str; 4] = [
    "/private/var/run/resolv.conf",
    "/private/var/db/timezone",
    "/private/var/select",
    "/private/var/db/xcode_select_link",
];

/// The socket of the name service. Connecting is judged by the network's rules; looking
/// at it is not.
pub(crate) const NAME_SERVICE: &str = "/private/var/run/mDNSResponder";

/// What a posture that shows the host has of the rest: document 004's list.
const HOST: [&str; 2] = ["/Library", "/opt"];

/// The same for a posture that shows the system alone: of /Library what programs and
/// libraries are in, of /opt the package managers' own directories. The rest of both
/// is data of applications and services.
const PROGRAMS: [&str; 11] = [
    "/Library/Apple",
    "/Library/Developer",
    "/Library/Fonts",
    "/Library/Frameworks",
    "/Library/Java",
    "/Library/Perl",
    "/Library/Preferences",
    "/Library/Ruby",
    "/nix/store",
    "/opt/homebrew",
    "/opt/local",
];

/// Data within those: databases and the like that package managers' services keep.
const SERVICE_DATA: [&str; 3] = ["/opt/homebrew/var", "/opt/local/var", "/usr/local/var"];

/// Keys within what is readable. Certificates are judged by trustd, which reads them
/// outside of the sandbox.
const KEYS: [&str; 1] = ["/Library/Keychains"];

/// What only user 0 may read, and a command of user 0 has no business with: the masks
/// of the other system's view, by this system's names.
const KEPT: [&str; 10] = [
    "/Library/Preferences/SystemConfiguration/com.apple.wifi.known-networks.plist",
    "/private/etc/krb5.keytab",
    "/private/etc/master.passwd",
    "/private/etc/openldap",
    "/private/etc/ppp",
    "/private/etc/racoon",
    "/private/etc/security",
    "/private/etc/ssh",
    "/private/etc/sudoers",
    "/private/etc/sudoers.d",
];

/// The temporary directories that all programs share.
const SHARED: [&str; 2] = ["/private/tmp", "/private/var/tmp"];

/// What a view of a Mac is made of. Every path is absolute and real, save the
/// spellings.
#[derive(Debug, Clone)]
pub struct MacRequest<'a> {
    /// What a command may reach. Its lists are not looked at: they stand below, real.
    pub policy: &'a Policy,
    /// The workspace.
    pub workspace: &'a Path,
    /// Paths that are readable.
    pub read_only: &'a [PathBuf],
    /// Paths that are writable.
    pub read_write: &'a [PathBuf],
    /// Paths that are hidden: as they are written, and where they lead.
    pub hidden: &'a [PathBuf],
    /// Symbolic links on the way to what a caller spells through them, and what they say.
    pub links: &'a [(PathBuf, PathBuf)],
    /// The directory that is made for this launch alone.
    pub private: &'a Path,
    /// Where this Mac has the rest.
    pub places: &'a Places,
}

/// What is neither readable nor writable, save for what is deeper.
const HIDDEN: Content = Content::Private {
    mode: 0o755,
    sealed: true,
};

/// The directory in the private one that nothing in the sandbox may look at.
///
/// A process that may write beside it and may not read it is in this launch's sandbox,
/// and no other process of the system is.
pub(crate) const MARK: &str = ".mark";

/// What a policy hides, as it is written and where it leads, and the links on the way to
/// it and to the workspace, with what each says.
///
/// `on_disk` gives a path the letters that its directories have there.
pub(crate) fn hidden_on_mac(
    workspace: &Path,
    hidden: &[PathBuf],
    read_link: ReadLink<'_>,
    on_disk: &dyn Fn(&Path) -> PathBuf,
) -> (Vec<PathBuf>, Vec<(PathBuf, PathBuf)>) {
    let mut paths = Vec::with_capacity(hidden.len() * 2);
    let mut links = links_among(workspace, read_link);
    for path in hidden {
        paths.push(path.clone());
        paths.extend(locate_among(path, read_link).map(|real| on_disk(&real)));
        links.extend(links_among(path, read_link));
    }
    paths.sort();
    paths.dedup();
    // A hidden link is no way to anywhere.
    links.retain(|(link, _)| !paths.contains(link));
    (paths, links)
}

impl View {
    /// The view of a Mac.
    #[must_use]
    pub fn for_mac(request: &MacRequest<'_>) -> View {
        let private = request.private;
        let mut view = View {
            mounts: Vec::with_capacity(48),
            placeholders: Vec::new(),
            network: request.policy.network,
            private: PrivateDirectories::new(
                private.join("home"),
                private.join("tmp"),
                private.join("run"),
            ),
            shared: Vec::new(),
        };
        view.add_mac(request);
        for path in request.read_only {
            view.add_own(&real_spelling(path), Access::ReadOnly);
        }
        for path in request.read_write.iter().map(PathBuf::as_path) {
            view.add_own(&real_spelling(path), Access::ReadWrite);
        }
        view.add_own(&real_spelling(request.workspace), Access::ReadWrite);
        view.add_own(&real_spelling(private), Access::ReadWrite);
        view.insert(real_spelling(private).join(MARK), HIDDEN);
        for path in request.hidden {
            view.insert(real_spelling(path), HIDDEN);
        }
        for (link, target) in request.links {
            let target = target.clone();
            view.insert(link.clone(), Content::Link { target });
        }
        view
    }

    fn add_mac(&mut self, request: &MacRequest<'_>) {
        let Places {
            temporary,
            cache,
            developer,
            user,
        } = request.places;
        let strict = request.policy.posture == Posture::Strict;
        self.insert("/".into(), HIDDEN);
        self.insert("/dev".into(), Content::Devices);
        for link in PRIVATE_LINKS {
            let target = Path::new("private").join(&link[1..]);
            self.insert(link.into(), Content::Link { target });
        }
        let rest = if strict { &PROGRAMS[..] } else { &HOST };
        let mut readable: Vec<&Path> = [&SYSTEM[..], &VARIABLE, rest]
            .into_iter()
            .flatten()
            .map(Path::new)
            .collect();
        readable.extend(developer.as_deref());
        if request.policy.network == Network::Host {
            readable.push(Path::new(NAME_SERVICE));
        }
        for path in readable {
            self.add_own(path, Access::ReadOnly);
        }
        if !strict {
            let shared = SHARED.iter().map(Path::new);
            for path in shared.chain([temporary.as_path(), cache]) {
                self.add_own(path, Access::ReadWrite);
                self.shared.push(path.to_owned());
            }
        }
        let masked = KEYS
            .iter()
            .chain(if strict { &SERVICE_DATA[..] } else { &[] })
            .chain(if *user == 0 { &KEPT[..] } else { &[] });
        for path in masked {
            self.insert(path.into(), HIDDEN);
        }
    }

    fn add_own(&mut self, path: &Path, access: Access) {
        let content = Content::Host {
            source: path.to_owned(),
            access,
            pin: None,
        };
        self.insert(path.to_owned(), content);
    }
}
