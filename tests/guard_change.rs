//! What a guard makes, removes and moves.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use perimeter::Policy;
use perimeter::guard::{Guard, GuardError};
use rstest::{fixture, rstest};
use tempfile::TempDir;

struct Place {
    base: PathBuf,
    guard: Guard,
    _directory: TempDir,
}

impl Place {
    fn path(&self, rest: &str) -> PathBuf {
        self.base.join(rest)
    }

    fn text(&self, rest: &str) -> String {
        fs::read_to_string(self.path(rest)).unwrap()
    }
}

#[fixture]
fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().canonicalize().unwrap();
    for name in [
        "workspace/sub",
        "workspace/deep/private",
        "reference",
        "output",
        "outside",
    ] {
        fs::create_dir_all(base.join(name)).unwrap();
    }
    for name in [
        "workspace/file",
        "workspace/deep/private/key",
        "reference/file",
        "output/file",
        "outside/file",
        "outside/single",
    ] {
        fs::write(base.join(name), name).unwrap();
    }
    let policy = Policy {
        read_only: vec![base.join("reference")],
        read_write: vec![base.join("output"), base.join("outside/single")],
        hidden: vec![
            base.join("workspace/deep/private"),
            base.join("workspace/later/private"),
        ],
        ..Policy::strict()
    };
    let guard = Guard::for_tools(&policy, base.join("workspace")).unwrap();
    Place {
        base,
        guard,
        _directory: directory,
    }
}

#[rstest]
#[case::workspace("workspace/new")]
#[case::beneath("workspace/sub/new")]
#[case::grant("output/new")]
#[case::existing("workspace/file")]
#[case::a_granted_file("outside/single")]
fn create(place: Place, #[case] path: &str) {
    let file = place.guard.create(place.path(path));
    file.unwrap().write_all(b"short").unwrap();
    assert_eq!(place.text(path), "short");
}

#[rstest]
fn create_by_a_relative_path(place: Place) {
    place
        .guard
        .create("sub/../new")
        .unwrap()
        .write_all(b"x")
        .unwrap();
    assert_eq!(place.text("workspace/new"), "x");
    place.guard.create_dir("made").unwrap();
    place.guard.create("made/new").unwrap();
    assert!(place.path("workspace/made/new").exists());
}

#[rstest]
#[case::up("../new")]
#[case::sibling("../outside/new")]
#[case::through_a_link("out/new")]
#[case::through_an_absolute_link("absolute/new")]
fn nothing_is_made_outside(place: Place, #[case] path: &str) {
    symlink("../outside", place.path("workspace/out")).unwrap();
    symlink(place.path("outside"), place.path("workspace/absolute")).unwrap();
    let errors = [
        place.guard.create(path).map(drop).unwrap_err(),
        place.guard.create_dir(path).unwrap_err(),
        place.guard.rename("file", path).unwrap_err(),
        place.guard.rename(path, "new").unwrap_err(),
        place.guard.remove(path).unwrap_err(),
        place.guard.remove_dir(path).unwrap_err(),
    ];
    for error in errors {
        let refused = matches!(error, GuardError::Outside { .. } | GuardError::Link { .. });
        assert!(refused, "{error}");
    }
    assert!(!place.path("new").exists() && !place.path("outside/new").exists());
}

#[rstest]
fn a_read_only_grant_stays_as_it_is(place: Place) {
    let file = place.path("reference/file");
    let new = place.path("reference/new");
    let errors = [
        place.guard.create(&file).map(drop).unwrap_err(),
        place.guard.create(&new).map(drop).unwrap_err(),
        place.guard.create_dir(&new).unwrap_err(),
        place.guard.remove(&file).unwrap_err(),
        place.guard.remove_dir(&file).unwrap_err(),
        place.guard.rename(&file, "new").unwrap_err(),
        place.guard.rename("file", &new).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, GuardError::ReadOnly { .. }), "{error}");
    }
    assert_eq!(place.text("reference/file"), "reference/file");
}

#[rstest]
#[case::parent("..", "Outside")]
#[case::back("sub/..", "NoName")]
#[case::here(".", "Root")]
#[case::nothing("", "Path")]
#[case::absent_directory("absent/new", "System")]
#[case::through_a_file("file/new", "System")]
fn no_name_to_change(place: Place, #[case] path: &str, #[case] expected: &str) {
    let errors = [
        place.guard.create_dir(path).unwrap_err(),
        place.guard.remove(path).unwrap_err(),
        place.guard.remove_dir(path).unwrap_err(),
        place.guard.rename(path, "new").unwrap_err(),
        place.guard.rename("file", path).unwrap_err(),
    ];
    for error in errors {
        let shown = format!("{error:?}");
        // A final `..` is refused before anyone looks where it leads.
        let expected = if path == ".." { "NoName" } else { expected };
        assert!(shown.starts_with(expected), "{path:?}: {shown}");
    }
}

#[rstest]
#[case::workspace("workspace")]
#[case::grant("output")]
#[case::a_granted_file("outside/single")]
fn a_root_stays_where_it_is(place: Place, #[case] root: &str) {
    let root = place.path(root);
    for error in [
        place.guard.remove(&root).unwrap_err(),
        place.guard.remove_dir(&root).unwrap_err(),
        place.guard.rename(&root, "new").unwrap_err(),
        place.guard.rename("file", &root).unwrap_err(),
    ] {
        assert!(matches!(error, GuardError::Root { .. }), "{error}");
    }
}

#[rstest]
fn remove(place: Place) {
    symlink("../outside/file", place.path("workspace/link")).unwrap();
    place.guard.remove("link").unwrap();
    assert_eq!(place.text("outside/file"), "outside/file");
    place.guard.remove("file").unwrap();
    assert!(!place.path("workspace/file").exists());
    assert_eq!(
        place.guard.remove("file").unwrap_err().kind(),
        ErrorKind::NotFound
    );
    place.guard.remove_dir("sub").unwrap();
    assert!(!place.path("workspace/sub").exists());
    place.guard.remove(place.path("output/file")).unwrap();
}

#[rstest]
fn files_and_directories_are_removed_each_in_its_way(place: Place) {
    let error = place.guard.remove_dir("file").unwrap_err();
    assert!(matches!(error, GuardError::NotDirectory { .. }), "{error}");
    #[cfg(target_os = "linux")]
    {
        let error = place.guard.remove("sub").unwrap_err();
        assert!(matches!(error, GuardError::Directory { .. }), "{error}");
    }
    fs::write(place.path("workspace/sub/file"), "").unwrap();
    let error = place.guard.remove_dir("sub").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DirectoryNotEmpty);
    let error = place.guard.create_dir("sub").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(matches!(
        place.guard.create("sub"),
        Err(GuardError::Directory { .. })
    ));
}

#[rstest]
#[case::beside("file", "new")]
#[case::beneath("file", "sub/new")]
#[case::into_a_grant("file", "/output/new")]
#[case::over_another("file", "/output/file")]
#[case::a_directory("sub", "other")]
fn rename(place: Place, #[case] from: &str, #[case] to: &str) {
    let full = |path: &str| match path.strip_prefix('/') {
        Some(rest) => place.path(rest),
        None => place.path("workspace").join(path),
    };
    place.guard.rename(full(from), full(to)).unwrap();
    assert!(!full(from).exists());
    if from == "file" {
        assert_eq!(fs::read_to_string(full(to)).unwrap(), "workspace/file");
    }
}

#[rstest]
fn a_link_is_moved_and_not_followed(place: Place) {
    symlink("../outside/file", place.path("workspace/link")).unwrap();
    place.guard.rename("link", "moved").unwrap();
    assert!(place.path("workspace/moved").is_symlink());
    place.guard.rename("file", "moved").unwrap();
    assert_eq!(place.text("workspace/moved"), "workspace/file");
    assert_eq!(place.text("outside/file"), "outside/file");
}

#[rstest]
fn what_is_hidden_is_neither_moved_nor_replaced(place: Place) {
    for path in [
        "deep/private",
        "deep/private/key",
        "deep/private/new",
        "later/private",
    ] {
        fs::create_dir_all(place.path("workspace/later")).unwrap();
        let errors = [
            place.guard.create(path).map(drop).unwrap_err(),
            place.guard.create_dir(path).unwrap_err(),
            place.guard.remove(path).unwrap_err(),
            place.guard.remove_dir(path).unwrap_err(),
            place.guard.rename(path, "new").unwrap_err(),
            place.guard.rename("file", path).unwrap_err(),
        ];
        for error in errors {
            assert!(
                matches!(error, GuardError::Hidden { .. }),
                "{path}: {error}"
            );
        }
    }
    assert_eq!(
        place.text("workspace/deep/private/key"),
        "workspace/deep/private/key"
    );
}

#[rstest]
#[case::present("deep")]
#[case::absent_so_far("later")]
fn a_directory_above_a_hidden_path_stays(place: Place, #[case] path: &str) {
    fs::create_dir_all(place.path("workspace/later")).unwrap();
    for error in [
        place.guard.rename(path, "new").unwrap_err(),
        place.guard.rename("sub", path).unwrap_err(),
        place.guard.remove_dir(path).unwrap_err(),
    ] {
        assert!(
            matches!(error, GuardError::ContainsHidden { .. }),
            "{error}"
        );
    }
    // Beside it, work goes on.
    place.guard.create(format!("{path}/beside")).unwrap();
    place
        .guard
        .rename(format!("{path}/beside"), "moved")
        .unwrap();
}

#[rstest]
fn errors_are_io_errors_too(place: Place) {
    let error = std::io::Error::from(place.guard.create("../x").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(
        error
            .to_string()
            .contains("../x is outside of the workspace"),
        "{error}"
    );
    let error = std::io::Error::from(place.guard.open("absent").unwrap_err());
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(
        error.to_string(),
        "cannot open absent: no such file or directory; \
         check that it exists and its permissions"
    );
}
