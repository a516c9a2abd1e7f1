//! The comparison as JSON: what the page shows, for programs.

use serde_json::{Value, json};

use super::{Comparison, Row};

/// The whole comparison.
pub fn render(comparison: &Comparison) -> Value {
    json!({
        "format": 1,
        "columns": comparison.columns.iter().map(|column| {
            let header = &column.header;
            json!({
                "name": column.name,
                "launcher": header.launcher,
                "host": header.host,
                "started": header.started,
                "suite": header.suite,
                "corpora": column.corpora,
                "complete": column.complete,
                "highest": column.highest(),
                "levels": column.levels().into_iter().map(|(level, cell)| json!({
                    "level": level,
                    "claimed": cell.claimed,
                    "conform": cell.conform,
                    "counted": cell.counted,
                    "hold": cell.hold.to_string(),
                })).collect::<Vec<_>>(),
            })
        }).collect::<Vec<_>>(),
        "cases": comparison.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn row(row: &Row) -> Value {
    json!({
        "id": row.id,
        "title": row.title,
        "why": row.why,
        "command": row.command,
        "references": row.references,
        "topic": row.topic,
        "level": row.level,
        "strength": row.strength,
        "platforms": row.platforms,
        "differs": row.differs,
        "cells": row.cells.iter().map(|cell| cell.as_ref().map(|cell| json!({
            "verdict": cell.verdict,
            "verdicts": cell.verdicts,
            "digest": cell.digest,
            "told": cell.told.iter().map(|told| json!({
                "trial": told.trial,
                "verdict": told.verdict,
                "reason": told.reason,
                "evidence": told.evidence,
            })).collect::<Vec<_>>(),
        }))).collect::<Vec<_>>(),
    })
}
