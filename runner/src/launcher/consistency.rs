//! Whether a launcher file does with its template what it claims.

use super::file::{Argument, Condition, EnvironmentMode, FileText, LauncherFile, List, StartedIn};
use crate::corpus::placeholder::names_in;
use crate::corpus::vocabulary::Feature;

/// What a launcher file claims and its template cannot do, a sentence each, in the
/// file's own terms.
pub fn problems(file: &LauncherFile) -> Vec<String> {
    let mut seen = Seen::default();
    seen.arguments(&file.arguments);
    for (path, text) in &file.files {
        seen.text(path);
        match text {
            FileText::Text(text) => seen.text(text),
            FileText::Lines(lines) => seen.arguments(lines),
        }
    }
    for text in file.own_environment.values() {
        seen.text(text);
    }
    let mut problems = Vec::new();
    let whole = seen.names(&["request", "policy"]);
    if !seen.command && !seen.names(&["request"]) {
        problems.push(
            "`arguments` never place the command: add { \"command\": true } where it stands"
                .to_owned(),
        );
    }
    let told = seen.names(&["workspace", "cwd"]) || file.started_in != StartedIn::Root;
    if !whole && !told && file.levels.len() > 1 {
        problems.push(
            "no argument and no file names {workspace}, and `started_in` is \"root\": the launcher is \
             never told what may be written"
                .to_owned(),
        );
    }
    let lists = [
        (
            Feature::ReadOnlyGrants,
            "read-only",
            &[
                List::ReadOnly,
                List::ReadOnlyDirectories,
                List::ReadOnlyFiles,
            ][..],
        ),
        (
            Feature::ReadWriteGrants,
            "read-write",
            &[
                List::ReadWrite,
                List::ReadWriteDirectories,
                List::ReadWriteFiles,
            ],
        ),
        (
            Feature::HiddenPaths,
            "hidden",
            &[List::Hidden, List::HiddenDirectories, List::HiddenFiles],
        ),
    ];
    for (feature, name, wanted) in lists {
        let used = wanted.iter().any(|list| seen.lists.contains(list));
        if file.features.contains(&feature) && !used && !whole {
            // A host that is all readable needs no word about what may be read.
            if feature == Feature::ReadOnlyGrants
                && !file.features.contains(&Feature::PostureStrict)
            {
                continue;
            }
            problems.push(format!(
                "`features` claim {}, and nothing in the template repeats the list `{name}`: \
                 add {{ \"each\": \"{name}\", \"arguments\": […] }}, or leave the feature out",
                crate::report::word(&feature),
            ));
        }
    }
    let both = file.features.contains(&Feature::NetworkHost)
        && file.features.contains(&Feature::NetworkNone);
    if both && !seen.network && !whole {
        problems.push(
            "`features` claim network-host and network-none, and no `when` tells them apart: \
             add { \"when\": [\"network-none\"], \"arguments\": […] }, or claim one"
                .to_owned(),
        );
    }
    let handed_on = file.environment == EnvironmentMode::Inherited;
    let environment = seen.lists.contains(&List::Environment) || seen.names(&["environment"]);
    if file.features.contains(&Feature::Environment) && !handed_on && !environment && !whole {
        problems.push(
            "`features` claim environment, and no variable reaches the command: add \
             { \"each\": \"environment\", \"arguments\": […] }, or set `environment` to \"inherited\""
                .to_owned(),
        );
    }
    problems
}

/// What a template uses.
#[derive(Default)]
struct Seen {
    command: bool,
    network: bool,
    lists: Vec<List>,
    placeholders: Vec<String>,
}

impl Seen {
    fn arguments(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            match argument {
                Argument::Literal(text) => self.text(text),
                Argument::Command(_) => self.command = true,
                Argument::Each(each) => {
                    self.lists.push(each.each);
                    self.arguments(&each.arguments);
                }
                Argument::When(when) => {
                    self.network |= when.when.iter().any(|condition| {
                        matches!(condition, Condition::NetworkHost | Condition::NetworkNone)
                    });
                    self.arguments(&when.arguments);
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.placeholders.extend(
            names_in(text)
                .into_iter()
                .map(|name| name.strip_suffix("-json").unwrap_or(name).to_owned()),
        );
    }

    fn names(&self, wanted: &[&str]) -> bool {
        self.placeholders
            .iter()
            .any(|name| wanted.contains(&name.as_str()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn file(features: Value, arguments: Value) -> LauncherFile {
        serde_json::from_value(json!({
            "name": "mine",
            "about": "Mine.",
            "levels": ["launch", "confined-writes"],
            "features": features,
            "arguments": arguments,
            "started_in": "root",
        }))
        .unwrap()
    }

    #[rstest]
    #[case::no_command(json!([]), json!(["mine", "{workspace}"]), "never place the command")]
    #[case::no_workspace(json!([]), json!(["mine", { "command": true }]), "{workspace}")]
    #[case::no_list(
        json!(["read-write-grants"]),
        json!(["mine", "{workspace}", { "command": true }]),
        "the list `read-write`"
    )]
    #[case::no_hidden(
        json!(["hidden-paths"]),
        json!(["mine", "{workspace}", { "command": true }]),
        "the list `hidden`"
    )]
    #[case::one_network(
        json!(["network-host", "network-none"]),
        json!(["mine", "{workspace}", { "command": true }]),
        "no `when` tells them apart"
    )]
    #[case::no_variables(
        json!(["environment"]),
        json!(["mine", "{workspace}", { "command": true }]),
        "no variable reaches the command"
    )]
    fn a_claim_that_the_template_does_not_keep_is_named(
        #[case] features: Value,
        #[case] arguments: Value,
        #[case] says: &str,
    ) {
        let problems = problems(&file(features, arguments));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(says), "{problems:?}");
    }

    #[rstest]
    #[case::plain(json!([]), json!(["mine", "{workspace}", { "command": true }]))]
    #[case::by_request(
        json!(["environment", "hidden-paths", "network-host", "network-none"]),
        json!(["./mine.sh", "{request}"])
    )]
    #[case::by_lists(
        json!(["environment", "hidden-paths"]),
        json!(["mine", "-w", "{workspace}",
            { "each": "hidden", "arguments": ["-h", "{item}"] },
            { "each": "environment", "arguments": ["{name}={value}"] },
            { "command": true }])
    )]
    fn a_claim_that_the_template_keeps_is_none(#[case] features: Value, #[case] arguments: Value) {
        assert_eq!(problems(&file(features, arguments)), Vec::<String>::new());
    }
}
