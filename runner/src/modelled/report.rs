//! A modelled run, for people.

use std::fmt::Write;

use crate::corpus::vocabulary::Level;
use crate::report::results::Line;
use crate::report::text::{counted, harmless, word};

use super::records::{Decision, ModelledEnd, ModelledResult, ModelledRun};

/// The report for a terminal; `quiet` leaves out all but failures and the end.
pub fn text(run: &ModelledRun, results: &[ModelledResult], quiet: bool) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "perimeter {} modelled {} on {}: nothing was run\n  corpus    {}, {} of {} trials\n",
        run.suite.version,
        harmless(&run.launcher.name),
        word(&run.platform),
        run.corpus.digest,
        run.selected,
        run.corpus.trials,
    );
    for decision in [Decision::Escapes, Decision::Overblocks] {
        let found = of(results, decision);
        for result in found {
            let _ = writeln!(
                out,
                "  {} (modelled)  {}\n    {}\n    because   {}",
                word(&decision),
                harmless(&result.trial),
                harmless(&result.title),
                harmless(&result.reason),
            );
            for line in &result.evidence {
                let _ = writeln!(out, "    check     {}", harmless(line));
            }
            let _ = writeln!(out, "    look      perimeter explain {}\n", result.id);
        }
    }
    if !quiet {
        reasons(&mut out, results);
        table(&mut out, results);
    }
    let _ = writeln!(out, "{}", closing(results));
    out
}

fn of(results: &[ModelledResult], decision: Decision) -> impl Iterator<Item = &ModelledResult> {
    let results = results.iter();
    results.filter(move |result| result.modelled == decision)
}

/// Why the model does not say more, each reason once.
fn reasons(out: &mut String, results: &[ModelledResult]) {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for result in of(results, Decision::Undecided) {
        match counts
            .iter_mut()
            .find(|(reason, _)| *reason == result.reason)
        {
            Some((_, count)) => *count += 1,
            None => counts.push((&result.reason, 1)),
        }
    }
    if counts.is_empty() {
        return;
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let _ = writeln!(out, "Undecided:");
    for (reason, count) in counts {
        let _ = writeln!(out, "  {count:>5}  {}", harmless(reason));
    }
    let _ = writeln!(out);
}

fn table(out: &mut String, results: &[ModelledResult]) {
    let _ = writeln!(
        out,
        "{:<16}{:>12}{:>12}{:>12}{:>12}{:>13}   modelled, not run",
        "level", "escapes", "overblocks", "conforms", "undecided", "unsupported"
    );
    for level in Level::ALL {
        let count = |decision| {
            of(results, decision)
                .filter(|result| result.level == level)
                .count()
        };
        let counts = Decision::ALL.map(count);
        if counts.iter().sum::<usize>() > 0 {
            let [escapes, overblocks, conforms, undecided, unsupported] = counts;
            let _ = writeln!(
                out,
                "{:<16}{escapes:>12}{overblocks:>12}{conforms:>12}{undecided:>12}{unsupported:>13}",
                word(&level)
            );
        }
    }
    let _ = writeln!(out);
}

fn closing(results: &[ModelledResult]) -> String {
    let end = ModelledEnd::of(results);
    let failing = results
        .iter()
        .filter(|result| result.required && result.modelled.fails())
        .count();
    let conforming = of(results, Decision::Conforms).count();
    format!(
        "Modelled, not run: of {}, {failing} required would fail, and {conforming} would conform as the model reads the\n\
         profile. None of them is a pass: what a Mac does, a Mac has to show. Exit code {}.",
        counted(results.len(), "trial"),
        end.exit_code.code(),
    )
}

/// The lines of a results file.
///
/// # Errors
/// A record that cannot be written as JSON.
pub fn lines(run: &ModelledRun, results: &[ModelledResult]) -> Result<String, serde_json::Error> {
    let first = std::iter::once(Line::ModelledRun(run.clone()));
    let each = results.iter().cloned().map(Line::Modelled);
    let last = std::iter::once(Line::ModelledEnd(ModelledEnd::of(results)));
    let mut out = String::new();
    for line in first.chain(each).chain(last) {
        out.push_str(&serde_json::to_string(&line)?);
        out.push('\n');
    }
    Ok(out)
}

/// The report in Markdown, for the summary of a pipeline.
pub fn markdown(run: &ModelledRun, results: &[ModelledResult]) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "### `{}` on {}: modelled, not run\n\n| level | escapes | overblocks | conforms | undecided | unsupported |\n| --- | ---: | ---: | ---: | ---: | ---: |",
        harmless(&run.launcher.name),
        word(&run.platform),
    );
    for level in Level::ALL {
        let counts = Decision::ALL.map(|decision| {
            of(results, decision)
                .filter(|result| result.level == level)
                .count()
        });
        if counts.iter().sum::<usize>() > 0 {
            let counts = counts.map(|count| count.to_string()).join(" | ");
            let _ = writeln!(out, "| {} | {counts} |", word(&level));
        }
    }
    let _ = writeln!(out, "\n{}\n", closing(results).replace('\n', " "));
    for result in results.iter().filter(|result| result.modelled.fails()) {
        let _ = writeln!(
            out,
            "- **{}** (modelled) `{}`: {}",
            word(&result.modelled),
            harmless(&result.trial),
            harmless(&result.reason),
        );
    }
    out
}
