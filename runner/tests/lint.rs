//! Each rule of the lint is proven by a corpus that breaks it, in `lint/<rule>/`:
//! the findings are those of `expected.txt`, and no others.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use perimeter_runner::corpus::Source;
use perimeter_runner::lint::{RULES, lint, rule, write};
use tempfile::TempDir;

fn invalid() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lint")
}

fn conformance() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance")
}

/// What a rule finds in a directory, a line a finding, by paths within it.
fn found(directory: &Path, name: &str) -> String {
    let rule = rule(name).unwrap();
    let report = lint(&Source::Directory(directory.to_owned()), &[rule]).unwrap();
    let prefix = format!("{}/", directory.display());
    report
        .findings
        .iter()
        .map(|finding| format!("{finding}\n").replace(&prefix, ""))
        .collect()
}

#[test]
fn each_rule_finds_what_breaks_it_and_nothing_else() {
    let bless = std::env::var_os("PERIMETER_BLESS").is_some_and(|value| value == "1");
    for rule in RULES {
        let directory = invalid().join(rule.name);
        if bless {
            fs::write(directory.join("expected.txt"), found(&directory, rule.name)).unwrap();
        }
        let expected = fs::read_to_string(directory.join("expected.txt"));
        let expected = expected.unwrap_or_else(|error| {
            panic!(
                "{}/expected.txt: {error}; each rule has a corpus that breaks it",
                directory.display()
            )
        });
        assert!(!expected.trim().is_empty(), "{} expects nothing", rule.name);
        assert_eq!(found(&directory, rule.name), expected, "{}", rule.name);
    }
}

#[test]
fn each_invalid_corpus_is_one_of_a_rule() {
    let names: BTreeSet<String> = fs::read_dir(invalid())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let rules: BTreeSet<String> = RULES.iter().map(|rule| rule.name.to_owned()).collect();
    assert_eq!(names, rules);
    assert_eq!(rules.len(), RULES.len(), "two rules have one name");
}

#[test]
fn the_committed_corpus_breaks_no_rule() {
    let rules: Vec<_> = RULES.iter().collect();
    let report = lint(&Source::Directory(conformance()), &rules).unwrap();
    let findings: Vec<String> = report
        .findings
        .iter()
        .map(|finding| finding.to_string())
        .collect();
    assert!(
        findings.is_empty(),
        "{}\n`perimeter lint --corpus conformance` shows the same",
        findings.join("\n")
    );
    assert!(report.not_applied.is_empty());
}

#[test]
fn rules_about_the_whole_wait_until_every_file_can_be_read() {
    let rules: Vec<_> = RULES.iter().collect();
    let source = Source::Directory(invalid().join("schema"));
    let report = lint(&source, &rules).unwrap();
    assert!(report.not_applied.contains(&"requirement-covered"));
    assert!(report.rules.contains(&"title-form"));
    assert_eq!(report.rules.len() + report.not_applied.len(), RULES.len());
}

#[test]
fn what_holds_no_corpus_is_no_clean_one() {
    let empty = TempDir::new().unwrap();
    let source = Source::Directory(empty.path().to_owned());
    let error = lint(&source, &[]).unwrap_err().to_string();
    assert!(error.contains("holds no case"), "{error}");
    let missing = Source::Directory(empty.path().join("missing"));
    assert!(lint(&missing, &[]).is_err());
}

/// A copy of the committed corpus that may be changed.
fn copy() -> TempDir {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                copy(&entry.path(), &target);
            } else {
                fs::write(target, fs::read(entry.path()).unwrap()).unwrap();
            }
        }
    }
    let directory = TempDir::new().unwrap();
    copy(&conformance(), directory.path());
    directory
}

const CASE: &str = "files.write.create-inside";

/// Changes a file of a corpus.
fn change(corpus: &TempDir, name: &str, from: &str, to: &str) {
    let path = corpus.path().join(name);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{name} has no {from}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// What `--write` finds and writes.
fn written(corpus: &TempDir) -> (String, Vec<String>) {
    let (report, files) = write::write(corpus.path()).unwrap();
    let findings = report.findings.iter().map(|finding| format!("{finding}\n"));
    let names = files
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
    (findings.collect(), names.collect())
}

#[test]
fn writing_covers_up_no_change_of_meaning() {
    let corpus = copy();
    let record = corpus.path().join("revisions.json");
    let before = fs::read_to_string(&record).unwrap();
    let topic = "files/write.json";
    change(
        &corpus,
        topic,
        "echo kept > {workspace}/new",
        "echo kept >> {workspace}/new",
    );
    let (findings, files) = written(&corpus);
    assert!(
        findings.contains("the meaning changed and the revision is still"),
        "{findings}"
    );
    assert!(
        findings.contains(CASE) && findings.contains("[rev-raised]"),
        "{findings}"
    );
    assert!(files.is_empty());
    assert_eq!(fs::read_to_string(&record).unwrap(), before);

    let text = fs::read_to_string(corpus.path().join(topic)).unwrap();
    let rev = text.split(&format!("\"id\": \"{CASE}\",")).nth(1).unwrap();
    let rev: u32 = rev
        .split("\"rev\": ")
        .nth(1)
        .unwrap()
        .split(',')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let of_case = format!("\"id\": \"{CASE}\",\n      \"rev\": ");
    change(
        &corpus,
        topic,
        &format!("{of_case}{rev}"),
        &format!("{of_case}{}", rev + 1),
    );
    let (findings, files) = written(&corpus);
    assert_eq!(findings, "");
    assert_eq!(files, ["revisions.json"]);
    let after = fs::read_to_string(&record).unwrap();
    assert!(after.contains(&format!("\"{CASE}\": {{ \"rev\": {}", rev + 1)));
    assert_eq!(written(&corpus), (String::new(), Vec::new()));
}

#[test]
fn prose_is_no_meaning() {
    let corpus = copy();
    let title = "A command can create a file in its workspace, and the host has it";
    change(
        &corpus,
        "files/write.json",
        title,
        "A command can make a file in its workspace",
    );
    let (findings, files) = written(&corpus);
    assert_eq!(findings, "");
    // The table of requirements has the titles.
    assert_eq!(files, ["REQUIREMENTS.md"]);
}

#[test]
fn a_case_leaves_only_by_way_of_the_retired_list() {
    let corpus = copy();
    let id = "work.server.loopback";
    change(&corpus, "work/shell.json", id, "work.server.loopback-alone");
    let (findings, files) = written(&corpus);
    assert!(
        findings.contains("is gone") && findings.contains("[id-removed]"),
        "{findings}"
    );
    assert!(files.is_empty());
    let entry = format!(
        "{{ \"id\": \"{id}\", \"since\": \"0.2.0\", \"reason\": \"renamed\", \
         \"replaced_by\": \"{id}-alone\" }}"
    );
    let retired = fs::read_to_string(corpus.path().join("retired.json")).unwrap();
    let separator = if retired.contains("\"id\"") { ", " } else { "" };
    change(
        &corpus,
        "retired.json",
        "\"retired\": [",
        &format!("\"retired\": [{entry}{separator}"),
    );
    let (findings, files) = written(&corpus);
    assert_eq!(findings, "");
    assert_eq!(files, ["revisions.json", "REQUIREMENTS.md"]);
    // Once gone it never comes back.
    change(&corpus, "work/shell.json", "work.server.loopback-alone", id);
    assert!(written(&corpus).0.contains("[id-retired]"));
}
