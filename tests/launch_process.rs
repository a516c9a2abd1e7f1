//! How a command starts, what it inherits, and how it ends.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod launch;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd};

use launch::{Fixture, policy, text};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use perimeter::launcher::Signal;
use perimeter::{Enforcement, Exit, LaunchError, Launcher, Network, Policy, Posture, Stdio};
use rstest::rstest;

#[rstest]
#[case("exit 0", Exit::Code(0))]
#[case("exit 1", Exit::Code(1))]
#[case("exit 126", Exit::Code(126))]
#[case("exit 255", Exit::Code(255))]
#[case("kill -TERM $$", Exit::Code(143))]
#[case("kill -KILL $$", Exit::Code(137))]
fn the_exit_status_is_the_commands(#[case] line: &str, #[case] exit: Exit) {
    let fixture = Fixture::at_home();
    assert_eq!(fixture.run(&Policy::strict(), line).exit, exit);
}

#[rstest]
#[case::nowhere("no-such-program", Exit::NotFound)]
#[case::nowhere_by_path("./no-such-program", Exit::NotFound)]
#[case::no_program("./data", Exit::NotExecutable)]
#[case::directory("./directory", Exit::NotExecutable)]
#[case::no_interpreter("./script", Exit::NotFound)]
#[case::invisible("/root/.bashrc", Exit::NotFound)]
#[case::empty("", Exit::NotFound)]
fn what_cannot_be_executed_is_told_as_a_shell_tells_it(#[case] program: &str, #[case] exit: Exit) {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::at_home();
    fixture.file("workspace/data", "data");
    fixture.directory("workspace/directory");
    let script = fixture.file("workspace/script", "#!/no/such/interpreter\n");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    let launcher = fixture.launcher(&Policy::strict());
    let mut child = launcher.command(program).spawn().unwrap();
    assert_eq!(child.refusal().unwrap().exit(), exit);
    assert_eq!(child.wait().unwrap(), exit);
}

#[test]
fn a_script_without_a_first_line_is_run_as_a_shell_would() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::at_home();
    let script = fixture.file("workspace/script", "echo ran\n");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    let output = fixture
        .launcher(&Policy::strict())
        .command("./script")
        .output()
        .unwrap();
    assert_eq!(text(&output), "ran\n");
}

#[test]
fn arguments_arrive_as_they_are() {
    let fixture = Fixture::at_home();
    let words = ["", "two words", "new\nline", "--", "-v", "'\"$HOME`"];
    let output = fixture
        .launcher(&Policy::strict())
        .command("printf")
        .arg("%s|")
        .args(words)
        .output()
        .unwrap();
    assert_eq!(text(&output), words.map(|word| format!("{word}|")).concat());
}

#[test]
fn streams_are_connected() {
    let fixture = Fixture::at_home();
    let launcher = fixture.launcher(&Policy::strict());
    let mut child = launcher
        .command("cat")
        .stdin(Stdio::Piped)
        .stdout(Stdio::Piped)
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"through").unwrap();
    let mut said = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(
        (said.as_str(), child.wait().unwrap()),
        ("through", Exit::Code(0))
    );
}

#[rstest]
fn nothing_is_inherited_that_was_not_asked_for(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
) {
    let fixture = Fixture::at_home();
    let secret = File::open(fixture.path("outside/canary")).unwrap();
    let outside = File::open(fixture.path("outside")).unwrap();
    for file in [&secret, &outside] {
        fcntl(file.as_fd(), FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
    }
    let output = fixture.run(
        &policy(posture),
        &format!(
            "ls /proc/self/fd | tr '\\n' ' '; cat <&{}; cat /proc/1/environ | wc -c; \
             tr '\\0' ' ' < /proc/1/cmdline; grep -E '^(Sig(Blk|Ign)|Cap(Eff|Bnd)|NoNewPrivs|Seccomp)' \
             /proc/self/status",
            secret.as_raw_fd()
        ),
    );
    let text = text(&output);
    let mut lines = text.lines();
    // The list itself is the fourth.
    assert_eq!(lines.next(), Some("0 1 2 3 0"), "{text}");
    assert!(
        !text.contains("setenv") && !text.contains("secret"),
        "{text}"
    );
    for line in [
        "SigBlk:\t0000000000000000",
        "SigIgn:\t0000000000000000",
        "CapEff:\t0000000000000000",
        "CapBnd:\t0000000000000000",
        "NoNewPrivs:\t1",
    ] {
        assert!(text.contains(line), "{line} is missing in {text}");
    }
}

#[rstest]
fn processes_and_kernel_settings_are_out_of_reach(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
) {
    let fixture = Fixture::at_home();
    let output = fixture.run(
        &policy(posture),
        &format!(
            "kill -0 {}; ls -d /proc/[0-9]* | wc -l; for each in /proc/sys/kernel/core_pattern \
             /proc/sys/vm/drop_caches /sys/power/state /proc/sysrq-trigger; do \
             (: >> $each) && echo opened $each; done; unshare -Ur true && echo nested; \
             umount {} && echo unmounted; true",
            std::process::id(),
            fixture.workspace().display(),
        ),
    );
    let text = text(&output);
    let processes: usize = text.lines().next().unwrap().parse().unwrap();
    assert!(processes < 8, "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn a_strict_root_command_does_not_read_what_only_root_may() {
    let fixture = Fixture::at_home();
    let output = fixture.run(
        &Policy::strict(),
        "for each in /etc/shadow /etc/gshadow /proc/kmsg; do cat $each; done; ls -A /etc/ssl/private",
    );
    assert_eq!(text(&output), "");
}

#[test]
fn without_a_network_there_is_only_the_loopback() {
    let fixture = Fixture::at_home();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = format!("grep -c : /proc/net/dev; (: <> /dev/tcp/127.0.0.1/{port}) && echo reached");
    let offline = Policy {
        network: Network::None,
        ..Policy::strict()
    };
    assert_eq!(text(&fixture.run(&offline, &line)), "1\n");
    assert!(text(&fixture.run(&Policy::strict(), &line)).ends_with("reached\n"));
}

#[test]
fn variables_are_those_of_the_posture_and_what_was_asked_for() {
    let fixture = Fixture::at_home();
    let launcher = fixture.launcher(&Policy::strict());
    let output = launcher
        .command("env")
        .environment([("A".into(), "one".into())])
        .env("B", "two\nlines")
        .output()
        .unwrap();
    let said = text(&output);
    assert!(
        said.contains("A=one\n") && said.contains("B=two\nlines\n"),
        "{said}"
    );
    assert!(
        said.contains(&format!("PWD={}\n", fixture.workspace().display())),
        "{said}"
    );
    assert!(!said.contains("CARGO"), "{said}");
    let refused = launcher.command("env").env("A=B", "x").spawn().unwrap_err();
    assert!(matches!(refused, LaunchError::Variable { .. }), "{refused}");
    let refused = launcher
        .command("env")
        .env("A", "x\0y")
        .spawn()
        .unwrap_err();
    assert!(matches!(refused, LaunchError::Nul { .. }), "{refused}");
}

#[rstest]
#[case::beneath("sub", true)]
#[case::granted("../granted", true)]
#[case::outside("../outside", false)]
#[case::absent("absent", false)]
#[case::file("file", false)]
#[case::hidden("hidden", false)]
#[case::a_link_out("out", false)]
fn the_directory_is_the_one_asked_for_or_none(#[case] name: &str, #[case] good: bool) {
    let fixture = Fixture::at_home();
    fixture.directory("workspace/sub");
    fixture.directory("workspace/hidden");
    fixture.file("workspace/file", "");
    fixture.link("workspace/out", "../outside");
    let policy = Policy {
        read_only: vec![fixture.directory("granted")],
        hidden: vec![fixture.path("workspace/hidden")],
        ..Policy::strict()
    };
    let directory = fixture.path(
        name.strip_prefix("../")
            .map_or(format!("workspace/{name}"), str::to_owned),
    );
    let launcher = fixture.launcher(&policy);
    let result = launcher.command("pwd").current_dir(&directory).output();
    match result {
        Ok(output) if good => assert_eq!(text(&output), format!("{}\n", directory.display())),
        Err(LaunchError::Directory { .. }) if !good => {}
        other => panic!("{other:?}"),
    }
}

#[rstest]
fn nothing_survives_the_command(
    #[values(Posture::Strict, Posture::HostReadable)] posture: Posture,
) {
    let fixture = Fixture::at_home();
    let launcher = fixture.launcher(&policy(posture));
    let mut child = launcher
        .shell("setsid sleep 1000 & echo begun; exit 3")
        .stdout(Stdio::Piped)
        .spawn()
        .unwrap();
    let stdout = child.stdout.take().unwrap();
    assert_eq!(child.wait().unwrap(), Exit::Code(3));
    // The sleeper has the pipe: it would not end while the sleeper lives.
    let mut lines = BufReader::new(stdout).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "begun");
    assert!(lines.next().is_none());
}

#[test]
fn a_launch_takes_nothing_from_the_program_that_launches() {
    let of_this_program = || {
        let namespaces: Vec<_> = fs::read_dir("/proc/self/ns")
            .unwrap()
            .map(|entry| fs::read_link(entry.unwrap().path()).unwrap())
            .collect();
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let rights: Vec<_> = status
            .lines()
            .filter(|line| line.starts_with("Cap") || line.starts_with("NoNewPrivs"))
            .map(str::to_owned)
            .collect();
        (
            namespaces,
            rights,
            fs::read_link("/proc/self/root").unwrap(),
        )
    };
    let fixture = Fixture::at_home();
    let before = of_this_program();
    assert!(!before.1.is_empty());
    let policy = Policy {
        network: Network::None,
        hidden: vec![fixture.path("outside")],
        ..Policy::strict()
    };
    assert_eq!(text(&fixture.run(&policy, "echo ran")), "ran\n");
    assert_eq!(of_this_program(), before);
    fs::write(fixture.path("outside/new"), "kept").unwrap();
}

#[test]
fn a_command_outlives_the_thread_that_launched_it() {
    let fixture = Fixture::at_home();
    let launcher = fixture.launcher(&Policy::strict());
    let mut child = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                let mut command = launcher.shell("read line; exit 42");
                command.stdin(Stdio::Piped).spawn().unwrap()
            })
            .join()
            .unwrap()
    });
    child.stdin.as_mut().unwrap().write_all(b"go on\n").unwrap();
    assert_eq!(child.wait().unwrap(), Exit::Code(42));
}

#[test]
fn a_signal_reaches_the_command_and_what_it_waits_for() {
    let fixture = Fixture::at_home();
    let launcher = fixture.launcher(&Policy::strict());
    let mut child = launcher
        .shell("trap 'echo caught; exit 7' TERM; echo begun; sleep 1000")
        .stdout(Stdio::Piped)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "begun");
    child.signal(Signal::SIGTERM);
    assert_eq!(child.wait().unwrap(), Exit::Code(7));
    assert_eq!(lines.next().unwrap().unwrap(), "caught");
}

#[test]
fn a_command_that_ignores_signals_can_be_killed() {
    let fixture = Fixture::at_home();
    let launcher = fixture.launcher(&Policy::strict());
    let mut child = launcher
        .shell("trap '' TERM; echo begun; while :; do sleep 1000; done")
        .stdout(Stdio::Piped)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "begun");
    child.kill();
    assert_eq!(child.wait().unwrap(), Exit::Signal(9));
    assert!(lines.next().is_none());
}

#[test]
fn dropping_a_child_ends_it() {
    let fixture = Fixture::at_home();
    let launcher = fixture.launcher(&Policy::strict());
    let mut child = launcher
        .shell("echo begun; sleep 1000")
        .stdout(Stdio::Piped)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "begun");
    drop(child);
    assert!(lines.next().is_none());
}

#[rstest]
#[case::by_policy(Policy { enabled: false, ..Policy::strict() }, Enforcement::Required)]
#[case::by_caller(Policy::strict(), Enforcement::Off)]
fn two_explicit_ways_run_unconfined(#[case] policy: Policy, #[case] enforcement: Enforcement) {
    let fixture = Fixture::at_home();
    let launcher = Launcher::prepare_with(&policy, fixture.workspace(), enforcement).unwrap();
    assert!(!launcher.is_confined());
    let output = launcher
        .shell("cat ../outside/canary; echo $ADDED $HOME; pwd; exit 5")
        .env("ADDED", "added")
        .output()
        .unwrap();
    let home = std::env::var("HOME").unwrap();
    let workspace = fixture.workspace();
    assert_eq!(
        text(&output),
        format!("secret\nadded {home}\n{}\n", workspace.display())
    );
    assert_eq!(output.exit, Exit::Code(5));
    assert_eq!(
        launcher.command("no-such-program").status().unwrap(),
        Exit::NotFound
    );
    assert_eq!(
        launcher.shell("kill -TERM $$").status().unwrap(),
        Exit::Signal(15)
    );
}

#[test]
fn the_plan_is_what_bubblewrap_runs() {
    let fixture = Fixture::at_home();
    let launcher = fixture.launcher(&Policy::strict());
    let mut command = launcher.shell("pwd; exit 9");
    command.env("NAME", "value");
    let plan = launcher.plan(&command).unwrap();
    let output = std::process::Command::new("bwrap")
        .args(&plan)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(9), "{output:?}");
    assert_eq!(
        output.stdout,
        format!("{}\n", fixture.workspace().display()).into_bytes()
    );
    for needed in [
        "--unshare-user",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "--chdir",
    ] {
        assert!(
            plan.iter().any(|word| word == needed),
            "{needed} is not in {plan:?}"
        );
    }
}
