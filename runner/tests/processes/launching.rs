//! Streams, the start line, the ending.

#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

use perimeter_runner::corpus::streams::{Stream, Streams};
use perimeter_runner::launch::LaunchError;
use perimeter_runner::observe::observation::Ending;

#[cfg(target_os = "linux")]
use crate::support::is_alive;
use crate::support::{Launch, arguments, shell, tests};

tests![
    both_streams_and_the_status_are_seen,
    the_death_by_a_signal_is_told_from_an_exit,
    input_of_any_size_is_read,
    no_input_is_an_end_at_once,
    input_that_nobody_reads_holds_nothing_up,
    #[cfg(target_os = "linux")]
    the_streams_are_pipes,
    the_start_line_parts_the_launchers_text_from_the_commands,
    without_its_start_line_nothing_has_started,
    a_flood_stops_nothing_and_fills_nothing,
    a_silent_flood_of_errors_too,
    #[cfg(target_os = "linux")]
    what_keeps_the_output_open_is_a_leftover,
    #[cfg(target_os = "linux")]
    the_deadline_ends_the_whole_tree,
    the_output_before_the_deadline_is_kept,
    a_missing_program_is_an_error,
    a_missing_directory_is_another,
    a_program_is_searched_on_the_launchers_own_path,
    bytes_that_are_no_text_are_kept_as_far_as_they_go,
    a_stream_can_be_closed,
    a_stream_can_have_nobody_at_its_other_end,
    a_stream_can_be_a_file,
    five_hundred_launches_leave_nothing_open,
];

fn both_streams_and_the_status_are_seen() {
    let launched = shell("echo out; echo err >&2; exit 3").run();
    let seen = launched.observation;
    assert_eq!(seen.output, "out\n");
    assert_eq!(seen.error_output, "err\n");
    assert_eq!(seen.ending, Ending::Exited(3));
    assert!(!seen.started && !seen.proves_start);
    assert_eq!(seen.command_line[0], "/bin/bash");
    assert!(seen.milliseconds > 0.0);
    assert!(launched.leftovers.is_empty());
}

fn with_streams(command: &str, streams: Streams) -> Launch {
    Launch {
        streams,
        ..shell(command)
    }
}

fn a_stream_can_be_closed() {
    let streams = Streams {
        input: Some(Stream::Closed),
        errors: Some(Stream::Closed),
        ..Streams::default()
    };
    let command = "for n in 0 1 2; do { true >&$n; } && echo open $n; done";
    let seen = with_streams(command, streams).run().observation;
    assert_eq!(seen.output, "open 1\n");
}

fn a_stream_can_have_nobody_at_its_other_end() {
    let streams = Streams {
        input: Some(Stream::Gone),
        output: Some(Stream::Gone),
        errors: None,
    };
    let command = "trap '' PIPE; cat >&2; echo lost || echo nobody >&2";
    let seen = with_streams(command, streams).run().observation;
    assert!(seen.error_output.ends_with("nobody\n"), "{seen:?}");
}

fn a_stream_can_be_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (input, output) = (path("input"), path("output"));
    std::fs::write(&input, "read\n").unwrap();
    std::fs::write(&output, "before\n").unwrap();
    let streams = Streams {
        input: Some(Stream::File(input)),
        output: Some(Stream::File(output.clone())),
        errors: None,
    };
    with_streams("cat", streams).run();
    assert_eq!(std::fs::read_to_string(output).unwrap(), "before\nread\n");
}

fn the_death_by_a_signal_is_told_from_an_exit() {
    let ending = |command: &str| shell(command).run().observation.ending;
    assert_eq!(ending("kill -TERM $$"), Ending::Signalled(15));
    assert_eq!(ending("exit 143"), Ending::Exited(143));
    assert_eq!(ending("kill -KILL $$"), Ending::Signalled(9));
    // A real-time signal, which many a library does not know.
    #[cfg(target_os = "linux")]
    assert_eq!(ending("kill -40 $$"), Ending::Signalled(40));
}

fn input_of_any_size_is_read() {
    let text = "0123456789abcde\n".repeat(100_000);
    let launched = shell("cksum; echo done >&2").stdin(text.clone()).run();
    let expected = shell("for i in {1..100000}; do echo 0123456789abcde; done | cksum").run();
    assert_eq!(launched.observation.output, expected.observation.output);
    assert_eq!(launched.observation.error_output, "done\n");
    assert_eq!(
        arguments(&["cat"]).stdin("short").run().observation.output,
        "short"
    );
}

fn no_input_is_an_end_at_once() {
    let launched = shell("cat; echo end").deadline(5000).run();
    assert_eq!(launched.observation.output, "end\n");
}

fn input_that_nobody_reads_holds_nothing_up() {
    let launched = shell("exec <&-; echo end").stdin(vec![b'x'; 1 << 20]).run();
    assert_eq!(launched.observation.output, "end\n");
    assert_eq!(launched.observation.ending, Ending::Exited(0));
}

#[cfg(target_os = "linux")]
fn the_streams_are_pipes() {
    let command = "for n in 0 1 2; do readlink /proc/$$/fd/$n; done";
    let output = shell(command).run().observation.output;
    assert_eq!(
        output
            .lines()
            .filter(|line| line.starts_with("pipe:"))
            .count(),
        3
    );
}

fn the_start_line_parts_the_launchers_text_from_the_commands() {
    let launched = shell("echo banner; echo nonce-1; echo out")
        .start_line("nonce-1")
        .run();
    let seen = launched.observation;
    assert!(seen.started && seen.proves_start);
    assert_eq!(seen.preamble, "banner\n");
    assert_eq!(seen.output, "out\n");
}

fn without_its_start_line_nothing_has_started() {
    let launched = shell("echo cannot run: echo nonce-1")
        .start_line("nonce-1")
        .run();
    let seen = launched.observation;
    assert!(!seen.started && seen.proves_start);
    assert_eq!(seen.preamble, "cannot run: echo nonce-1\n");
    assert_eq!(seen.output, "");
}

fn a_flood_stops_nothing_and_fills_nothing() {
    let launched = shell("echo nonce; yes 0123456789 | head -c 60000000; echo; echo last")
        .start_line("nonce")
        .run();
    let seen = launched.observation;
    assert!(seen.started);
    assert_eq!(seen.ending, Ending::Exited(0));
    assert!(seen.output.starts_with("0123456789\n"));
    assert!(seen.output.contains("bytes were not kept"));
    assert!(seen.output.ends_with("last\n"));
    assert!(seen.output.len() < 1_200_000);
}

fn a_silent_flood_of_errors_too() {
    let launched = shell("head -c 20000000 /dev/zero >&2; echo out").run();
    let seen = launched.observation;
    assert_eq!(
        (seen.output.as_str(), seen.ending),
        ("out\n", Ending::Exited(0))
    );
    assert!(seen.error_output.len() < 1_200_000);
}

#[cfg(target_os = "linux")]
fn what_keeps_the_output_open_is_a_leftover() {
    let began = Instant::now();
    let launched = shell("sleep 300 & echo $!; exit 3").grace(50).run();
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(launched.observation.ending, Ending::Exited(3));
    let pid: i32 = launched.observation.output.trim().parse().unwrap();
    assert_eq!(launched.leftovers.len(), 1);
    assert_eq!(launched.leftovers[0].pid, pid);
    assert_eq!(launched.leftovers[0].command_line, "sleep 300");
    assert!(!is_alive(pid));
}

#[cfg(target_os = "linux")]
fn the_deadline_ends_the_whole_tree() {
    let command = "sleep 300 & echo $!; setsid sleep 301 & \
        (setsid bash -c 'trap \"\" TERM HUP; (sleep 302; :) & echo $!; wait') & wait";
    let launched = shell(command).deadline(400).run();
    assert_eq!(launched.observation.ending, Ending::TimedOut);
    assert!(launched.observation.milliseconds >= 400.0);
    let output = launched.observation.output;
    assert_eq!(output.lines().count(), 2, "{output}");
    for pid in output.lines().map(|line| line.parse().unwrap()) {
        assert!(!is_alive(pid));
    }
    assert!(perimeter_runner::launch::tree::leftovers(&[], Duration::ZERO).is_empty());
}

fn the_output_before_the_deadline_is_kept() {
    let launched = shell("echo nonce; printf unended; sleep 300")
        .start_line("nonce")
        .deadline(300)
        .run();
    assert!(launched.observation.started);
    assert_eq!(launched.observation.output, "unended");
}

fn a_missing_program_is_an_error() {
    for launch in [
        arguments(&["/no/such/program"]),
        arguments(&["no-such-program"]),
    ] {
        let error = launch.try_run().unwrap_err();
        assert!(matches!(error, LaunchError::Start { .. }), "{error:?}");
        let error = launch.on_terminal().try_run().unwrap_err();
        assert!(matches!(error, LaunchError::Start { .. }), "{error:?}");
    }
    // Not executable, and found only in the process in between.
    let error = arguments(&["/etc/passwd"])
        .on_terminal()
        .try_run()
        .unwrap_err();
    assert!(error.to_string().contains("/etc/passwd"), "{error}");
    assert!(arguments(&[]).try_run().is_err());
}

fn a_missing_directory_is_another() {
    let mut launch = shell("true");
    launch.directory = "/no/such/directory".into();
    let error = launch.try_run().unwrap_err();
    assert!(
        matches!(error, LaunchError::WorkingDirectory { .. }),
        "{error:?}"
    );
    let error = launch.on_terminal().try_run().unwrap_err();
    assert!(
        matches!(error, LaunchError::WorkingDirectory { .. }),
        "{error:?}"
    );
}

fn a_program_is_searched_on_the_launchers_own_path() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("only-there");
    std::fs::copy("/bin/echo", program).unwrap();
    let mut launch = arguments(&["only-there", "found"]);
    launch.environment = vec![("PATH".into(), directory.path().into())];
    assert_eq!(launch.run().observation.output, "found\n");
    assert_eq!(launch.on_terminal().run().observation.output, "found\n");
}

fn bytes_that_are_no_text_are_kept_as_far_as_they_go() {
    let launched = shell("printf 'a\\377b\\0c'").run();
    assert_eq!(launched.observation.output, "a\u{fffd}b\0c");
}

fn five_hundred_launches_leave_nothing_open() {
    let open = || std::fs::read_dir("/dev/fd").unwrap().count();
    shell("true").run();
    let before = open();
    for _ in 0..250 {
        arguments(&["true"]).run();
    }
    for _ in 0..25 {
        arguments(&["true"]).on_terminal().run();
    }
    assert_eq!(open(), before);
}
