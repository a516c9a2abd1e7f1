use std::collections::BTreeMap;

use rstest::rstest;

use super::super::generate::{Claims, relative, scenario};
use super::super::meaning::Meaning;
use super::super::perform::perform;
use super::super::predict::{Prediction, predict};
use super::super::scenario::Surroundings;
use super::super::world::World;
use crate::launcher::file::LauncherFile;

fn claims() -> Claims {
    let text = include_str!("../../../../conformance/launchers/reference.json");
    let launcher: LauncherFile = serde_json::from_str(text).unwrap();
    Claims::of(&launcher)
}

#[test]
fn a_seed_gives_the_same_scenario_each_time_and_another_gives_another() {
    let make = |seed| scenario(seed, &claims(), Surroundings::default());
    for seed in 0..50 {
        assert_eq!(make(seed), make(seed));
    }
    assert_ne!(make(1).files, make(2).files);
}

#[test]
fn a_seed_keeps_its_meaning() {
    // What is reported by its seed must be there again on another machine. Where the
    // generator is changed on purpose, so is this.
    let text = serde_json::to_string(&scenario(42, &claims(), Surroundings::default())).unwrap();
    let digest = <sha2::Sha256 as sha2::Digest>::digest(text.as_bytes());
    let start: String = digest
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(start, "b8999447");
}

#[test]
fn what_is_claimed_bounds_what_is_asked() {
    let text = include_str!("../../../../conformance/launchers/bubblewrap-000.json");
    let launcher: LauncherFile = serde_json::from_str(text).unwrap();
    let claims = Claims::of(&launcher);
    for seed in 0..200 {
        let scenario = scenario(seed, &claims, Surroundings::default());
        assert!(scenario.policy.hidden.is_empty());
        assert_eq!(
            scenario.policy.posture,
            Some(crate::corpus::policy::PostureSpec::Strict)
        );
    }
}

#[test]
fn every_prediction_comes_up_and_few_are_left_open() {
    let mut counts: BTreeMap<Prediction, usize> = BTreeMap::new();
    for seed in 0..300 {
        let scenario = scenario(seed, &claims(), Surroundings::default());
        let mut world = World::of(&scenario);
        let meaning = Meaning::of(&scenario, &world, Surroundings::default());
        for operation in &scenario.operations {
            let prediction = predict(&meaning, &world, operation);
            *counts.entry(prediction).or_default() += 1;
            if matches!(prediction, Prediction::Allowed | Prediction::Absorbed) {
                perform(&mut world, &meaning, operation).unwrap();
            }
        }
    }
    let total: usize = counts.values().sum();
    let of = |prediction| counts.get(&prediction).copied().unwrap_or(0);
    assert!(of(Prediction::Allowed) * 100 > total * 15, "{counts:?}");
    assert!(of(Prediction::Denied) * 100 > total * 15, "{counts:?}");
    assert!(
        of(Prediction::Absorbed) > 0 && of(Prediction::Blank) > 0,
        "{counts:?}"
    );
    assert!(of(Prediction::Either) * 100 < total * 5, "{counts:?}");
    assert_eq!(of(Prediction::Unknown), 0);
}

#[rstest]
#[case("{root}/workspace", "{root}/workspace/file", "file")]
#[case("{root}/workspace", "{root}/outside", "../outside")]
#[case("{root}/workspace", "{root}/workspace", ".")]
#[case("{host-temporary}", "{root}/outside", "{root}/outside")]
#[case("", "{root}/outside", "{root}/outside")]
fn a_path_from_a_directory(#[case] from: &str, #[case] to: &str, #[case] written: &str) {
    assert_eq!(relative(from, to), written);
}
