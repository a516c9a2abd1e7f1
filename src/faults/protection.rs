//! Which protection a mistake removes.

use super::Protection;
use super::mistake::{Mistake, made};

/// Whether the launcher has a protection.
pub(crate) fn has(protection: Protection) -> bool {
    let without: &[Mistake] = match protection {
        Protection::Descriptors => &[Mistake::DescriptorsKept],
        Protection::Streams => &[Mistake::DirectoryStreamsKept],
        Protection::SignalDispositions => &[Mistake::SignalsIgnored],
        Protection::SignalMask => &[Mistake::SignalsBlocked],
        Protection::Keyring => &[Mistake::KeyringKept],
        Protection::ProcessGroup => &[Mistake::TerminalShared],
        Protection::Apart => &[
            Mistake::SandboxNotLookedAt,
            Mistake::UserNamespaceShared,
            Mistake::SuperUserKept,
            Mistake::SuperUserAmongProcesses,
            Mistake::ProcessNamespaceShared,
        ],
        Protection::Mounted => &[
            Mistake::MountsNotLookedAt,
            Mistake::CheckedThenMounted,
            Mistake::HiddenBeforeGrants,
            Mistake::WorkspaceParentWritable,
        ],
        Protection::Elsewhere => &[Mistake::MountedElsewhereShown],
        Protection::Janitor => &[Mistake::JanitorAbsent, Mistake::OutlivesLauncher],
        Protection::Removal => &[Mistake::PlaceholdersLeft],
        Protection::Forwarding => &[Mistake::SignalsSwallowed],
        Protection::Caller => &[Mistake::OutlivesCaller],
        Protection::CallerAlive => &[Mistake::CallerThreadMistaken],
        Protection::Width => &[Mistake::AnythingWritable],
        Protection::Interfaces => &[Mistake::InterfacesGranted],
        Protection::Overlap => &[Mistake::OverlapsAccepted],
        Protection::Directory => &[Mistake::DirectoryFallsBack, Mistake::DirectoryGranted],
        Protection::Lookup => &[Mistake::ProgramNotLookedFor],
    };
    !without.contains(&made())
}
