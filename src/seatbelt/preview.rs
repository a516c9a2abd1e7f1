//! The profile of a launch on a Mac, where there is none.

use std::path::Path;

use super::{Places, SeatbeltError, profile};
use crate::policy::{Policy, PolicyError};
use crate::view::{MacRequest, View, ViewError, refuse_overlap};

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

/// The profile that a launch on a usual Mac would use: to be read, or judged by a model.
///
/// No file system is looked at, so paths of a Mac need not be here. What they are there
/// (links, the letters' case) changes the profile of a real launch; the private
/// directory and the user's own temporary one have other names in each.
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
    let workspace = workspace.as_ref();
    policy.check()?;
    for (list, role) in [
        (&policy.read_only, "read-only path"),
        (&policy.read_write, "writable path"),
    ] {
        for path in list {
            refuse_overlap(path, role, workspace)?;
        }
    }
    let places = Places::usual();
    let view = View::for_mac(&MacRequest {
        policy,
        workspace,
        read_only: &policy.read_only,
        read_write: &policy.read_write,
        hidden: &policy.hidden,
        links: &[],
        private: &places.temporary.join("perimeter-private"),
        places: &places,
    });
    Ok(profile(&view, terminal)?)
}
