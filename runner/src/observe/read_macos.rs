//! Reading without a trace, macOS.

use nix::fcntl::OFlag;

/// Reading always sets the access time here; no snapshot compares it.
pub(super) const LEAVE_ACCESS_TIME: OFlag = OFlag::empty();
