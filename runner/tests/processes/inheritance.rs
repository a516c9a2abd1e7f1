//! What a launcher inherits: what is asked for, and nothing of the harness's.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::{SigHandler, SigSet, Signal};

use crate::support::{arguments, probe, shell, tests};

tests![
    the_environment_is_the_whole,
    the_harness_leaks_no_descriptor,
    descriptors_come_under_their_numbers,
    descriptors_may_trade_places,
    a_descriptor_may_have_any_number,
    signals_are_as_at_first,
    signals_asked_for_are_ignored_and_blocked,
    the_harness_own_signals_are_not_inherited,
    a_session_of_its_own,
    keys_are_in_a_session_keyring,
    a_terminal_launch_inherits_the_same,
    #[cfg(target_os = "linux")]
    a_file_system_is_mounted_for_the_launcher_alone,
];

fn file(text: &str) -> OwnedFd {
    let path = tempfile::NamedTempFile::new().unwrap();
    path.as_file().write_all(text.as_bytes()).unwrap();
    File::open(path.path()).unwrap().into()
}

#[cfg(target_os = "linux")]
fn a_file_system_is_mounted_for_the_launcher_alone() {
    use perimeter_runner::corpus::vocabulary::Fact;
    if !perimeter_runner::facts::of_this_host().contains(&Fact::UserNamespaces) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap().to_owned();
    let mut launch = shell(&format!("stat -f -c %T {path}; echo > {path}/new; id -u"));
    launch.inherited.mounts = vec![path];
    let user = nix::unistd::getuid();
    let seen = launch.run().observation;
    assert_eq!(seen.output, format!("tmpfs\n{user}\n"), "{seen:?}");
    assert!(!directory.path().join("new").exists());
}

fn the_environment_is_the_whole() {
    let mut launch = arguments(&["/usr/bin/env"]);
    launch.environment = vec![("ONE".into(), "1 = \u{fc}".into())];
    assert_eq!(launch.run().observation.output, "ONE=1 = \u{fc}\n");
    launch.environment.clear();
    assert_eq!(launch.run().observation.output, "");
}

fn the_harness_leaks_no_descriptor() {
    let leaky = file("");
    fcntl(&leaky, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
    assert_eq!(probe(&["descriptors"]).run().observation.output, "");
    let on_terminal = probe(&["descriptors"]).on_terminal().run();
    assert_eq!(on_terminal.observation.output, "");
}

fn descriptors_come_under_their_numbers() {
    let mut launch = shell("cat <&7; cat <&9");
    launch.inherited.descriptors = vec![(7, file("seven ")), (9, file("nine"))];
    assert_eq!(launch.run().observation.output, "seven nine");
    let mut launch = probe(&["descriptors"]);
    launch.inherited.descriptors = vec![(7, file("")), (9, file(""))];
    assert_eq!(launch.run().observation.output, "7\n9\n");
}

fn descriptors_may_trade_places() {
    let (first, second) = (file("first "), file("second "));
    let (low, high) = (first.as_raw_fd(), second.as_raw_fd());
    assert!(low > 2 && high > 2 && low != high);
    let mut launch = shell(&format!("cat <&{low}; cat <&{high}"));
    launch.inherited.descriptors = vec![(high, first), (low, second)];
    assert_eq!(launch.run().observation.output, "second first ");
}

/// Among them the numbers that the launch itself uses at the time.
fn a_descriptor_may_have_any_number() {
    for terminal in [false, true] {
        for number in 3..40 {
            let mut launch = probe(&["descriptors"]);
            launch.terminal = terminal;
            launch.inherited.descriptors = vec![(number, file(""))];
            let seen = launch.run().observation;
            assert_eq!(seen.output, format!("{number}\n"), "{}", seen.error_output);
            // A failure to start is told whatever the number.
            let mut launch = arguments(&["/etc/passwd"]);
            launch.terminal = terminal;
            launch.inherited.descriptors = vec![(number, file(""))];
            launch.try_run().unwrap_err();
        }
    }
}

fn signals_are_as_at_first() {
    let seen = probe(&["signals"]).run().observation;
    assert_eq!(seen.output, "ignored none\nblocked none\n");
}

fn signals_asked_for_are_ignored_and_blocked() {
    for terminal in [false, true] {
        let mut launch = probe(&["signals"]);
        launch.terminal = terminal;
        launch.inherited.ignored_signals = vec![Signal::SIGCHLD, Signal::SIGPIPE];
        launch.inherited.blocked_signals = vec![Signal::SIGINT, Signal::SIGTERM];
        let seen = launch.run().observation;
        let expected = "ignored PIPE\nignored CHLD\nblocked INT\nblocked TERM\n";
        assert_eq!(seen.output, expected);
    }
}

fn the_harness_own_signals_are_not_inherited() {
    let mut mask = SigSet::empty();
    mask.add(Signal::SIGUSR1);
    mask.thread_block().unwrap();
    let ignore = |handler| {
        #[allow(unsafe_code, reason = "no handler is installed")]
        // SAFETY: ignoring and not ignoring run no code of ours.
        unsafe {
            nix::sys::signal::signal(Signal::SIGUSR2, handler).unwrap();
        }
    };
    ignore(SigHandler::SigIgn);
    let seen = probe(&["signals"]).run().observation;
    ignore(SigHandler::SigDfl);
    mask.thread_unblock().unwrap();
    assert_eq!(seen.output, "ignored none\nblocked none\n");
}

fn a_session_of_its_own() {
    let command = "read -r _ _ _ _ group session terminal _ < /proc/$$/stat; \
        echo $$ $group $session $terminal";
    let output = shell(command).run().observation.output;
    let words: Vec<&str> = output.split_whitespace().collect();
    assert_eq!(words, [words[0], words[0], words[0], "0"]);
}

fn keys_are_in_a_session_keyring() {
    for terminal in [false, true] {
        let mut launch = probe(&["read-key", "perimeter-test"]);
        launch.terminal = terminal;
        let without = launch.run();
        assert!(!without.observation.output.contains("canary"));
        launch.inherited.keyring = vec![("perimeter-test".into(), "canary-1".into())];
        let seen = launch.run().observation;
        assert_eq!(seen.output, "canary-1\n", "{}", seen.error_output);
    }
}

fn a_terminal_launch_inherits_the_same() {
    let mut launch = shell("cat <&5; echo $ONE; pwd").on_terminal();
    launch.environment.push(("ONE".into(), "1".into()));
    launch.directory = "/usr".into();
    launch.inherited.descriptors = vec![(5, file("five\n"))];
    assert_eq!(launch.run().observation.output, "five\n1\n/usr\n");
}
