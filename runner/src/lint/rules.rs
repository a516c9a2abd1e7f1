//! The rules, by name.

use super::{
    Rule, axes, fields, fixture, harmless, history, loader, prose, references, requirements,
    siblings, table,
};

/// The rule of this name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}

macro_rules! rules {
    ($($name:literal $reach:ident $check:expr, $about:literal;)*) => {
        &[$(Rule {
            name: $name,
            about: $about,
            whole: rules!($reach),
            check: $check,
        }),*]
    };
    (each) => { false };
    (whole) => { true };
}

/// A rule that the loader itself keeps.
macro_rules! kept {
    ($name:literal) => {
        |material| loader::problems(material, $name)
    };
}

/// Every rule. Those of each file come first, then those of the corpus as a whole.
pub const RULES: &[Rule] = rules! {
    "schema" each loader::schema,
        "every file has the fields that its schema asks for, and no others";
    "name-repeated" each loader::repeated_names,
        "no object has a name twice, since a reader keeps one of the two and nobody knows which";
    "case-whole" each kept!("case-whole"),
        "a case has a title, a reason, a command, and an effect or a control, and none that contradict each other";
    "id-form" each kept!("id-form"),
        "an id is area.topic.words, of lower-case letters, digits and hyphens";
    "placeholder-known" each kept!("placeholder-known"),
        "every placeholder is one that there is";
    "name-known" each kept!("name-known"),
        "a secret that is revealed, and a service that hears, are in the fixture";
    "axis-used" each kept!("axis-used"),
        "every axis is used by a placeholder";
    "axis-several" each axes::several,
        "an axis has at least two values, each of them once; posture may have one, which sets it";
    "trial-repeated" each axes::trials,
        "no two trials of a case are the same once their axes are applied";
    "fixture-used" each fixture::used,
        "whatever a fixture makes is named by a command, a policy or an expectation";
    "host-path" each harmless::reasons,
        "a path of the host outside the fixture has a reason in host_paths, since the baseline runs without a sandbox";
    "host-change" each harmless::changes,
        "no command writes, removes, signals or mounts anything of the host outside its fixture; to open for appending and write nothing is allowed";
    "title-form" each prose::title,
        "a title is an assertion of 15 to 100 characters that begins with a capital and ends without a mark";
    "why-form" each prose::reason,
        "the reason of a case is 40 to 600 characters of whole sentences, and a topic says what it is about";
    "timeout" each prose::timeout,
        "a timeout is between 1 and 120 seconds";
    "reference-form" each references::form,
        "a reference is a URL, owner/repository#number or a CVE, and is there once";
    "field-set" each fields::set,
        "a case that is decided by a field of the policy sets that field to something else than its default";
    "launcher-file" each references::launcher,
        "a launcher stands in the file of its name";
    "expectation-file" each references::expectation_file,
        "the known failures of a launcher stand in the file of its name, each once, and say why it fails";
    "fault-file" each loader::faults,
        "a fault stands in the file of its name, says why it matters, and makes a launcher that there is wrong";
    "id-unique" whole kept!("id-unique"),
        "no two cases have the same id";
    "id-place" whole history::place,
        "the first word of an id is the directory of its case";
    "id-retired" whole kept!("id-retired"),
        "an id that is retired is never used again";
    "id-removed" whole history::removed,
        "a case that is gone is listed in retired.json";
    "retired-form" whole history::retired,
        "the list of retired ids has each once, with a reason and a version, and names heirs that there are";
    "rev-raised" whole history::raised,
        "a case whose meaning changed has a higher revision";
    "rev-recorded" whole history::locked,
        "revisions.json records the revision and the meaning of every case";
    "title-unique" whole prose::unique,
        "no two cases have the same title";
    "why-repeated" whole prose::repeated,
        "no more than two cases have the same reason";
    "case-repeated" whole axes::cases,
        "no two cases run the same and are judged the same";
    "sibling-named" whole kept!("sibling-named"),
        "a denial or a refusal names its allowed twin";
    "sibling-exists" whole kept!("sibling-exists"),
        "the twin that a case names is a case itself";
    "sibling-allows" whole kept!("sibling-allows"),
        "the twin that a case names is a permission";
    "sibling-near" whole siblings::twin,
        "the twin stands in the same area and runs under a policy of the same kind, or sibling_reason says why it is the twin";
    "sibling-reason" whole siblings::reason,
        "sibling_reason is there only where a twin needs one";
    "requirement-known" whole kept!("requirement-known"),
        "a case covers promises that requirements.json has";
    "requirement-covered" whole requirements::covered,
        "every promise is covered by a case, or says what shows it elsewhere";
    "requirement-form" whole requirements::whole,
        "every promise has an id of its own and a text, and one that is shown elsewhere has the reason";
    "requirement-table" whole table::check,
        "REQUIREMENTS.md is what the data says";
    "field-proven" whole fields::proven,
        "every field of the policy, and the document of variables, decides the outcome of a MUST case";
    "field-ignored" whole fields::ignored,
        "where there are faults, the one that ignores a field is caught by the cases that the field decides";
    "expectation-known" whole references::expectation,
        "an expectation is about a launcher and a case that there are, of that revision and with those axes";
};
