//! The profile of a launch on a Mac, where there is none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{PRIVATE_LINKS, Places, SeatbeltError, profile, real_spelling};
use crate::links::links_among;
use crate::policy::{Policy, PolicyError};
use crate::view::{
    Facts, MAC_SYSTEM, MacRequest, View, ViewError, hidden_on_mac, locate_among, refuse_overlap,
    refuse_too_wide_among,
};

/// Why a launch on a Mac cannot be foreseen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PreviewError {
    /// The policy breaks its own rules.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// What the policy asks for cannot be shown.
    #[error(transparent)]
    View(#[from] ViewError),
    /// A profile cannot say it.
    #[error(transparent)]
    Seatbelt(#[from] SeatbeltError),
}

/// What a Mac that is not at hand has, as far as a launch on it depends on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImaginedMac {
    /// Symbolic links beside those of every Mac, by their real paths, and what each says.
    pub links: BTreeMap<PathBuf, PathBuf>,
    /// The caller's home directories.
    pub homes: Vec<PathBuf>,
}

/// The profile that a launch on a usual Mac would use: to be read, or judged by a model.
///
/// No file system is looked at, so paths of a Mac need not be here. What they are there
/// (links, the letters' case) changes the profile of a real launch; the private
/// directory and the user's own temporary one have other names in each. Of the links,
/// [`preview_on`] can be told.
///
/// ```
/// use perimeter::{Policy, seatbelt};
///
/// let text = seatbelt::preview(&Policy::strict(), "/Users/me/project", false)?;
/// assert!(text.starts_with("(version 1)\n"));
/// # Ok::<(), seatbelt::PreviewError>(())
/// ```
///
/// # Errors
/// [`PreviewError`] where a launch would be refused, as far as paths alone say.
pub fn preview(
    policy: &Policy,
    workspace: impl AsRef<Path>,
    terminal: bool,
) -> Result<String, PreviewError> {
    preview_on(&ImaginedMac::default(), policy, workspace, terminal)
}

/// The same on a Mac with these links and homes.
///
/// # Errors
/// As [`preview`].
pub fn preview_on(
    mac: &ImaginedMac,
    policy: &Policy,
    workspace: impl AsRef<Path>,
    terminal: bool,
) -> Result<String, PreviewError> {
    const WORKSPACE: &str = "workspace";
    let spelling = workspace.as_ref();
    policy.check()?;
    let own = |path: &Path| mac.links.get(path).cloned();
    // Those of every Mac belong to the view, whatever is reached through them.
    let read_link = |path: &Path| own(path).or_else(|| private_link(path));
    let workspace = locate_among(spelling, &read_link).ok_or_else(|| ViewError::Missing {
        role: WORKSPACE,
        path: spelling.to_owned(),
    })?;
    let facts = Facts {
        homes: mac.homes.clone(),
        ..Facts::default()
    };
    let wide = |path: &Path, role| {
        refuse_too_wide_among(&MAC_SYSTEM, &real_spelling(path), role, policy, &facts)
    };
    wide(&workspace, WORKSPACE)?;
    for (list, role, writable) in [
        (&policy.read_only, "read-only path", false),
        (&policy.read_write, "writable path", true),
    ] {
        for path in list {
            refuse_overlap(&real_spelling(path), role, &workspace)?;
            if !links_among(path, &own).is_empty() {
                return Err(PreviewError::View(ViewError::SymbolicLink {
                    role,
                    path: path.clone(),
                    real: locate_among(path, &read_link).unwrap_or_else(|| path.clone()),
                }));
            }
            if writable {
                wide(path, role)?;
            }
        }
    }
    let (hidden, links) = hidden_on_mac(spelling, &policy.hidden, &own, &Path::to_path_buf);
    let places = Places::usual();
    let view = View::for_mac(&MacRequest {
        policy,
        workspace: &workspace,
        read_only: &policy.read_only,
        read_write: &policy.read_write,
        hidden: &hidden,
        links: &links,
        private: &places.temporary.join("perimeter-private"),
        places: &places,
    });
    Ok(profile(&view, terminal)?)
}

/// What one of the links says that every Mac has.
fn private_link(path: &Path) -> Option<PathBuf> {
    PRIVATE_LINKS
        .iter()
        .find(|link| path == Path::new(link))
        .map(|link| Path::new("private").join(&link[1..]))
}
