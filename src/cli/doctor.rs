//! `perimeter doctor`.

use std::process::ExitCode;

use perimeter::diagnosis::{Report, State, examine};
use serde_json::{Value, json};

use super::arguments::Doctor;
use super::failure::Failure;
use super::print::print;

/// Tries out what this host can do. Fails if a command cannot be confined here.
pub fn run(doctor: &Doctor) -> Result<ExitCode, Failure> {
    let report = examine(None);
    let text = if doctor.json {
        format!("{:#}\n", json(&report))
    } else {
        let closing = if report.works() {
            "commands can be confined here"
        } else {
            "commands cannot be confined here, and none will be started"
        };
        format!("{report}\n{closing}\n")
    };
    print(text.as_bytes())?;
    Ok(ExitCode::from(u8::from(!report.works())))
}

/// The report as JSON.
pub fn json(report: &Report) -> Value {
    let findings: Vec<_> = report
        .findings
        .iter()
        .map(|finding| {
            json!({
                "subject": finding.subject,
                "state": match finding.state {
                    State::Works => "works",
                    State::Limited => "limited",
                    State::Fails => "fails",
                },
                "detail": finding.detail,
                "remedy": finding.remedy,
            })
        })
        .collect();
    json!({ "works": report.works(), "findings": findings })
}
