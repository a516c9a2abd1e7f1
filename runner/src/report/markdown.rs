//! A summary for the page of a CI job, in GitHub's Markdown.

use std::fmt::Write as _;

use super::closing;
use super::results::{Header, TrialResult};
use super::summary::{Standing, Summary};
use super::text::{harmless, shortened, word, words};
use crate::exit::ExitCode;
use crate::verdict::Verdict;

/// A job's page takes a mebibyte. A launcher that fails everywhere is told from
/// this many failures as well as from all, and the results file has them.
const SHOWN: usize = 100;
/// Of a line of evidence.
const EVIDENCE_CHARACTERS: usize = 400;
/// Of one failure.
const EVIDENCE_LINES: usize = 12;

/// The whole summary.
pub fn render(
    header: &Header,
    trials: &[TrialResult],
    summary: &Summary,
    milliseconds: u64,
) -> String {
    let mut page = String::new();
    let mark = match summary.exit_code() {
        ExitCode::Conforms => "✅",
        ExitCode::Unproven | ExitCode::Nothing => "⚠️",
        _ => "❌",
    };
    let launcher = &header.launcher;
    let _ = writeln!(
        page,
        "## {mark} {}: {}\n",
        escaped(&header.suite.name),
        escaped(&launcher.name)
    );
    let _ = writeln!(
        page,
        "**{}**\n",
        escaped(&closing::proven(summary, &header.contract))
    );
    let _ = writeln!(
        page,
        "{}\n",
        escaped(&closing::counts(summary, milliseconds))
    );
    verdicts(&mut page, summary);
    levels(&mut page, summary);
    for problem in &summary.expectation_problems {
        let _ = writeln!(page, "- expectation to mend: {}", escaped(problem));
    }
    let of = |wanted: &[Standing], required: bool| {
        let mut chosen: Vec<_> = trials
            .iter()
            .filter(|trial| trial.required == required)
            .filter(|trial| wanted.contains(&Standing::of(trial, &header.contract)))
            .collect();
        chosen.sort_by_key(|trial| (trial.verdict, trial.level));
        chosen
    };
    let failures = [Standing::Error, Standing::Failed];
    details(&mut page, "Failed", &of(&failures, true));
    details(&mut page, "Not proven", &of(&[Standing::Unproven], true));
    details(&mut page, "Failed, and not required", &of(&failures, false));
    details(
        &mut page,
        "Not proven, and not required",
        &of(&[Standing::Unproven], false),
    );
    let mut excused = of(&[Standing::Excused], true);
    excused.extend(of(&[Standing::Excused], false));
    details(&mut page, "Failed as expected", &excused);
    host(&mut page, header);
    page
}

fn verdicts(page: &mut String, summary: &Summary) {
    page.push_str("| verdict | trials | of them required |\n| --- | ---: | ---: |\n");
    for verdict in Verdict::ALL {
        let count = summary.verdicts.get(&verdict).copied().unwrap_or(0);
        let required = summary
            .required_verdicts
            .get(&verdict)
            .copied()
            .unwrap_or(0);
        if count > 0 {
            let _ = writeln!(page, "| {verdict} | {count} | {required} |");
        }
    }
    page.push('\n');
}

fn levels(page: &mut String, summary: &Summary) {
    page.push_str(
        "| level | conform | failed | unproven | not counted | required | holds |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | --- |\n",
    );
    for row in summary.levels.iter().filter(|row| row.all.total() > 0) {
        let all = &row.all;
        let required = if row.required.total() == 0 {
            String::from("–")
        } else {
            format!("{}/{}", row.required.conform, row.required.counted())
        };
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {required} | {} |",
            word(&row.level),
            all.conform,
            all.failed + all.errors + all.excused,
            all.unproven,
            all.uncounted + all.declared,
            row.hold,
        );
    }
    page.push('\n');
}

/// Trials, each folded, with what was seen.
fn details(page: &mut String, heading: &str, trials: &[&TrialResult]) {
    if trials.is_empty() {
        return;
    }
    let _ = writeln!(page, "### {heading}: {}\n", trials.len());
    for trial in trials.iter().take(SHOWN) {
        let _ = writeln!(
            page,
            "<details><summary><b>{}</b> <code>{}</code> {}</summary>\n",
            trial.verdict,
            escaped(&trial.trial),
            escaped(&trial.title),
        );
        if let Some(excuse) = &trial.excuse {
            let _ = writeln!(page, "Expected: {}\n", escaped(&excuse.text()));
        }
        let _ = writeln!(page, "{}\n", escaped(&trial.reason));
        evidence(page, trial);
        page.push_str("</details>\n\n");
    }
    if trials.len() > SHOWN {
        let _ = writeln!(
            page,
            "… and {} more in the results.\n",
            trials.len() - SHOWN
        );
    }
}

fn evidence(page: &mut String, trial: &TrialResult) {
    if trial.evidence.is_empty() {
        return;
    }
    page.push_str("<pre>");
    for line in trial.evidence.iter().take(EVIDENCE_LINES) {
        let _ = writeln!(page, "{}", escaped(&shortened(line, EVIDENCE_CHARACTERS)));
    }
    page.push_str("</pre>\n\n");
}

fn host(page: &mut String, header: &Header) {
    let (host, contract) = (&header.host, &header.contract);
    let or_none = |text: String| {
        if text.is_empty() {
            String::from("none")
        } else {
            text
        }
    };
    let version = header.launcher.version.clone().unwrap_or_default();
    let rows = [
        (
            "suite",
            format!("{} {}", header.suite.name, header.suite.version),
        ),
        ("corpus", header.corpus.digest.clone()),
        ("launcher", format!("{} {version}", header.launcher.name)),
        ("claims", or_none(words(&header.launcher.levels))),
        ("required levels", or_none(words(&contract.levels))),
        ("required facts", or_none(words(&contract.required_facts))),
        ("declared absent", or_none(words(&contract.absent_facts))),
        ("filters", or_none(contract.filters.join(", "))),
        (
            "part",
            contract
                .partition
                .clone()
                .unwrap_or_else(|| "all".to_owned()),
        ),
        (
            "host",
            format!(
                "{} {}, {}, uid {}",
                host.os, host.kernel, host.architecture, host.uid
            ),
        ),
        ("facts", or_none(words(&host.facts))),
        ("scratch directory on", host.scratch_file_system.clone()),
        ("started", header.started.clone()),
    ];
    page.push_str("<details><summary>Host and contract</summary>\n\n| | |\n| --- | --- |\n");
    for (name, value) in rows {
        let _ = writeln!(page, "| {name} | {} |", escaped(value.trim()));
    }
    page.push_str("\n</details>\n");
}

/// Text that means nothing to Markdown or HTML. Character references are read
/// in both, inside tables and inside `<summary>` alike, where a backslash is not.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in harmless(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '$' | '#' | '!' | '@' | '\'' => {
                let _ = write!(escaped, "&#{};", u32::from(character));
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::report::sample;

    fn page(trials: &[TrialResult]) -> String {
        let header = sample::header();
        render(
            &header,
            trials,
            &Summary::of(trials, &header.contract),
            4_249,
        )
    }

    #[test]
    fn it_says_what_was_proven_and_folds_each_failure() {
        let page = page(&sample::trials());
        for part in [
            "## ❌ perimeter: plain-bubblewrap",
            "**83 of 89 required cases conform, 2 failed",
            "| escaped | 2 | 1 |",
            "| launch | 41 | 0 | 1 | 0 | 41/42 | not proven |",
            "<details><summary><b>leaked</b> <code>processes.tree.dies/strict</code> No process",
            "<pre>pid 4711: sleep 300 &#124; tee &#96;log&#96;",
            "| declared absent | ipv6-loopback |",
        ] {
            assert!(page.contains(part), "{part} is not in:\n{page}");
        }
    }

    #[test]
    fn what_a_command_wrote_is_neither_markdown_nor_html() {
        let evil = "</pre></details><script>|\n\n# [x](y) `z` **b** \u{1b}[2J ![i](u)";
        let mut trial = sample::trial(evil, Verdict::Escaped)
            .because(evil, &[evil])
            .named(evil, evil);
        trial.trial = evil.to_owned();
        let mut header = sample::header();
        header.launcher.name = evil.to_owned();
        header.host.kernel = evil.to_owned();
        let trials = [trial];
        let page = render(&header, &trials, &Summary::of(&trials, &header.contract), 1);
        for bad in ["<script", "`z`", "**b**", "[x](", "![", "\u{1b}", "\n# "] {
            assert!(!page.contains(bad), "{bad:?} in:\n{page}");
        }
        assert_eq!(page.matches("</pre>").count(), 1);
        assert_eq!(page.matches("</details>").count(), 2);
        let host = page
            .lines()
            .find(|line| line.starts_with("| host |"))
            .unwrap();
        assert_eq!(host.matches('|').count(), 3, "{host}");
    }

    #[test]
    fn a_launcher_that_fails_everywhere_keeps_to_the_page() {
        let long = "x".repeat(5_000);
        let evidence = vec![long.as_str(); 50];
        let trials: Vec<_> = (0..900)
            .map(|number| {
                sample::trial(&format!("a.b.c{number}"), Verdict::Escaped)
                    .because("changed", &evidence)
            })
            .collect();
        let page = page(&trials);
        assert!(page.len() < 1_000_000, "{}", page.len());
        assert!(page.contains("and 800 more in the results"));
    }
}
