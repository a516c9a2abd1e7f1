//! What a command can read and write, tried with real commands.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod launch;

use std::fs;

use launch::{Fixture, policy, text};
use perimeter::{Exit, Launcher, Policy, Posture};
use rstest::rstest;

#[rstest]
fn a_workspace_is_writable_at_its_own_path(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
    #[values(Fixture::at_home(), Fixture::at_tmp(), Fixture::at_var_tmp())] fixture: Fixture,
) {
    let output = fixture.run(&policy(posture), "pwd; echo made > made");
    assert_eq!(
        text(&output),
        format!("{}\n", fixture.workspace().display())
    );
    assert_eq!(
        fs::read_to_string(fixture.path("workspace/made")).unwrap(),
        "made\n"
    );
}

#[rstest]
fn a_workspace_in_var_tmp_works_by_a_link_in_it_too(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
) {
    let fixture = Fixture::at_var_tmp();
    let alias = fixture.path("alias");
    std::os::unix::fs::symlink(fixture.workspace(), &alias).unwrap();
    let launcher = Launcher::prepare(&policy(posture), &alias).unwrap();
    let output = launcher
        .shell("pwd; echo made > made; touch /var/tmp")
        .output();
    assert_eq!(text(&output.unwrap()), format!("{}\n", alias.display()));
    assert!(fixture.path("workspace/made").exists());
}

#[rstest]
#[case::beside("echo x > ../outside/canary")]
#[case::new("echo x > ../outside/new")]
#[case::link("ln -s ../outside out && echo x > out/canary")]
#[case::rename("mv ../outside ../elsewhere")]
#[case::system("touch /usr/new")]
#[case::configuration("touch /etc/new")]
#[case::root("touch /new")]
#[case::device_directory("touch /dev/new")]
fn nothing_else_can_be_written(
    #[case] line: &str,
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
    #[values(Fixture::at_home(), Fixture::at_tmp())] fixture: Fixture,
) {
    let before = fs::read_to_string(fixture.path("outside/canary")).unwrap();
    let output = fixture.run(&policy(posture), line);
    assert!(!output.exit.success(), "{output:?}");
    assert_eq!(
        fs::read_to_string(fixture.path("outside/canary")).unwrap(),
        before
    );
    assert!(!fixture.path("outside/new").exists());
}

#[test]
fn a_strict_command_has_private_directories_and_none_of_the_home() {
    let fixture = Fixture::at_home();
    let output = fixture.run(
        &Policy::strict(),
        "cat ../outside/canary; ls $(dirname \"$PWD\"); \
         for each in HOME TMPDIR XDG_RUNTIME_DIR XDG_DATA_HOME XDG_CACHE_HOME; do \
           test -w ${!each} || echo $each; done; mktemp > /dev/null; echo x > /dev/shm/x; \
         echo x > /var/tmp/x; cat /tmp/x",
    );
    assert_eq!(text(&output), "workspace\nx\n");
    let output = fixture.run(&Policy::strict(), "ls -A /tmp/home | wc -l; ls /dev/shm");
    assert_eq!(text(&output), "3\n", "only what the XDG variables name");
}

#[test]
fn a_host_readable_command_reads_everything_and_has_an_empty_tmp() {
    let fixture = Fixture::at_home();
    let output = fixture.run(
        &Policy::host_readable(),
        "cat ../outside/canary; ls -A /tmp; echo $HOME",
    );
    assert_eq!(
        text(&output),
        format!("secret\n{}\n", std::env::var("HOME").unwrap())
    );
}

#[rstest]
fn grants_are_what_they_say(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
    #[values(Fixture::at_home(), Fixture::at_tmp())] fixture: Fixture,
) {
    let mut policy = policy(posture);
    fixture.file("read/file", "readable\n");
    fixture.file("single", "one\n");
    policy.read_only = vec![fixture.path("read"), fixture.path("single")];
    policy.read_write = vec![fixture.directory("write")];
    let output = fixture.run(
        &policy,
        "cat ../read/file ../single; echo x > ../write/made && echo wrote; \
         echo x > ../read/file; echo x > ../read/new; echo x > ../single; true",
    );
    assert_eq!(text(&output), "readable\none\nwrote\n");
    assert_eq!(
        fs::read_to_string(fixture.path("write/made")).unwrap(),
        "x\n"
    );
    assert_eq!(
        fs::read_to_string(fixture.path("read/file")).unwrap(),
        "readable\n"
    );
    assert_eq!(fs::read_to_string(fixture.path("single")).unwrap(), "one\n");
    assert!(!fixture.path("read/new").exists());
}

#[rstest]
#[case("with space")]
#[case("ünïcödé")]
#[case("line\nbreak")]
#[case("'quotes\"")]
#[case("co:lon,comma")]
#[case("-dash")]
#[case("--bind")]
#[case("$(touch x)")]
fn odd_names_are_names(
    #[case] name: &str,
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
) {
    let fixture = Fixture::at_home();
    let workspace = fixture.directory(name);
    let launcher = Launcher::prepare(&policy(posture), &workspace).unwrap();
    let output = launcher
        .shell("printf %s \"$PWD\"; echo x > made")
        .output()
        .unwrap();
    assert_eq!(text(&output), workspace.to_str().unwrap());
    assert!(workspace.join("made").exists());
}

#[test]
fn a_name_need_not_be_unicode() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = Fixture::at_home();
    let workspace = fixture.path(std::ffi::OsStr::from_bytes(b"\xff\xfe"));
    fs::create_dir(&workspace).unwrap();
    let launcher = Launcher::prepare(&Policy::strict(), &workspace).unwrap();
    assert_eq!(
        launcher.shell("touch made").status().unwrap(),
        Exit::Code(0)
    );
    assert!(workspace.join("made").exists());
}

#[rstest]
fn both_spellings_of_a_linked_workspace_work(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
    #[values(Fixture::at_home(), Fixture::at_tmp())] fixture: Fixture,
    #[values(true, false)] absolute: bool,
) {
    fixture.file("workspace/file", "there\n");
    let target = if absolute {
        fixture.workspace()
    } else {
        "workspace".into()
    };
    let link = fixture.link("link", target);
    let launcher = Launcher::prepare(&policy(posture), &link).unwrap();
    let output = launcher
        .shell("printf '%s\\n' \"$PWD\"; cat file \"$(realpath .)/file\"; pwd -P; touch made")
        .output()
        .unwrap();
    let (link, real) = (link.display().to_string(), fixture.workspace());
    assert_eq!(
        text(&output),
        format!("{link}\nthere\nthere\n{}\n", real.display())
    );
    assert!(real.join("made").exists());
}

#[test]
fn the_private_home_moves_out_of_a_workspace_of_that_name() {
    let Ok(()) = fs::create_dir("/tmp/home") else {
        // Somebody has one: then it is theirs to use, and not to be tried out.
        assert!(fs::metadata("/tmp/home").is_ok());
        return;
    };
    let launcher = Launcher::prepare(&Policy::strict(), "/tmp/home");
    let output = launcher
        .unwrap()
        .shell("echo $HOME; ls -A; touch ~/x")
        .output()
        .unwrap();
    let left: Vec<_> = fs::read_dir("/tmp/home").unwrap().collect();
    fs::remove_dir_all("/tmp/home").unwrap();
    assert_eq!(text(&output), "/tmp/home-1\n");
    assert!(left.is_empty());
}

#[test]
fn many_grants_work() {
    let fixture = Fixture::at_home();
    let mut policy = Policy::strict();
    for number in 0..100 {
        policy
            .read_only
            .push(fixture.directory(&format!("many/{number}")));
    }
    let output = fixture.run(&policy, "ls ../many | wc -l");
    assert_eq!(text(&output), "100\n");
}

#[test]
fn more_than_bubblewrap_takes_is_refused_in_words() {
    let fixture = Fixture::at_home();
    let mut policy = Policy::strict();
    for number in 0..3100 {
        policy
            .read_only
            .push(fixture.directory(&format!("many/{number}")));
    }
    // A process that may hold few files open does not get as far as bubblewrap.
    let error = Launcher::prepare(&policy, fixture.workspace())
        .and_then(|launcher| launcher.command("true").spawn())
        .unwrap_err()
        .to_string();
    assert!(error.contains("common parents"), "{error}");
}
