//! Where links lead a guard, and where not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use perimeter::Policy;
use perimeter::guard::{Access, Guard, GuardError};
use rstest::{fixture, rstest};
use tempfile::TempDir;

struct Place {
    base: PathBuf,
    _directory: TempDir,
}

impl Place {
    fn path(&self, rest: &str) -> PathBuf {
        self.base.join(rest)
    }

    fn guard(&self) -> Guard {
        let policy = Policy {
            read_write: vec![self.path("output")],
            hidden: vec![
                self.path("workspace/private"),
                self.path("workspace/single"),
                self.path("workspace/hidden-link"),
            ],
            ..Policy::strict()
        };
        Guard::for_tools(&policy, self.path("workspace")).unwrap()
    }
}

#[fixture]
fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().canonicalize().unwrap();
    for name in ["workspace/sub", "workspace/private", "output", "outside"] {
        fs::create_dir_all(base.join(name)).unwrap();
    }
    for name in [
        "workspace/file",
        "workspace/target",
        "workspace/single",
        "workspace/private/key",
        "output/file",
        "outside/file",
    ] {
        fs::write(base.join(name), name).unwrap();
    }
    symlink("target", base.join("workspace/hidden-link")).unwrap();
    Place {
        base,
        _directory: directory,
    }
}

fn text(guard: &Guard, path: impl AsRef<Path>) -> Result<String, GuardError> {
    let mut text = String::new();
    guard.open(path)?.read_to_string(&mut text).unwrap();
    Ok(text)
}

#[rstest]
#[case::beside("link", "file")]
#[case::from_below("sub/link", "../file")]
#[case::by_a_detour("link", "sub/../file")]
#[case::directory("link/../file", "sub")]
#[cfg(target_os = "linux")]
fn links_within_the_workspace_are_followed(place: Place, #[case] path: &str, #[case] target: &str) {
    let link = path.strip_suffix("/../file").unwrap_or(path);
    symlink(target, place.path("workspace").join(link)).unwrap();
    assert_eq!(text(&place.guard(), path).unwrap(), "workspace/file");
    assert_eq!(place.guard().metadata(path).unwrap().len(), 14);
}

#[rstest]
#[case::beside("link", "file")]
#[case::directory("link/x", "sub")]
#[case::out("link", "../outside/file")]
fn no_link_is_followed_where_none_is_wanted(
    place: Place,
    #[case] path: &str,
    #[case] target: &str,
) {
    symlink(target, place.path("workspace/link")).unwrap();
    let guard = place.guard().without_links();
    for error in [
        guard.open(path).unwrap_err(),
        guard.open_with(path, Access::Append).unwrap_err(),
        guard.create(path).unwrap_err(),
    ] {
        assert!(matches!(error, GuardError::Link { .. }), "{error}");
    }
}

#[rstest]
#[case::out("../outside/file", "")]
#[case::out_by_directory("../outside", "/file")]
#[case::to_a_grant("../output/file", "")]
#[case::to_the_root("../../../../../../../../..", "/etc/passwd")]
#[case::absolute("/etc/passwd", "")]
#[case::absolute_directory("/etc", "/passwd")]
#[case::magic("/proc/self/root", "/etc/passwd")]
#[case::out_and_back("../workspace/file", "")]
fn links_that_leave_are_not_followed(place: Place, #[case] target: &str, #[case] rest: &str) {
    symlink(target, place.path("workspace/link")).unwrap();
    let path = format!("link{rest}");
    let guard = place.guard();
    let errors = [
        guard.open(&path).unwrap_err(),
        guard.open_with(&path, Access::Write).unwrap_err(),
        guard.metadata(&path).unwrap_err(),
        guard.list(&path).unwrap_err(),
        guard.create(&path).unwrap_err(),
    ];
    for error in errors {
        let refused = matches!(error, GuardError::Outside { .. } | GuardError::Link { .. });
        assert!(refused, "{error}");
    }
    assert_eq!(
        fs::read_to_string(place.path("outside/file")).unwrap(),
        "outside/file"
    );
}

#[rstest]
fn an_absolute_link_back_into_the_workspace_is_not_followed(place: Place) {
    symlink(place.path("workspace/file"), place.path("workspace/link")).unwrap();
    let error = place.guard().open("link").unwrap_err();
    assert!(
        matches!(error, GuardError::Outside { .. } | GuardError::Link { .. }),
        "{error}"
    );
}

#[rstest]
#[case::to_itself("link")]
#[case::in_a_circle("sub/back")]
fn circles_end(place: Place, #[case] target: &str) {
    symlink(target, place.path("workspace/link")).unwrap();
    symlink("../link", place.path("workspace/sub/back")).unwrap();
    let error = place.guard().open("link").unwrap_err();
    assert!(matches!(error, GuardError::Link { .. }), "{error}");
}

#[rstest]
#[case::beneath("sub/new")]
#[case::outside("../outside/new")]
#[case::absolute("/tmp/perimeter-must-not-exist")]
fn a_dangling_link_makes_nothing(place: Place, #[case] target: &str) {
    symlink(target, place.path("workspace/link")).unwrap();
    let guard = place.guard();
    assert!(guard.open("link").is_err());
    assert!(guard.open_with("link", Access::Write).is_err());
    let error = guard.create("link").unwrap_err();
    assert!(matches!(error, GuardError::Link { .. }), "{error}");
    assert!(guard.create_dir("link").is_err());
    assert!(!place.path("workspace").join(target).exists());
}

#[rstest]
#[case::to_the_file("private/key", "")]
#[case::to_the_directory("private", "/key")]
#[case::to_a_hidden_file("single", "")]
#[case::by_a_detour("sub/../private", "/key")]
fn a_link_does_not_uncover(place: Place, #[case] target: &str, #[case] rest: &str) {
    symlink(target, place.path("workspace/alias")).unwrap();
    let guard = place.guard();
    let path = format!("alias{rest}");
    for error in [
        guard.open(&path).unwrap_err(),
        guard.metadata(&path).unwrap_err(),
        guard.list(&path).unwrap_err(),
    ] {
        let refused = matches!(error, GuardError::Hidden { .. } | GuardError::Link { .. });
        assert!(refused, "{error}");
    }
}

#[rstest]
#[cfg(target_os = "linux")]
fn what_is_made_through_a_link_is_not_made_in_a_hidden_place(place: Place) {
    symlink("private", place.path("workspace/alias")).unwrap();
    let guard = place.guard();
    for error in [
        guard.create("alias/new").map(drop).unwrap_err(),
        guard.create_dir("alias/new").unwrap_err(),
        guard.rename("file", "alias/new").unwrap_err(),
        guard.rename("alias/key", "new").unwrap_err(),
        guard.remove("alias/key").unwrap_err(),
    ] {
        assert!(matches!(error, GuardError::Hidden { .. }), "{error}");
    }
}

/// Hiding a link hides what it led to when the guard was made.
#[rstest]
fn a_hidden_link_hides_its_target(place: Place) {
    for path in ["hidden-link", "target"] {
        let error = place.guard().open(path).unwrap_err();
        assert!(
            matches!(error, GuardError::Hidden { .. }),
            "{path}: {error}"
        );
    }
}

#[rstest]
fn a_second_name_of_a_hidden_file_is_hidden(place: Place) {
    fs::hard_link(
        place.path("workspace/single"),
        place.path("workspace/second"),
    )
    .unwrap();
    let guard = place.guard();
    for error in [
        guard.open("second").unwrap_err(),
        guard.create("second").unwrap_err(),
        guard.metadata("second").unwrap_err(),
    ] {
        assert!(matches!(error, GuardError::Hidden { .. }), "{error}");
    }
}

/// The file is in the workspace, whatever other names it has.
#[rstest]
fn a_hard_link_is_a_name_like_any_other(place: Place) {
    fs::hard_link(place.path("workspace/file"), place.path("workspace/second")).unwrap();
    assert_eq!(text(&place.guard(), "second").unwrap(), "workspace/file");
    fs::hard_link(place.path("outside/file"), place.path("workspace/third")).unwrap();
    assert_eq!(text(&place.guard(), "third").unwrap(), "outside/file");
}

#[rstest]
#[case::relative("workspace")]
#[case::absolute("")]
fn a_workspace_behind_a_link_has_two_spellings(place: Place, #[case] target: &str) {
    let target = if target.is_empty() {
        place.path("workspace")
    } else {
        target.into()
    };
    symlink(target, place.path("alias")).unwrap();
    let policy = Policy {
        hidden: vec![place.path("alias/private")],
        ..Policy::strict()
    };
    let guard = Guard::for_tools(&policy, place.path("alias")).unwrap();
    assert_eq!(guard.workspace(), place.path("workspace"));
    for path in ["alias/file", "workspace/file"] {
        assert_eq!(text(&guard, place.path(path)).unwrap(), "workspace/file");
    }
    assert_eq!(text(&guard, "file").unwrap(), "workspace/file");
    for path in ["alias/private/key", "workspace/private/key"] {
        let error = guard.open(place.path(path)).unwrap_err();
        assert!(matches!(error, GuardError::Hidden { .. }), "{error}");
    }
    // What the alias leads to later is another matter.
    fs::remove_file(place.path("alias")).unwrap();
    symlink("outside", place.path("alias")).unwrap();
    assert_eq!(
        text(&guard, place.path("alias/file")).unwrap(),
        "workspace/file"
    );
}

#[rstest]
fn a_grant_that_becomes_a_link_grants_nothing_more(place: Place) {
    let guard = place.guard();
    fs::rename(place.path("output"), place.path("moved")).unwrap();
    symlink("outside", place.path("output")).unwrap();
    let error = guard.open(place.path("output/file")).unwrap_err();
    assert!(matches!(error, GuardError::Moved { .. }), "{error}");
    let error = guard.create(place.path("output/new")).unwrap_err();
    assert!(matches!(error, GuardError::Moved { .. }), "{error}");
    assert!(!place.path("outside/new").exists());
    assert_eq!(text(&guard, "file").unwrap(), "workspace/file");
}

#[rstest]
#[cfg(target_os = "linux")]
fn a_name_that_looks_deleted_is_a_name(place: Place) {
    let guard = place.guard();
    fs::write(place.path("workspace/x (deleted)"), "here").unwrap();
    assert_eq!(text(&guard, "x (deleted)").unwrap(), "here");
}
