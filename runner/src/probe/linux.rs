//! What only Linux has: keys, debugging, other processes' descriptors and
//! memory, unusual sockets.

use std::ffi::CString;
use std::fs;
use std::io::{self, IoSliceMut, Write};
use std::net::{SocketAddr, TcpStream};

use nix::sys::ptrace;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

use super::process::number;
use super::socket::{HELLO, address, hear};
use super::{Failure, Outcome, calls, denied, say};

/// `connect-mptcp ADDRESS PORT`.
pub(super) fn connect_mptcp(arguments: &[&str]) -> Outcome {
    let address = address(arguments)?;
    let made = calls::socket(family(address), libc::SOCK_STREAM, libc::IPPROTO_MPTCP);
    let socket = made.map_err(denied("socket"))?;
    calls::connect(&socket, address).map_err(denied("connect"))?;
    say("connected")?;
    let mut stream = TcpStream::from(socket);
    stream.write_all(HELLO).map_err(denied("send"))?;
    hear(&stream)
}

/// `tcp-fastopen ADDRESS PORT`.
pub(super) fn tcp_fast_open(arguments: &[&str]) -> Outcome {
    let address = address(arguments)?;
    let made = calls::socket(family(address), libc::SOCK_STREAM, 0);
    let socket = made.map_err(denied("socket"))?;
    calls::send_fast_open(&socket, address, HELLO).map_err(denied("sendto"))?;
    say("connected")?;
    hear(&TcpStream::from(socket))
}

fn family(address: SocketAddr) -> i32 {
    if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    }
}

/// `socket FAMILY TYPE [PROTOCOL]`.
pub(super) fn socket(arguments: &[&str]) -> Outcome {
    let family = named(arguments[0], FAMILIES)?;
    let kind = named(arguments[1], KINDS)?;
    let protocol = arguments.get(2).copied().unwrap_or("0");
    let protocol = named(protocol, PROTOCOLS)?;
    calls::socket(family, kind, protocol).map_err(denied("socket"))?;
    say("created")
}

/// The families of address_families(7) that anyone has used for an attack, and
/// the plain ones.
const FAMILIES: &[(&str, i32)] = &[
    ("unix", libc::AF_UNIX),
    ("inet", libc::AF_INET),
    ("inet6", libc::AF_INET6),
    ("netlink", libc::AF_NETLINK),
    ("packet", libc::AF_PACKET),
    ("vsock", libc::AF_VSOCK),
    ("alg", libc::AF_ALG),
    ("bluetooth", libc::AF_BLUETOOTH),
    ("can", libc::AF_CAN),
    ("tipc", libc::AF_TIPC),
    ("key", libc::AF_KEY),
    ("rds", libc::AF_RDS),
    ("xdp", libc::AF_XDP),
    ("llc", libc::AF_LLC),
    ("x25", libc::AF_X25),
    ("ax25", libc::AF_AX25),
    ("appletalk", libc::AF_APPLETALK),
    ("nfc", libc::AF_NFC),
    ("qipcrtr", 42),
    ("kcm", 41),
    ("smc", 43),
];

const KINDS: &[(&str, i32)] = &[
    ("stream", libc::SOCK_STREAM),
    ("datagram", libc::SOCK_DGRAM),
    ("dgram", libc::SOCK_DGRAM),
    ("raw", libc::SOCK_RAW),
    ("seqpacket", libc::SOCK_SEQPACKET),
    ("rdm", libc::SOCK_RDM),
];

const PROTOCOLS: &[(&str, i32)] = &[
    ("tcp", libc::IPPROTO_TCP),
    ("udp", libc::IPPROTO_UDP),
    ("icmp", libc::IPPROTO_ICMP),
    ("icmpv6", libc::IPPROTO_ICMPV6),
    ("mptcp", libc::IPPROTO_MPTCP),
    ("sctp", libc::IPPROTO_SCTP),
    ("raw", libc::IPPROTO_RAW),
    ("route", libc::NETLINK_ROUTE),
    ("netfilter", libc::NETLINK_NETFILTER),
    ("generic", libc::NETLINK_GENERIC),
    ("audit", libc::NETLINK_AUDIT),
    ("xfrm", libc::NETLINK_XFRM),
    ("uevent", libc::NETLINK_KOBJECT_UEVENT),
    ("sock-diag", libc::NETLINK_SOCK_DIAG),
    ("crypto", libc::NETLINK_CRYPTO),
];

fn named(text: &str, names: &[(&str, i32)]) -> Result<i32, Failure> {
    let found = names.iter().find(|(name, _)| *name == text);
    found.map_or_else(|| number(text), |(_, value)| Ok(*value))
}

/// `tioclinux`: TIOCL_PASTESEL of `linux/tiocl.h`.
pub(super) fn console(_: &[&str]) -> Outcome {
    calls::console(0, 3).map_err(denied("ioctl TIOCLINUX"))?;
    say("pasted")
}

/// `read-key DESCRIPTION`.
pub(super) fn read_key(arguments: &[&str]) -> Outcome {
    let description = CString::new(arguments[0])
        .map_err(|_| Failure::Usage("a description holds a zero byte".to_owned()))?;
    let payload = calls::read_key(&description).map_err(denied("keyctl"))?;
    say(String::from_utf8_lossy(&payload))
}

/// `trace PID`. A seized process runs on, and its tracer's end lets it go
/// (ptrace(2)).
pub(super) fn trace(arguments: &[&str]) -> Outcome {
    let pid = Pid::from_raw(number(arguments[0])?);
    ptrace::seize(pid, ptrace::Options::empty()).map_err(denied("ptrace"))?;
    say("attached")
}

/// `copy-descriptor PID NUMBER`.
pub(super) fn copy_descriptor(arguments: &[&str]) -> Outcome {
    let (pid, descriptor) = (number(arguments[0])?, number(arguments[1])?);
    calls::copy_descriptor(pid, descriptor).map_err(denied("pidfd_getfd"))?;
    say("copied")
}

/// `compare-descriptors PID NUMBER`.
pub(super) fn compare_descriptors(arguments: &[&str]) -> Outcome {
    let (pid, descriptor) = (number(arguments[0])?, number(arguments[1])?);
    let same = calls::compare_descriptors(pid, descriptor).map_err(denied("kcmp"))?;
    say(if same { "same" } else { "different" })
}

/// `await-name DIRECTORY`.
pub(super) fn await_name(arguments: &[&str]) -> Outcome {
    let directory = CString::new(arguments[0])
        .map_err(|_| Failure::Usage("a path holds a zero byte".to_owned()))?;
    let ready = || drop(say("watching"));
    let name = calls::await_name(&directory, ready).map_err(denied("inotify"))?;
    say(String::from_utf8_lossy(&name))
}

/// `outlive-thread STATUS`: the first thread ends, and with it what /proc and
/// careless waiters take for the process. The second prints and exits.
pub(super) fn outlive_thread(arguments: &[&str]) -> Outcome {
    let status = number(arguments[0])?;
    let first = nix::unistd::gettid();
    let second = std::thread::Builder::new().spawn(move || {
        let stat = format!("/proc/self/task/{first}/stat");
        // It is gone, or a zombie that waits for the others.
        while fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z ")) {
            std::thread::yield_now();
        }
        let told = say("outlived");
        std::process::exit(if told.is_ok() { status } else { 1 });
    });
    second.map_err(denied("clone"))?;
    calls::exit_thread()
}

/// The shortest text that is shown of a memory.
const SHORTEST: usize = 6;
/// How much of a stack is read: arguments and environment lie at its end, and
/// those of a fixture are a few lines.
const READ: usize = 128 << 10;

/// `read-memory PID`.
pub(super) fn read_memory(arguments: &[&str]) -> Outcome {
    let pid = number(arguments[0])?;
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).map_err(denied("open maps"))?;
    let missing = || Failure::Denied("read maps", io::ErrorKind::NotFound.into());
    let (start, end) = maps.lines().find_map(stack).ok_or_else(missing)?;
    let length = (end - start).min(READ);
    let mut bytes = vec![0; length];
    let remote = RemoteIoVec {
        base: end - length,
        len: length,
    };
    let mut local = [IoSliceMut::new(&mut bytes)];
    process_vm_readv(Pid::from_raw(pid), &mut local, &[remote])
        .map_err(denied("process_vm_readv"))?;
    for text in bytes.split(|byte| !(b' '..=b'~').contains(byte)) {
        if text.len() >= SHORTEST {
            say(String::from_utf8_lossy(text))?;
        }
    }
    Ok(())
}

/// The bounds of the stack, if the line of the maps is its (proc_pid_maps(5)).
fn stack(line: &str) -> Option<(usize, usize)> {
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    line.ends_with("[stack]")
        .then_some((address(start)?, address(end)?))
}
