//! The data that the model rests on, read and checked.

use std::collections::HashMap;

use serde::de::DeserializeOwned;

use crate::corpus::Source;
use crate::corpus::error::parse;
use crate::corpus::source::SourceFile;

use super::error::TableError;
use super::imports::ImportsFile;
use super::operations::{FilterEntry, FilterKind, Operations, OperationsFile};
use super::world::WorldFile;

/// The files of the model, beside the cases of macOS.
const OPERATIONS: &str = "macos/operations.json";
const IMPORTS: &str = "macos/imports.json";
const WORLD: &str = "macos/world.json";
/// The directory of the known outcomes.
pub(super) const FACTS: &str = "macos/facts/";

/// Whether a file of a corpus is data of the model, and holds no case.
pub(crate) fn is_data(name: &str) -> bool {
    [OPERATIONS, IMPORTS, WORLD].contains(&name) || name.starts_with(FACTS)
}

/// What the model knows.
#[derive(Debug, Clone)]
pub struct Tables {
    pub(super) operations: Operations,
    pub(super) always: Vec<String>,
    filters: HashMap<String, FilterEntry>,
    constants: HashMap<(String, String), i64>,
    pub(super) imports: ImportsFile,
    /// A usual Mac.
    pub(super) world: WorldFile,
}

impl Tables {
    /// Reads the data of a corpus.
    ///
    /// # Errors
    /// A file that is missing, wrong in shape, or that contradicts itself.
    pub fn load(source: &Source) -> Result<Tables, TableError> {
        let files = source.files()?;
        let (shown, table) = read::<OperationsFile>(&files, OPERATIONS)?;
        let operations = Operations::new(&shown, &table)?;
        let mut filters = HashMap::new();
        for entry in &table.filters {
            for name in &entry.names {
                filters.insert(name.clone(), entry.clone());
            }
        }
        let mut constants = HashMap::new();
        for entry in &table.constants {
            if !filters.contains_key(&entry.of) {
                return Err(TableError::Inconsistent {
                    file: shown,
                    entry: entry.of.clone(),
                    problem: "no filter has this name".to_owned(),
                });
            }
            for (name, number) in &entry.names {
                constants.insert((entry.of.clone(), name.clone()), *number);
            }
        }
        Ok(Tables {
            operations,
            always: table.always.into_iter().map(|entry| entry.rule).collect(),
            filters,
            constants,
            imports: read(&files, IMPORTS)?.1,
            world: read(&files, WORLD)?.1,
        })
    }

    /// A usual Mac.
    pub fn world(&self) -> &WorldFile {
        &self.world
    }

    /// The filter of a name, and what is behind the name: nothing, `-prefix` or
    /// `-regex`.
    pub(super) fn filter<'a>(&self, name: &'a str) -> Option<(&FilterEntry, &'a str, &'a str)> {
        if let Some(entry) = self.filters.get(name) {
            return Some((entry, name, ""));
        }
        ["-prefix", "-regex"].into_iter().find_map(|form| {
            let stem = name.strip_suffix(form)?;
            let entry = self.filters.get(stem)?;
            let formed = matches!(entry.kind, FilterKind::Name | FilterKind::Undecided);
            formed.then_some((entry, stem, &name[stem.len()..]))
        })
    }

    /// The number that a word stands for with a filter.
    pub(super) fn constant(&self, filter: &str, word: &str) -> Option<i64> {
        let key = (filter.to_owned(), word.to_owned());
        self.constants.get(&key).copied()
    }
}

fn read<T: DeserializeOwned>(
    files: &[SourceFile],
    name: &'static str,
) -> Result<(String, T), TableError> {
    let file = files.iter().find(|file| file.name == name);
    let file = file.ok_or(TableError::Missing { name })?;
    Ok((file.shown.clone(), parse(&file.shown, &file.bytes)?))
}
