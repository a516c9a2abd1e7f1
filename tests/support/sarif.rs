//! The standard's schema of SARIF reports.

use serde_json::Value;

/// The standard's own schema, as published.
pub fn published() -> jsonschema::Validator {
    let mut schema: Value =
        serde_json::from_str(include_str!("../sarif/sarif-schema-2.1.0.json")).unwrap();
    // The published pattern has a bracket too many, which a strict reader of regular
    // expressions refuses. The property is none that a report of ours has.
    for of in ["run", "toolComponent"] {
        let pattern = &mut schema["definitions"][of]["properties"]["language"]["pattern"];
        assert_eq!(*pattern, "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$");
        *pattern = "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$".into();
    }
    jsonschema::validator_for(&schema).unwrap()
}

/// Fails with what is wrong with a report.
pub fn assert_valid(report: &Value) {
    let errors: Vec<String> = published()
        .iter_errors(report)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{report:#}");
}
