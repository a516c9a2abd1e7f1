//! Every kind of difference, and what is none.

use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use rstest::rstest;

use super::*;

/// The differences that an action makes, as `path: what`.
fn differences(tree: &Tree, except: &[PathBuf], action: impl FnOnce(&Tree)) -> Vec<String> {
    let before = Snapshot::take(tree.root(), except).unwrap();
    action(tree);
    let after = Snapshot::take(tree.root(), except).unwrap();
    words(tree, before.differences(&after))
}

fn words(tree: &Tree, changes: Vec<crate::observe::observation::Change>) -> Vec<String> {
    changes
        .into_iter()
        .map(|change| {
            let path = Path::new(&change.path).strip_prefix(tree.root()).unwrap();
            format!("{}: {}", path.display(), change.what)
        })
        .collect()
}

/// Writes without a trace but the content: in place, same length, times put back.
fn forge(path: &Path, content: &str) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    fs::write(path, content).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(modified))
        .unwrap();
}

#[rstest]
#[case::created(
    |tree: &Tree| fs::write(tree.at("outside/new"), "x").unwrap(),
    "outside/new: created as a file"
)]
#[case::directory_created(
    |tree: &Tree| fs::create_dir(tree.at("empty/new")).unwrap(),
    "empty/new: created as a directory"
)]
#[case::removed(
    |tree: &Tree| fs::remove_file(tree.at("outside/file")).unwrap(),
    "outside/file: removed; it was a file"
)]
#[case::content(
    |tree: &Tree| fs::write(tree.at("outside/file"), "other").unwrap(),
    r#"outside/file: content changed from "outside\n" to "other""#
)]
#[case::content_of_the_same_length_and_times(
    |tree: &Tree| forge(&tree.at("outside/file"), "OUTSIDE\n"),
    r#"outside/file: content changed from "outside\n" to "OUTSIDE\n""#
)]
#[case::end_of_a_large_file(
    |tree: &Tree| forge(&tree.at("outside/large"), &("x".repeat(199_999) + "y")),
    "outside/large: content changed"
)]
#[case::mode(
    |tree: &Tree| set_mode(&tree.at("outside/file"), 0o4711),
    "outside/file: mode changed from 0644 to 4711"
)]
#[case::touched(
    |tree: &Tree| {
        let file = File::options().write(true).open(tree.at("outside/file")).unwrap();
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        file.set_times(FileTimes::new().set_modified(then)).unwrap();
    },
    "outside/file: modification time changed"
)]
#[case::status(
    // Until the clock of the file system has moved on.
    |tree: &Tree| {
        let path = tree.at("outside/file");
        let changed = |path: &Path| {
            use std::os::unix::fs::MetadataExt;
            let found = fs::metadata(path).unwrap();
            (found.ctime(), found.ctime_nsec())
        };
        let before = changed(&path);
        while changed(&path) == before {
            set_mode(&path, 0o600);
            set_mode(&path, 0o644);
        }
    },
    "outside/file: status changed: attributes, or something set and set back"
)]
#[case::hard_link_made(
    |tree: &Tree| fs::hard_link(tree.at("outside/file"), tree.at("workspace/twin")).unwrap(),
    "outside/file: number of hard links changed from 1 to 2"
)]
#[case::kind(
    |tree: &Tree| {
        fs::remove_file(tree.at("outside/empty")).unwrap();
        fs::create_dir(tree.at("outside/empty")).unwrap();
    },
    "outside/empty: changed from a file to a directory"
)]
#[case::target(
    |tree: &Tree| {
        let link = tree.at("outside/link");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("large", &link).unwrap();
    },
    r#"target changed from "file" to "large""#
)]
#[case::replaced(
    |tree: &Tree| {
        fs::write(tree.at("workspace/other"), "outside\n").unwrap();
        fs::rename(tree.at("workspace/other"), tree.at("outside/file")).unwrap();
    },
    "outside/file: replaced by another"
)]
#[case::written_to_a_pipe(
    |tree: &Tree| {
        use std::io::Write;
        let path = tree.at("outside/pipe");
        let mut pipe = File::options().read(true).write(true).open(path).unwrap();
        pipe.write_all(b"x").unwrap();
    },
    "outside/pipe: modification time changed"
)]
#[case::made_and_removed(
    |tree: &Tree| {
        let clock = |tree: &Tree| fs::metadata(tree.at("empty")).unwrap().modified().unwrap();
        let before = clock(tree);
        while clock(tree) == before {
            fs::write(tree.at("empty/new"), "x").unwrap();
            fs::remove_file(tree.at("empty/new")).unwrap();
        }
    },
    "empty: modification time changed"
)]
fn a_difference_is_found(#[case] action: fn(&Tree), #[case] expected: &str) {
    let tree = Tree::new();
    set_mode(&tree.at("outside/file"), 0o644);
    let except = [tree.at("workspace")];
    let found = differences(&tree, &except, action);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(expected), "{found:?}");
}

#[test]
fn reading_is_no_difference() {
    let tree = Tree::new();
    let found = differences(&tree, &[], |tree| {
        fs::read(tree.at("outside/file")).unwrap();
        fs::read_dir(tree.at("outside")).unwrap().count();
        tree.snapshot();
    });
    assert_eq!(found, [""; 0]);
}

#[test]
fn an_excepted_directory_may_change_within() {
    let tree = Tree::new();
    let change_within = |tree: &Tree| {
        fs::write(tree.at("workspace/file"), "other").unwrap();
        fs::create_dir(tree.at("workspace/new")).unwrap();
        fs::remove_dir(tree.at("workspace/sub")).unwrap();
    };
    let except = [tree.at("workspace")];
    assert_eq!(differences(&tree, &except, change_within), [""; 0]);
    let found = differences(&tree, &except, |tree| {
        set_mode(&tree.at("workspace"), 0o700);
    });
    assert_eq!(
        found,
        ["workspace: mode changed from 0755 to 0700"],
        "its own mode counts"
    );
    let found = differences(&tree, &except, |tree| {
        fs::rename(tree.at("workspace"), tree.at("moved")).unwrap();
        fs::create_dir(tree.at("workspace")).unwrap();
        set_mode(&tree.at("workspace"), 0o700);
    });
    assert!(
        found.contains(&"workspace: replaced by another".to_owned()),
        "{found:?}"
    );
}

#[test]
fn one_snapshot_serves_for_every_exception() {
    let tree = Tree::new();
    let before = tree.snapshot();
    fs::write(tree.at("workspace/new"), "x").unwrap();
    fs::write(tree.at("outside/sub/new"), "x").unwrap();
    let after = tree.snapshot();
    let except = [tree.at("workspace")];
    assert_eq!(
        words(&tree, before.differences_except(&after, &except)),
        ["outside/sub/new: created as a file"]
    );
    assert_eq!(before.differences(&after).len(), 2);
    assert_eq!(before.written(&after, &except), [tree.at("workspace/new")]);
    assert_eq!(
        before.difference_at(&after, &tree.at("outside")).unwrap(),
        "sub/new: created as a file"
    );
    assert_eq!(
        before
            .difference_at(&after, &tree.at("outside/sub/new"))
            .unwrap(),
        "created as a file"
    );
    assert_eq!(before.difference_at(&after, &tree.at("empty")), None);
    assert_eq!(before.difference_at(&after, &tree.at("none")), None);
}

#[test]
fn what_can_be_listed_and_not_entered_stays_unknown() {
    let tree = Tree::new();
    set_mode(&tree.at("outside/sub"), 0o400);
    let found = differences(&tree, &[], |_| {});
    assert_eq!(found, [""; 0]);
    set_mode(&tree.at("outside/sub"), 0o755);
}

#[test]
fn what_cannot_be_read_stays_unknown_and_closed() {
    let tree = Tree::new();
    set_mode(&tree.at("outside/file"), 0);
    set_mode(&tree.at("outside/sub"), 0);
    let found = differences(&tree, &[], |_| {});
    assert_eq!(found, [""; 0]);
    assert_eq!(
        fs::metadata(tree.at("outside/sub"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0
    );
    set_mode(&tree.at("outside/sub"), 0o755);
}

#[test]
fn a_deep_tree_shows_by_its_top() {
    let tree = Tree::new();
    let found = differences(&tree, &[], |tree| {
        fs::create_dir_all(tree.at("empty").join("d/".repeat(200))).unwrap();
    });
    assert_eq!(found[0], "empty/d: created as a directory");
}

#[test]
fn a_root_that_is_not_there_is_an_error() {
    assert!(Snapshot::take(Path::new("/nonexistent"), &[]).is_err());
}
