//! What a guard opens, lists and describes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use perimeter::Policy;
use perimeter::guard::{Access, EntryKind, Guard, GuardError};
use rstest::{fixture, rstest};
use tempfile::TempDir;

/// A workspace, two grants and what is outside, side by side.
struct Place {
    base: PathBuf,
    _directory: TempDir,
}

impl Place {
    fn path(&self, rest: &str) -> PathBuf {
        self.base.join(rest)
    }

    fn policy(&self) -> Policy {
        Policy {
            read_only: vec![self.path("reference")],
            read_write: vec![self.path("output"), self.path("outside/single")],
            hidden: vec![self.path("workspace/private"), self.path("output/key")],
            ..Policy::strict()
        }
    }

    fn tools(&self) -> Guard {
        Guard::for_tools(&self.policy(), self.path("workspace")).unwrap()
    }

    fn plugins(&self) -> Guard {
        Guard::for_plugins(&self.policy(), self.path("workspace")).unwrap()
    }
}

#[fixture]
fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().canonicalize().unwrap();
    for name in [
        "workspace/sub",
        "workspace/private",
        "reference",
        "output",
        "outside",
    ] {
        fs::create_dir_all(base.join(name)).unwrap();
    }
    for name in [
        "workspace/file",
        "workspace/sub/file",
        "workspace/private/key",
        "reference/file",
        "output/file",
        "output/key",
        "outside/file",
        "outside/single",
        "workspace-other",
    ] {
        fs::write(base.join(name), name).unwrap();
    }
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
#[case::plain("file", "workspace/file")]
#[case::beneath("sub/file", "workspace/sub/file")]
#[case::dots("./sub/.././file", "workspace/file")]
#[case::slashes("sub//file", "workspace/sub/file")]
fn relative_paths(place: Place, #[case] path: &str, #[case] expected: &str) {
    for guard in [
        place.tools(),
        place.plugins(),
        place.tools().without_links(),
    ] {
        assert_eq!(text(&guard, path).unwrap(), expected);
    }
}

#[rstest]
#[case::workspace("workspace/file", true)]
#[case::back_into_it("workspace/sub/../file", true)]
#[case::read_only("reference/file", false)]
#[case::read_write("output/file", false)]
#[case::a_granted_file("outside/single", false)]
fn absolute_paths(place: Place, #[case] path: &str, #[case] plugins: bool) {
    let path = place.path(path);
    assert_eq!(
        text(&place.tools(), &path).unwrap(),
        fs::read_to_string(&path).unwrap()
    );
    assert_eq!(text(&place.plugins(), &path).is_ok(), plugins);
}

#[rstest]
#[case::sibling("outside/file")]
#[case::sibling_of_a_granted_file("outside/single2")]
#[case::prefix_of_a_name("workspace-other")]
#[case::above("")]
#[case::out_and_on("workspace/../outside/file")]
#[case::out_and_back("workspace/../workspace/file")]
#[case::deep("workspace/sub/../../outside/file")]
#[case::by_a_detour("outside/../workspace/file")]
fn outside(place: Place, #[case] path: &str) {
    for guard in [
        place.tools(),
        place.plugins(),
        place.tools().without_links(),
    ] {
        let error = guard.open(place.path(path)).unwrap_err();
        assert!(
            matches!(error, GuardError::Outside { .. }),
            "{path}: {error}"
        );
    }
}

#[rstest]
#[case::parent("..")]
#[case::sibling("../outside/file")]
#[case::grant("../output/file")]
#[case::far("../../../../../../../../../../etc/passwd")]
#[case::absolute("/etc/passwd")]
#[case::magic("/proc/self/root/etc/passwd")]
#[case::working_directory("/proc/self/cwd/Cargo.toml")]
#[case::descriptor("/dev/fd/0")]
fn outside_by_name(place: Place, #[case] path: &str) {
    for guard in [
        place.tools(),
        place.plugins(),
        place.tools().without_links(),
    ] {
        let error = guard.open(path).unwrap_err();
        assert!(
            matches!(error, GuardError::Outside { .. }),
            "{path}: {error}"
        );
    }
}

#[rstest]
#[case::empty("", "is empty")]
#[case::nul("a\0b", "holds a NUL")]
fn no_path(place: Place, #[case] path: &str, #[case] said: &str) {
    let error = place.tools().open(path).unwrap_err();
    assert!(error.to_string().contains(said), "{error}");
}

#[rstest]
#[case::directory("workspace/private")]
#[case::beneath("workspace/private/key")]
#[case::not_told_from_absent("workspace/private/absent")]
#[case::file("output/key")]
fn hidden(place: Place, #[case] path: &str) {
    let path = place.path(path);
    let guard = place.tools();
    let errors = [
        guard.open(&path).unwrap_err(),
        guard.metadata(&path).unwrap_err(),
        guard.list(&path).unwrap_err(),
        guard.open_with(&path, Access::Append).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, GuardError::Hidden { .. }), "{error}");
    }
}

#[rstest]
fn a_workspace_beneath_a_hidden_directory_is_there(place: Place) {
    let policy = Policy {
        hidden: vec![place.base.clone()],
        read_only: vec![place.path("reference")],
        ..Policy::strict()
    };
    let guard = Guard::for_tools(&policy, place.path("workspace")).unwrap();
    assert_eq!(text(&guard, "file").unwrap(), "workspace/file");
    assert_eq!(
        text(&guard, place.path("reference/file")).unwrap(),
        "reference/file"
    );
    assert!(guard.open(place.path("output/file")).is_err());
}

#[rstest]
fn access(place: Place) {
    let guard = place.tools();
    let mut file = guard.open_with("file", Access::Append).unwrap();
    file.rewind().unwrap();
    file.write_all(b"!").unwrap();
    assert_eq!(text(&guard, "file").unwrap(), "workspace/file!");

    guard
        .open_with("file", Access::Write)
        .unwrap()
        .write_all(b"W")
        .unwrap();
    assert_eq!(text(&guard, "file").unwrap(), "Workspace/file!");

    let mut file = guard.open_with("file", Access::ReadWrite).unwrap();
    let mut start = [0; 4];
    file.read_exact(&mut start).unwrap();
    file.write_all(b"SPACE").unwrap();
    assert_eq!(
        (&start, text(&guard, "file").unwrap().as_str()),
        (b"Work", "WorkSPACE/file!")
    );

    assert!(guard.open("file").unwrap().write_all(b"x").is_err());
}

#[rstest]
#[case::write(Access::Write)]
#[case::append(Access::Append)]
#[case::both(Access::ReadWrite)]
fn a_read_only_grant_is_not_written(place: Place, #[case] access: Access) {
    let path = place.path("reference/file");
    let error = place.tools().open_with(&path, access).unwrap_err();
    assert!(matches!(error, GuardError::ReadOnly { .. }), "{error}");
    place
        .tools()
        .open_with(place.path("output/file"), access)
        .unwrap();
    place
        .tools()
        .open_with(place.path("outside/single"), access)
        .unwrap();
}

/// Opening must not wait for the other end of a pipe, so the test ends at all.
#[rstest]
fn special_files_are_not_opened(place: Place, #[values(true, false)] links: bool) {
    mkfifo(&place.path("workspace/pipe"), Mode::S_IRWXU).unwrap();
    let _listener = UnixListener::bind(place.path("workspace/socket")).unwrap();
    let mut guard = place.tools();
    if !links {
        guard = guard.without_links();
    }
    for name in ["pipe", "socket"] {
        for access in [Access::Read, Access::Write, Access::ReadWrite] {
            let error = guard.open_with(name, access).unwrap_err();
            assert!(matches!(error, GuardError::Special { .. }), "{error}");
        }
        let error = guard.create(name).unwrap_err();
        assert!(matches!(error, GuardError::Special { .. }), "{error}");
    }
    #[cfg(target_os = "linux")]
    {
        let kind = guard.metadata("pipe").unwrap().file_type();
        assert!(std::os::unix::fs::FileTypeExt::is_fifo(&kind));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn devices_are_not_opened() {
    let policy = Policy {
        read_write: vec!["/dev/null".into()],
        ..Policy::strict()
    };
    let workspace = tempfile::tempdir().unwrap();
    let guard = Guard::for_tools(&policy, workspace.path()).unwrap();
    for access in [Access::Read, Access::Write] {
        let error = guard.open_with("/dev/null", access).unwrap_err();
        assert!(matches!(error, GuardError::Special { .. }), "{error}");
    }
}

#[rstest]
#[case::directory("sub", "is a directory")]
#[case::workspace(".", "is a directory")]
#[case::absent("absent", "no such file")]
#[case::file_as_a_directory("file/x", "not a directory")]
fn not_a_file(place: Place, #[case] path: &str, #[case] said: &str) {
    for guard in [place.tools(), place.tools().without_links()] {
        let error = guard.open(path).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[rstest]
fn a_list_is_sorted_and_shows_nothing_hidden(place: Place) {
    symlink("file", place.path("workspace/link")).unwrap();
    mkfifo(&place.path("workspace/pipe"), Mode::S_IRWXU).unwrap();
    let listed = place.tools().list("").map(|_| ()).unwrap_err();
    assert!(matches!(listed, GuardError::Path { .. }));
    let shown = |path: &Path| -> Vec<(String, EntryKind)> {
        let entries = place.tools().list(path).unwrap();
        let pair = |entry: perimeter::guard::Entry| (entry.name.into_string().unwrap(), entry.kind);
        entries.into_iter().map(pair).collect()
    };
    let expected = [
        ("file", EntryKind::File),
        ("link", EntryKind::Link),
        ("pipe", EntryKind::Other),
        ("sub", EntryKind::Directory),
    ];
    let expected = expected.map(|(name, kind)| (name.to_owned(), kind));
    assert_eq!(shown(Path::new(".")), expected);
    assert_eq!(shown(&place.path("workspace")), expected);
    assert_eq!(
        shown(&place.path("output")),
        [("file".to_owned(), EntryKind::File)]
    );
    let error = place.tools().list("file").unwrap_err();
    assert!(matches!(error, GuardError::NotDirectory { .. }), "{error}");
}

#[rstest]
fn metadata_is_the_file_s_own(place: Place) {
    let guard = place.tools();
    assert_eq!(guard.metadata("file").unwrap().len(), 14);
    assert!(guard.metadata(".").unwrap().is_dir());
    assert!(guard.metadata("absent").is_err());
}

#[rstest]
fn what_a_guard_is_not_made_of(place: Place) {
    let make = |policy: Policy, workspace: &str| {
        Guard::for_tools(&policy, place.path(workspace))
            .unwrap_err()
            .to_string()
    };
    let strict = Policy::strict;
    let grant = |path: &str| Policy {
        read_only: vec![place.path(path)],
        ..strict()
    };
    assert!(make(strict(), "absent").contains("no such file"));
    assert!(make(strict(), "workspace/file").contains("not a directory"));
    assert!(make(strict(), "/").contains("whole file system"));
    assert!(make(grant("absent"), "workspace").contains("no such file"));
    assert!(make(grant("workspace/sub"), "workspace").contains("overlap"));
    assert!(make(grant("workspace"), "workspace").contains("overlap"));
    assert!(make(grant("."), "workspace").contains("overlap"));
    // Overlap is a matter of real locations, so a link does not get round it.
    symlink("reference", place.path("alias")).unwrap();
    assert!(make(grant("reference"), "alias").contains("overlap"));
    let error = make(grant("alias/file"), "workspace");
    let real = place.path("reference/file");
    assert!(
        error.contains(&format!("write the real path, {}", real.display())),
        "{error}"
    );
    for inside in ["workspace/policy.json", "output/policy.json"] {
        let policy = Policy {
            source: Some(place.path(inside)),
            ..place.policy()
        };
        assert!(make(policy, "workspace").contains("where no command can change it"));
    }
    let policy = Policy {
        source: Some(place.path("reference/policy.json")),
        ..place.policy()
    };
    Guard::for_tools(&policy, place.path("workspace")).unwrap();
}
