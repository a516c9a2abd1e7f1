//! The committed schemas are those of the types.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use perimeter_runner::schema::schemas;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/schema")
}

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    let bless = std::env::var_os("PERIMETER_BLESS").is_some_and(|value| value == "1");
    for schema in schemas() {
        let path = directory().join(schema.name);
        if bless {
            fs::create_dir_all(directory()).unwrap();
            fs::write(&path, schema.text()).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == schema.text(),
            "conformance/schema/{} is not the schema of its type; write it anew with \
             `PERIMETER_BLESS=1 cargo test -p perimeter-runner --test schemas`, and commit it",
            schema.name,
        );
    }
}
