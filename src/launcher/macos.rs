//! Confining commands with Seatbelt.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::terminal::Terminal;
use super::{Child, Command, LaunchError};
use crate::links::read_link;
use crate::policy::{Policy, Posture};
pub(super) use crate::seatbelt::{End, Run};
use crate::seatbelt::{PROGRAM, Places, Private, Start, check, profile};
use crate::view::{Access, Facts, Grants, MacRequest, View, hidden_on_mac};

/// Where the package manager of Apple silicon puts programs.
const PACKAGES: &str = "/opt/homebrew/bin";

/// The variable that gives every program of a launch temporary and cache directories of
/// its own in the user's (confstr(3)): a name in them. mktemp, Foundation and the shims of
/// the developer tools take these whatever TMPDIR says (anthropics/claude-code 91676,
/// bfulton/localmost; WebKit sets it for the same reason).
const SUFFIX: &str = "DIRHELPER_USER_DIR_SUFFIX";

/// The private directory of a plan, which is not made.
const PLANNED: &str = "perimeter-XXXXXX";

/// What all launches under one policy share.
#[derive(Debug)]
pub(super) struct Confinement {
    grants: Grants,
    places: Places,
}

/// What the command needs to be told of its directories, and of a home that it cannot
/// read.
pub(super) fn adjust(variables: &mut BTreeMap<OsString, OsString>, posture: Posture, view: &View) {
    let temporary = view.private_directories().temporary.clone();
    let private = temporary.parent().and_then(Path::file_name);
    let private = private.map(OsStr::to_owned);
    variables.insert("TMPDIR".into(), temporary.into());
    match posture {
        Posture::Strict => {
            // The user's own directory is closed, and the private one lies in it.
            variables.extend(private.map(|name| (OsString::from(SUFFIX), name)));
            if let Some(search) = variables.get_mut(OsStr::new("PATH")) {
                search.push(":");
                search.push(PACKAGES);
            }
        }
        Posture::HostReadable => {
            // git ends where it may not read the user's settings: it takes them for damaged.
            variables
                .entry("GIT_CONFIG_GLOBAL".into())
                .or_insert_with(|| "/dev/null".into());
        }
    }
}

impl Confinement {
    /// Opens what the policy grants, and looks whether Seatbelt can be used. Also returns
    /// the workspace as the caller spelled it.
    pub(super) fn prepare(
        policy: &Policy,
        workspace: &Path,
    ) -> Result<(Confinement, PathBuf), LaunchError> {
        let grants = Grants::open(policy, workspace, &Facts::collect())?;
        check()?;
        let spelling = grants.workspace_spelling().to_owned();
        let places = Places::of_this_mac();
        Ok((Confinement { grants, places }, spelling))
    }

    /// The program that makes the sandbox.
    pub(super) fn program_path(&self) -> &Path {
        Path::new(PROGRAM)
    }

    /// The view of a launch, save for the private directory, which each has of its own.
    pub(super) fn view(&self, policy: &Policy) -> Result<View, LaunchError> {
        Ok(self.view_with(policy, &self.places.temporary.join(PLANNED)))
    }

    fn view_with(&self, policy: &Policy, private: &Path) -> View {
        // The hidden paths are looked at anew each time, since an earlier command may have
        // changed what they mean.
        let (hidden, links) = hidden_on_mac(
            self.grants.workspace_spelling(),
            &policy.hidden,
            &read_link,
            &on_disk,
        );
        View::for_mac(&MacRequest {
            policy,
            workspace: self.grants.workspace(),
            read_only: &self.grants.paths(Access::ReadOnly),
            read_write: &self.grants.paths(Access::ReadWrite),
            hidden: &hidden,
            links: &links,
            private,
            places: &self.places,
        })
    }

    pub(super) fn spawn(
        &self,
        command: &Command<'_>,
        streams: &mut [Option<OwnedFd>; 3],
    ) -> Result<Child, LaunchError> {
        self.grants.in_place()?;
        let private = Private::make(&self.places.temporary)
            .map_err(|error| LaunchError::system("make the private directory", error))?;
        let view = self.view_with(&command.launcher.policy, private.path());
        let directory = command.directory_inside(&view)?;
        let variables = command.variables_inside(&view)?;
        let search = variables.get(OsStr::new("PATH")).map(OsString::as_os_str);
        if let Err(refusal) = command.find(&view, &directory, search) {
            return Ok(Child::refused(refusal));
        }
        let terminal = if command.terminal {
            Terminal::open(streams)
        } else {
            Ok(None)
        }
        .map_err(|error| LaunchError::system("open a terminal for the command", error))?;
        let start = Start {
            profile: profile(&view, terminal.is_some())?,
            words: command.words.clone(),
            directory,
            variables: variables.into_iter().collect(),
            terminal: terminal.is_some(),
            restore: terminal.as_ref().and_then(Terminal::settings),
            private,
        };
        let run = Run::begin(start, &view, std::mem::take(streams))?;
        if let Some(terminal) = &terminal {
            terminal
                .begin()
                .map_err(|error| LaunchError::system("prepare the terminal", error))?;
        }
        Ok(Child::confined(run, terminal))
    }

    pub(super) fn plan(&self, command: &Command<'_>) -> Result<Vec<OsString>, LaunchError> {
        let view = self.view(&command.launcher.policy)?;
        command.directory_inside(&view)?;
        let text = profile(&view, command.terminal)?;
        let mut list: Vec<OsString> = vec!["-p".into(), text.into(), "--".into()];
        list.extend(command.words.iter().cloned());
        Ok(list)
    }
}

/// A path in the letters that its directories have: on a disk that does not tell `Src`
/// from `src`, both are one file, and rules name it by one of them.
fn on_disk(path: &Path) -> PathBuf {
    path.ancestors()
        .find_map(|part| {
            let real = fs::canonicalize(part).ok()?;
            Some(real.join(path.strip_prefix(part).ok()?))
        })
        .map_or_else(|| path.to_owned(), |path| path.components().collect())
}
