use rstest::rstest;

use super::*;
use crate::audit::sample::outcomes;

/// Cells of one trial, tried several times; the letters are those of `sample`.
fn cells(letters: &str) -> Vec<Cell> {
    letters
        .chars()
        .filter_map(|letter| outcomes(&format!("{letter}...")).into_values().next())
        .collect()
}

#[rstest]
#[case::once("e", Verdict::Escaped, false)]
#[case::every_time("ooo", Verdict::Overblocked, false)]
#[case::never("ccc", Verdict::Conforms, false)]
#[case::now_and_then("cec", Verdict::Escaped, true)]
#[case::the_worst("toe", Verdict::Escaped, false)]
#[case::an_error_once("!e", Verdict::Escaped, false)]
#[case::nothing_but_errors("!!!", Verdict::Error, false)]
fn several_tries_of_a_fault_come_to_one(
    #[case] tries: &str,
    #[case] verdict: Verdict,
    #[case] sometimes: bool,
) {
    let (cell, doubtful) = settle(&cells(tries), Role::Fault(0), None);
    assert_eq!(cell.map(|cell| cell.verdict), Some(verdict));
    assert_eq!(doubtful, sometimes);
}

#[rstest]
#[case::same("c", "c", Verdict::Conforms)]
#[case::once_the_same("odc", "c", Verdict::Conforms)]
#[case::never_the_same("odo", "c", Verdict::Overblocked)]
fn the_control_differs_if_it_does_so_every_time(
    #[case] tries: &str,
    #[case] right: &str,
    #[case] verdict: Verdict,
) {
    let right = cells(right).pop();
    let (cell, doubtful) = settle(&cells(tries), Role::Control, right.as_ref());
    assert_eq!(cell.map(|cell| cell.verdict), Some(verdict));
    assert!(!doubtful);
}
