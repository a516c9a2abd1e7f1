use rstest::rstest;

use super::super::inside::is_obscured;
use super::super::meaning::Meaning;
use super::super::operation::{Call, Operation};
use super::super::perform::perform;
use super::super::predict::Prediction::{Absorbed, Allowed, Blank, Denied, Either, Unknown};
use super::super::predict::{Prediction, predict};
use super::super::refusal::{Start, start};
use super::super::scenario::{Scenario, Surroundings};
use super::super::world::World;
use super::scenario;
use crate::corpus::policy::{NetworkSpec, PolicySpec, PostureSpec};

/// An operation as it is written: a word, then its paths.
fn operation(words: &str) -> Operation {
    let mut words = words.split(' ');
    let word = words.next().unwrap();
    let call = *Call::ALL.iter().find(|call| call.word() == word).unwrap();
    Operation {
        call,
        path: words.next().unwrap_or_default().to_owned(),
        second: words.next().map(str::to_owned),
        by_descriptor: false,
    }
}

/// The host of all tables below, and the policy.
fn host(posture: PostureSpec) -> Scenario {
    let paths = |paths: &[&str]| {
        paths
            .iter()
            .map(|path| format!("{{root}}/{path}"))
            .collect()
    };
    scenario(
        &[
            "workspace/file",
            "workspace/dir/",
            "workspace/dir/inner",
            "workspace/empty/",
            "workspace/up/private/",
            "workspace/up/private/key",
            "workspace/up/open",
            "workspace/locked 0444",
            "workspace/out -> ../outside",
            "workspace/near -> dir/inner",
            "workspace/nowhere -> ../outside/absent",
            "outside/key",
            "workspace/twin = outside/key",
            "readable/book",
            "writable/page",
            "hidden/key",
            "hidden/cache/",
            "hidden/cache/page",
        ],
        PolicySpec {
            posture: Some(posture),
            network: Some(NetworkSpec::None),
            read_only: paths(&["readable"]),
            read_write: paths(&["writable", "hidden/cache"]),
            hidden: paths(&["hidden", "workspace/up/private", "workspace/conf/settings"]),
            ..PolicySpec::default()
        },
    )
}

fn predicted(
    scenario: &Scenario,
    surroundings: Surroundings,
    before: &str,
    words: &str,
) -> Prediction {
    let mut world = World::of(scenario);
    let meaning = Meaning::of(scenario, &world, surroundings);
    for words in before.split("; ").filter(|words| !words.is_empty()) {
        perform(&mut world, &meaning, &operation(words)).unwrap();
    }
    predict(&meaning, &world, &operation(words))
}

#[rstest]
// The workspace, and links in it.
#[case("read file", Allowed)]
#[case("read near", Allowed)]
#[case("append file x", Allowed)]
#[case("append locked x", Denied)]
#[case("remove locked", Allowed)]
#[case("create new x", Allowed)]
#[case("create file x", Denied)]
#[case("write dir x", Denied)]
#[case("remove-directory empty", Allowed)]
#[case("remove-directory dir", Denied)]
#[case("remove dir", Denied)]
#[case("rename absent absent", Denied)]
#[case("rename file dir/new", Allowed)]
#[case("rename dir dir/below", Denied)]
#[case("rename dir empty", Allowed)]
#[case("rename dir up", Denied)]
#[case("link file dir/new", Allowed)]
#[case("exchange file dir", Allowed)]
#[case("exchange dir dir/inner", Denied)]
#[case("exchange file up", Denied)]
#[case("exchange file new", Denied)]
#[case("exchange file {root}/readable/book", Denied)]
#[case("link dir new", Denied)]
#[case("symlink new ../outside/key", Allowed)]
#[case("write nowhere x", Denied)]
#[case("write out/key x", Denied)]
#[case("mode file 0600", Allowed)]
#[case("times out/key", Denied)]
#[case("read /proc/self/root{root}/workspace/file", Allowed)]
#[case("read /proc/self/cwd/dir/../file", Allowed)]
// A second name of a file outside is that file.
#[case("append twin x", Allowed)]
// Grants.
#[case("read {root}/readable/book", Allowed)]
#[case("append {root}/readable/book x", Denied)]
#[case("link {root}/readable/book new", Denied)]
#[case("rename {root}/readable/book new", Denied)]
#[case("append {root}/writable/page x", Allowed)]
#[case("rename file {root}/writable/new", Either)]
#[case("remove-directory {root}/writable", Denied)]
#[case("rename {root}/writable new", Denied)]
#[case("mode {root}/writable 0700", Either)]
// Hidden paths, and what is granted in them.
#[case("read up/private/key", Denied)]
#[case("read up/private", Blank)]
#[case("list up/private", Blank)]
#[case("look up/private", Either)]
#[case("create up/private/new x", Denied)]
#[case("rename up/private seen", Denied)]
#[case("rename up seen", Denied)]
#[case("rename file up/new", Either)]
#[case("rename up/open up/new", Allowed)]
#[case("mode up 0700", Either)]
#[case("read up/private/../open", Either)]
#[case("read {root}/hidden/key", Denied)]
#[case("list {root}/hidden", Allowed)]
#[case("walk {root}", Allowed)]
#[case("walk up/private", Blank)]
#[case("append {root}/hidden/cache/page x", Allowed)]
#[case("create {root}/hidden/new x", Denied)]
// A hidden path that is not there, and what it would lie in.
#[case("make-directory conf", Either)]
#[case("write conf/settings x", Denied)]
#[case("create conf/other x", Denied)]
#[case("create config x", Allowed)]
// What the model cannot know.
#[case("read ../../../etc/passwd", Unknown)]
#[case("read /etc/passwd", Unknown)]
#[case("connect {port.web}", Denied)]
fn whatever_the_posture(
    #[case] words: &str,
    #[case] expected: Prediction,
    #[values(PostureSpec::Strict, PostureSpec::HostReadable)] posture: PostureSpec,
) {
    let scenario = host(posture);
    let elsewhere = Surroundings::default();
    assert_eq!(predicted(&scenario, elsewhere, "", words), expected);
}

#[rstest]
#[case("read {root}/outside/key", Denied, Allowed)]
#[case("read out/key", Denied, Allowed)]
#[case("list ..", Allowed, Allowed)]
#[case("look ../outside", Denied, Allowed)]
#[case("append {root}/outside/key x", Denied, Denied)]
#[case("link {root}/outside/key new", Denied, Denied)]
#[case("make-directory {root}/new", Denied, Denied)]
#[case("write ~/note x", Absorbed, Denied)]
#[case("make-directories {host-temporary}", Absorbed, Absorbed)]
fn by_posture(#[case] words: &str, #[case] strict: Prediction, #[case] readable: Prediction) {
    let elsewhere = Surroundings::default();
    let predicted = |posture| predicted(&host(posture), elsewhere, "", words);
    assert_eq!(predicted(PostureSpec::Strict), strict);
    assert_eq!(predicted(PostureSpec::HostReadable), readable);
}

#[rstest]
#[case("create file2 x", "read file2", Allowed)]
#[case("remove file", "read file", Denied)]
#[case("rename dir moved", "read moved/inner", Allowed)]
#[case("rename dir moved", "read near", Denied)]
#[case("exchange file dir", "read file/inner", Allowed)]
#[case("exchange file dir/inner", "read near", Allowed)]
#[case("mode dir 0600", "read dir/inner", Denied)]
#[case("mode file 0000", "read file", Denied)]
#[case("mode dir 0400", "list dir", Allowed)]
#[case("mode dir 0400", "list dir/.", Denied)]
#[case("mode file 0000; mode file 0644", "read file", Allowed)]
#[case("mode dir 0400", "walk dir", Allowed)]
#[case("mode dir 0100", "walk dir", Denied)]
#[case("mode dir 0400", "read dir/inner", Denied)]
#[case("symlink way up/private", "read way/key", Denied)]
#[case("symlink one two; symlink two one", "read one", Denied)]
#[case(
    "make-directories {host-temporary}",
    "write {host-temporary}/a x",
    Absorbed
)]
#[case("write ~/note x", "read ~/note", Absorbed)]
fn after_what_came_before(#[case] before: &str, #[case] words: &str, #[case] expected: Prediction) {
    let scenario = host(PostureSpec::Strict);
    let elsewhere = Surroundings::default();
    assert_eq!(predicted(&scenario, elsewhere, before, words), expected);
}

#[rstest]
#[case("read {root}/outside/key", Denied)]
#[case("append file x", Allowed)]
#[case("append {root}/writable/page x", Allowed)]
#[case("make-directory {root}/new", Either)]
#[case("create {root}/hidden/new x", Either)]
#[case("read {root}/hidden/key", Either)]
#[case("append {root}/hidden/cache/page x", Allowed)]
#[case("read up/private/key", Denied)]
fn in_the_hosts_tmp(
    #[case] words: &str,
    #[case] expected: Prediction,
    #[values(PostureSpec::Strict, PostureSpec::HostReadable)] posture: PostureSpec,
) {
    let surroundings = Surroundings {
        temporary: true,
        lasting: false,
    };
    assert_eq!(predicted(&host(posture), surroundings, "", words), expected);
}

#[test]
fn the_most_specific_path_decides_whatever_the_order_of_the_lists() {
    let mut scenario = host(PostureSpec::HostReadable);
    let words = "read up/private/key";
    let elsewhere = Surroundings::default();
    scenario.policy.hidden.reverse();
    assert_eq!(predicted(&scenario, elsewhere, "", words), Denied);
    scenario
        .policy
        .hidden
        .retain(|path| !path.ends_with("private"));
    assert_eq!(predicted(&scenario, elsewhere, "", words), Allowed);
}

/// What is hidden twice, by its name and by a link's, leads to nothing.
#[test]
fn what_is_hidden_twice_is_no_grant_that_shows() {
    let scenario = scenario(
        &["hidden/below/", "workspace/link -> ../hidden/below/absent"],
        PolicySpec {
            hidden: ["hidden", "workspace/link", "hidden/below/absent"]
                .map(|path| format!("{{root}}/{path}"))
                .into(),
            ..PolicySpec::default()
        },
    );
    let world = World::of(&scenario);
    let meaning = Meaning::of(&scenario, &world, Surroundings::default());
    assert!(!meaning.leads_to_visible("{root}/hidden/below"));
}

/// A hidden name that is held is there, and may be given the name that it has.
#[test]
fn a_held_name_is_renamed_to_itself_or_not() {
    let scenario = scenario(
        &["workspace/dir/"],
        PolicySpec {
            hidden: vec!["{root}/workspace/dir/absent".to_owned()],
            ..PolicySpec::default()
        },
    );
    let predicted = |words| predicted(&scenario, Surroundings::default(), "", words);
    assert_eq!(predicted("rename dir/absent dir/absent"), Either);
    assert_eq!(predicted("rename dir/absent dir/other"), Denied);
}

/// Where a link in a closed directory leads, not everybody finds out.
#[rstest]
#[case::open("up 0755", "{root}/workspace/up/link", false)]
#[case::closed("up 0600", "{root}/workspace/up/link", true)]
#[case::no_link("up 0600", "{root}/workspace/up/open", false)]
fn what_a_closed_directory_obscures(
    #[case] mode: &str,
    #[case] path: &str,
    #[case] obscured: bool,
) {
    let files = [
        "workspace/up/",
        "workspace/up/open",
        "workspace/up/link -> ../file",
    ];
    let scenario = scenario(&files, PolicySpec::default());
    let mut world = World::of(&scenario);
    let everything = Meaning::unconfined();
    perform(&mut world, &everything, &operation(&format!("mode {mode}"))).unwrap();
    assert_eq!(is_obscured(&everything, &world, path), obscured);
}

#[rstest]
#[case::fine(&["readable"], &["writable"], &["hidden"], Some(true))]
#[case::beneath(&["readable"], &["readable/book"], &[], Some(false))]
#[case::in_the_workspace(&["workspace/dir"], &[], &[], Some(false))]
#[case::around_the_workspace(&[""], &[], &[], Some(false))]
#[case::twice(&["readable"], &[], &["readable"], Some(false))]
#[case::link(&["link"], &[], &[], Some(false))]
#[case::through_a_link(&[], &["link/page"], &[], Some(false))]
#[case::hidden_workspace(&[], &[], &["workspace"], Some(false))]
#[case::hidden_grant_in_grant(&["readable"], &[], &["readable/book"], Some(true))]
#[case::missing(&["readable/absent"], &[], &[], None)]
#[case::pattern(&[], &[], &["workspace/*.key"], None)]
#[case::writable_home(&[], &["home"], &[], None)]
fn launches(
    #[case] read_only: &[&str],
    #[case] read_write: &[&str],
    #[case] hidden: &[&str],
    #[case] starts: Option<bool>,
) {
    let paths = |paths: &[&str]| {
        let paths = paths.iter().map(|path| format!("{{root}}/{path}"));
        paths
            .map(|path| path.trim_end_matches('/').to_owned())
            .collect()
    };
    let files = [
        "readable/book",
        "writable/page",
        "workspace/dir/",
        "link -> writable",
    ];
    let policy = PolicySpec {
        read_only: paths(read_only),
        read_write: paths(read_write),
        hidden: paths(hidden),
        ..PolicySpec::default()
    };
    let scenario = scenario(&files, policy);
    let found = match start(&scenario, &World::of(&scenario), false) {
        Start::Starts => Some(true),
        Start::Refused(_) => Some(false),
        Start::Either => None,
    };
    assert_eq!(found, starts);
}
