//! The comparison as Markdown: levels, topics, and the cases that differ.

use std::fmt::Write as _;

use super::{Column, Comparison, Row};
use crate::report::summary::Hold;
use crate::report::{harmless, word};
use crate::verdict::Verdict;

/// The whole comparison.
pub fn render(comparison: &Comparison) -> String {
    let mut page = String::from("# Launchers compared\n\n");
    levels(&mut page, comparison);
    topics(&mut page, comparison);
    cases(&mut page, comparison);
    columns(&mut page, comparison);
    page
}

/// Only the table of levels, for a page that says more elsewhere.
pub fn levels(page: &mut String, comparison: &Comparison) {
    let levels: Vec<_> = comparison
        .columns
        .first()
        .map(|column| {
            column
                .levels()
                .into_iter()
                .map(|(level, _)| level)
                .collect()
        })
        .unwrap_or_default();
    let names: Vec<String> = levels.iter().map(word).collect();
    head(page, "launcher", &names);
    for column in &comparison.columns {
        let _ = write!(page, "| {} ", escaped(&column.name));
        for (_, cell) in column.levels() {
            let mark = match cell.hold {
                Hold::Holds | Hold::Below => "✓",
                Hold::Fails => "✗",
                _ => "–",
            };
            let claim = if cell.claimed { "" } else { " (no claim)" };
            let _ = write!(page, "| {mark} {}/{}{claim} ", cell.conform, cell.counted);
        }
        page.push_str("|\n");
    }
    page.push_str(
        "\n✓ every MUST trial of the level conforms, ✗ one does not, – not proven or not measured; \
         conforming trials / trials that count.\n\n",
    );
}

fn topics(page: &mut String, comparison: &Comparison) {
    page.push_str("## Topics\n\nCases that conform / cases that count.\n\n");
    head(page, "topic", &names(&comparison.columns));
    for topic in comparison.topics() {
        let _ = write!(page, "| {} ", escaped(topic));
        for column in 0..comparison.columns.len() {
            let (conform, all) = comparison.counts(column, |row| row.topic == topic);
            let _ = match all {
                0 => write!(page, "| – "),
                _ => write!(page, "| {conform}/{all} "),
            };
        }
        page.push_str("|\n");
    }
    page.push('\n');
}

/// The cases that some column fails; the others are counted.
fn cases(page: &mut String, comparison: &Comparison) {
    let told: Vec<&Row> = comparison
        .rows
        .iter()
        .filter(|row| {
            let mut cells = row.cells.iter().flatten();
            row.differs
                || cells.any(|cell| cell.verdict != Verdict::Conforms && counts(cell.verdict))
        })
        .collect();
    let rest = comparison.rows.len() - told.len();
    let rest = match rest {
        1 => "1 case that conforms wherever it counts is left out".to_owned(),
        _ => format!("{rest} cases that conform wherever they count are left out"),
    };
    let _ = writeln!(
        page,
        "## Cases\n\n{rest}. † marks a case whose text differs between runs.\n"
    );
    head(page, "case", &names(&comparison.columns));
    for row in told {
        let mark = if row.differs { " †" } else { "" };
        let _ = write!(page, "| `{}`{mark} ", row.id);
        for cell in &row.cells {
            let shown = cell
                .as_ref()
                .map_or("not run", |cell| cell.verdict.as_str());
            let _ = write!(page, "| {shown} ");
        }
        page.push_str("|\n");
    }
    page.push('\n');
}

fn counts(verdict: Verdict) -> bool {
    !matches!(verdict, Verdict::Unsupported | Verdict::NotApplicable)
}

/// What each column is.
fn columns(page: &mut String, comparison: &Comparison) {
    page.push_str("## Runs\n\n");
    head(
        page,
        "column",
        &["version", "host", "user", "started", "corpus"].map(str::to_owned),
    );
    for column in &comparison.columns {
        let header = &column.header;
        let host = &header.host;
        let _ = writeln!(
            page,
            "| {} | {} | {} {} {} | uid {} | {} | {}{} |",
            escaped(&column.name),
            escaped(header.launcher.version.as_deref().unwrap_or("unknown")),
            host.os,
            escaped(&host.kernel),
            host.architecture,
            host.uid,
            header.started,
            column.corpora.join(", "),
            if column.complete { "" } else { " (in part)" },
        );
    }
}

fn head(page: &mut String, first: &str, others: &[String]) {
    let _ = write!(page, "| {first} ");
    for other in others {
        let _ = write!(page, "| {} ", escaped(other));
    }
    page.push_str("|\n| --- ");
    for _ in others {
        page.push_str("| --- ");
    }
    page.push_str("|\n");
}

fn names(columns: &[Column]) -> Vec<String> {
    columns.iter().map(|column| column.name.clone()).collect()
}

/// Text that cannot end its cell nor be taken for markup.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in harmless(text).chars() {
        if matches!(
            character,
            '|' | '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '&'
        ) {
            shown.push('\\');
        }
        shown.push(character);
    }
    shown
}
