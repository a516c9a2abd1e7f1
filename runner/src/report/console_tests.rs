//! The report as a person sees it.

use super::*;
use crate::corpus::vocabulary::{Level, Strength};
use crate::report::results::Excuse;
use crate::report::sample;
use crate::verdict::Verdict;

fn rendered(trials: &[TrialResult], look: &Look) -> String {
    let header = sample::header();
    let summary = Summary::of(trials, &header.contract);
    render(&header, trials, &summary, 4_249, look)
}

fn plain(trials: &[TrialResult]) -> String {
    rendered(trials, &Look::plain(80))
}

fn position(report: &str, part: &str) -> usize {
    report
        .find(part)
        .unwrap_or_else(|| panic!("{part:?} is not in:\n{report}"))
}

/// Prints the report of a middling launcher, to be looked at:
/// `cargo test -p perimeter-runner --lib show_the_report -- --ignored --nocapture`
#[test]
#[ignore = "to be looked at by a person"]
fn show_the_report() {
    let mut trials = sample::trials();
    trials.push(
        sample::trial("environment.secret.token", Verdict::Deviates)
            .at(Level::Launch, Strength::Should)
            .because("the variable was emptied and not removed", &[]),
    );
    let colored = std::env::var_os("NO_COLOR").is_none();
    let width = width_of(&io::stdout());
    let look = if colored {
        Look::colored(width)
    } else {
        Look::plain(width)
    };
    println!("{}", rendered(&trials, &look));
}

#[test]
fn the_worst_comes_first_and_the_closing_line_last() {
    let report = plain(&sample::trials());
    let order = [
        "plain-bubblewrap",
        "Failed: 2",
        "escaped  files.write.symlink-out/strict",
        "leaked  processes.tree.dies/strict",
        "Failed, and not required: 1",
        "Not proven: 2",
        "vacuous  processes.ptrace.host",
        "unmeasured  work.compile.hello",
        "Not counted: 7",
        "level             conform",
        "83 of 89 required cases conform",
        "83 passed, 3 failed, 2 unproven, 7 skipped",
    ];
    let positions: Vec<_> = order.iter().map(|part| position(&report, part)).collect();
    assert!(positions.is_sorted(), "{positions:?}\n{report}");
}

#[test]
fn a_failure_says_what_was_asserted_seen_and_how_to_look_further() {
    let report = plain(&sample::trials());
    for part in [
        "    No process outlives the launcher\n",
        "    because   a process of the command outlived the launcher\n",
        "    seen      | pid 4711: sleep 300 | tee `log`\n",
        "    look      perimeter explain processes.tree.dies\n",
    ] {
        position(&report, part);
    }
}

#[test]
fn what_is_vacuous_shows_what_was_seen_and_that_the_case_may_be_wrong() {
    let vacuous =
        |id| sample::trial(id, Verdict::Vacuous).because("nothing shows", &["ended with status 7"]);
    let report = plain(&[vacuous("a.b.one"), vacuous("a.b.two")]);
    position(&report, "    seen      | ended with status 7\n");
    let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
    position(&words, "if it does it nowhere, the case itself is wrong");
}

#[test]
fn a_quiet_report_is_of_what_fails_and_the_end() {
    let trials = sample::trials();
    let header = sample::header();
    let summary = Summary::of(&trials, &header.contract);
    let asked = Asked {
        launcher: Some("./my own.json"),
        quiet: true,
    };
    let report = render_asked(&header, &trials, &summary, 1, &Look::plain(200), asked);
    assert!(report.starts_with("Failed: 2\n"), "{report}");
    position(
        &report,
        "    look      perimeter explain --launcher './my own.json' processes.tree.dies\n",
    );
    let kept: Vec<&str> = report
        .split("\n\n")
        .filter(|part| !part.starts_with("  "))
        .collect();
    let [_, unproven, end] = kept[..] else {
        panic!("{report}");
    };
    assert_eq!(unproven, "Not proven: 2");
    assert!(end.starts_with("83 of 89 required cases conform"), "{end}");
}

#[test]
fn a_case_of_another_corpus_is_looked_up_there() {
    let mut header = sample::header();
    header.corpus.directory = Some(String::from("/srv/mine"));
    let trials = sample::trials();
    let summary = Summary::of(&trials, &header.contract);
    let report = render(&header, &trials, &summary, 1_000, &Look::plain(200));
    position(
        &report,
        "    look      perimeter explain --corpus /srv/mine processes.tree.dies\n",
    );
}

#[test]
fn what_was_not_proven_says_its_remedy() {
    let report = plain(&sample::trials());
    position(&report, "    remedy    install a C compiler; or declare");
}

#[test]
fn what_a_command_wrote_cannot_act_on_the_terminal() {
    let report = plain(&sample::trials());
    position(&report, "standard error: \\x1b[2K\\rall is well");
    let acting = report
        .chars()
        .filter(|&it| it.is_control() && it != '\n')
        .count();
    assert_eq!(acting, 0, "{report}");
}

#[test]
fn every_text_of_a_trial_is_made_harmless() {
    let evil = "\u{1b}]0;owned\u{7}\r\n\u{202e}";
    let mut trials = Vec::new();
    for verdict in Verdict::ALL {
        for required in [true, false] {
            let mut trial = sample::trial("a.b.c", verdict).because(evil, &[evil]);
            trial.trial = evil.to_owned();
            trial.title = evil.to_owned();
            trial.required = required;
            trials.push(trial.clone());
            trial.excuse = Some(Excuse {
                reason: evil.to_owned(),
                issue: Some(evil.to_owned()),
                expires: Some(evil.to_owned()),
            });
            trials.push(trial);
        }
    }
    let mut header = sample::header();
    header.launcher.name = evil.to_owned();
    header.launcher.version = Some(evil.to_owned());
    header.host.kernel = evil.to_owned();
    header.contract.filters = vec![evil.to_owned()];
    header.corpus.directory = Some(evil.to_owned());
    header.corpus.digest = evil.to_owned();
    let summary =
        Summary::of(&trials, &header.contract).with_expectation_problems(vec![evil.to_owned()]);
    let report = render(&header, &trials, &summary, 1, &Look::plain(80));
    for bad in ['\u{1b}', '\u{7}', '\r', '\u{202e}'] {
        assert!(!report.contains(bad), "{bad:?} in:\n{report}");
    }
}

#[test]
fn prose_keeps_to_the_width() {
    for width in [60, 80, 100] {
        let report = rendered(&sample::trials(), &Look::plain(width));
        let table = position(&report, "level             conform");
        for line in report[..table].lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn colours_are_only_there_when_asked_for() {
    assert!(!plain(&sample::trials()).contains('\u{1b}'));
    assert!(rendered(&sample::trials(), &Look::colored(80)).contains('\u{1b}'));
}

#[test]
fn a_clean_run_is_short() {
    let trials: Vec<_> = sample::trials()
        .into_iter()
        .filter(|trial| trial.verdict == Verdict::Conforms)
        .collect();
    let report = plain(&trials);
    assert!(report.lines().count() < 20, "{report}");
    position(&report, "The highest level that holds is isolated.");
    position(&report, "exit code 0");
}

#[test]
fn a_reader_that_has_gone_is_told_apart_from_a_full_disk() {
    struct Failing(io::ErrorKind);
    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let closed = print(&mut Failing(io::ErrorKind::BrokenPipe), "x");
    assert!(matches!(closed, Err(PrintError::Closed)));
    let full = print(&mut Failing(io::ErrorKind::StorageFull), "x");
    assert!(matches!(full, Err(PrintError::Write(_))));
}
