# What the host of this case has running: services on sockets, processes,
# shared memory. Everything is made first, then named on standard output as
# shell variables; a process stays and serves until it is sent SIGTERM.
import ctypes
import os
import select
import signal
import socket
import sys

KINDS = {
    "stream": socket.SOCK_STREAM,
    "datagram": socket.SOCK_DGRAM,
    "sequenced-packet": socket.SOCK_SEQPACKET,
}
KEPT = 1 << 20

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
libc.shmdt.argtypes = [ctypes.c_void_p]

# From standard input: commands look for processes by their command lines.
words = sys.stdin.read().split("\0")[:-1]
notes, root = words[:2]
services = []
processes = {}
segments = []
told = []


class Service:
    """A bound socket, what it answers, and the file of what it has heard."""

    def __init__(self, name, sock, reply):
        sock.setblocking(False)
        self.sock = sock
        self.reply = reply
        self.log = os.path.join(notes, "heard." + name)
        self.connections = []
        open(self.log, "ab").close()

    def note(self, data):
        with open(self.log, "ab") as log:
            log.write(data[: max(0, KEPT - log.tell())])

    def turn(self):
        """Takes in what waits; whether there was anything."""
        progress = False
        try:
            if self.sock.type == socket.SOCK_DGRAM:
                data, sender = self.sock.recvfrom(65536)
                self.note(b"[datagram]\n" + data)
                if self.reply and sender:
                    self.sock.sendto(self.reply, sender)
            else:
                connection, peer = self.sock.accept()
                connection.setblocking(False)
                if not is_own(peer):
                    self.note(b"[connection]\n")
                self.connections.append(connection)
                if self.reply:
                    connection.sendall(self.reply)
                    connection.shutdown(socket.SHUT_WR)
            progress = True
        except OSError:
            pass
        for connection in list(self.connections):
            try:
                data = connection.recv(65536)
                progress = True
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if data:
                self.note(data)
            else:
                self.connections.remove(connection)
                connection.close()
        return progress


def is_own(peer):
    """Whether the fixture itself made a connection, to be inherited."""
    try:
        with open(os.path.join(notes, "own")) as own:
            return isinstance(peer, tuple) and str(peer[1]) in own.read().split()
    except OSError:
        return False


def make_socket(name, kind, path, address, reply):
    sock = socket.socket(socket.AF_UNIX, KINDS[kind])
    if path:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        sock.bind(path)
        os.chmod(path, 0o777)
    else:
        sock.bind("\0" + address)
    if kind != "datagram":
        sock.listen(16)
    services.append(Service(name, sock, reply.encode()))


def make_listener(name, variable, protocol, address, reply):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    sock = socket.socket(family, kind)
    sock.bind((address, 0))
    if protocol == "tcp":
        sock.listen(128)
    told.append("%s=%d" % (variable, sock.getsockname()[1]))
    services.append(Service(name, sock, reply.encode()))


def make_segment(variable, text):
    size = len(text.encode()) + 1
    number = libc.shmget(0, size, 0o1600)  # IPC_PRIVATE; IPC_CREAT and its mode
    if number < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    segments.append(number)
    memory = libc.shmat(number, None, 0)
    ctypes.memmove(memory, text.encode(), size - 1)
    libc.shmdt(memory)
    told.append("%s=%d" % (variable, number))


def start_process(name, variable, words, environment):
    """A shell that says that it runs, and waits until its input ends."""
    read, hold = os.pipe()
    said, say = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.chdir(root)
        os.dup2(read, 0)
        os.dup2(say, 1)
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        # Any process of this user may trace it, where Yama would forbid that.
        libc.prctl(0x59616D61, ctypes.c_ulong(-1 & (2**64 - 1)), 0, 0, 0)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        shell = ["/bin/sh", "-c", "echo; read wait", name]
        os.execve("/bin/sh", shell + words, environment)
    os.close(read)
    os.close(say)
    os.read(said, 1)
    os.close(said)
    processes[pid] = hold
    told.append("%s=%d" % (variable, pid))


def make(words):
    while words:
        what, words = words[0], words[1:]
        count = {"socket": 5, "listener": 5, "segment": 2}.get(what)
        if what == "process":
            name, variable, arguments, variables = words[:4]
            words = words[4:]
            own = words[: int(arguments)]
            words = words[int(arguments) :]
            pairs = words[: int(variables)]
            words = words[int(variables) :]
            start_process(name, variable, own, dict(it.split("=", 1) for it in pairs))
            continue
        make_one = {"socket": make_socket, "listener": make_listener, "segment": make_segment}
        make_one[what](*words[:count])
        words = words[count:]


def end(*_):
    for pid in processes:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    for number in segments:
        libc.shmctl(number, 0, None)  # IPC_RMID
    os._exit(0)


def serve():
    # Whoever writes to `ask` wants to know, by `answer`, that all is taken in.
    ask = os.open(os.path.join(notes, "ask"), os.O_RDWR | os.O_NONBLOCK)
    while True:
        watched = [ask]
        for service in services:
            watched.append(service.sock)
            watched.extend(service.connections)
        ready, _, _ = select.select(watched, [], [], 0.2)
        while any([service.turn() for service in services]):
            pass
        if ask in ready:
            os.read(ask, 4096)
            with open(os.path.join(notes, "answer"), "w") as answer:
                answer.write("heard\n")


for name in ("ask", "answer"):
    os.mkfifo(os.path.join(notes, name))
result, report = os.pipe()
child = os.fork()
if child == 0:
    os.close(result)
    os.setsid()
    os.chdir("/")
    signal.signal(signal.SIGTERM, end)
    try:
        make(words[2:])
        os.write(report, "\n".join(told + ["host=%d" % os.getpid(), ""]).encode())
    except Exception as error:
        print("cannot make the fixture: %s" % error, file=sys.stderr)
        end()
    os.close(report)
    null = os.open("/dev/null", os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    serve()
os.close(report)
text = b""
while True:
    piece = os.read(result, 4096)
    if not piece:
        break
    text += piece
sys.stdout.write(text.decode())
sys.exit(0 if text else 1)
