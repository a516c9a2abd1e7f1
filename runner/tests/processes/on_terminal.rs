//! Launches on a terminal.

use perimeter_runner::observe::observation::Ending;

use crate::support::{after, kill_parent, probe, shell, signal, tests, type_text};

tests![
    the_streams_are_a_terminal_that_controls,
    line_ends_are_as_elsewhere,
    the_start_line_shows,
    text_is_typed,
    input_is_typed,
    an_interrupt_reaches_the_foreground,
    pushed_input_waits_for_the_caller,
    pushed_input_without_a_line_end_too,
    what_the_command_read_waits_no_more,
    nothing_waits_where_nothing_was_pushed,
    a_leftover_on_a_terminal_is_found,
    the_deadline_holds,
    the_parents_end_hangs_up,
    a_terminal_that_was_hung_up_costs_nothing,
];

fn the_streams_are_a_terminal_that_controls() {
    let seen = probe(&["isatty"]).on_terminal().run().observation;
    assert_eq!(
        seen.output,
        "input yes\noutput yes\nerrors yes\ncontrolling yes\n"
    );
    let seen = probe(&["isatty"]).run().observation;
    assert_eq!(
        seen.output,
        "input no\noutput no\nerrors no\ncontrolling no\n"
    );
    let seen = shell("stty size").on_terminal().run().observation;
    assert_eq!(seen.output, "24 80\n");
}

fn line_ends_are_as_elsewhere() {
    let seen = shell("echo one; echo two >&2; printf 'a\\rb\\n'")
        .on_terminal()
        .run()
        .observation;
    assert_eq!(seen.output, "one\ntwo\na\rb\n");
    assert_eq!(seen.error_output, "");
}

fn the_start_line_shows() {
    let launch = shell("echo note; echo nonce; echo out; exit 3").start_line("nonce");
    let seen = launch.on_terminal().run().observation;
    assert!(seen.started);
    assert_eq!(
        (seen.preamble.as_str(), seen.output.as_str()),
        ("note\n", "out\n")
    );
    assert_eq!(seen.ending, Ending::Exited(3));
}

fn text_is_typed() {
    let launch = shell("stty -echo; echo nonce; read -r line; echo \"got $line\"");
    let launch = launch
        .start_line("nonce")
        .on_terminal()
        .during(type_text("hello\n"));
    assert_eq!(launch.run().observation.output, "got hello\n");
}

fn input_is_typed() {
    let launch = shell("read -r line; echo \"got $line\"")
        .on_terminal()
        .stdin("hello\n");
    assert_eq!(launch.run().observation.output, "hello\ngot hello\n");
}

fn an_interrupt_reaches_the_foreground() {
    let launch = shell("echo nonce; exec sleep 300")
        .start_line("nonce")
        .on_terminal();
    let seen = launch.during(type_text("\u{3}")).run().observation;
    assert_eq!(seen.ending, Ending::Signalled(2));
}

fn pushed_input_waits_for_the_caller() {
    let launched = probe(&["push-input", "touch /tmp/x\n"]).on_terminal().run();
    assert!(
        launched.observation.output.ends_with("pushed\n"),
        "{launched:?}"
    );
    assert_eq!(launched.typed, "touch /tmp/x\n");
}

fn pushed_input_without_a_line_end_too() {
    let launched = probe(&["push-input-high-bits", "part"]).on_terminal().run();
    assert_eq!(launched.typed, "part", "{launched:?}");
}

fn what_the_command_read_waits_no_more() {
    let launch = shell("read -r line; echo got")
        .on_terminal()
        .stdin("one\ntwo\n");
    assert_eq!(launch.run().typed, "two\n");
}

fn nothing_waits_where_nothing_was_pushed() {
    assert_eq!(shell("true").on_terminal().run().typed, "");
    assert_eq!(probe(&["push-input", "x"]).run().typed, "");
}

fn a_leftover_on_a_terminal_is_found() {
    let launched = shell("set -m; sleep 300 & exit 0")
        .on_terminal()
        .grace(50)
        .run();
    assert_eq!(launched.leftovers.len(), 1);
    assert_eq!(launched.leftovers[0].command_line, "sleep 300");
    assert_eq!(launched.observation.ending, Ending::Exited(0));
}

fn the_deadline_holds() {
    let launched = shell("trap '' HUP INT TERM; sleep 300")
        .on_terminal()
        .deadline(300)
        .run();
    assert_eq!(launched.observation.ending, Ending::TimedOut);
}

fn the_parents_end_hangs_up() {
    let launch = shell("trap 'exit 9' HUP; echo nonce; while :; do sleep 0.01; done");
    let launch = launch
        .start_line("nonce")
        .on_terminal()
        .during(kill_parent());
    assert_eq!(launch.run().observation.ending, Ending::Exited(9));
    let launch =
        shell("trap 'echo out; exit 9' USR1; echo nonce; echo go; while :; do sleep 0.01; done");
    let launch = launch
        .start_line("nonce")
        .on_terminal()
        .during(after("go", signal("USR1")));
    let seen = launch.run().observation;
    assert_eq!(
        (seen.output.as_str(), seen.ending),
        ("go\nout\n", Ending::Exited(9))
    );
}

/// The launcher lives on; waiting for it must not spin on the terminal's error.
fn a_terminal_that_was_hung_up_costs_nothing() {
    let launch = shell("trap '' HUP; echo nonce; sleep 0.5; exit 4").start_line("nonce");
    let launch = launch.on_terminal().during(kill_parent());
    let before = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).unwrap();
    assert_eq!(launch.run().observation.ending, Ending::Exited(4));
    let after = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).unwrap();
    let spent = |usage: nix::sys::resource::Usage| {
        use nix::sys::time::TimeValLike;
        usage.user_time().num_milliseconds() + usage.system_time().num_milliseconds()
    };
    assert!(spent(after) - spent(before) < 200);
}
