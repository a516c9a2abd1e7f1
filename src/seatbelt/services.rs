//! Services that a process may speak to.
//!
//! Document 004 allows `mach*`. That reaches the keychain (SecurityServer), the
//! pasteboard, and LaunchServices, which starts programs outside of the sandbox
//! (google-gemini/gemini-cli 28423): a home that cannot be read is then no protection.
//! Programs start without any of them (akitaonrails/ai-jail 77, macOS 26.5); what is
//! listed is what they ask for afterwards.

use super::text::{Action, Text};
use crate::policy::Network;

/// What programs use of the system without a network.
const LOCAL: [&str; 9] = [
    // Where the user's temporary directory is (confstr(3)).
    "com.apple.bsd.dirhelper",
    // Messages for the log: os_log(3), syslog(3).
    "com.apple.diagnosticd",
    "com.apple.logd",
    "com.apple.logd.events",
    "com.apple.system.logger",
    // Changes of the time zone and the like: notify(3).
    "com.apple.system.notification_center",
    // Users and groups: getpwuid(3), and whether one is a member of the other.
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.opendirectoryd.membership",
    // Settings of the whole system. Those of a user are in the home, and a service that
    // is asked for them looks at what its client may read.
    "com.apple.cfprefsd.daemon",
];

/// What they use of it for the network: name servers, proxies, routes, and whether a
/// certificate is to be trusted. The last is asked by every Go program, and fetches
/// what a certificate names, from outside of the sandbox: without a network that would
/// be a way out (anthropic-experimental/sandbox-runtime 108 and 118, openai/codex 5980).
const NETWORK: [&str; 8] = [
    "com.apple.SystemConfiguration.DNSConfiguration",
    "com.apple.SystemConfiguration.configd",
    "com.apple.dnssd.service",
    "com.apple.networkd",
    "com.apple.ocspd",
    "com.apple.symptomsd",
    "com.apple.trustd",
    "com.apple.trustd.agent",
];

pub(super) fn add(text: &mut Text, network: Network) {
    let names: Vec<String> = LOCAL
        .iter()
        .chain(if network == Network::Host {
            &NETWORK[..]
        } else {
            &[]
        })
        .map(|name| format!("(global-name \"{name}\")"))
        .collect();
    text.section(
        "Services of the system: the log, users and groups, and with a network names and \
         certificates. Not the keychain, the pasteboard, nor whatever opens or starts something outside.",
    );
    text.rule(Action::Allow, &["mach-lookup"], &names);
    text.comment(
        "Settings that every program asks for: those of the whole system, since the service \
         for a user's own is not among the above. No program's.",
    );
    text.line("(allow user-preference-read (preference-domain \"kCFPreferencesAnyApplication\"))");
    text.comment(
        "Whether the system is about to sleep, and keeping it awake: caffeinate, runtimes (codex).",
    );
    text.line("(allow iokit-open (iokit-registry-entry-class \"RootDomainUserClient\"))");
}
