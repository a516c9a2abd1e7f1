//! A trial run under its launcher alone, for one who judges it himself: what was
//! seen is told in the trial's own terms.

use std::cell::RefCell;
use std::collections::HashMap;

use super::attempt::{After, Attempt};
use super::item::{WorkItem, WorkResult};
use crate::explore::sighting::{Again, SeenEntry, Sighting};
use crate::fixture::Secrets;
use crate::observe::observation::{Change, Leak, Observation};

/// Runs it, and tells what was seen.
pub(super) fn look(item: &WorkItem) -> WorkResult {
    let seen = RefCell::new(None);
    let attempt = Attempt {
        item,
        launcher: &item.launcher,
        tag: "x",
        after: &|after| *seen.borrow_mut() = Some(Told::of(after)),
    };
    let outcome = attempt.run();
    match (outcome, seen.into_inner()) {
        (Ok(observation), Some(told)) => WorkResult {
            sighting: Some(told.with(observation)),
            ..WorkResult::error(String::new())
        },
        (Err(error), _) => WorkResult::error(error.to_string()),
        (Ok(_), None) => WorkResult::error("the attempt was not watched to its end".to_owned()),
    }
}

/// What was told after the last step, and the texts that stand for others.
struct Told {
    sighting: Sighting,
    /// Texts of this run, the longest first, and their placeholders.
    texts: Vec<(String, String)>,
}

impl Told {
    fn of(after: &After<'_>) -> Told {
        let texts = texts(after);
        let mut identities = HashMap::new();
        let entries = after
            .snapshot
            .list()
            .into_iter()
            .map(|entry| {
                let next = identities.len() as u64;
                SeenEntry {
                    path: format!("{{root}}/{}", entry.path.to_string_lossy()),
                    kind: entry.kind.to_owned(),
                    mode: entry.mode,
                    content: entry.content.map(|bytes| {
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        replaced(text, &texts)
                    }),
                    modified: entry.modified,
                    identity: *identities.entry(entry.identity).or_insert(next),
                }
            })
            .collect();
        let mut heard: Vec<String> = after
            .fixture
            .listeners()
            .filter(|name| !after.fixture.heard(name).is_empty())
            .map(str::to_owned)
            .collect();
        heard.sort();
        let temporary = std::fs::read_dir(after.temporary).map_or_else(
            |_| Vec::new(),
            |entries| {
                let names = entries.flatten().map(|entry| entry.file_name());
                names
                    .map(|name| name.to_string_lossy().into_owned())
                    .collect()
            },
        );
        Told {
            sighting: Sighting {
                entries,
                heard,
                temporary,
                ..Sighting::default()
            },
            texts,
        }
    }

    fn with(self, observation: Observation) -> Sighting {
        let text = |text: String| replaced(text, &self.texts);
        let mut launches = observation.launches.into_iter();
        let first = launches.next().unwrap_or_default();
        let again = launches.next().map(|launch| Again {
            started: launch.started,
            output: text(launch.output),
            error_output: text(launch.error_output),
        });
        Sighting {
            started: first.started,
            ending: first.ending,
            output: text(first.output),
            error_output: text(first.error_output),
            again,
            changes: observation
                .changes
                .into_iter()
                .map(|change| Change {
                    path: text(change.path),
                    what: text(change.what),
                })
                .collect(),
            leaks: observation
                .leaks
                .into_iter()
                .map(|leak| Leak {
                    place: text(leak.place),
                    ..leak
                })
                .collect(),
            leftovers: observation.leftovers,
            ..self.sighting
        }
    }
}

fn texts(after: &After<'_>) -> Vec<(String, String)> {
    let root = after.layout.root.to_string_lossy().into_owned();
    let temporary = after.temporary.to_string_lossy().into_owned();
    let mut texts = vec![
        (root, "{root}".to_owned()),
        (temporary, "{host-temporary}".to_owned()),
    ];
    texts.extend(canaries(after.secrets));
    texts.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    texts
}

fn canaries(secrets: &Secrets) -> impl Iterator<Item = (String, String)> + '_ {
    secrets
        .iter()
        .map(|(name, canary)| (canary.to_owned(), format!("{{secret.{name}}}")))
}

fn replaced(mut text: String, texts: &[(String, String)]) -> String {
    for (from, to) in texts {
        if text.contains(from.as_str()) {
            text = text.replace(from.as_str(), to);
        }
    }
    text
}
