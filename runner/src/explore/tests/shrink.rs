use std::convert::Infallible;

use super::super::export::is_sound;
use super::super::generate::{Claims, scenario};
use super::super::operation::{Call, Operation};
use super::super::scenario::{Scenario, Surroundings};
use super::super::shrink::shrink;
use crate::corpus::policy::{NetworkSpec, PolicySpec};
use crate::launcher::file::LauncherFile;

fn small(scenario: Scenario, still: impl Fn(&Scenario) -> bool) -> Scenario {
    let check = |smaller: &Scenario| Ok::<_, Infallible>(is_sound(smaller) && still(smaller));
    shrink(scenario, check).unwrap()
}

fn big() -> Scenario {
    let path = |path: &str| format!("{{root}}/{path}");
    let mut scenario = super::scenario(
        &[
            "workspace/deep/",
            "workspace/deep/er/",
            "workspace/deep/er/odd name",
            "workspace/other 0600",
            "outside/key",
            "outside/link -> ../workspace/deep",
        ],
        PolicySpec {
            network: Some(NetworkSpec::None),
            read_only: vec![path("readable")],
            read_write: vec![path("writable")],
            hidden: vec![path("workspace/other"), path("workspace/deep/er/odd name")],
            ..PolicySpec::default()
        },
    );
    scenario.operations = vec![
        Operation::on(Call::Read, "../outside/key"),
        Operation::on(Call::List, "."),
        Operation::on(Call::Read, "/proc/self/cwd/deep//er/../er/odd name"),
        Operation::on(Call::Remove, "other"),
        Operation::with(Call::Append, "other", "x"),
    ];
    scenario
}

#[test]
fn only_what_is_needed_stays() {
    let found = small(big(), |scenario| {
        let reads = scenario.operations.iter().any(|it| it.call == Call::Read);
        reads && scenario.policy.hidden.len() == 1
    });
    assert_eq!(found.operations.len(), 1);
    assert_eq!(found.operations[0].call, Call::Read);
    assert!(found.files.is_empty(), "{:?}", found.files);
    assert!(found.policy.read_only.is_empty() && found.policy.read_write.is_empty());
    assert_eq!(found.policy.network, Some(NetworkSpec::Host));
}

#[test]
fn paths_become_plain_and_short() {
    // That a file is read which is hidden, whatever it is called.
    let is_hidden = |scenario: &Scenario| {
        scenario.operations.iter().any(|it| {
            let name = super::super::world::last(&it.path);
            let is_it = |path: &&String| super::super::world::last(path) == name;
            let hidden = scenario.policy.hidden.iter().find(is_it);
            it.call == Call::Read && hidden.is_some_and(|path| scenario.files.contains_key(path))
        })
    };
    let mut scenario = big();
    scenario.operations[2].path = "/proc/self/root{root}/workspace/deep/./er/odd name".to_owned();
    let found = small(scenario, is_hidden);
    assert_eq!(found.operations.len(), 1, "{found:?}");
    assert_eq!(found.files.len(), 1, "{found:?}");
    assert_eq!(found.policy.hidden, ["{root}/workspace/a"]);
    assert_eq!(found.operations[0].path, "{root}/workspace/a");
}

#[test]
fn it_ends_for_every_scenario_and_whatever_holds() {
    let text = include_str!("../../../../conformance/launchers/reference.json");
    let launcher: LauncherFile = serde_json::from_str(text).unwrap();
    let claims = Claims::of(&launcher);
    for seed in 0..30 {
        let scenario = scenario(seed, &claims, Surroundings::default());
        let found = small(scenario.clone(), |_| true);
        assert_eq!(found.operations, [Operation::on(Call::Look, ".")]);
        assert!(found.files.is_empty());
        assert_eq!(small(scenario.clone(), |_| false), scenario);
    }
}

#[test]
fn an_error_of_the_harness_ends_it() {
    let outcome = shrink(big(), |_| Err::<bool, _>("broken"));
    assert_eq!(outcome, Err("broken"));
}
