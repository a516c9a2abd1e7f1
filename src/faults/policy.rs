//! Mistakes about what a policy says.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::hidden;
use super::mistake::{Mistake, made};
use crate::policy::{Network, Policy, Posture};

/// How many grants of a kind a launcher takes that has room for no more.
const ROOM: usize = 8;

/// Whether a policy said that there is no network.
static OFFLINE: AtomicBool = AtomicBool::new(false);

/// Whether the policy of this process said that there is no network.
pub(super) fn offline() -> bool {
    OFFLINE.load(Ordering::Relaxed)
}

/// The policy of a launch.
pub(crate) fn policy<'policy>(policy: &'policy Policy, workspace: &Path) -> Cow<'policy, Policy> {
    OFFLINE.store(policy.network == Network::None, Ordering::Relaxed);
    let mut changed = policy.clone();
    change(&mut changed, workspace);
    Cow::Owned(changed)
}

fn change(policy: &mut Policy, workspace: &Path) {
    let grants = |policy: &Policy| {
        let grants = policy.read_only.iter().chain(&policy.read_write);
        let mut grants: Vec<PathBuf> = grants.cloned().collect();
        grants.extend(fs::canonicalize(workspace).ok());
        grants
    };
    match made() {
        Mistake::NetworkByVariables => policy.network = Network::Host,
        Mistake::NetworkNever => policy.network = Network::None,
        Mistake::AlwaysHostReadable => policy.posture = Posture::HostReadable,
        Mistake::AlwaysStrict => policy.posture = Posture::Strict,
        Mistake::EnabledIgnored => policy.enabled = true,
        Mistake::DisabledUnlessSaid => policy.enabled &= says(policy, "\"enabled\""),
        Mistake::DisabledWithoutDocument => policy.enabled &= says(policy, "version"),
        Mistake::MissingGrantsWidened => {
            for path in &mut policy.read_write {
                if let Some(there) = path.ancestors().find(|part| part.exists()) {
                    *path = there.to_owned();
                }
            }
        }
        Mistake::CheckedThenMounted => {
            for path in policy.read_only.iter_mut().chain(&mut policy.read_write) {
                if let Ok(real) = fs::canonicalize(&*path) {
                    *path = real;
                }
            }
        }
        Mistake::GrantsCutOff => {
            policy.read_only.truncate(ROOM);
            policy.read_write.truncate(ROOM);
        }
        Mistake::GrantsPassedOver => {
            policy.read_only.clear();
            policy.read_write.clear();
        }
        // A path that is in two lists is refused.
        Mistake::HiddenInGrantsRefused => {
            let grants = grants(policy);
            let lies = |path: &&PathBuf| grants.iter().any(|grant| path.starts_with(grant));
            let hidden = policy.hidden.iter().filter(lies);
            let hidden: Vec<PathBuf> = hidden.cloned().collect();
            policy.read_only.extend(hidden);
        }
        Mistake::FileGrantsPassedOver => {
            policy.read_only.retain(|path| !path.is_file());
            policy.read_write.retain(|path| !path.is_file());
        }
        Mistake::HiddenIgnored => policy.hidden.clear(),
        Mistake::AbsentHiddenSkipped => policy.hidden.retain(|path| path.exists()),
        // One that is there and leads nowhere is no file either.
        Mistake::HiddenFilesSkipped => policy.hidden.retain(|path| path.is_dir() || !path.exists()),
        Mistake::LinkedHiddenSkipped => policy.hidden.retain(|path| !hidden::is_linked(path)),
        Mistake::ClosedHiddenSkipped => policy.hidden.retain(|path| !hidden::is_closed(path)),
        Mistake::UnwritableHiddenSkipped => {
            policy.hidden.retain(|path| !hidden::is_unwritable(path));
        }
        Mistake::HiddenAncestorsSkipped => {
            let grants = grants(policy);
            let holds = |path: &PathBuf| grants.iter().any(|grant| grant.starts_with(path));
            policy.hidden.retain(|path| !holds(path));
        }
        Mistake::HiddenInGrantsSkipped => {
            let grants = grants(policy);
            let lies = |path: &PathBuf| grants.iter().any(|grant| path.starts_with(grant));
            policy.hidden.retain(|path| !lies(path));
        }
        // What is not there cannot be granted, and the launch stops.
        Mistake::AbsentHiddenFatal => {
            let absent = policy.hidden.iter().filter(|path| !path.exists());
            let absent: Vec<PathBuf> = absent.cloned().collect();
            policy.hidden.retain(|path| !absent.contains(path));
            policy.read_only.extend(absent);
        }
        _ => {}
    }
}

/// Whether the document of a policy has a word.
fn says(policy: &Policy, word: &str) -> bool {
    let text = policy.source.as_ref().map(fs::read_to_string);
    text.is_some_and(|text| text.is_ok_and(|text| text.contains(word)))
}
