//! Reading without a trace, Linux.

use nix::fcntl::OFlag;

/// Reading leaves the access time alone, open(2). Only an owner may ask.
pub(super) const LEAVE_ACCESS_TIME: OFlag = OFlag::O_NOATIME;
