//! The text of the committed matrix: a line a pair, in the order of the names, so that a
//! change of one case or fault is a change of its lines alone.

use std::fmt::Write;

use serde::Serialize;

use crate::corpus::matrix::{AuditRecord, FaultRecord, MatrixFile};

/// The file's text.
pub fn text(matrix: &MatrixFile) -> String {
    let mut text =
        String::from("{\n  \"$schema\": \"../schema/matrix.schema.json\",\n  \"runs\": {");
    entries(&mut text, 2, matrix.runs.iter(), |text, user, record| {
        let _ = writeln!(text, "{}: {{", json(user));
        run(text, record);
        text.push_str("    }");
    });
    text.push_str("}\n}\n");
    text
}

fn run(text: &mut String, record: &AuditRecord) {
    let _ = writeln!(text, "      \"version\": {},", json(&record.version));
    if record.quick {
        text.push_str("      \"quick\": true,\n");
    }
    text.push_str("      \"cases\": {");
    entries(text, 4, record.cases.iter(), |text, id, digest| {
        let _ = write!(text, "{}: {}", json(id), json(digest));
    });
    text.push_str("},\n");
    if !record.not_judged.is_empty() {
        text.push_str("      \"not_judged\": {");
        entries(text, 4, record.not_judged.iter(), |text, id, verdict| {
            let _ = write!(text, "{}: {}", json(id), json(verdict));
        });
        text.push_str("},\n");
    }
    text.push_str("      \"faults\": {");
    entries(text, 4, record.faults.iter(), |text, name, record| {
        let _ = write!(text, "{}: ", json(name));
        fault(text, record);
    });
    text.push_str("}\n");
}

fn fault(text: &mut String, record: &FaultRecord) {
    if record.caught_by.is_empty() {
        text.push_str(&json(record));
        return;
    }
    let _ = write!(
        text,
        "{{\n          \"digest\": {},\n          \"caught_by\": {{",
        json(&record.digest)
    );
    entries(text, 6, record.caught_by.iter(), |text, id, catch| {
        let _ = write!(text, "{}: {}", json(id), json(catch));
    });
    text.push_str("}\n        }");
}

/// Entries of an object, a line each; the brace that opens it is there already, and
/// the caller writes the one that closes it.
fn entries<K, V>(
    text: &mut String,
    depth: usize,
    of: impl Iterator<Item = (K, V)>,
    mut one: impl FnMut(&mut String, K, V),
) {
    let mut separator = "\n";
    for (name, value) in of {
        let _ = write!(text, "{separator}{:width$}", "", width = 2 * depth);
        one(text, name, value);
        separator = ",\n";
    }
    if separator != "\n" {
        let _ = write!(text, "\n{:width$}", "", width = 2 * (depth - 1));
    }
}

/// A value on one line.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::audit::sample;

    #[test]
    fn it_is_read_back_as_it_was_and_has_a_line_a_pair() {
        let matrix = sample::matrix();
        let text = text(&matrix);
        let mut read: MatrixFile = serde_json::from_str(&text).unwrap();
        assert_eq!(read.schema.take().unwrap(), "../schema/matrix.schema.json");
        assert_eq!(read, matrix);
        let pairs = text.lines().filter(|line| line.contains("verdict")).count();
        let catches: usize = matrix
            .runs
            .values()
            .flat_map(|run| run.faults.values())
            .map(|fault| fault.caught_by.len())
            .sum();
        assert_eq!(pairs, catches);
        assert!(!text.lines().any(|line| line.ends_with(' ')), "{text}");
    }

    #[test]
    fn an_empty_one_is_read_back_too() {
        let text = text(&MatrixFile::default());
        assert!(
            serde_json::from_str::<MatrixFile>(&text)
                .unwrap()
                .runs
                .is_empty()
        );
    }
}
