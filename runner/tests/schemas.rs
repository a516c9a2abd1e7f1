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

#[test]
fn no_schema_is_left_of_a_type_that_is_gone() {
    let known: Vec<&str> = schemas().iter().map(|schema| schema.name).collect();
    for entry in fs::read_dir(directory()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name.as_str()), "no type has {name}");
    }
}

/// An editor finds the schema of each file by the path that the file states.
#[test]
fn every_file_of_the_corpus_names_its_schema() {
    fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("schema") {
                walk(&path, found);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                found.push(path);
            }
        }
    }
    let mut files = Vec::new();
    walk(&directory().join(".."), &mut files);
    assert!(files.len() > 40, "{} files", files.len());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let named = value.get("$schema").and_then(serde_json::Value::as_str);
        let path = file.parent().unwrap().join(named.unwrap_or_default());
        assert!(path.is_file(), "{}: $schema names no file", file.display());
    }
}
