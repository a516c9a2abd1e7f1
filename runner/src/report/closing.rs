//! The sentences that end a report: exactly what was proven, and no more.

use super::results::Contract;
use super::summary::Summary;
use super::text::{counted, duration, word};
use crate::exit::ExitCode;

/// What the run has proven, and what it has not.
pub(crate) fn proven(summary: &Summary, contract: &Contract) -> String {
    match summary.exit_code() {
        ExitCode::Harness => {
            let trials = counted(summary.all.errors, "trial");
            return format!(
                "The harness itself failed in {trials}, so nothing of this run can be trusted."
            );
        }
        ExitCode::Nothing => return String::from("No case was selected, so nothing was proven."),
        _ => {}
    }
    let mut sentences = vec![required(summary, contract)];
    if summary.interrupted {
        sentences.push(String::from(
            "The run was interrupted, and says nothing of the cases that were left.",
        ));
    }
    sentences.push(level(summary));
    sentences.join(" ")
}

/// What became of the required cases.
fn required(summary: &Summary, contract: &Contract) -> String {
    let required = &summary.required;
    let total = required.counted();
    if required.total() == 0 && contract.levels.is_empty() {
        return String::from(
            "The launcher claims no level and the run asked for none, so no case was required \
             and nothing was proven.",
        );
    }
    if required.total() == 0 {
        return String::from("No selected case is required, so nothing was proven.");
    }
    if total == 0 {
        return String::from("No required case could be measured, so nothing was proven.");
    }
    let cases = if total == 1 { "case" } else { "cases" };
    let verb = if required.conform == 1 {
        "conforms"
    } else {
        "conform"
    };
    let mut sentence = format!("{} of {total} required {cases} {verb}", required.conform);
    let rest = [
        (required.failed, "failed"),
        (required.unproven, "not proven"),
        (required.excused, "failed as expected"),
        (required.declared, "not measured, as declared"),
    ];
    for (number, what) in rest {
        if number > 0 {
            sentence += &format!(", {number} {what}");
        }
    }
    sentence + &denials(summary) + "."
}

/// Whether the denials that conform mean something.
fn denials(summary: &Summary) -> String {
    let (all, shown) = (summary.denials, summary.shown_denials);
    if all == 0 {
        String::new()
    } else if shown < all {
        let unshown = counted(all - shown, "denial");
        format!("; nothing shows that {unshown} among them would be possible without the sandbox")
    } else if summary.required.conform == summary.required.counted() {
        String::from("; every denial was shown to be possible without the sandbox")
    } else if all == 1 {
        String::from("; the one denial among them was shown to be possible without the sandbox")
    } else {
        format!(
            "; each of the {all} denials among them was shown to be possible without the sandbox"
        )
    }
}

/// Which level holds.
fn level(summary: &Summary) -> String {
    match summary.highest_level() {
        Some(level) => format!("The highest level that holds is {}.", word(&level)),
        None if summary.narrowed => {
            String::from("Levels are not judged, since the run is of some cases only.")
        }
        None if summary.interrupted => String::from("Levels are not judged."),
        None => String::from("No level holds."),
    }
}

/// The last line: plain counts. Only what conforms has passed.
pub(crate) fn counts(summary: &Summary, milliseconds: u64) -> String {
    let all = &summary.all;
    let mut line = format!("{} passed, {} failed", all.conform, all.failed);
    let rest = [
        (all.errors, "harness errors"),
        (all.unproven, "unproven"),
        (all.excused, "expected to fail"),
        (all.uncounted + all.declared, "skipped"),
    ];
    for (number, what) in rest {
        if number > 0 {
            line += &format!(", {number} {what}");
        }
    }
    line += &format!(", in {}; ", duration(milliseconds));
    if let Some(status) = summary.signal_status {
        return format!("{line}exit code {status}: interrupted");
    }
    let code = summary.exit_code().code();
    format!("{line}exit code {code}: {}", summary.meaning())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use crate::verdict::Verdict;

    fn said(trials: &[crate::report::results::TrialResult]) -> String {
        let contract = sample::contract();
        proven(&Summary::of(trials, &contract), &contract)
    }

    #[test]
    fn it_says_that_all_conform_and_that_every_denial_was_possible() {
        let trials = [
            sample::trial("a.b.one", Verdict::Conforms),
            sample::trial("a.b.two", Verdict::Conforms),
        ];
        assert_eq!(
            said(&trials),
            "2 of 2 required cases conform; every denial was shown to be possible without the \
             sandbox. The highest level that holds is launch.",
        );
    }

    #[test]
    fn it_says_when_a_baseline_is_missing() {
        let mut trial = sample::trial("a.b.one", Verdict::Conforms);
        trial.baseline = None;
        assert!(said(&[trial]).contains("nothing shows that 1 denial among them"));
    }

    #[test]
    fn it_counts_what_failed_and_what_was_not_proven() {
        let said = said(&sample::trials());
        assert!(
            said.starts_with(
                "83 of 89 required cases conform, 2 failed, 2 not proven, 2 not measured, as \
                 declared; each of the 83 denials among them was shown"
            ),
            "{said}"
        );
    }

    #[test]
    fn it_claims_nothing_where_nothing_was_proven() {
        assert_eq!(said(&[]), "No case was selected, so nothing was proven.");
        let uncounted = sample::trial("a.b.one", Verdict::Unsupported);
        assert!(said(&[uncounted]).starts_with("No required case could be measured"));
        let broken = sample::trial("a.b.one", Verdict::Error);
        assert!(said(&[broken]).contains("nothing of this run can be trusted"));
        let trial = sample::trial("a.b.one", Verdict::Conforms);
        let mut optional = trial;
        optional.required = false;
        let contract = Contract::default();
        let said = proven(&Summary::of(&[optional], &contract), &contract);
        assert!(said.starts_with("The launcher claims no level"), "{said}");
    }

    #[test]
    fn a_run_that_a_signal_ends_says_so() {
        let summary = Summary::of(&sample::trials(), &sample::contract());
        let line = counts(&summary.interrupted().ending_with(130), 1);
        assert!(line.ends_with("; exit code 130: interrupted"), "{line}");
    }

    #[test]
    fn only_what_conforms_has_passed() {
        let contract = sample::contract();
        let summary = Summary::of(&sample::trials(), &contract);
        assert_eq!(
            counts(&summary, 4_249),
            "83 passed, 3 failed, 2 unproven, 7 skipped, in 4.2 s; exit code 1: a required case \
             failed",
        );
    }
}
