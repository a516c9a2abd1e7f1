//! What the data says of tests outside the corpus is so.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;

#[test]
fn the_tests_that_show_a_requirement_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("conformance/requirements.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let mut seen = 0;
    for requirement in file["requirements"].as_array().unwrap() {
        let tests = requirement["elsewhere"]["tests"].as_array();
        for test in tests.into_iter().flatten() {
            let (path, function) = test.as_str().unwrap().split_once("::").unwrap();
            let source = fs::read_to_string(root.join(path)).unwrap();
            let found = source.contains(&format!("fn {function}("));
            assert!(found, "{}: {test} is no test", requirement["id"]);
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen} tests are named");
}
