//! The profile of a view.

use super::text::Text;
use super::{SeatbeltError, devices, files, network, processes, services};
use crate::view::View;

/// The profile of a view; `terminal` says whether the command has a terminal of its own.
///
/// How Seatbelt decides, as far as public sources and runs on real Macs say: rules are
/// kept for each operation; the last one that matches decides; if none does, the same is
/// asked of the operation's parent (`file-read-data`, then `file-read*`, `file*`,
/// `default`). So a rule about `file-read*` does not outweigh an earlier one about
/// `file-read-data` (GreyhavenHQ/greywall 20, nolabs-ai/nono 697). Wherever this
/// profile allows or denies files, it therefore names the children too: what is decided
/// is then the same whether the order of the rules or the operation comes first.
///
/// # Errors
/// [`SeatbeltError::Path`] for a path that the profile cannot hold.
pub fn profile(view: &View, terminal: bool) -> Result<String, SeatbeltError> {
    let mut text = Text::default();
    // Must come first: the version of the language (Apple's sbpl.scm: "no version
    // specified").
    text.line("(version 1)");
    text.comment("Whatever no rule below allows is denied.");
    text.line("(deny default)");
    processes::add(&mut text);
    services::add(&mut text, view.network());
    devices::add(&mut text, terminal)?;
    files::add(&mut text, view)?;
    network::add(&mut text, view)?;
    Ok(text.finish())
}
