//! The table of levels.

use anstyle::Style;

use super::super::results::Contract;
use super::super::summary::{Hold, LevelSummary, Summary};
use super::super::text::word;
use super::Page;

/// One column of numbers: its heading, the number of a row, and its colour
/// where the number is not zero.
struct Column {
    heading: &'static str,
    number: fn(&LevelSummary) -> usize,
    style: Style,
}

/// Levels × what came of their trials. Columns that hold nothing but what most
/// runs have not (expected failures, harness errors) are left out when empty.
pub(super) fn levels(page: &mut Page<'_>, summary: &Summary, contract: &Contract) {
    let rows: Vec<_> = summary
        .levels
        .iter()
        .filter(|row| row.all.total() > 0)
        .collect();
    if rows.is_empty() {
        return;
    }
    let look = page.look;
    let column = |heading, number, style| Column {
        heading,
        number,
        style,
    };
    let mut columns = vec![
        column("conform", |row| row.all.conform, Style::new()),
        column("failed", |row| row.all.failed, look.bad),
    ];
    if summary.all.excused > 0 {
        columns.push(column("expected", |row| row.all.excused, look.doubtful));
    }
    if summary.all.errors > 0 {
        columns.push(column("errors", |row| row.all.errors, look.bad));
    }
    columns.push(column("unproven", |row| row.all.unproven, look.doubtful));
    let skipped: fn(&LevelSummary) -> usize = |row| row.all.uncounted + row.all.declared;
    columns.push(column("not counted", skipped, Style::new()));

    page.line("");
    let mut heading = format!("{:<16}", "level");
    for column in &columns {
        heading += &format!("  {}", column.heading);
    }
    heading += "  required  holds";
    page.line(&format!("{}{heading}{}", look.dim, look.dim.render_reset()));
    for row in rows {
        let mut line = format!("{:<16}", word(&row.level));
        for column in &columns {
            let number = (column.number)(row);
            let width = column.heading.len();
            let style = if number == 0 { look.dim } else { column.style };
            line += &format!("  {style}{number:>width$}{}", style.render_reset());
        }
        let required = if row.required.total() == 0 {
            String::from("-")
        } else {
            format!("{}/{}", row.required.conform, row.required.counted())
        };
        let claimed = contract.levels.iter().any(|level| *level >= row.level);
        let style = match row.hold {
            Hold::Holds => look.good,
            Hold::Fails if claimed => look.bad,
            Hold::Unproven | Hold::Below => look.doubtful,
            Hold::Fails | Hold::Unmeasured | Hold::Unjudged => look.dim,
        };
        let holds = row.hold;
        line += &format!("  {required:>8}  {style}{holds}{}", style.render_reset());
        page.line(&line);
    }
}
