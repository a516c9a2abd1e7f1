//! Effects on a real tree and made-up launches.

use rstest::rstest;

use super::*;
use crate::corpus::expect::Effect;
use crate::observe::effect::{World, evaluate};
use crate::observe::observation::{Ending, LaunchObservation, Leak, Leftover, Part};

/// Evaluates an effect, with `{t}` standing for the tree, after an action.
fn evaluated(json: &str, action: impl FnOnce(&Tree)) -> Vec<Part> {
    let tree = Tree::new();
    let before = tree.snapshot();
    action(&tree);
    let after = tree.snapshot();
    let json = json.replace("{t}", tree.root().to_str().unwrap());
    let effect: Effect = serde_json::from_str(&json).unwrap();
    let last = LaunchObservation {
        output: "done\n".to_owned(),
        ending: Ending::Exited(3),
        ..LaunchObservation::default()
    };
    let leaks = [Leak {
        secret: "key".to_owned(),
        place: "standard output".to_owned(),
    }];
    let leftovers = [Leftover {
        pid: 7,
        command_line: "sleep 60".to_owned(),
    }];
    let heard = |name: &str| match name {
        "web" => b"[connection]\n".to_vec(),
        _ => Vec::new(),
    };
    let world = World {
        last: Some(&last),
        leaks: &leaks,
        heard: &heard,
        typed: "echo injected\n",
        leftovers: &leftovers,
        before: &before,
        after: &after,
    };
    evaluate(&effect, &world)
}

fn fact(fields: &str) -> String {
    format!(r#"{{ "host": [{{ {fields} }}] }}"#)
}

#[rstest]
#[case::is_absent(r#""path": "{t}/none", "is": "absent""#, true)]
#[case::is_absent_below_a_file(r#""path": "{t}/outside/file/none", "is": "absent""#, true)]
#[case::is_not_absent(r#""path": "{t}/outside/file", "is": "absent""#, false)]
#[case::is_present(r#""path": "{t}/outside/pipe", "is": "present""#, true)]
#[case::is_file(r#""path": "{t}/outside/file", "is": "file""#, true)]
#[case::a_link_is_no_file(r#""path": "{t}/outside/link", "is": "file""#, false)]
#[case::a_link_is_a_link(r#""path": "{t}/outside/link", "is": "symlink""#, true)]
#[case::is_directory(r#""path": "{t}/outside", "is": "directory""#, true)]
#[case::content(r#""path": "{t}/outside/file", "content": "outside\n""#, true)]
#[case::content_without_the_newline(r#""path": "{t}/outside/file", "content": "outside""#, true)]
#[case::content_in_part(r#""path": "{t}/outside/file", "content": "out""#, false)]
#[case::contains(r#""path": "{t}/outside/file", "contains": "tsi""#, true)]
#[case::contains_not(r#""path": "{t}/outside/file", "contains": "x""#, false)]
#[case::content_of_a_link(r#""path": "{t}/outside/link", "contains": "out""#, false)]
#[case::content_of_a_pipe(r#""path": "{t}/outside/pipe", "contains": "x""#, false)]
#[case::content_of_nothing(r#""path": "{t}/none", "content": """#, false)]
#[case::target(r#""path": "{t}/outside/link", "target": "file""#, true)]
#[case::target_of_a_file(r#""path": "{t}/outside/file", "target": "file""#, false)]
#[case::changed(r#""path": "{t}/workspace/file", "changed": true"#, true)]
#[case::changed_below(r#""path": "{t}/workspace", "changed": true"#, true)]
#[case::not_changed(r#""path": "{t}/outside", "changed": false"#, true)]
#[case::wrongly_changed(r#""path": "{t}/outside", "changed": true"#, false)]
#[case::wrongly_not_changed(r#""path": "{t}/workspace/file", "changed": false"#, false)]
#[case::changed_elsewhere(r#""path": "/etc", "changed": false"#, false)]
#[case::mode(r#""path": "{t}/workspace/file", "mode": "0640""#, true)]
#[case::mode_in_short(r#""path": "{t}/workspace/file", "mode": "640""#, true)]
#[case::another_mode(r#""path": "{t}/workspace/file", "mode": "0644""#, false)]
fn a_fact_of_the_host(#[case] fields: &str, #[case] holds: bool) {
    let parts = evaluated(&fact(fields), |tree| {
        fs::write(tree.at("workspace/file"), "new").unwrap();
        set_mode(&tree.at("workspace/file"), 0o640);
    });
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].holds, holds, "{parts:?}");
}

#[rstest]
#[case::output(r#"{"output": "done"}"#, true, r#""done\n""#)]
#[case::other_output(r#"{"output": "else"}"#, false, r#""done\n" is not "else""#)]
#[case::reveals(r#"{"reveals": ["key"]}"#, true, "in standard output")]
#[case::hides(r#"{"reveals": ["other"]}"#, false, "nowhere")]
#[case::heard(r#"{"heard": ["web"]}"#, true, r#""[connection]\n""#)]
#[case::not_heard(r#"{"heard": ["bus"]}"#, false, r#""""#)]
#[case::typed(r#"{"typed": "injected"}"#, true, r#""echo injected\n""#)]
#[case::not_typed(r#"{"typed": "else"}"#, false, r#""echo injected\n""#)]
#[case::survives(r#"{"survives": true}"#, true, "7 sleep 60")]
#[case::exit(r#"{"exit": 3}"#, true, "3")]
#[case::another_exit(r#"{"exit": 0}"#, false, "3")]
fn another_part(#[case] json: &str, #[case] holds: bool, #[case] seen: &str) {
    let parts = evaluated(json, |_| {});
    assert_eq!(parts.len(), 1);
    assert_eq!((parts[0].holds, parts[0].seen.as_str()), (holds, seen));
}

#[test]
fn every_stated_part_is_one() {
    let parts = evaluated(
        r#"{ "host": [{ "path": "{t}/outside/file", "is": "file", "contains": "x",
             "content": "y", "mode": "0644", "target": "z", "changed": false }],
             "output": "done", "reveals": ["key", "other"], "exit": 3 }"#,
        |_| {},
    );
    assert_eq!(parts.len(), 10);
    assert!(parts.iter().all(|part| part.seen.chars().count() <= 261));
}

#[test]
fn nothing_stated_is_no_part() {
    assert!(evaluated("{}", |_| {}).is_empty());
}
