//! What outlives a launcher.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use perimeter_runner::launch::tree;

use crate::support::{arguments, is_alive, probe, shell, tests};

tests![
    a_daemon_is_a_leftover,
    a_slow_end_is_no_leftover,
    own_processes_are_neither_leftovers_nor_killed,
    their_children_neither,
    processes_that_multiply_are_all_killed,
    processes_that_are_just_being_made_are_all_killed,
    a_stopped_process_is_a_leftover,
    a_namespace_that_is_taken_down_is_no_leftover,
    nothing_is_found_quickly,
];

fn a_daemon_is_a_leftover() {
    let launched = probe(&["daemonize", "sleep", "300"]).grace(100).run();
    assert_eq!(launched.observation.output, "daemonized\n");
    assert_eq!(launched.leftovers.len(), 1, "{launched:?}");
    assert_eq!(launched.leftovers[0].command_line, "sleep 300");
    assert!(!is_alive(launched.leftovers[0].pid));
}

fn a_slow_end_is_no_leftover() {
    let began = Instant::now();
    let launched = shell("(sleep 0.1 &) ; (sleep 0.2 &); exit 0").run();
    assert_eq!(launched.leftovers, []);
    assert!(began.elapsed() < Duration::from_millis(480));
}

fn own_processes_are_neither_leftovers_nor_killed() {
    let mut own = Command::new("sleep").arg("300").spawn().unwrap();
    let pid = i32::try_from(own.id()).unwrap();
    let mut launch = shell("sleep 301 & exit 0").grace(50);
    launch.own_processes = vec![pid];
    let launched = launch.run();
    assert_eq!(launched.leftovers.len(), 1);
    assert!(is_alive(pid));
    let launched = launch.deadline(1).run();
    assert!(is_alive(pid), "{launched:?}");
    assert!(tree::leftovers(&[pid], Duration::ZERO).is_empty());
    assert_eq!(tree::leftovers(&[], Duration::ZERO).len(), 1);
    own.kill().unwrap();
    own.wait().unwrap();
}

fn their_children_neither() {
    let mut own = Command::new("bash")
        .args(["-c", "sleep 300 & echo; wait"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = i32::try_from(own.id()).unwrap();
    let mut byte = [0];
    std::io::Read::read_exact(own.stdout.as_mut().unwrap(), &mut byte).unwrap();
    assert!(tree::leftovers(&[pid], Duration::ZERO).is_empty());
    assert_eq!(tree::leftovers(&[], Duration::ZERO).len(), 2);
    assert_eq!(tree::kill_descendants(&[]), []);
    let _ = own.wait();
}

fn processes_that_multiply_are_all_killed() {
    let command = "grow() { while :; do (setsid bash -c 'sleep 300' &) ; sleep 0.001; done; }; \
        grow & grow & grow & wait";
    let launched = shell(command).deadline(500).run();
    assert!(
        tree::leftovers(&[], Duration::ZERO).is_empty(),
        "{launched:?}"
    );
}

/// The deadline comes at every moment of a tree's making.
fn processes_that_are_just_being_made_are_all_killed() {
    let mut own = Command::new("sleep").arg("300").spawn().unwrap();
    let pid = i32::try_from(own.id()).unwrap();
    for milliseconds in (0..12).cycle().take(100) {
        let mut launch = shell("(sleep 300 &); (setsid sleep 300 &); sleep 300 & exit 0");
        launch.own_processes = vec![pid];
        let launched = launch.deadline(milliseconds).grace(1).run();
        let left = tree::leftovers(&[pid], Duration::ZERO);
        assert_eq!(left, [], "{launched:?}");
    }
    own.kill().unwrap();
    own.wait().unwrap();
}

fn a_stopped_process_is_a_leftover() {
    let launched = shell("setsid bash -c 'kill -STOP $$' & sleep 0.1")
        .grace(50)
        .run();
    assert_eq!(launched.leftovers.len(), 1);
    assert!(!is_alive(launched.leftovers[0].pid));
}

fn a_namespace_that_is_taken_down_is_no_leftover() {
    let line = "bwrap --die-with-parent --unshare-pid --unshare-user --bind / / --proc /proc \
        --dev /dev bash -c";
    let mut line: Vec<&str> = line.split_whitespace().collect();
    line.push("sleep 300 & setsid sleep 300 & :");
    if arguments(&["bwrap", "--unshare-user", "--bind", "/", "/", "true"])
        .run()
        .observation
        .ending
        != perimeter_runner::observe::observation::Ending::Exited(0)
    {
        eprintln!("bubblewrap does not work here");
        return;
    }
    for _ in 0..20 {
        let launched = arguments(&line).run();
        assert_eq!(launched.observation.error_output, "");
        assert_eq!(launched.leftovers, []);
    }
}

fn nothing_is_found_quickly() {
    shell("true").run();
    let began = Instant::now();
    for _ in 0..1000 {
        assert!(tree::leftovers(&[], Duration::from_secs(1)).is_empty());
    }
    assert!(began.elapsed() < Duration::from_millis(500));
}
