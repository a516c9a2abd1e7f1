//! As much of JSON Schema (draft 2020-12) as the committed schemas use. A keyword that
//! is not known here is a failure, so that none is passed over.

use std::fs;
use std::path::Path;

use regex_lite::Regex;
use serde_json::Value;

/// A committed schema.
pub struct Schema {
    root: Value,
}

impl Schema {
    /// The schema of this file in `conformance/schema`.
    pub fn named(name: &str) -> Schema {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/schema");
        let text = fs::read_to_string(directory.join(name)).unwrap();
        Schema {
            root: serde_json::from_str(&text).unwrap(),
        }
    }

    /// Whether a value is valid.
    pub fn allows(&self, value: &Value) -> bool {
        self.fits(&self.root, value)
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let Value::Object(keywords) = schema else {
            return schema.as_bool().unwrap();
        };
        keywords
            .iter()
            .all(|(keyword, limit)| self.keeps(keywords, keyword, limit, value))
    }

    fn keeps(
        &self,
        schema: &serde_json::Map<String, Value>,
        keyword: &str,
        limit: &Value,
        value: &Value,
    ) -> bool {
        match keyword {
            "$schema" | "$defs" | "title" | "description" | "default" | "format" => true,
            "$ref" => {
                let pointer = limit.as_str().unwrap().strip_prefix('#').unwrap();
                self.fits(self.root.pointer(pointer).unwrap(), value)
            }
            "type" => match limit {
                Value::Array(kinds) => kinds.iter().any(|kind| is_a(kind, value)),
                kind => is_a(kind, value),
            },
            "const" => same(value, limit),
            "enum" => limit.as_array().unwrap().iter().any(|one| same(value, one)),
            "oneOf" => {
                let fitting = |one: &&Value| self.fits(one, value);
                limit.as_array().unwrap().iter().filter(fitting).count() == 1
            }
            "minimum" => value
                .as_f64()
                .is_none_or(|number| number >= limit.as_f64().unwrap()),
            "pattern" => value
                .as_str()
                .is_none_or(|text| Regex::new(limit.as_str().unwrap()).unwrap().is_match(text)),
            "uniqueItems" => value.as_array().is_none_or(|items| {
                let twice = |(place, item)| items[..place].contains(item);
                !items.iter().enumerate().any(twice)
            }),
            "items" => value
                .as_array()
                .is_none_or(|items| items.iter().all(|item| self.fits(limit, item))),
            "required" => value.as_object().is_none_or(|fields| {
                let names = limit.as_array().unwrap();
                names
                    .iter()
                    .all(|name| fields.contains_key(name.as_str().unwrap()))
            }),
            "properties" => value.as_object().is_none_or(|fields| {
                fields.iter().all(|(name, field)| {
                    limit
                        .get(name)
                        .is_none_or(|schema| self.fits(schema, field))
                })
            }),
            "propertyNames" => value.as_object().is_none_or(|fields| {
                let mut names = fields.keys();
                names.all(|name| self.fits(limit, &Value::String(name.clone())))
            }),
            "additionalProperties" => value.as_object().is_none_or(|fields| {
                let known = schema.get("properties");
                let other = |name: &String| known.and_then(|known| known.get(name)).is_none();
                let mut others = fields.iter().filter(|(name, _)| other(name));
                others.all(|(_, field)| self.fits(limit, field))
            }),
            unknown => panic!("this validator does not know {unknown}"),
        }
    }
}

/// Numbers are equal by value, whatever they are written as.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

fn is_a(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        unknown => panic!("{unknown} is no type"),
    }
}
