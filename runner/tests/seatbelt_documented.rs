//! What the model says of a documented profile: where it leaks, what it breaks.
//!
//! These are predictions. None of them was measured with this profile on a Mac.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use perimeter_runner::corpus::Source;
use perimeter_runner::seatbelt::{Action, Answer, Model, Parameters, Profile, Tables};
use rstest::rstest;
use serde_json::{Value, json};

const TEXT: &str = include_str!("seatbelt/004.sb");
const WORKSPACE: &str = "/Users/me/project";
const HIDDEN: &str = "/Users/me/project/.hidden";

fn perform(actions: &[Value]) -> Vec<(Answer, String)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
    let tables = Tables::load(&Source::Directory(corpus)).unwrap();
    let text = TEXT
        .replace("<workspace>", WORKSPACE)
        .replace("<hidden>", HIDDEN);
    let profile = Profile::read(&text, &Parameters::new(), &tables).unwrap();
    let mut model = Model::new(&profile, &tables);
    let actions = actions.iter();
    actions
        .map(|action| {
            let action: Action = serde_json::from_value(action.clone()).unwrap();
            let performed = model.perform(&action);
            let denials: Vec<String> = performed
                .denials()
                .map(|check| format!("{} {}", check.operation, check.subject))
                .collect();
            (performed.answer, denials.join(", "))
        })
        .collect()
}

#[rstest]
#[case::system_program(json!({"start": "/bin/ls"}))]
#[case::program_of_homebrew(json!({"start": "/opt/homebrew/bin/node"}))]
#[case::program_of_the_command_line_tools(json!({"start": "/Library/Developer/CommandLineTools/usr/bin/git"}))]
#[case::write(json!({"create": "/Users/me/project/new"}))]
#[case::tcp(json!({"tcp": {"host": "example.com", "port": 443}}))]
#[case::names(json!({"tcp": {"host": "127.0.0.1", "port": 53}}))]
#[case::real_temporary(json!({"create": "/private/tmp/x"}))]
fn what_works(#[case] action: Value) {
    let (answer, denials) = &perform(&[action])[0];
    assert_eq!(*answer, Answer::Allowed, "{denials}");
}

#[rstest]
#[case::read(json!({"read": "/Users/me/project/.hidden/key"}), "file-read-data /Users/me/project/.hidden/key")]
#[case::stat(json!({"stat": "/Users/me/project/.hidden/key"}), "file-read-metadata /Users/me/project/.hidden/key")]
#[case::rename(json!({"rename": {"from": "/Users/me/project/.hidden", "to": "/Users/me/project/seen"}}), "file-write-unlink /Users/me/project/.hidden")]
#[case::home(json!({"read": "/Users/me/.ssh/id"}), "file-read-data /Users/me/.ssh/id")]
#[case::write_outside(json!({"write": "/Users/me/.zshrc"}), "file-write-data /Users/me/.zshrc")]
fn what_it_protects(#[case] action: Value, #[case] by: &str) {
    let (answer, denials) = &perform(&[action])[0];
    assert_eq!(
        (*answer, denials.as_str()),
        (Answer::Denied, by),
        "the denial"
    );
}

#[rstest]
// The rule is spelled without /private, and the link /var itself cannot be read.
#[case::own_temporary_directory(json!({"create": "/var/folders/ab/cd/T/x"}), "file-read-metadata /var, file-write-create /private/var/folders/ab/cd/T/x")]
#[case::temporary(json!({"create": "/tmp/x"}), "file-read-metadata /tmp")]
#[case::real_path(json!({"realpath": "/Users/me/project/src"}), "file-read-metadata /Users, file-read-metadata /Users/me")]
#[case::roots_of_trust(json!({"read": "/etc/ssl/cert.pem"}), "file-read-metadata /etc, file-read-data /private/etc/ssl/cert.pem")]
#[case::hosts(json!({"read": "/private/etc/hosts"}), "file-read-data /private/etc/hosts")]
#[case::resolver(json!({"read": "/private/etc/resolv.conf"}), "file-read-metadata /private/etc/resolv.conf, file-read-data /private/var/run/resolv.conf")]
#[case::shell_selector(json!({"readlink": "/private/var/select/sh"}), "file-read-metadata /private/var/select/sh")]
#[case::time_zone(json!({"read": "/private/var/db/timezone/zoneinfo/UTC"}), "file-read-data /private/var/db/timezone/zoneinfo/UTC")]
#[case::lookup_of_names(json!({"resolve_name": "example.com"}), "file-read-metadata /var")]
#[case::tool_of_xcode(json!({"start": "/usr/bin/git"}), "file-read-metadata /var, file-read-metadata /private/var/db/xcode_select_link, file-read-data /Applications/Xcode.app/Contents/Developer/usr/bin/git")]
#[case::toolchain_in_home(json!({"start": "/Users/me/.cargo/bin/cargo"}), "file-read-data /Users/me/.cargo/bin/cargo")]
#[case::settings_in_home(json!({"read": "/Users/me/.gitconfig"}), "file-read-data /Users/me/.gitconfig")]
#[case::child(json!({"signal": "child"}), "signal child")]
#[case::terminal(json!({"terminal": "/dev/ttys000"}), "file-write-data /dev/ttys000, file-ioctl /dev/ttys000")]
#[case::new_terminal(json!("pseudo_terminal"), "pseudo-tty , file-write-data /dev/ptmx, file-ioctl /dev/ptmx, file-write-data /dev/ttys001, file-ioctl /dev/ttys001")]
#[case::semaphores(json!({"sysctl_write": "kern.grade_cputype"}), "sysctl-write kern.grade_cputype")]
#[case::preferences(json!({"preferences_read": "kCFPreferencesAnyApplication"}), "user-preference-read kCFPreferencesAnyApplication")]
#[case::power(json!({"iokit_open": "RootDomainUserClient"}), "iokit-open* RootDomainUserClient")]
#[case::system_socket(json!({"socket": {"domain": "AF_SYSTEM", "protocol": 2}}), "system-socket ")]
fn what_it_breaks(#[case] action: Value, #[case] by: &str) {
    let (answer, denials) = &perform(&[action])[0];
    assert_eq!(
        (*answer, denials.as_str()),
        (Answer::Denied, by),
        "the denial"
    );
}

#[test]
fn it_breaks_semaphores() {
    let (answer, denials) = &perform(&[json!({"semaphore": "/mp-x"})])[0];
    assert_eq!(*answer, Answer::Denied);
    assert!(denials.contains("ipc-posix-sem-create"), "{denials}");
}

#[rstest]
#[case::second_name_of_a_program(&[
    json!({"link": {"from": "/opt/homebrew/bin/node", "to": "/Users/me/project/node"}}),
    json!({"write": "/Users/me/project/node"}),
])]
#[case::second_name_of_a_key(&[
    json!({"link": {"from": "/Users/me/.ssh/id", "to": "/Users/me/project/key"}}),
    json!({"read": "/Users/me/project/key"}),
])]
#[case::state_of_others(&[json!({"process_info": "other"})])]
#[case::environment_of_others(&[json!({"process_arguments": "other"})])]
#[case::keychain(&[json!({"mach_lookup": "com.apple.SecurityServer"})])]
#[case::clipboard(&[json!({"mach_lookup": "com.apple.pasteboard.1"})])]
#[case::memory_of_others(&[json!({"task_port": "other"})])]
#[case::keychain_of_the_system(&[json!({"read": "/Library/Keychains/System.keychain"})])]
#[case::agent(&[json!({"unix_connect": "/private/tmp/com.apple.launchd.x/Listeners"})])]
#[case::parent_of_what_is_hidden(&[
    json!({"rename": {"from": "/Users/me/project", "to": "/private/tmp/project"}}),
    json!({"read": "/private/tmp/project/.hidden/key"}),
])]
fn where_it_leaks(#[case] actions: &[Value]) {
    for (answer, denials) in perform(actions) {
        assert_eq!(answer, Answer::Allowed, "{denials}");
    }
}
