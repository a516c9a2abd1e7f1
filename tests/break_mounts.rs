//! Hosts on which the same files are at two places, and on which /tmp is a link.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod launch;

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;
use launch::Fixture;
use rstest::rstest;

const PERIMETER: &str = env!("CARGO_BIN_EXE_perimeter");

/// The whole host, with a directory mounted a second time.
fn with_second_place(of: &Path, at: &Path) -> Command {
    let mut command = Command::new("bwrap");
    command.args(["--unshare-user", "--dev-bind", "/", "/", "--bind"]);
    command.arg(of).arg(at).args(["--", PERIMETER, "exec"]);
    command
}

#[rstest]
fn a_hidden_path_is_hidden_at_its_second_place(
    #[values("strict", "host-readable")] posture: &str,
    #[values("secret", "secret/key", "secret/absent")] hidden: &str,
) {
    let fixture = Fixture::at_home();
    fixture.file("secret/key", "KEY\n");
    let again = fixture.directory("workspace/again");
    let hidden = fixture.path(hidden);
    let document = format!(
        r#"{{ "version": 1, "posture": "{posture}", "hidden": ["{}"] }}"#,
        hidden.display()
    );
    let policy = fixture.file("policy.json", &document);
    with_second_place(&fixture.path("secret"), &again)
        .arg("--policy")
        .arg(policy)
        .args(["--", "bash", "-c"])
        .arg(
            "cat again/key > read; echo planted > again/absent; mkdir -p again/beside; \
              ls again > list; echo ended",
        )
        .current_dir(fixture.workspace())
        .assert()
        .code(0)
        .stdout("ended\n");
    let read = fs::read_to_string(fixture.path("workspace/read")).unwrap();
    if hidden.ends_with("absent") {
        assert_eq!(read, "KEY\n");
        assert!(!hidden.exists(), "it was created at its second place");
    } else {
        assert_eq!(read, "");
    }
    // What is not hidden stays.
    assert_eq!(
        fixture.path("secret/beside").exists(),
        !hidden.ends_with("secret")
    );
}

/// What a grant names by the second path is granted.
#[test]
fn a_workspace_at_the_second_place_of_a_hidden_path_works() {
    let fixture = Fixture::at_home();
    let data = fixture.directory("data");
    let document = format!(
        r#"{{ "version": 1, "posture": "host-readable", "hidden": ["{}"] }}"#,
        data.display()
    );
    let policy = fixture.file("policy.json", &document);
    with_second_place(&data, &fixture.workspace())
        .arg("--workspace")
        .arg(fixture.workspace())
        .arg("--policy")
        .arg(policy)
        .args(["--", "bash", "-c", "echo kept > new && cat new"])
        .assert()
        .code(0)
        .stdout("kept\n");
    assert!(data.join("new").exists());
}

/// Some hosts have /tmp in /var, or on another disk.
#[rstest]
fn a_linked_temporary_directory_is_private(
    #[values("strict", "host-readable")] posture: &str,
    #[values("/var/tmp", "var/tmp")] target: &str,
) {
    let fixture = Fixture::at_home();
    let host = fixture.directory("temporary");
    fs::create_dir(host.join("work")).unwrap();
    fs::write(host.join("note"), "KEY\n").unwrap();
    let mut command = Command::new("bwrap");
    command.args(["--unshare-user", "--dir", "/var"]);
    for path in ["/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64"] {
        match fs::read_link(path) {
            Ok(link) => command.arg("--symlink").arg(link).arg(path),
            Err(_) => command.args(["--ro-bind-try", path, path]),
        };
    }
    command.arg("--bind").arg(&host).arg("/var/tmp");
    command.args(["--symlink", target, "/tmp", "--dev-bind", "/proc", "/proc"]);
    command.args(["--dev", "/dev", "--dir", "/opt"]);
    command.args(["--ro-bind", PERIMETER, "/opt/perimeter"]);
    command.args(["--chdir", "/tmp/work", "--clearenv", "--setenv"]);
    command.args(["PATH", "/usr/bin:/bin", "--setenv", "PWD", "/tmp/work"]);
    command.args(["/opt/perimeter", "exec", "--posture", posture, "--"]);
    command.args(["bash", "-c"]);
    command.arg("cat /tmp/note; echo left > /tmp/left; echo kept > new; pwd");
    command.assert().code(0).stdout("/tmp/work\n");
    assert_eq!(fs::read_to_string(host.join("work/new")).unwrap(), "kept\n");
    assert!(!host.join("left").exists());
}
