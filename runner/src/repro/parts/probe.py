# The probe: small operations that a shell cannot do. It prints a line for each
# fact, and the error of what failed; it ends with 0, or with 1 where the system
# said no. Only the operations that this case uses are here.
import ctypes
import errno
import os
import platform
import signal
import socket
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
OPERATIONS = {}


def operation(function):
    OPERATIONS[function.__name__.replace("_", "-")] = function
    return function


def say(fact):
    sys.stdout.write("%s\n" % fact)
    sys.stdout.flush()


def check(result, call="the call"):
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), call)
    return result


def number_of_call(name):
    """System calls by number: x86_64, and the table that newer systems share."""
    known = {
        "keyctl": (250, 219), "add_key": (248, 217), "pidfd_open": (434, 434),
        "pidfd_getfd": (438, 438), "renameat2": (316, 276), "kcmp": (312, 272),
        "process_vm_readv": (310, 270), "exit": (60, 93), "ioctl": (16, 29),
    }
    return known[name][0 if platform.machine() == "x86_64" else 1]


def call(name, *arguments):
    return check(libc.syscall(ctypes.c_long(number_of_call(name)), *arguments), name)


def run(words):
    # The signals that this language ignores are not the command's affair.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execvp(words[0], words)


# operations: connect-unix connect-abstract
def talk(address, kind):
    kinds = {"stream": 1, "datagram": 2, "seqpacket": 5}
    sock = socket.socket(socket.AF_UNIX, kinds[kind])
    if kind == "datagram":
        # Without an address of its own a datagram's sender gets no answer.
        sock.bind("")
    sock.connect(address)
    if kind != "datagram":
        say("connected")
    sock.send(b"hello\n")
    if kind == "datagram":
        say("sent")
    if kind == "stream":
        sock.shutdown(socket.SHUT_WR)
    sock.settimeout(0.3 if kind == "datagram" else 5)
    reply = b""
    try:
        while True:
            piece = sock.recv(4096)
            reply += piece
            if not piece or kind != "stream":
                break
    except OSError:
        pass
    if reply:
        say(reply.decode(errors="replace").rstrip())


# operations: connect-unix
@operation
def connect_unix(path, kind="stream"):
    talk(path, kind)


# operations: connect-abstract
@operation
def connect_abstract(name, kind="stream"):
    talk("\0" + name.lstrip("@"), kind)


# operations: bind-unix
@operation
def bind_unix(path):
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    sock.listen(16)
    say("bound")


# operations: send-unix
@operation
def send_unix(path, way):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    if way == "sendto":
        sock.sendto(b"hello\n", path)
    else:
        sock.sendmsg([b"hello\n"], [], 0, path)
    say("sent")


# operations: connect-tcp connect-mptcp tcp-fastopen
def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def hear(sock):
    sock.settimeout(5)
    reply = b""
    try:
        sock.shutdown(socket.SHUT_WR)
        while True:
            piece = sock.recv(4096)
            if not piece:
                break
            reply += piece
    except OSError:
        pass
    if reply:
        say(reply.decode(errors="replace").rstrip())


# operations: connect-tcp
@operation
def connect_tcp(address, port):
    sock = socket.socket(family(address))
    sock.connect((address, int(port)))
    say("connected")
    sock.sendall(b"hello\n")
    hear(sock)


# operations: connect-mptcp
@operation
def connect_mptcp(address, port):
    sock = socket.socket(family(address), socket.SOCK_STREAM, 262)
    sock.connect((address, int(port)))
    say("connected")
    sock.sendall(b"hello\n")
    hear(sock)


# operations: tcp-fastopen
@operation
def tcp_fastopen(address, port):
    sock = socket.socket(family(address))
    sock.sendto(b"hello\n", socket.MSG_FASTOPEN, (address, int(port)))
    say("connected")
    hear(sock)


# operations: send-udp
@operation
def send_udp(address, port):
    kind = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(kind, socket.SOCK_DGRAM)
    sock.connect((address, int(port)))
    sock.send(b"hello\n")
    say("sent")
    sock.settimeout(0.3)
    try:
        reply = sock.recv(4096)
    except socket.timeout:
        return
    if reply:
        say(reply.decode(errors="replace").rstrip())


# operations: serve-tcp
@operation
def serve_tcp():
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    server, _ = listener.accept()
    client.sendall(b"hello\n")
    client.close()
    say("ok" if server.makefile("rb").read() == b"hello\n" else "garbled")


# operations: push-input push-input-high-bits
def push(text, high):
    terminals = [0, 1, 2]
    try:
        terminals.append(os.open("/dev/tty", os.O_RDONLY))
    except OSError:
        pass
    error = OSError(errno.ENOENT, "no terminal")
    request = ctypes.c_ulong(0x5412 | (1 << 32 if high else 0))  # TIOCSTI
    for terminal in terminals:
        try:
            for byte in text.encode():
                call("ioctl", ctypes.c_long(terminal), request, ctypes.byref(ctypes.c_char(byte)))
            say("pushed")
            return
        except OSError as why:
            error = why
    raise error


# operations: push-input
@operation
def push_input(text):
    push(text, False)


# operations: push-input-high-bits
@operation
def push_input_high_bits(text):
    push(text, True)


# operations: steal-terminal
@operation
def steal_terminal():
    # Only who leads no process group can begin a session.
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1)
    os.setsid()
    check(libc.ioctl(0, ctypes.c_ulong(0x540E), 1), "ioctl TIOCSCTTY")
    say("stolen")


# operations: tioclinux
@operation
def tioclinux():
    # TIOCL_PASTESEL
    check(libc.ioctl(0, ctypes.c_ulong(0x541C), b"\x03" + bytes(15)), "ioctl TIOCLINUX")
    say("pasted")


# operations: isatty
@operation
def isatty():
    for place, name in enumerate(("input", "output", "errors")):
        say("%s %s" % (name, "yes" if os.isatty(place) else "no"))
    try:
        os.open("/dev/tty", os.O_RDONLY)
        say("controlling yes")
    except OSError:
        say("controlling no")


# operations: wait-line
@operation
def wait_line():
    say("waiting")
    line = sys.stdin.readline()
    if not line:
        raise OSError(errno.EPIPE, "the input has ended")
    say(line.rstrip("\n"))


# operations: attach-shared-memory
@operation
def attach_shared_memory(number):
    libc.shmat.restype = ctypes.c_void_p
    memory = libc.shmat(int(number), None, 0o10000)  # SHM_RDONLY
    if memory in (None, ctypes.c_void_p(-1).value):
        check(-1, "shmat")
    say(ctypes.string_at(memory).decode(errors="replace").rstrip())


# operations: signal
@operation
def signal_(pid, name):
    os.kill(int(pid), getattr(signal, "SIG" + name.replace("SIG", "", 1)))
    say("sent")


OPERATIONS["signal"] = signal_


# operations: open-write
@operation
def open_write(path):
    os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    say("opened")


# operations: map-write
@operation
def map_write(path, text):
    import mmap

    try:
        file = os.open(path, os.O_RDWR)
    except OSError:
        file = os.open(path, os.O_RDONLY)
    data = text.encode()
    with mmap.mmap(file, len(data), mmap.MAP_SHARED) as memory:
        memory[: len(data)] = data
        memory.flush()
    say("written")


# operations: descriptors
@operation
def descriptors():
    for number in range(3, 4096):
        try:
            os.fstat(number)
        except OSError:
            continue
        say(number)


# operations: interfaces
@operation
def interfaces():
    for name in sorted(name for _, name in socket.if_nameindex()):
        say(name)


# operations: daemonize
@operation
def daemonize(*words):
    if os.fork():
        say("daemonized")
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    os.closerange(0, 4096)
    for _ in range(3):
        os.set_inheritable(os.open("/dev/null", os.O_RDWR), True)
    run(list(words))


# operations: read-key
@operation
def read_key(description):
    key = call("keyctl", 10, -3, b"user", description.encode(), 0)
    data = ctypes.create_string_buffer(65536)
    length = call("keyctl", 11, ctypes.c_long(key), data, ctypes.c_size_t(65536))
    say(data.raw[:length].decode(errors="replace"))
