//! The probe's operations, each with what it prints and how it is denied.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use perimeter_runner::probe;

use crate::support::{own_program, tests};

tests![
    it_is_placed_as_a_link_and_runs,
    misuse_is_told_from_denial,
    unix_sockets,
    datagram_sockets,
    abstract_sockets,
    tcp_in_all_its_ways,
    udp,
    its_own_server,
    a_shared_mapping,
    kernel_calls,
    a_new_name_in_a_directory,
    the_end_of_the_first_thread,
    paths_that_are_swapped_for_ever,
    descriptors_of_two_processes,
    signals_of_other_processes,
    what_a_traced_process_gives_away,
    shared_memory,
    files,
    exchanged_paths,
    an_open_file_gets_another_name,
    namespaces_and_mounts,
    capabilities,
    sockets_by_name,
    network_interfaces,
    a_line_is_waited_for,
    keys,
];

fn run(operation: &[&str]) -> Output {
    Command::new(own_program())
        .arg("--perimeter-probe")
        .args(operation)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn prints(operation: &[&str], expected: &str) {
    let output = run(operation);
    let errors = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed, expected, "{operation:?}: {errors}");
    assert_eq!(output.status.code(), Some(0), "{operation:?}: {errors}");
}

fn is_denied(operation: &[&str], errno: &str) {
    let output = run(operation);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains(errno), "{operation:?}: {errors}");
    assert_eq!(output.status.code(), Some(1), "{operation:?}: {errors}");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn it_is_placed_as_a_link_and_runs() {
    let run = tempfile::tempdir().unwrap();
    let workspace = run.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    let master = probe::install(run.path()).unwrap();
    let placed = probe::place(&master, &workspace).unwrap();
    assert_eq!(placed, workspace.join(probe::NAME));
    let metadata = std::fs::metadata(&placed).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::nlink(&metadata), 2);
    let output = Command::new(&placed).arg("interfaces").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(probe::place(&master, &workspace).is_err());
    let elsewhere = Path::new("/dev/shm");
    if elsewhere.is_dir() {
        let elsewhere = tempfile::tempdir_in(elsewhere).unwrap();
        let copy = probe::place(&master, elsewhere.path()).unwrap();
        assert_eq!(std::fs::metadata(copy).unwrap().len(), metadata.len());
    }
}

fn misuse_is_told_from_denial() {
    for misuse in [
        &[][..],
        &["no-such"],
        &["signal", "1"],
        &["signal", "x", "TERM"],
    ] {
        let output = run(misuse);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("usage: "));
    }
    is_denied(&["open-write", "/no/such/file"], "open: ENOENT");
}

fn unix_sockets() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    is_denied(&["connect-unix", text(&path)], "connect: ENOENT");
    let listener = UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = String::new();
        stream.read_to_string(&mut heard).unwrap();
        stream.write_all(b"canary\n").unwrap();
        heard
    });
    prints(&["connect-unix", text(&path)], "connected\ncanary\n");
    assert_eq!(server.join().unwrap(), "hello\n");
    is_denied(&["connect-unix", text(&path)], "connect: ECONNREFUSED");
}

fn datagram_sockets() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let socket = UnixDatagram::bind(&path).unwrap();
    let server = std::thread::spawn(move || {
        let mut buffer = [0; 100];
        let (length, from) = socket.recv_from(&mut buffer).unwrap();
        socket.send_to_addr(b"canary", &from).unwrap();
        buffer[..length].to_vec()
    });
    prints(&["connect-unix", text(&path), "datagram"], "sent\ncanary\n");
    assert_eq!(server.join().unwrap(), b"hello\n");
}

fn abstract_sockets() {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("perimeter-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    });
    prints(&["connect-abstract", &format!("@{name}")], "connected\n");
    server.join().unwrap();
}

fn tcp_in_all_its_ways() {
    for address in ["127.0.0.1", "::1"] {
        let Ok(listener) = TcpListener::bind((address, 0)) else {
            continue;
        };
        let port = listener.local_addr().unwrap().port().to_string();
        let server = std::thread::spawn(move || {
            for _ in 0..3 {
                let (mut stream, _) = listener.accept().unwrap();
                let mut heard = String::new();
                stream.read_to_string(&mut heard).unwrap();
                assert_eq!(heard, "hello\n");
                stream.write_all(b"canary\n").unwrap();
            }
        });
        prints(&["connect-tcp", address, &port], "connected\ncanary\n");
        prints(&["tcp-fastopen", address, &port], "connected\ncanary\n");
        let mptcp = run(&["connect-mptcp", address, &port]);
        let errors = String::from_utf8_lossy(&mptcp.stderr);
        if errors.contains("socket: ") {
            prints(&["connect-tcp", address, &port], "connected\ncanary\n");
        } else {
            assert_eq!(
                String::from_utf8_lossy(&mptcp.stdout),
                "connected\ncanary\n"
            );
        }
        server.join().unwrap();
        is_denied(&["connect-tcp", address, &port], "connect: ECONNREFUSED");
    }
}

fn udp() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port().to_string();
    let server = std::thread::spawn(move || {
        let mut buffer = [0; 100];
        let (length, from) = socket.recv_from(&mut buffer).unwrap();
        socket.send_to(b"canary\n", from).unwrap();
        buffer[..length].to_vec()
    });
    prints(&["send-udp", "127.0.0.1", &port], "sent\ncanary\n");
    assert_eq!(server.join().unwrap(), b"hello\n");
}

fn its_own_server() {
    prints(&["serve-tcp"], "ok\n");
}

struct Victim(std::process::Child);

impl Victim {
    fn start() -> (Victim, String) {
        let child = Command::new("sleep")
            .arg("300")
            .env("CANARY", "canary-in-memory")
            .spawn()
            .unwrap();
        let pid = child.id().to_string();
        (Victim(child), pid)
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn signals_of_other_processes() {
    let (mut victim, pid) = Victim::start();
    prints(&["signal", &pid, "TERM"], "sent\n");
    assert_eq!(victim.0.wait().unwrap().to_string(), "signal: 15 (SIGTERM)");
    is_denied(&["signal", "999999999", "TERM"], "kill: ESRCH");
}

fn what_a_traced_process_gives_away() {
    let (_victim, pid) = Victim::start();
    prints(&["trace", &pid], "attached\n");
    prints(&["copy-descriptor", &pid, "0"], "copied\n");
    let output = run(&["read-memory", &pid]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("CANARY=canary-in-memory\n"), "{output:?}");
    is_denied(&["trace", "999999999"], "ptrace: ESRCH");
    is_denied(&["copy-descriptor", "999999999", "0"], "pidfd_getfd: ESRCH");
}

fn shared_memory() {
    is_denied(&["attach-shared-memory", "999999999"], "shmat: ");
}

fn files() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, "as it was").unwrap();
    prints(&["open-write", text(&path)], "opened\n");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "as it was");
}

fn exchanged_paths() {
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (directory.path().join("a"), directory.path().join("b"));
    std::fs::write(&first, "a").unwrap();
    std::fs::create_dir(&second).unwrap();
    prints(&["exchange", text(&first), text(&second)], "exchanged\n");
    assert!(first.is_dir() && second.is_file());
    is_denied(&["exchange", text(&first), "/no/such"], "renameat2: ENOENT");
}

fn an_open_file_gets_another_name() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("a"), directory.path().join("b"));
    std::fs::write(&from, "a").unwrap();
    let own = own_program();
    let script = format!(
        "exec 5< {}; {} --perimeter-probe link-descriptor 5 {}",
        text(&from),
        text(&own),
        text(&to)
    );
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "linked\n",
        "{output:?}"
    );
    assert_eq!(std::fs::read_to_string(to).unwrap(), "a");
}

fn namespaces_and_mounts() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("file"), "").unwrap();
    let target = text(directory.path());
    let own = own_program();
    let inside = |operation: &str| {
        let shell = format!(
            "{0} --perimeter-probe {operation} && ls {target}",
            text(&own)
        );
        run(&["new-user-namespace", "then", "sh", "-c", &shell])
    };
    let output = inside(&format!("mount-tmpfs {target}"));
    if String::from_utf8_lossy(&output.stderr).contains("unshare: ") {
        eprintln!("there are no user namespaces here");
        return;
    }
    let printed = |output: Output| String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(printed(output), "created\nmounted\n");
    let output = inside(&format!("bind-mount /proc/self/ns {target}"));
    assert!(printed(output).contains("mounted\n"));
    let chain = format!(
        "bind-mount {target} {target} && {0} --perimeter-probe ",
        text(&own)
    );
    let output = inside(&format!("{chain} remount-writable {target}"));
    assert_eq!(printed(output), "created\nmounted\nremounted\nfile\n");
    let output = inside(&format!("{chain} unmount {target}"));
    assert_eq!(printed(output), "created\nmounted\nunmounted\nfile\n");
    assert!(directory.path().join("file").exists());
    if !nix::unistd::geteuid().is_root() {
        is_denied(&["mount-tmpfs", target], "mount: EPERM");
        is_denied(&["set-hostname", "other"], "sethostname: EPERM");
    }
}

fn capabilities() {
    let output = run(&["capabilities"]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let expected = [
        ("CapEff", "effective"),
        ("CapPrm", "permitted"),
        ("CapInh", "inheritable"),
        ("CapBnd", "bounding"),
    ];
    for (field, name) in expected {
        let line = status.lines().find(|line| line.starts_with(field)).unwrap();
        let value = line.split_whitespace().nth(1).unwrap();
        assert!(printed.contains(&format!("{name} {value}\n")), "{printed}");
    }
    assert!(printed.ends_with("no-new-privileges no\n"), "{printed}");
}

fn sockets_by_name() {
    prints(&["socket", "unix", "stream"], "created\n");
    prints(&["socket", "netlink", "raw", "route"], "created\n");
    prints(&["socket", "2", "1", "tcp"], "created\n");
    is_denied(&["socket", "unix", "rdm"], "socket: ESOCKTNOSUPPORT");
    assert_eq!(run(&["socket", "none", "stream"]).status.code(), Some(2));
}

fn network_interfaces() {
    let output = run(&["interfaces"]);
    assert!(
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .any(|line| line == "lo")
    );
}

fn a_line_is_waited_for() {
    let mut child = Command::new(own_program())
        .args(["--perimeter-probe", "wait-line"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.as_mut().unwrap().write_all(b"line\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"waiting\nline\n");
    is_denied(&["wait-line"], "read: ");
}

fn keys() {
    is_denied(&["read-key", "no such key"], "keyctl: ");
}

fn a_shared_mapping() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "before").unwrap();
    prints(&["map-write", file.to_str().unwrap(), "after"], "written\n");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "aftere");
}

fn kernel_calls() {
    prints(&["kernel-call", "personality"], "permitted\n");
    assert_eq!(run(&["kernel-call", "no-such"]).status.code(), Some(2));
    // Without a right the call is denied, with one it is permitted; both are
    // the kernel's answer, and nothing is mounted by either.
    let code = run(&["kernel-call", "fsopen"]).status.code();
    let root = nix::unistd::geteuid().is_root();
    assert!(code == Some(i32::from(!root)) || root, "{code:?}");
}

fn a_new_name_in_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let mut watcher = Command::new(own_program())
        .args(["--perimeter-probe", "await-name"])
        .arg(directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = watcher.stdout.take().unwrap();
    let mut line = [0; 9];
    output.read_exact(&mut line).unwrap();
    assert_eq!(&line, b"watching\n");
    std::fs::write(directory.path().join("new"), "").unwrap();
    let mut name = String::new();
    output.read_to_string(&mut name).unwrap();
    assert_eq!(name, "new\n");
    assert!(watcher.wait().unwrap().success());
}

fn the_end_of_the_first_thread() {
    let output = run(&["outlive-thread", "7"]);
    assert_eq!(output.stdout, b"outlived\n");
    assert_eq!(output.status.code(), Some(7));
}

fn paths_that_are_swapped_for_ever() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::create_dir(path("a")).unwrap();
    std::os::unix::fs::symlink("elsewhere", path("b")).unwrap();
    let mut swapper = Command::new(own_program())
        .args(["--perimeter-probe", "exchange-for-ever"])
        .args([path("a"), path("b")])
        .spawn()
        .unwrap();
    for wanted in [true, false, true] {
        while path("a").is_symlink() != wanted {}
    }
    swapper.kill().unwrap();
    swapper.wait().unwrap();
}

fn descriptors_of_two_processes() {
    let own = std::process::id().to_string();
    let output = run(&["compare-descriptors", &own, "0"]);
    // The kernel may be built without the call, or keep it to one's children.
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(["same\n", "different\n", ""].contains(&printed.as_str()));
}
