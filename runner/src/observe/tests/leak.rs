//! Canaries in all kinds of places.

use super::*;
use crate::fixture::Secrets;
use crate::observe::leak::{Places, find, forbidden};
use crate::observe::observation::Leak;

fn secrets() -> (Secrets, String) {
    let mut secrets = Secrets::default();
    let key = secrets.canary("key").unwrap().to_owned();
    secrets.canary("other").unwrap();
    (secrets, key)
}

fn in_text(secrets: &Secrets, text: &str) -> Vec<String> {
    let texts = [("standard output".to_owned(), text.as_bytes())];
    find(
        secrets,
        Places {
            texts: &texts,
            written: &[],
        },
    )
    .into_iter()
    .map(|leak| format!("{} in {}", leak.secret, leak.place))
    .collect()
}

#[test]
fn a_canary_in_a_text_is_found() {
    let (secrets, key) = secrets();
    let expected = ["key in standard output"];
    assert_eq!(in_text(&secrets, &key), expected);
    assert_eq!(in_text(&secrets, &format!("a\n{key}b\n{key}")), expected);
    assert_eq!(in_text(&secrets, &key.to_uppercase()), expected);
    let digits = key.strip_prefix("canary-").unwrap();
    assert_eq!(in_text(&secrets, &format!("0f{digits}0f")), expected);
    let backwards: String = key.chars().rev().collect();
    assert_eq!(in_text(&secrets, &backwards), expected);
    let hexadecimal: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(in_text(&secrets, &hexadecimal), expected);
}

#[test]
fn other_texts_are_no_leak() {
    let (secrets, key) = secrets();
    assert_eq!(in_text(&secrets, ""), [""; 0]);
    assert_eq!(in_text(&secrets, "canary-"), [""; 0]);
    assert_eq!(in_text(&secrets, &"0123456789abcdef".repeat(9)), [""; 0]);
    assert_eq!(in_text(&secrets, &key[..key.len() - 1]), [""; 0]);
    let (unrelated, _) = self::secrets();
    assert_eq!(in_text(&unrelated, &key), [""; 0]);
}

#[test]
fn each_secret_and_each_place_is_told() {
    let (secrets, key) = secrets();
    let other = secrets.get("other").unwrap();
    let both = format!("{key} {other}");
    let texts = [
        ("standard output".to_owned(), both.as_bytes()),
        ("what web heard".to_owned(), other.as_bytes()),
    ];
    let leaks = find(
        &secrets,
        Places {
            texts: &texts,
            written: &[],
        },
    );
    assert_eq!(leaks.len(), 3);
    let left = forbidden(&leaks, &["key".to_owned()]);
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|leak| leak.secret == "other"));
    assert!(forbidden(&leaks, &["key".to_owned(), "other".to_owned()]).is_empty());
}

/// The places of the leaks in what was written since the tree was made.
fn in_files(tree: &Tree, secrets: &Secrets, before: &Snapshot) -> Vec<String> {
    let written = before.written(&tree.snapshot(), &[tree.at("workspace")]);
    find(
        secrets,
        Places {
            texts: &[],
            written: &written,
        },
    )
    .into_iter()
    .map(|Leak { place, .. }| place.replace(tree.root().to_str().unwrap(), ""))
    .collect()
}

#[test]
fn a_canary_in_what_was_written_is_found() {
    let tree = Tree::new();
    let (secrets, key) = secrets();
    fs::write(tree.at("workspace/own"), &key).unwrap();
    fs::write(tree.at("outside/own"), &key).unwrap();
    let before = tree.snapshot();
    assert_eq!(in_files(&tree, &secrets, &before), [""; 0]);

    fs::write(tree.at("workspace/sub/copy"), &key).unwrap();
    fs::write(tree.at("workspace/file"), format!("more {key}\n")).unwrap();
    let mut large = vec![b'-'; (64 << 10) - 20];
    large.extend_from_slice(key.as_bytes());
    large.resize(300_000, b'-');
    fs::write(tree.at("workspace/large"), large).unwrap();
    std::os::unix::fs::symlink(&key, tree.at("workspace/link")).unwrap();
    fs::create_dir(tree.at(&format!("workspace/{key}"))).unwrap();
    fs::write(tree.at("workspace/closed"), &key).unwrap();
    set_mode(&tree.at("workspace/closed"), 0);
    // Nothing of these is read: what they lead to, and what nobody writes to.
    std::os::unix::fs::symlink("../outside/own", tree.at("workspace/away")).unwrap();
    nix::unistd::mkfifo(&tree.at("workspace/pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();

    let mut expected = [
        "/workspace/sub/copy".to_owned(),
        "/workspace/file".to_owned(),
        "/workspace/large".to_owned(),
        "/workspace/link".to_owned(),
        "/workspace/closed".to_owned(),
        format!("the path /workspace/{key}"),
    ];
    let mut found = in_files(&tree, &secrets, &before);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    let closed = fs::metadata(tree.at("workspace/closed")).unwrap();
    assert_eq!(closed.permissions().mode() & 0o777, 0);
}

#[test]
fn a_secret_that_was_moved_or_linked_is_found() {
    let tree = Tree::new();
    let (secrets, key) = secrets();
    fs::write(tree.at("outside/own"), &key).unwrap();
    let before = tree.snapshot();
    fs::hard_link(tree.at("outside/own"), tree.at("workspace/twin")).unwrap();
    assert_eq!(in_files(&tree, &secrets, &before), ["/workspace/twin"]);
}
