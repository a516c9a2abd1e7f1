//! Where the caller's Rust toolchain lies, for cases that build with it.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The directory that holds its `bin` and `lib`; asked of rustc once.
pub(super) fn directory() -> Option<&'static str> {
    static DIRECTORY: OnceLock<Option<String>> = OnceLock::new();
    let ask = || {
        let asked = Command::new("rustc")
            .args(["--print", "sysroot"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8(asked.stdout).ok()?;
        let text = text.trim();
        (asked.status.success() && !text.is_empty()).then(|| text.to_owned())
    };
    DIRECTORY.get_or_init(ask).as_deref()
}
