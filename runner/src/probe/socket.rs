//! Sockets: each operation says hello and prints what it hears.

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, bind, connect, recv, send, sendmsg,
    sendto, setsockopt, shutdown, socket, sockopt,
};
use nix::sys::time::TimeVal;

use super::{Failure, Outcome, denied, say};

/// What is said.
pub(super) const HELLO: &[u8] = b"hello\n";
/// How long a stream may take to answer: a listener that is there answers or
/// closes, so this passes only where one has hung.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a datagram's answer is waited for, since a listener need not give
/// one. On a loaded machine loopback takes a few milliseconds.
const DATAGRAM_PATIENCE: Duration = Duration::from_millis(300);

/// `connect-unix PATH [KIND]`.
pub(super) fn connect_unix(arguments: &[&str]) -> Outcome {
    let address = UnixAddr::new(arguments[0]).map_err(denied("sockaddr"))?;
    talk(&address, arguments.get(1).copied())
}

/// `bind-unix PATH`.
pub(super) fn bind_unix(arguments: &[&str]) -> Outcome {
    std::os::unix::net::UnixListener::bind(arguments[0]).map_err(denied("bind"))?;
    say("bound")
}

/// `send-unix PATH CALL`: without connecting first.
pub(super) fn send_unix(arguments: &[&str]) -> Outcome {
    let address = UnixAddr::new(arguments[0]).map_err(denied("sockaddr"))?;
    let kind = SockType::Datagram;
    let socket = socket(AddressFamily::Unix, kind, SockFlag::empty(), None);
    let socket = socket.map_err(denied("socket"))?;
    let number = socket.as_raw_fd();
    let flags = MsgFlags::empty();
    match arguments[1] {
        "sendto" => sendto(number, HELLO, &address, flags).map_err(denied("sendto"))?,
        "sendmsg" => {
            let parts = [std::io::IoSlice::new(HELLO)];
            sendmsg(number, &parts, &[], flags, Some(&address)).map_err(denied("sendmsg"))?
        }
        other => return Err(Failure::Usage(format!("unknown call {other:?}"))),
    };
    say("sent")
}

/// `connect-abstract NAME [KIND]`.
#[cfg(target_os = "linux")]
pub(super) fn connect_abstract(arguments: &[&str]) -> Outcome {
    let name = arguments[0].trim_start_matches('@');
    let address = UnixAddr::new_abstract(name.as_bytes()).map_err(denied("sockaddr"))?;
    talk(&address, arguments.get(1).copied())
}

fn talk(address: &UnixAddr, kind: Option<&str>) -> Outcome {
    let kind = match kind.unwrap_or("stream") {
        "stream" => SockType::Stream,
        "datagram" => SockType::Datagram,
        "seqpacket" => SockType::SeqPacket,
        other => return Err(Failure::Usage(format!("unknown kind of socket {other:?}"))),
    };
    let socket = socket(AddressFamily::Unix, kind, SockFlag::empty(), None);
    let socket = socket.map_err(denied("socket"))?;
    let is_datagram = kind == SockType::Datagram;
    // Without an address of its own a datagram's sender gets no answer.
    let own = if is_datagram {
        own_address(&socket)
    } else {
        None
    };
    connect(socket.as_raw_fd(), address).map_err(denied("connect"))?;
    if !is_datagram {
        say("connected")?;
    }
    send(socket.as_raw_fd(), HELLO, MsgFlags::empty()).map_err(denied("send"))?;
    if is_datagram {
        say("sent")?;
    }
    if kind == SockType::Stream {
        let _ = shutdown(socket.as_raw_fd(), nix::sys::socket::Shutdown::Write);
    }
    let patience = if is_datagram {
        DATAGRAM_PATIENCE
    } else {
        PATIENCE
    };
    let limit = TimeVal::new(
        i64::try_from(patience.as_secs()).unwrap_or(0),
        patience.subsec_micros() as _,
    );
    setsockopt(&socket, sockopt::ReceiveTimeout, &limit).map_err(denied("setsockopt"))?;
    let mut reply = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
        reply.extend_from_slice(&buffer[..length]);
        if kind != SockType::Stream {
            break;
        }
    }
    if let Some(path) = own.as_ref().and_then(|own| own.path()) {
        let _ = fs::remove_file(path);
    }
    print(&reply)
}

/// On Linux an abstract address that the kernel picks (unix(7), autobind).
#[cfg(target_os = "linux")]
fn own_address(socket: &OwnedFd) -> Option<UnixAddr> {
    let address = UnixAddr::new_unnamed();
    bind(socket.as_raw_fd(), &address).ok()?;
    Some(address)
}

/// Elsewhere a path in the temporary directory.
#[cfg(not(target_os = "linux"))]
fn own_address(socket: &OwnedFd) -> Option<UnixAddr> {
    let name = format!("perimeter-probe-{}", std::process::id());
    let address = UnixAddr::new(&std::env::temp_dir().join(name)).ok()?;
    bind(socket.as_raw_fd(), &address).ok()?;
    Some(address)
}

/// `connect-tcp ADDRESS PORT`.
pub(super) fn connect_tcp(arguments: &[&str]) -> Outcome {
    let stream = TcpStream::connect(address(arguments)?).map_err(denied("connect"))?;
    say("connected")?;
    (&stream).write_all(HELLO).map_err(denied("send"))?;
    hear(&stream)
}

/// Prints what a connection answers.
pub(super) fn hear(mut stream: &TcpStream) -> Outcome {
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let limited = stream.set_read_timeout(Some(PATIENCE));
    limited.map_err(denied("setsockopt"))?;
    let mut reply = Vec::new();
    // What came before an error counts.
    let _ = stream.read_to_end(&mut reply);
    print(&reply)
}

/// `send-udp ADDRESS PORT`.
pub(super) fn send_udp(arguments: &[&str]) -> Outcome {
    let address = address(arguments)?;
    let any = if address.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    };
    let socket = UdpSocket::bind(any).map_err(denied("bind"))?;
    socket.connect(address).map_err(denied("connect"))?;
    socket.send(HELLO).map_err(denied("send"))?;
    say("sent")?;
    let limited = socket.set_read_timeout(Some(DATAGRAM_PATIENCE));
    limited.map_err(denied("setsockopt"))?;
    let mut buffer = [0; 4096];
    match socket.recv(&mut buffer) {
        Ok(length) => print(&buffer[..length]),
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            Err(Failure::Denied("recv", error))
        }
        Err(_) => Ok(()),
    }
}

/// `serve-tcp`.
pub(super) fn serve_tcp(_: &[&str]) -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(denied("bind"))?;
    let address = listener.local_addr().map_err(denied("getsockname"))?;
    let mut client = TcpStream::connect(address).map_err(denied("connect"))?;
    let (mut server, _) = listener.accept().map_err(denied("accept"))?;
    client.write_all(HELLO).map_err(denied("send"))?;
    drop(client);
    let mut heard = Vec::new();
    server.read_to_end(&mut heard).map_err(denied("recv"))?;
    say(if heard == HELLO { "ok" } else { "garbled" })
}

/// An address and a port, both numbers.
pub(super) fn address(arguments: &[&str]) -> Result<SocketAddr, Failure> {
    let wrong = || Failure::Usage(format!("{arguments:?} is no address and port"));
    let host: IpAddr = arguments[0].parse().map_err(|_| wrong())?;
    let port: u16 = arguments[1].parse().map_err(|_| wrong())?;
    Ok(SocketAddr::new(host, port))
}

fn print(reply: &[u8]) -> Outcome {
    if reply.is_empty() {
        return Ok(());
    }
    say(String::from_utf8_lossy(reply).trim_end())
}
