//! What the host does while the command runs.

use perimeter_runner::launch::{Beside, LaunchError};
use perimeter_runner::observe::observation::Ending;

use crate::support::{
    after, arguments, end_thread, host, is_alive, kill_parent, shell, signal, tests, type_text,
};

tests![
    a_signal_comes_after_the_start,
    an_action_waits_for_its_line,
    actions_come_in_order,
    a_host_command_runs_on_the_host,
    a_failed_host_command_is_an_error,
    a_host_command_is_no_leftover,
    what_never_comes_is_left_to_the_deadline,
    what_can_never_be_done_is_refused_at_once,
    a_launcher_outlives_its_killed_parent,
    a_launcher_may_die_with_its_parent,
    a_parent_that_is_not_killed_changes_nothing,
    a_launcher_may_die_with_the_thread_that_started_it,
    a_launcher_outlives_the_thread_that_started_it,
    what_runs_beside_a_launch_is_no_leftover_and_ends,
];

const TRAP: &str = "trap 'echo caught; exit 5' TERM; echo nonce; while :; do :; done";

fn a_signal_comes_after_the_start() {
    let seen = shell(TRAP)
        .start_line("nonce")
        .during(signal("TERM"))
        .run()
        .observation;
    assert_eq!(seen.output, "caught\n");
    assert_eq!(seen.ending, Ending::Exited(5));
}

fn an_action_waits_for_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let flag = directory.path().join("flag");
    let flag = flag.display();
    let command = format!(
        "echo nonce; ls {flag} 2>/dev/null; echo ready; until [ -e {flag} ]; do :; done; echo seen"
    );
    let action = after("ready", host(&format!("touch {flag}")));
    let seen = shell(&command)
        .start_line("nonce")
        .during(action)
        .run()
        .observation;
    assert_eq!(seen.output, "ready\nseen\n");
}

fn actions_come_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let note = |word: &str| host(&format!("echo {word} >> {}", log.display()));
    let seen = shell("echo nonce; echo second; echo third; read -t 10 <> <(:)")
        .start_line("nonce")
        .during(note("first"))
        .during(after("second", note("second")))
        .during(after("third", note("third")))
        .during(signal("KILL"))
        .run()
        .observation;
    assert_eq!(seen.ending, Ending::Signalled(9));
    assert_eq!(
        std::fs::read_to_string(&log).unwrap(),
        "first\nsecond\nthird\n"
    );
}

fn a_host_command_runs_on_the_host() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let action = host(&format!("pwd > {0}; env >> {0}; cat >> {0}", out.display()));
    // It is finished even where the launcher does not wait for it.
    let mut launch = shell("echo nonce").start_line("nonce").during(action);
    launch.environment.push(("WHERE".into(), "host".into()));
    launch.run();
    let text = std::fs::read_to_string(out).unwrap();
    assert!(text.starts_with("/\n"), "{text}");
    assert!(text.contains("WHERE=host\n"), "{text}");
}

fn a_failed_host_command_is_an_error() {
    let launch = shell("echo nonce; sleep 300").start_line("nonce");
    let launch = launch.during(host("echo reason >&2; exit 4"));
    let error = launch.try_run().unwrap_err();
    assert!(
        matches!(error, LaunchError::HostCommand { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("reason"), "{error}");
    let leftovers = perimeter_runner::launch::tree::leftovers(&[], std::time::Duration::ZERO);
    assert_eq!(leftovers, []);
}

fn a_host_command_is_no_leftover() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let action = host(&format!("sleep 300 & echo $! > {}", out.display()));
    let launched = shell("echo nonce; sleep 0.2")
        .start_line("nonce")
        .during(action)
        .grace(20)
        .run();
    assert_eq!(launched.leftovers, []);
    let pid = std::fs::read_to_string(out)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(!is_alive(pid));
}

fn what_never_comes_is_left_to_the_deadline() {
    let launch = shell("echo nonce; sleep 300")
        .start_line("nonce")
        .deadline(300);
    let launch = launch.during(after("never", signal("TERM")));
    assert_eq!(launch.run().observation.ending, Ending::TimedOut);
    let launch = shell("sleep 300").start_line("nonce").deadline(300);
    let launch = launch.during(signal("TERM"));
    assert_eq!(launch.run().observation.ending, Ending::TimedOut);
    let slow = shell("echo nonce").start_line("nonce").deadline(300);
    let launch = slow.during(host("sleep 300"));
    assert_eq!(launch.run().observation.ending, Ending::TimedOut);
}

fn what_can_never_be_done_is_refused_at_once() {
    let error = shell("true").during(signal("NONE")).try_run().unwrap_err();
    assert!(
        matches!(error, LaunchError::UnknownSignal { .. }),
        "{error:?}"
    );
    let error = shell("true").during(type_text("x")).try_run().unwrap_err();
    assert!(matches!(error, LaunchError::NoTerminal), "{error:?}");
}

fn a_launcher_outlives_its_killed_parent() {
    let parent = "read -r _ _ _ parent _ < /proc/$$/stat";
    let command = format!(
        "first=$PPID; echo nonce; while {parent}; [ $parent = $first ]; do :; done; exit 7"
    );
    let launched = shell(&command)
        .start_line("nonce")
        .during(kill_parent())
        .run();
    assert_eq!(launched.observation.ending, Ending::Exited(7));
    assert_eq!(launched.leftovers, []);
}

fn a_launcher_may_die_with_its_parent() {
    let command = "echo nonce; exec setpriv --pdeathsig KILL sleep 300";
    let launched = shell(command)
        .start_line("nonce")
        .during(host("sleep 0.1"))
        .during(kill_parent())
        .run();
    assert_eq!(launched.observation.ending, Ending::Signalled(9));
}

fn a_parent_that_is_not_killed_changes_nothing() {
    let launch = arguments(&["/bin/bash", "-c", "echo out; exit 3"]);
    let launch = launch.during(after("never", kill_parent()));
    let seen = launch.run().observation;
    assert_eq!(
        (seen.output.as_str(), seen.ending),
        ("out\n", Ending::Exited(3))
    );
}

fn a_launcher_may_die_with_the_thread_that_started_it() {
    let command = "echo nonce; exec setpriv --pdeathsig KILL sleep 300";
    let launched = shell(command)
        .start_line("nonce")
        .during(host("sleep 0.1"))
        .during(end_thread())
        .run();
    assert_eq!(launched.observation.ending, Ending::Signalled(9));
}

fn a_launcher_outlives_the_thread_that_started_it() {
    let launched = shell("echo nonce; read -r word; exit 7")
        .stdin("word\n")
        .start_line("nonce")
        .during(end_thread())
        .run();
    assert_eq!(launched.observation.ending, Ending::Exited(7));
}

fn what_runs_beside_a_launch_is_no_leftover_and_ends() {
    let directory = tempfile::tempdir().unwrap();
    let command = "echo $BASHPID > id.new; mv id.new id; while :; do :; done";
    let environment = [("PATH".into(), "/usr/bin:/bin".into())];
    let beside = Beside::start(command, directory.path(), &environment).unwrap();
    let wait = format!(
        "until test -s {0}; do :; done; cat {0}",
        directory.path().join("id").display()
    );
    let mut launch = shell(&wait);
    launch.own_processes.push(beside.id());
    let launched = launch.run();
    assert_eq!(launched.leftovers, []);
    let id: i32 = launched.observation.output.trim().parse().unwrap();
    assert!(is_alive(id));
    drop(beside);
    assert!(!is_alive(id));
}
