//! What may stand where a policy's file is named.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use perimeter::policy::PolicyError;
use perimeter::{Network, Policy};
use rstest::{fixture, rstest};
use tempfile::TempDir;

const OFFLINE: &str = r#"{ "version": 1, "network": "none" }"#;

#[fixture]
fn directory() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn real(directory: &TempDir) -> PathBuf {
    directory.path().canonicalize().unwrap()
}

#[rstest]
fn a_file_is_read_and_remembered(directory: TempDir) {
    let path = directory.path().join("policy.json");
    fs::write(&path, OFFLINE).unwrap();
    let policy = Policy::from_file(&path).unwrap();
    assert_eq!(policy.network, Network::None);
    assert_eq!(policy.source, Some(real(&directory).join("policy.json")));
}

#[rstest]
fn the_source_has_neither_links_nor_dots_above_it(directory: TempDir) {
    let base = real(&directory);
    fs::create_dir_all(base.join("real/inner")).unwrap();
    symlink("real", base.join("alias")).unwrap();
    let policy = Policy::from_file(base.join("alias/inner/../policy.json")).unwrap();
    assert_eq!(policy.source, Some(base.join("real/policy.json")));
}

#[rstest]
#[case::absent(None)]
#[case::empty(Some(""))]
#[case::white_space(Some(" \n\n"))]
fn absent_and_empty_mean_strict(directory: TempDir, #[case] text: Option<&str>) {
    let path = directory.path().join("policy.json");
    if let Some(text) = text {
        fs::write(&path, text).unwrap();
    }
    let policy = Policy::from_file(&path).unwrap();
    let source = Some(real(&directory).join("policy.json"));
    assert_eq!(
        policy,
        Policy {
            source,
            ..Policy::strict()
        }
    );
}

#[rstest]
#[case::directory(|path: &Path| fs::create_dir(path).unwrap(), "is a directory, not a file")]
#[case::pipe(|path: &Path| mkfifo(path, Mode::S_IRWXU).unwrap(), "is a pipe, not a file")]
#[case::device(|path: &Path| symlink("/dev/zero", path).unwrap(), "is a device, not a file")]
#[case::socket(|path: &Path| drop(std::os::unix::net::UnixListener::bind(path).unwrap()), "cannot be read")]
#[case::link_to_nothing(|path: &Path| symlink("absent", path).unwrap(), "leads nowhere")]
#[case::link_to_itself(|path: &Path| symlink("policy.json", path).unwrap(), "cannot be read")]
#[case::huge(|path: &Path| fs::write(path, vec![b' '; 1024 * 1024 + 1]).unwrap(), "is larger than 1024 KiB")]
fn not_a_document(directory: TempDir, #[case] make: fn(&Path), #[case] problem: &str) {
    let path = directory.path().join("policy.json");
    make(&path);
    match Policy::from_file(&path) {
        Err(PolicyError::File(error)) => {
            assert!(error.problem.contains(problem), "{error}");
            assert_eq!(error.file, path);
            assert!(!error.remedy.is_empty());
        }
        other => panic!("gave {other:?}"),
    }
}

#[rstest]
fn a_file_as_a_directory_is_no_absent_file(directory: TempDir) {
    fs::write(directory.path().join("file"), "").unwrap();
    match Policy::from_file(directory.path().join("file/policy.json")) {
        Err(PolicyError::File(error)) => {
            let source = error.source.as_ref().map(std::io::Error::kind);
            assert_eq!(source, Some(ErrorKind::NotADirectory), "{error}");
        }
        other => panic!("gave {other:?}"),
    }
}

#[rstest]
fn the_largest_file_is_read(directory: TempDir) {
    let path = directory.path().join("policy.json");
    let padding = 1024 * 1024 - OFFLINE.len();
    fs::write(&path, OFFLINE.to_owned() + &" ".repeat(padding)).unwrap();
    assert_eq!(Policy::from_file(&path).unwrap().network, Network::None);
}

#[rstest]
#[case::at_once(b"\xff\xfe{}", 1, 1)]
#[case::later(b"{\n \"versi\xc3\xb6n\xff\": 1}", 2, 10)]
#[case::cut(b"{}\n\xe2\x82", 2, 1)]
fn not_utf_8(directory: TempDir, #[case] bytes: &[u8], #[case] line: usize, #[case] column: usize) {
    let path = directory.path().join("policy.json");
    fs::write(&path, bytes).unwrap();
    let error = Policy::from_file(&path).unwrap_err();
    let refusal = error.refusal().unwrap();
    assert_eq!((refusal.line, refusal.column), (line, column), "{refusal}");
    assert!(refusal.problem.contains("not UTF-8"), "{refusal}");
}
