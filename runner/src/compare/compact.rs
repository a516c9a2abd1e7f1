//! The comparison with each text and each cell once: many columns say the same.

use std::collections::HashMap;

use serde_json::{Value, json};

/// Values that are kept once each, and named by their place.
#[derive(Default)]
struct Table {
    values: Vec<Value>,
    places: HashMap<String, usize>,
}

impl Table {
    fn place(&mut self, value: Value) -> Value {
        let next = self.values.len();
        let place = *self.places.entry(value.to_string()).or_insert(next);
        if place == next {
            self.values.push(value);
        }
        json!(place)
    }
}

/// The comparison as the page has it: a cell is its place in `cells`, a reason and a line
/// of evidence is its place in `texts`. Where all runs have the same text of a case, its
/// digest is left out.
pub(super) fn compact(mut data: Value) -> Value {
    let mut texts = Table::default();
    let mut cells = Table::default();
    let rows = data.get_mut("cases").and_then(Value::as_array_mut);
    for row in rows.into_iter().flatten() {
        let differs = row["differs"] == true;
        let of_row = row.get_mut("cells").and_then(Value::as_array_mut);
        for cell in of_row.into_iter().flatten().filter(|cell| !cell.is_null()) {
            if let (false, Some(object)) = (differs, cell.as_object_mut()) {
                object.remove("digest");
            }
            let told = cell.get_mut("told").and_then(Value::as_array_mut);
            for told in told.into_iter().flatten() {
                told["reason"] = texts.place(told["reason"].take());
                let evidence = told.get_mut("evidence").and_then(Value::as_array_mut);
                for line in evidence.into_iter().flatten() {
                    *line = texts.place(line.take());
                }
            }
            *cell = cells.place(cell.take());
        }
    }
    data["texts"] = Value::Array(texts.values);
    data["cells"] = Value::Array(cells.values);
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_is_there_once() {
        let cell = || {
            json!({ "verdict": "escaped", "digest": "0123",
                    "told": [{ "trial": "a/b", "reason": "why", "evidence": ["why", "seen"] }] })
        };
        let row = |differs: bool| json!({ "differs": differs, "cells": [cell(), null, cell()] });
        let data = compact(json!({ "cases": [row(false), row(false), row(true)] }));
        assert_eq!(data["texts"], json!(["why", "seen"]));
        assert_eq!(data["cases"][0]["cells"], json!([0, null, 0]));
        assert_eq!(data["cases"][1]["cells"], json!([0, null, 0]));
        assert_eq!(data["cases"][2]["cells"], json!([1, null, 1]));
        let told = json!([{ "trial": "a/b", "reason": 0, "evidence": [0, 1] }]);
        assert_eq!(
            data["cells"][0],
            json!({ "verdict": "escaped", "told": told })
        );
        assert_eq!(data["cells"][1]["digest"], "0123");
    }
}
