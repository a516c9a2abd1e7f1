//! `perimeter exec`: what keeps a command from being started, and how that is told.
#![cfg(all(target_os = "linux", feature = "cli"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::{Path, PathBuf};

use predicates::str::contains;
use rstest::rstest;
use support::{Place, one_paragraph, plain};

/// Checks that a launch is refused in one paragraph which holds these words, and
/// that the command did not begin.
fn refused(place: &Place, flags: &[&str], words: &[&str]) {
    let begun = place.directory("writable").join("begun");
    let line = format!("touch begun; touch {}", begun.display());
    let mut all = vec!["exec"];
    all.extend(flags);
    all.extend(["--", "/bin/sh", "-c", &line]);
    check_refusal(place.perimeter(&all), words);
    assert_not_begun(place);
    assert!(!begun.exists());
}

fn check_refusal(mut command: assert_cmd::Command, words: &[&str]) {
    let mut assert = command
        .assert()
        .code(125)
        .stdout("")
        .stderr(one_paragraph());
    for word in words {
        assert = assert.stderr(contains(*word));
    }
}

fn assert_not_begun(place: &Place) {
    assert!(!place.path("workspace/begun").exists());
}

#[rstest]
#[case::broken("{ \"version\": 1", "policy.json:1:14: ")]
#[case::no_object("[]", "policy.json:1:1: ")]
#[case::unknown_field("{ \"version\": 1,\n  \"netwrok\": \"none\" }", "policy.json:2:3: ")]
#[case::unknown_value(
    "{ \"version\": 1,\n\"network\": \"some\" }",
    "policy.json:2:12: network: "
)]
#[case::unknown_version("{ \"version\": 2 }", "policy.json:1:14: version: ")]
#[case::wrong_type(
    "{ \"version\": 1, \"enabled\": \"no\" }",
    "policy.json:1:28: enabled: "
)]
#[case::relative(
    "{ \"version\": 1,\n\n\"read_only\": [\"/usr\", \"data\"] }",
    "policy.json:3:23: read_only[1]: "
)]
#[case::climbing("{ \"version\": 1, \"hidden\": [\"/a/../b\"] }", "hidden[0]: ")]
#[case::nul(
    "{ \"version\": 1, \"read_write\": [\"/a\\u0000b\"] }",
    "read_write[0]: "
)]
#[case::twice(
    "{ \"version\": 1, \"read_only\": [\"/opt\", \"/opt\"] }",
    "read_only[1]: "
)]
fn a_policy_that_is_wrong_is_refused_with_its_place(#[case] text: &str, #[case] words: &str) {
    let place = Place::new();
    let policy = place.file("policy.json", text);
    refused(
        &place,
        &["--policy", policy.to_str().unwrap()],
        &[words, "; "],
    );
}

#[rstest]
#[case::a_directory("directory", "directory")]
#[case::a_link_to_nothing("link", "link")]
fn a_policy_that_is_no_file_is_refused(#[case] name: &str, #[case] word: &str) {
    let place = Place::new();
    place.directory("directory");
    std::os::unix::fs::symlink("nowhere", place.path("link")).unwrap();
    refused(&place, &["--policy", &place.text(name)], &[name, word]);
}

#[test]
fn a_policy_that_this_user_cannot_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    if nix::unistd::geteuid().is_root() {
        // Root reads every file; a directory in the file's place is tried above.
        return;
    }
    let place = Place::new();
    let policy = place.file("policy.json", "{ \"version\": 1 }");
    std::fs::set_permissions(&policy, std::fs::Permissions::from_mode(0o000)).unwrap();
    refused(
        &place,
        &["--policy", policy.to_str().unwrap()],
        &["policy.json", "permission denied"],
    );
}

#[rstest]
#[case("nosuch.json")]
#[case("deep/nosuch.json")]
fn a_policy_in_the_workspace_that_is_not_there_is_refused_for_that(#[case] name: &str) {
    let place = Place::new();
    let policy = place.path("workspace").join(name);
    refused(
        &place,
        &["--policy", policy.to_str().unwrap()],
        &[name, "does not exist"],
    );
    assert!(!policy.exists());
}

#[test]
fn a_command_without_hyphens_before_it_is_told_where_they_stand() {
    let place = Place::new();
    check_refusal(
        place.perimeter(&["exec", "touch", "begun"]),
        &["write `-- touch`"],
    );
    assert_not_begun(&place);
}

#[rstest]
#[case("workspace/policy.json")]
#[case("workspace/deep/policy.json")]
fn a_policy_that_the_command_could_change_is_refused(#[case] name: &str) {
    let place = Place::new();
    let policy = place.file(name, "{ \"version\": 1 }");
    refused(
        &place,
        &["--policy", policy.to_str().unwrap()],
        &["holds the policy", "workspace"],
    );
    let beside = place.file("writable/policy.json", "");
    let text = format!(
        "{{ \"version\": 1, \"read_write\": [\"{}\"] }}",
        place.text("writable")
    );
    std::fs::write(&beside, text).unwrap();
    refused(
        &place,
        &["--policy", beside.to_str().unwrap()],
        &["holds the policy", "writable"],
    );
}

fn home() -> String {
    std::env::var("HOME").unwrap()
}

#[rstest]
#[case::root("/".to_owned(), "directory of the system")]
#[case::home(home(), "choose a directory of its own")]
#[case::temporary("/tmp".to_owned(), "directory of the system")]
#[case::programs("/usr".to_owned(), "directory of the system")]
#[case::absent("/no/such/place".to_owned(), "does not exist")]
#[case::a_file("/etc/passwd".to_owned(), "not a directory")]
fn a_workspace_that_is_no_place_of_its_own_is_refused(
    #[case] workspace: String,
    #[case] reason: &str,
) {
    let place = Place::new();
    refused(&place, &["--workspace", &workspace], &[&workspace, reason]);
}

#[rstest]
#[case::root(Path::new("/").to_owned())]
#[case::home(PathBuf::from(home()))]
fn the_current_directory_is_refused_as_any_other_workspace(#[case] directory: PathBuf) {
    let mut command = support::perimeter(&["exec", "--", "true"]);
    command.current_dir(&directory);
    check_refusal(command, &["workspace", "directory"]);
}

#[test]
fn a_current_directory_that_is_gone_is_told_with_what_to_do() {
    let place = Place::new();
    let gone = place.directory("gone");
    let line = format!("rmdir '{}' && exec \"$@\"", gone.display());
    let mut command = assert_cmd::Command::new("/bin/sh");
    command
        .args(["-c", &line, "sh", support::PROGRAM, "exec", "--", "true"])
        .env_remove("PERIMETER_ENFORCEMENT")
        .current_dir(&gone);
    check_refusal(command, &["--workspace"]);
}

#[rstest]
#[case::absent("absent", "does not exist")]
#[case::through_a_link("link/inner", "symbolic link")]
#[case::in_the_workspace("workspace", "overlaps")]
fn a_grant_that_cannot_be_given_is_refused(#[case] name: &str, #[case] reason: &str) {
    let place = Place::new();
    place.directory("real/inner");
    std::os::unix::fs::symlink(place.path("real"), place.path("link")).unwrap();
    let grant = place.text(name);
    let text = format!("{{ \"version\": 1, \"read_only\": [\"{grant}\"] }}");
    let policy = place.file("policy.json", &text);
    refused(
        &place,
        &["--policy", policy.to_str().unwrap()],
        &[&grant, reason],
    );
}

/// The remedy that every want of bubblewrap names.
const INSTALL: &str = "install the package `bubblewrap`";

#[rstest]
#[case::an_empty_directory("bin")]
#[case::nothing("")]
fn without_bubblewrap_nothing_is_started(
    #[case] path: &str,
    #[values("strict", "host-readable")] posture: &str,
) {
    let place = Place::new();
    place.directory("bin");
    let path = match path {
        "" => String::new(),
        name => place.text(name),
    };
    let mut command = place.exec(&["--posture", posture], "touch begun");
    command.env("PATH", path);
    check_refusal(command, &["bubblewrap is not installed", "PATH", INSTALL]);
    assert_not_begun(&place);
    let mut command = place.exec(&["--posture", posture], "touch begun");
    command.env_remove("PATH");
    check_refusal(command, &["bubblewrap is not installed", INSTALL]);
    assert_not_begun(&place);
}

/// Programs that are called `bwrap` and make no sandbox. The last executes what
/// it was to confine, as a wrapper gone wrong would.
const IMPOSTERS: [&str; 4] = [
    "exit 1\n",
    "exit 0\n",
    "echo 'bubblewrap 0.9.0'\n",
    "while [ $# -gt 1 ] && [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n",
];

#[rstest]
fn a_script_in_bubblewraps_place_starts_nothing(
    #[values(0, 1, 2, 3)] which: usize,
    #[values(true, false)] named: bool,
) {
    let place = Place::new();
    let content = format!("#!/bin/sh\n{}", IMPOSTERS[which]);
    let imposter = place.script("bin/bwrap", &content);
    if named {
        let text = format!(
            "{{ \"version\": 1, \"bubblewrap\": \"{}\" }}",
            imposter.display()
        );
        let policy = place.file("policy.json", &text);
        refused(
            &place,
            &["--policy", policy.to_str().unwrap()],
            &["bwrap", "bubblewrap"],
        );
    } else {
        let mut command = place.exec(&[], "touch begun");
        command.env("PATH", format!("{}:/usr/bin:/bin", place.text("bin")));
        check_refusal(command, &["bwrap", "bubblewrap"]);
        assert_not_begun(&place);
    }
}

#[rstest]
#[case::false_("false")]
#[case::true_("true")]
#[case::env("env")]
#[case::sh("sh")]
fn another_program_in_bubblewraps_place_starts_nothing(#[case] name: &str) {
    let place = Place::new();
    let program = ["/usr/bin", "/bin"]
        .map(|directory| Path::new(directory).join(name))
        .into_iter()
        .find(|path| path.exists())
        .unwrap();
    let text = format!(
        "{{ \"version\": 1, \"bubblewrap\": \"{}\" }}",
        program.display()
    );
    let policy = place.file("policy.json", &text);
    refused(
        &place,
        &["--policy", policy.to_str().unwrap()],
        &[name, "bubblewrap"],
    );
    // And by its name on PATH, where it is found first.
    place.directory("bin");
    std::os::unix::fs::symlink(&program, place.path("bin/bwrap")).unwrap();
    let mut command = place.exec(&[], "touch begun");
    command.env("PATH", format!("{}:/usr/bin:/bin", place.text("bin")));
    check_refusal(command, &["bubblewrap"]);
    assert_not_begun(&place);
}

#[test]
fn a_bubblewrap_that_the_command_could_replace_is_passed_over() {
    let place = Place::new();
    place.script("workspace/bin/bwrap", "#!/bin/sh\ntouch begun\n");
    let path = place.text("workspace/bin");
    let mut command = place.exec(&[], "touch begun");
    command.env("PATH", &path);
    check_refusal(command, &["passed over", &path, INSTALL]);
    assert_not_begun(&place);
    place
        .exec(&[], "echo confined")
        .env("PATH", format!("{path}:/usr/bin:/bin"))
        .assert()
        .code(0)
        .stdout("confined\n");
    assert_not_begun(&place);
}

#[test]
fn a_closed_standard_error_changes_no_exit_status() {
    let place = Place::new();
    let line = format!("exec '{}' exec --policy / -- true 2>&-", support::PROGRAM);
    assert_cmd::Command::new("/bin/sh")
        .args(["-c", &line])
        .env_remove("PERIMETER_ENFORCEMENT")
        .current_dir(place.workspace())
        .assert()
        .code(125)
        .stdout("");
}

/// The status speaks where a message cannot be written.
#[test]
fn a_missing_program_is_127_even_if_standard_error_is_full() {
    let place = Place::new();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let status = plain(&["exec", "--", "nonesuch"])
        .current_dir(place.workspace())
        .stderr(full)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(127));
}
