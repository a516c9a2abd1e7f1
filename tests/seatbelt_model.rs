//! What the model of Seatbelt says of the profile that confines a command on a Mac. It
//! shows that the profile means what was meant; that a Mac enforces it, a Mac has to show.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use perimeter::seatbelt::preview;
use perimeter::{Network, Policy, Posture};
use perimeter_runner::corpus::Source;
use perimeter_runner::seatbelt::{Action, Answer, Model, Parameters, Profile, Tables};
use rstest::rstest;
use serde_json::{Value, json};

const WORKSPACE: &str = "/Users/me/project";

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
        Tables::load(&Source::Directory(corpus)).unwrap()
    })
}

fn answers(policy: &Policy, actions: &[Value]) -> Vec<(Answer, String)> {
    let tables = tables();
    let text = preview(policy, WORKSPACE, false).unwrap();
    let profile = Profile::read(&text, &Parameters::new(), tables)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    actions
        .iter()
        .map(|action| {
            let action: Action = serde_json::from_value(action.clone()).unwrap();
            let performed = Model::new(&profile, tables).perform(&action);
            let checks: Vec<String> = performed.checks.iter().map(ToString::to_string).collect();
            (
                performed.answer,
                format!("{action:?}\n  {}", checks.join("\n  ")),
            )
        })
        .collect()
}

fn assert_all(policy: &Policy, actions: &[Value], expected: Answer) {
    for (answer, shown) in answers(policy, actions) {
        assert_eq!(answer, expected, "{:?} {shown}", policy.posture);
    }
}

fn policy(posture: Posture, network: Network) -> Policy {
    Policy {
        posture,
        network,
        hidden: vec![
            "/Users/me/project/.env".into(),
            "/Users/me/project/a/b/secret".into(),
        ],
        read_only: vec!["/Users/me/reference".into()],
        read_write: vec!["/Users/me/out".into()],
        ..Policy::strict()
    }
}

/// Every posture, with and without a network.
fn policies() -> Vec<Policy> {
    let mut list = Vec::new();
    for posture in [Posture::Strict, Posture::HostReadable] {
        for network in [Network::Host, Network::None] {
            list.push(policy(posture, network));
        }
    }
    list
}

#[test]
fn what_a_command_needs_is_allowed() {
    let actions = [
        json!({"start": "/usr/bin/true"}),
        json!({"start": "/bin/sh"}),
        json!({"start": "/usr/bin/git"}),
        json!({"start": "/usr/bin/python3"}),
        json!({"start": "/usr/bin/clang"}),
        json!({"start": "/opt/homebrew/bin/node"}),
        json!({"start": "/Users/me/project/target/debug/program"}),
        json!("fork"),
        json!({"signal": "same-sandbox"}),
        json!({"process_info": "same-sandbox"}),
        json!({"semaphore": "/python"}),
        json!({"sysctl_read": "hw.ncpu"}),
        json!({"sysctl_write": "kern.grade_cputype"}),
        json!({"mach_lookup": "com.apple.system.opendirectoryd.libinfo"}),
        json!({"preferences_read": "kCFPreferencesAnyApplication"}),
        json!({"iokit_open": "RootDomainUserClient"}),
        json!({"read": "/etc/hosts"}),
        json!({"read": "/etc/ssl/cert.pem"}),
        json!({"read": "/etc/resolv.conf"}),
        json!({"read": "/etc/localtime"}),
        json!({"lstat": "/tmp"}),
        json!({"read": "/dev/urandom"}),
        json!({"write": "/dev/null"}),
        json!({"realpath": "/Users/me/project/src/main.rs"}),
        json!({"realpath": "/Users/me/reference/x"}),
        json!({"read": "/Users/me/reference/x"}),
        json!({"create": "/Users/me/project/new"}),
        json!({"create": "/Users/me/out/new"}),
        json!({"remove": "/Users/me/project/a/b/other"}),
        json!({"rename": {"from": "/Users/me/project/x", "to": "/Users/me/project/y"}}),
        json!({"link": {"from": "/Users/me/project/x", "to": "/Users/me/project/y"}}),
        json!({"clone": {"from": "/Users/me/project/x", "to": "/Users/me/project/y"}}),
        json!({"clone": {"from": "/usr/share/x", "to": "/Users/me/project/y"}}),
        json!({"make_fifo": "/Users/me/project/pipe"}),
        json!({"unix_bind": "/Users/me/project/server.sock"}),
        json!({"unix_connect": "/Users/me/project/server.sock"}),
        json!({"create": "/var/folders/xx/the-users-own/T/perimeter-private/tmp/x"}),
    ];
    for policy in policies() {
        assert_all(&policy, &actions, Answer::Allowed);
    }
}

#[test]
fn what_no_command_may_is_denied() {
    let actions = [
        json!({"read": "/Users/me/.ssh/id_ed25519"}),
        json!({"list": "/Users/me"}),
        json!({"start": "/Users/me/bin/program"}),
        json!({"create": "/Users/me/x"}),
        json!({"create": "/Users/me/reference/x"}),
        json!({"write": "/Users/me/reference/x"}),
        json!({"write": "/opt/homebrew/bin/node"}),
        json!({"write": "/etc/hosts"}),
        json!({"read": "/Library/Keychains/System.keychain"}),
        json!({"read": "/dev/disk0"}),
        json!({"link": {"from": "/opt/homebrew/bin/node", "to": "/Users/me/project/node"}}),
        json!({"link": {"from": "/Users/me/.ssh/id", "to": "/Users/me/project/k"}}),
        json!({"link": {"from": "/Users/me/reference/x", "to": "/Users/me/project/k"}}),
        json!({"clone": {"from": "/Users/me/.ssh/id", "to": "/Users/me/project/k"}}),
        json!({"clone": {"from": "/Users/me/project/a", "to": "/Users/me/project/c", "directory": true}}),
        json!({"clone": {"from": "/Users/me/reference", "to": "/Users/me/project/c", "directory": true}}),
        json!({"make_fifo": "/Users/me/pipe"}),
        json!({"make_fifo": "/Users/me/reference/pipe"}),
        json!({"make_fifo": "/Users/me/project/a/b/secret/pipe"}),
        json!({"make_node": "/Users/me/disk"}),
        json!({"check": {"operation": "file-mknod", "path": "/Users/me/project/disk", "values": {"vnode-type": "BLOCK-DEVICE"}}}),
        json!({"check": {"operation": "file-mknod", "path": "/Users/me/project/disk", "values": {"vnode-type": "CHARACTER-DEVICE"}}}),
        json!({"sysctl_read": "kern.procargs2"}),
        json!({"sysctl_read": "kern.proc.all"}),
        json!({"sysctl_read": "kern.proc.uid"}),
        json!({"sysctl_read": "kern.proc.ruid"}),
        json!({"sysctl_read": "kern.proc.tty"}),
        json!({"sysctl_write": "kern.hostname"}),
        json!({"preferences_read": "com.apple.finder"}),
        json!({"mach_lookup": "com.apple.cfprefsd.agent"}),
        json!({"iokit_open": "IOHIDLibUserClient"}),
        json!({"check": {"operation": "nvram-get"}}),
        json!({"check": {"operation": "iokit-get-properties"}}),
        json!("sysv_semaphore"),
        json!({"rename": {"from": "/Users/me/project", "to": "/Users/me/out/project"}}),
        json!({"process_info": "other"}),
        json!({"process_arguments": "other"}),
        json!({"signal": "other"}),
        json!({"task_port": "other"}),
        json!({"mach_lookup": "com.apple.SecurityServer"}),
        json!({"mach_lookup": "com.apple.securityd.xpc"}),
        json!({"mach_lookup": "com.apple.pasteboard.1"}),
        json!({"mach_lookup": "com.apple.coreservices.launchservicesd"}),
        json!({"mach_register": "org.example.service"}),
        json!("open_application"),
        json!({"apple_event": "com.apple.finder"}),
        json!({"unix_connect": "/private/tmp/com.apple.launchd.x/Listeners"}),
        json!({"unix_connect": "/var/run/docker.sock"}),
        json!({"unix_connect": "/var/folders/xx/the-users-own/T/agent.sock"}),
        json!({"ioctl": {"path": "/dev/ttys001", "command": "TIOCSTI"}}),
        json!({"preferences_write": "com.apple.finder"}),
    ];
    for policy in policies() {
        assert_all(&policy, &actions, Answer::Denied);
    }
}

#[test]
fn what_is_hidden_is_out_of_reach_by_every_road() {
    for hidden in ["/Users/me/project/.env", "/Users/me/project/a/b/secret/x"] {
        let actions = [
            json!({"read": hidden}),
            json!({"stat": hidden}),
            json!({"lstat": hidden}),
            json!({"exists": hidden}),
            json!({"list": hidden}),
            json!({"start": hidden}),
            json!({"write": hidden}),
            json!({"create": hidden}),
            json!({"remove": hidden}),
            json!({"read_attribute": hidden}),
            json!({"rename": {"from": hidden, "to": "/Users/me/project/shown"}}),
            json!({"link": {"from": hidden, "to": "/Users/me/project/shown"}}),
            json!({"clone": {"from": hidden, "to": "/Users/me/project/shown"}}),
            json!({"unix_connect": hidden}),
            json!({"rename": {"from": "/Users/me/project/a", "to": "/Users/me/project/c"}}),
            json!({"rename": {"from": "/Users/me/project/a/b", "to": "/Users/me/project/c"}}),
        ];
        for policy in policies() {
            let actions = if hidden.ends_with(".env") {
                &actions[..14]
            } else {
                &actions
            };
            assert_all(&policy, actions, Answer::Denied);
        }
    }
}

#[rstest]
#[case(Network::Host, Answer::Allowed)]
#[case(Network::None, Answer::Denied)]
fn the_network_is_there_as_the_policy_says(#[case] network: Network, #[case] expected: Answer) {
    let actions = [
        json!({"tcp": {"host": "example.com", "port": 443}}),
        json!({"tcp": {"host": "localhost", "port": 8080}}),
        json!({"udp": {"host": "example.com", "port": 53}}),
        json!({"listen": {"host": "localhost", "port": 0}}),
        json!({"resolve_name": "example.com"}),
        json!({"socket": {"domain": "AF_SYSTEM", "protocol": 2}}),
        // Whoever checks a certificate fetches what it names, outside of the sandbox.
        json!({"mach_lookup": "com.apple.trustd"}),
        json!({"mach_lookup": "com.apple.trustd.agent"}),
        json!({"mach_lookup": "com.apple.dnssd.service"}),
    ];
    for posture in [Posture::Strict, Posture::HostReadable] {
        assert_all(&policy(posture, network), &actions, expected);
    }
}

#[rstest]
#[case(Posture::Strict, Answer::Denied)]
#[case(Posture::HostReadable, Answer::Allowed)]
fn shared_temporary_directories_are_those_of_the_posture(
    #[case] posture: Posture,
    #[case] expected: Answer,
) {
    let actions = [
        json!({"create": "/tmp/x"}),
        json!({"create": "/private/tmp/x"}),
        json!({"create": "/var/tmp/x"}),
        json!({"create": "/var/folders/xx/the-users-own/T/x"}),
    ];
    assert_all(&policy(posture, Network::Host), &actions, expected);
}

/// A sequence of numbers that is the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

#[test]
fn whatever_the_policy_the_hidden_is_not_readable_and_the_rest_not_writable() {
    const PLACES: [&str; 10] = [
        "/Users/me/project/a",
        "/Users/me/project/a/b",
        "/Users/me/project/a/b/c",
        "/Users/me/other",
        "/Users/me/other/x",
        "/Users/me/other/x/y",
        "/private/tmp/z",
        "/opt/homebrew/etc",
        "/Users/me",
        "/Library/Fonts",
    ];
    let mut numbers = Numbers(2026);
    let mut tried = 0;
    while tried < 150 {
        let mut lists: [Vec<PathBuf>; 3] = Default::default();
        for place in PLACES {
            if let Some(list) = lists.get_mut(numbers.below(6)) {
                list.push(place.into());
            }
        }
        let [read_only, read_write, hidden] = lists;
        let policy = Policy {
            posture: [Posture::Strict, Posture::HostReadable][numbers.below(2)],
            read_only,
            read_write,
            hidden,
            ..Policy::strict()
        };
        if policy.check().is_err() || preview(&policy, WORKSPACE, false).is_err() {
            continue;
        }
        tried += 1;
        let mut denied = Vec::new();
        for place in PLACES {
            let path = PathBuf::from(place).join("file");
            let above = |list: &[PathBuf]| {
                let depths = list.iter().filter(|entry| path.starts_with(entry));
                depths.map(|entry| entry.components().count()).max()
            };
            let writable = above(&[policy.read_write.clone(), vec![WORKSPACE.into()]].concat());
            let readable = above(&policy.read_only).max(writable);
            let hidden = above(&policy.hidden);
            let text = path.to_str().unwrap();
            if hidden > readable {
                denied.extend([json!({"read": text}), json!({"stat": text})]);
            }
            let shared =
                policy.posture == Posture::HostReadable && text.starts_with("/private/tmp");
            let granted = writable > above(&policy.read_only).max(hidden);
            let everyones = shared && readable.is_none() && hidden.is_none();
            if !granted && !everyones {
                denied.extend([json!({"create": text}), json!({"write": text})]);
            }
        }
        assert_all(&policy, &denied, Answer::Denied);
    }
}
