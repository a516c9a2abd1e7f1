//! The network, and sockets that are files.

use std::path::Path;

use super::SeatbeltError;
use super::files::{Kind, kinds};
use super::text::{Action, Text, quote};
use crate::policy::Network;
use crate::view::{NAME_SERVICE, View};

pub(super) fn add(text: &mut Text, view: &View) -> Result<(), SeatbeltError> {
    if view.network() == Network::Host {
        text.section("The network of the host.");
        text.line("(allow network-outbound (remote ip \"*:*\"))");
        text.line("(allow network-inbound network-bind (local ip \"*:*\"))");
        text.comment("Asking the kernel which interface a connection would use (codex).");
        text.line(
            "(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))",
        );
        text.comment(
            "Names are resolved through a socket. Without it nothing has an address \
             (nolabs-ai/nono 588).",
        );
        text.rule(
            Action::Allow,
            &["network-outbound"],
            &[socket("remote", "literal", Path::new(NAME_SERVICE))?],
        );
    }
    text.section(
        "Sockets that are files. Connecting is no reading of the file, and no rule about \
         files stops it: an agent that signs with keys, a container engine or an editor \
         would answer from wherever its socket is. So: those in the command's own \
         directories, and none in those that it shares with others.",
    );
    let mut own: Vec<&Path> = Vec::new();
    for (kind, mut paths) in kinds(view) {
        let action = match kind {
            Kind::Writable => {
                own.extend(&paths);
                Action::Allow
            }
            Kind::Hidden | Kind::Shared => {
                paths.retain(|path| own.iter().any(|own| path.starts_with(own)));
                Action::Deny
            }
            Kind::Readable => continue,
        };
        for (side, operations) in [
            ("remote", &["network-outbound"][..]),
            ("local", &["network-inbound", "network-bind"]),
        ] {
            let mut filters = Vec::with_capacity(paths.len() * 2);
            for path in &paths {
                filters.push(socket(side, "literal", path)?);
                filters.push(socket(side, "subpath", path)?);
            }
            text.rule(action, operations, &filters);
        }
    }
    Ok(())
}

fn socket(side: &str, form: &str, path: &Path) -> Result<String, SeatbeltError> {
    Ok(format!("({side} unix-socket ({form} {}))", quote(path)?))
}
