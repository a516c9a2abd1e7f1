//! The JSON schemas of the files that people and programs write: generated from
//! the types, so that they cannot say anything else.

use schemars::{JsonSchema, schema_for};
use serde_json::{Map, Value};

use crate::corpus::case::TopicFile;
use crate::corpus::expectation::ExpectationFile;
use crate::corpus::fault::Fault;
use crate::corpus::history::{RetiredFile, RevisionsFile};
use crate::corpus::load::CorpusFile;
use crate::corpus::matrix::MatrixFile;
use crate::corpus::requirement::RequirementFile;
use crate::launcher::document::{EnvironmentDocument, PolicyDocument};
use crate::launcher::file::LauncherFile;
use crate::launcher::request::Request;
use crate::report::results::Line;
use crate::seatbelt::{FactFile, ImportsFile, OperationsFile, WorldFile};

/// One schema, and the file that it is kept in.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// The file's name, within `conformance/schema/`.
    pub name: &'static str,
    /// The schema.
    pub schema: Value,
}

impl Schema {
    /// The text of the file.
    pub fn text(&self) -> String {
        format!("{:#}\n", self.schema)
    }
}

/// Every schema.
pub fn schemas() -> Vec<Schema> {
    vec![
        schema::<CorpusFile>("corpus.schema.json", "What a corpus says of itself"),
        schema::<EnvironmentDocument>(
            "environment.schema.json",
            "A document of the command's variables",
        ),
        schema::<ExpectationFile>(
            "expectations.schema.json",
            "The known failures of a launcher",
        ),
        schema::<Fault>("fault.schema.json", "A launcher that is wrong on purpose"),
        schema::<LauncherFile>("launcher.schema.json", "A launcher, and how it is driven"),
        schema::<MatrixFile>("matrix.schema.json", "Which case catches which fault"),
        schema::<FactFile>("facts.schema.json", "Known outcomes of sandbox profiles"),
        schema::<OperationsFile>(
            "operations.schema.json",
            "What sandbox profiles can speak of",
        ),
        schema::<ImportsFile>("imports.schema.json", "Sandbox profiles of the system"),
        schema::<WorldFile>("world.schema.json", "A usual Mac"),
        schema::<PolicyDocument>("policy.schema.json", "A policy document"),
        schema::<Request>("request.schema.json", "What a launcher is asked for"),
        schema::<RequirementFile>("requirements.schema.json", "The promises that cases cover"),
        schema::<Line>("results.schema.json", "A line of a results file"),
        schema::<RetiredFile>(
            "retired.schema.json",
            "Ids of cases that are never used again",
        ),
        schema::<RevisionsFile>(
            "revisions.schema.json",
            "What each case meant at its revision",
        ),
        schema::<TopicFile>("topic.schema.json", "A topic of the corpus"),
    ]
}

fn schema<T: JsonSchema>(name: &'static str, title: &str) -> Schema {
    let mut generated = schema_for!(T).to_value();
    if let Some(object) = generated.as_object_mut() {
        object.insert(String::from("title"), Value::from(title));
    }
    let schema = sorted(generated);
    Schema { name, schema }
}

/// The value with its names in order, whatever order maps keep in this build.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().collect();
            entries.sort_by(|one, other| one.0.cmp(&other.0));
            let entries = entries
                .into_iter()
                .map(|(name, value)| (name, sorted(value)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}
