//! What an audit says: which fault is caught by how much, and what is wrong.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::findings::{Finding, Kind, exit_code};
use super::proof::failing;
use crate::corpus::matrix::{AuditRecord, AuditUser, Catch, Extreme, FaultRecord, MatrixFile};
use crate::report::console::Look;
use crate::report::{counted, harmless};
use crate::verdict::Verdict;

/// What is reported.
#[derive(Debug)]
pub struct Report<'a> {
    /// Who ran it.
    pub user: AuditUser,
    /// The launcher that is right.
    pub launcher: &'a str,
    /// How many trials were selected.
    pub trials: usize,
    /// What was seen.
    pub record: &'a AuditRecord,
    /// What is wrong, worst first.
    pub findings: &'a [Finding],
    /// What the faults do, by name.
    pub titles: &'a BTreeMap<String, String>,
    /// How many runs there were.
    pub ran: usize,
    /// How many were known from before.
    pub kept: usize,
    /// How many pairs were tried again.
    pub again: usize,
    /// How long it took.
    pub milliseconds: u64,
    /// What the selection leaves out, and so is not judged.
    pub narrowed: &'a [&'a str],
}

/// How many faults each case catches.
fn sharpness(record: &AuditRecord) -> BTreeMap<&str, usize> {
    let mut caught = BTreeMap::new();
    for id in record
        .faults
        .values()
        .flat_map(|fault| fault.caught_by.keys())
    {
        *caught.entry(id.as_str()).or_default() += 1;
    }
    caught
}

/// The case that catches a fault and the fewest others, with their number.
fn sharpest<'a>(
    fault: &'a FaultRecord,
    caught: &BTreeMap<&str, usize>,
) -> Option<(&'a str, usize)> {
    let certain = fault.caught_by.iter().filter(|(_, catch)| !catch.sometimes);
    certain
        .map(|(id, _)| {
            (
                id.as_str(),
                caught.get(id.as_str()).copied().unwrap_or(1) - 1,
            )
        })
        .min_by_key(|(id, others)| (*others, *id))
}

/// What a row of the table says of how a fault was caught.
fn standing(fault: &FaultRecord) -> String {
    match (&fault.not_run, fault.extreme) {
        (Some(why), _) => format!("not run: {why}"),
        (None, Some(Extreme::RunsNothing)) => "all permissions".to_owned(),
        (None, Some(Extreme::ConfinesNothing)) => "all denials".to_owned(),
        (None, None) => {
            let certain = failing(fault);
            match fault.caught_by.len() - certain {
                0 => counted(certain, "case"),
                doubtful => format!("{} (+{doubtful} now and then)", counted(certain, "case")),
            }
        }
    }
}

/// The report of a terminal.
pub fn render(report: &Report<'_>, look: &Look) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}\n", head(report));
    let caught = sharpness(report.record);
    let width = report
        .record
        .faults
        .keys()
        .map(String::len)
        .max()
        .unwrap_or(0)
        .max("fault".len());
    let dim = look.dim;
    let _ = writeln!(
        text,
        "{dim}{:width$}  {:<22}  sharpest case, and how many others it catches{}",
        "fault",
        "caught by",
        dim.render_reset()
    );
    for (name, fault) in &report.record.faults {
        let standing = standing(fault);
        let style = match (
            failing(fault),
            fault.extreme.is_some() || fault.not_run.is_some(),
        ) {
            (_, true) => look.dim,
            (0, false) => look.bad,
            _ => look.good,
        };
        let sharp = sharpest(fault, &caught)
            .map(|(id, others)| format!("  {id} (+{others})"))
            .unwrap_or_default();
        let line = format!(
            "{name:width$}  {style}{standing:<22}{}{sharp}",
            style.render_reset()
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let mut kind = None;
    for finding in report.findings {
        if kind.replace(finding.kind) != Some(finding.kind) {
            let count = of_kind(report.findings, finding.kind);
            let bad = look.bad;
            let meaning = finding.kind.meaning();
            let _ = writeln!(text, "\n{bad}{meaning}{}: {count}", bad.render_reset());
        }
        let detail = harmless(&finding.detail);
        let _ = writeln!(text, "  {}  {detail}", finding.about);
    }
    let _ = write!(text, "\n{}", closing(report));
    text
}

/// The same in Markdown.
pub fn markdown(report: &Report<'_>) -> String {
    let mut text = format!(
        "## Audit as {}\n\n{}\n\n",
        report.user.as_str(),
        head(report)
    );
    if !report.findings.is_empty() {
        text.push_str("| finding | about | seen |\n| --- | --- | --- |\n");
        for finding in report.findings {
            let detail = cell(&finding.detail);
            let meaning = finding.kind.meaning();
            let _ = writeln!(text, "| {meaning} | `{}` | {detail} |", finding.about);
        }
        text.push('\n');
    }
    text.push_str(
        "| fault | what is wrong | caught by | sharpest case |\n| --- | --- | --- | --- |\n",
    );
    let caught = sharpness(report.record);
    for (name, fault) in &report.record.faults {
        let title = report.titles.get(name).map_or("", String::as_str);
        let sharp = sharpest(fault, &caught)
            .map(|(id, others)| format!("`{id}` (+{others})"))
            .unwrap_or_default();
        let (title, standing) = (cell(title), cell(&standing(fault)));
        let _ = writeln!(text, "| `{name}` | {title} | {standing} | {sharp} |");
    }
    let _ = write!(text, "\n{}", closing(report));
    text
}

/// A text that breaks no table.
fn cell(text: &str) -> String {
    harmless(text).replace('|', "\\|").replace('<', "&lt;")
}

fn head(report: &Report<'_>) -> String {
    format!(
        "audited {} with {} of {}, as {}, against {}",
        counted(report.record.faults.len(), "fault"),
        counted(report.trials, "trial"),
        counted(report.record.cases.len(), "case"),
        report.user.as_str(),
        report.launcher,
    )
}

fn of_kind(findings: &[Finding], kind: Kind) -> usize {
    let same = findings.iter().filter(|finding| finding.kind == kind);
    same.count()
}

fn closing(report: &Report<'_>) -> String {
    let mut text = String::new();
    let record = report.record;
    let mut why: BTreeMap<Verdict, usize> = BTreeMap::new();
    for verdict in record.not_judged.values() {
        *why.entry(*verdict).or_default() += 1;
    }
    let catching = sharpness(record).len();
    let run = record
        .faults
        .values()
        .filter(|fault| fault.not_run.is_none());
    let run: Vec<_> = run.collect();
    let caught = run
        .iter()
        .filter(|fault| fault.extreme.is_some() || failing(fault) > 0);
    let _ = writeln!(
        text,
        "{} of {} caught; {} of {} catch a fault",
        caught.count(),
        counted(run.len(), "fault"),
        catching,
        counted(record.cases.len() - record.not_judged.len(), "case"),
    );
    if !why.is_empty() {
        let words: Vec<String> = why
            .iter()
            .map(|(verdict, count)| format!("{count} {verdict}"))
            .collect();
        let _ = writeln!(
            text,
            "not judged, for no trial conforms under {}: {}",
            report.launcher,
            words.join(", ")
        );
    }
    for narrowed in report.narrowed {
        let _ = writeln!(text, "not judged: {narrowed}");
    }
    #[allow(clippy::cast_precision_loss, reason = "a time for people")]
    let seconds = report.milliseconds as f64 / 1000.0;
    let code = exit_code(report.findings);
    let _ = writeln!(
        text,
        "{} run, {} kept from before, {} tried again; {seconds:.1} s\n{}, exit code {}",
        report.ran,
        report.kept,
        report.again,
        match report.findings.len() {
            0 => "nothing is wrong".to_owned(),
            count => counted(count, "finding"),
        },
        code.code(),
    );
    text
}

/// Every pair, a fault a paragraph.
pub fn pairs(record: &AuditRecord) -> String {
    let mut text = String::new();
    for (name, fault) in &record.faults {
        let _ = writeln!(text, "{name}: {}", standing(fault));
        let width = fault.caught_by.keys().map(String::len).max().unwrap_or(0);
        for (id, catch) in &fault.caught_by {
            let _ = writeln!(text, "  {id:width$}  {}", manner(catch));
        }
    }
    text
}

/// How a case catches a fault.
fn manner(catch: &Catch) -> String {
    let mut text = catch.verdict.to_string();
    for (axis, values) in &catch.at {
        let _ = write!(text, "  {axis}={}", values.join(","));
    }
    if let Some(trials) = catch.trials {
        let _ = write!(text, "  in {}", counted(trials, "trial"));
    }
    if catch.sometimes {
        text.push_str("  now and then");
    }
    text
}

/// The faults that a case catches, of the committed matrix; none if it does not have
/// the case.
pub fn faults_of_case(matrix: &MatrixFile, id: &str) -> Option<String> {
    let mut text = String::new();
    for (user, record) in &matrix.runs {
        if !record.cases.contains_key(id) {
            continue;
        }
        let _ = writeln!(text, "as {}:", user.as_str());
        if let Some(verdict) = record.not_judged.get(id) {
            let _ = writeln!(text, "  not judged: {verdict}");
            continue;
        }
        let caught = record
            .faults
            .iter()
            .filter_map(|(name, fault)| Some((name, fault.caught_by.get(id)?)));
        let caught: Vec<_> = caught.collect();
        let width = caught.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        if caught.is_empty() {
            text.push_str("  no fault\n");
        }
        for (name, catch) in caught {
            let _ = writeln!(text, "  {name:width$}  {}", manner(catch));
        }
    }
    (!text.is_empty()).then_some(text)
}
