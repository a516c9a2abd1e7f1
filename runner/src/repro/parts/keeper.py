# Starts a launcher with what a shell cannot give it (a terminal, descriptors,
# keys, signal state), does what is to happen meanwhile, and finds what outlives it.
import ctypes
import fcntl
import os
import platform
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans come to us

words = sys.stdin.read().split("\0")[:-1]
notes, directory, deadline, grace = words[:4]
start = None
terminal = False
between = False
starter = None
source = None
host_directory = "/"
streams = {}
ignored = []
blocked = []
keys = []
descriptors = []
mounts = []
binds = []
actions = []
after = None

words = words[4:]
while words[0] != "--":
    option = words.pop(0)
    if option == "--start":
        start = words.pop(0).encode() or None
    elif option == "--terminal":
        terminal = between = True
    elif option == "--input":
        source = words.pop(0)
    elif option == "--host-directory":
        host_directory = words.pop(0)
    elif option == "--stream":
        number = int(words.pop(0))
        streams[number] = words.pop(0)
    elif option == "--ignore":
        ignored.append(getattr(signal, "SIG" + words.pop(0)))
    elif option == "--block":
        blocked.append(getattr(signal, "SIG" + words.pop(0)))
    elif option == "--key":
        keys.append((words.pop(0), words.pop(0)))
    elif option in ("--read", "--append", "--directory", "--connection"):
        descriptors.append((int(words.pop(0)), option, words.pop(0)))
    elif option == "--mount":
        mounts.append(words.pop(0))
    elif option == "--bind":
        binds.append((words.pop(0), words.pop(0)))
    elif option == "--after":
        after = words.pop(0).encode()
    else:
        between = between or option == "--kill-parent"
        takes = option in ("--signal", "--host", "--type")
        actions.append([after, option, words.pop(0) if takes else None])
        after = None
command = words[1:]

# The variables that `env -i` gives the launcher are the host commands' too.
variables = {}
for word in command[2:]:
    name, equals, value = word.partition("=")
    if not equals:
        break
    variables[name] = value


def open_descriptor(kind, what):
    if kind == "--read":
        return os.open(what, os.O_RDONLY)
    if kind == "--append":
        return os.open(what, os.O_WRONLY | os.O_APPEND)
    if kind == "--directory":
        return os.open(what, os.O_RDONLY | os.O_DIRECTORY)
    # The service does not count a connection from a port that is listed here.
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    with open(os.path.join(notes, "own"), "a") as own:
        own.write("%d\n" % sock.getsockname()[1])
    sock.connect(("127.0.0.1", int(what)))
    return sock.detach()


def join_keyring():
    """keyctl(2) KEYCTL_JOIN_SESSION_KEYRING, then add_key(2) for each key."""
    join, add = {"x86_64": (250, 248)}.get(platform.machine(), (219, 217))
    if libc.syscall(join, 1, None) < 0:
        raise OSError(ctypes.get_errno(), "keyctl")
    for name, text in keys:
        data = text.encode()
        if libc.syscall(add, b"user", name.encode(), data, len(data), -3) < 0:
            raise OSError(ctypes.get_errno(), "add_key")


def make_mounts():
    """Mounts that only the launcher sees: unshare(2), mount(2)."""
    user, group = os.geteuid(), os.getegid()
    flags = 0x20000 | (0x10000000 if user else 0)  # CLONE_NEWNS, CLONE_NEWUSER
    results = [libc.unshare(flags)]
    if user:
        maps = (("setgroups", "deny"), ("uid_map", user), ("gid_map", group))
        for name, text in maps:
            with open("/proc/self/" + name, "w") as file:
                file.write("%s %s 1" % (text, text) if name != "setgroups" else text)
    # MS_REC and MS_PRIVATE: nothing of this reaches the host.
    results.append(libc.mount(None, b"/", None, ctypes.c_ulong(0x44000), None))
    for target in mounts:
        results.append(libc.mount(b"tmpfs", target.encode(), b"tmpfs", 0, b"mode=0755"))
    for at, shown in binds:
        # MS_BIND and MS_REC
        results.append(libc.mount(shown.encode(), at.encode(), None, ctypes.c_ulong(0x5000), None))
    if any(results):
        raise OSError(ctypes.get_errno(), "cannot mount")


def become_launcher(ends):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            pass
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    if mounts or binds:
        make_mounts()
    if keys:
        join_keyring()
    for number in (0, 1, 2):
        if number in ends:
            os.dup2(ends[number], number)
    copies = [(fcntl.fcntl(it, fcntl.F_DUPFD_CLOEXEC, 64), number) for number, it in opened]
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.set_inheritable(int(name), False)
            except OSError:
                pass
    for copy, number in copies:
        os.dup2(copy, number, True)
    for number, what in streams.items():
        if what == "closed":
            os.close(number)
    os.chdir(directory)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    os.execvp(command[0], command)


def stand_between(launcher):
    """Leads the session as a shell does; may be killed alone."""
    os.write(report_end, struct.pack("i", launcher))
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in (report_end, hold_end):
            try:
                os.close(int(name))
            except OSError:
                pass
    os.waitid(os.P_PID, launcher, os.WEXITED | os.WNOWAIT)
    os.read(hold_end, 1)
    _, status = os.waitpid(launcher, 0)
    os.write(report_end, struct.pack("i", status))
    os._exit(0)


def child(ends):
    signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    os.setsid()
    if terminal:
        fcntl.ioctl(ends[0], termios.TIOCSCTTY, 0)
    if between:
        launcher = os.fork()
        if launcher:
            stand_between(launcher)
        os.setpgid(0, 0)
        if terminal:
            os.tcsetpgrp(ends[0], os.getpid())
    try:
        become_launcher(ends)
    except BaseException as error:
        os.write(2, ("cannot start: %s\n" % error).encode())
    os._exit(127)


def end_of(number, mine, theirs):
    """What the launcher finds as a stream, where the case says so."""
    what = streams.get(number)
    if what is None:
        return theirs
    if what == "closed":
        return os.open("/dev/null", os.O_RDWR)
    if what == "gone":
        pair = os.pipe()
        os.close(pair[1 if number == 0 else 0])
        return pair[0 if number == 0 else 1]
    return os.open(what, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_APPEND)


def descendants(spared):
    """Every living descendant of ours, by /proc/PID/stat."""
    children = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name) as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append((int(name), fields[0], int(fields[2])))
    found, parents = [], [os.getpid()]
    while parents:
        for pid, state, group in children.get(parents.pop(), []):
            if pid in spared:
                continue
            parents.append(pid)
            if state not in "ZX":
                found.append((pid, group))
            elif pid not in (first, launcher):
                try:
                    os.waitpid(pid, os.WNOHANG)
                except OSError:
                    pass
    return found


def end_all(spared):
    """Kills every descendant, whatever they start meanwhile."""
    while True:
        living = descendants(spared)
        if not living:
            return
        for pid, _ in living:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.005)


def give_up(*_):
    end_all([])
    os._exit(143)


signal.signal(signal.SIGTERM, give_up)
first = launcher = None
opened = [(number, open_descriptor(kind, what)) for number, kind, what in descriptors]
data = open(source, "rb").read() if source else b""
if terminal:
    user, program = os.openpty()
    fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    ends = {0: program, 1: program, 2: program}
    writer, readers = user, {user: "raw"}
else:
    input_end, writer = os.pipe()
    output, output_end = os.pipe()
    errors, errors_end = os.pipe()
    ends = {
        0: end_of(0, writer, input_end),
        1: end_of(1, output, output_end),
        2: end_of(2, errors, errors_end),
    }
    readers = {output: "raw", errors: "errors"}
report, report_end = os.pipe()
hold_end, hold = os.pipe()
released = threading.Event()


def begin():
    global first
    first = os.fork()
    if first == 0:
        child(ends)


if any(kind == "--end-thread" for _, kind, _ in actions):
    # What is tied to its parent's life is tied to this thread's.
    forked = threading.Event()

    def run():
        begin()
        forked.set()
        released.wait()

    starter = threading.Thread(target=run)
    starter.start()
    forked.wait()
else:
    begin()
for number in set(ends.values()) | {report_end, hold_end}:
    if not (terminal and number == program):
        os.close(number)
if not terminal:
    for number in (input_end, output_end, errors_end):
        try:
            os.close(number)
        except OSError:
            pass
launcher = struct.unpack("i", os.read(report, 4))[0] if between else first
handle = os.pidfd_open(launcher)
for number in list(readers) + [writer]:
    os.set_blocking(number, False)

kept = {"raw": b"", "errors": b""}
due = [False] * len(actions)
begun = start is None
line_start = 0
done = 0
host = None
groups = []
ended = False
limit = time.monotonic() + float(deadline)


def heed():
    """Looks at the lines that have come since the last look."""
    global begun, line_start
    if begun:
        for place, (wanted, _, _) in enumerate(actions):
            due[place] = due[place] or wanted is None
    while True:
        end = kept["raw"].find(b"\n", line_start)
        if end < 0:
            return
        line = kept["raw"][line_start:end]
        if terminal and line.endswith(b"\r"):
            line = line[:-1]
        line_start = end + 1
        if not begun:
            if line == start:
                begun = True
                for place, (wanted, _, _) in enumerate(actions):
                    due[place] = due[place] or wanted is None
            continue
        for place, (wanted, _, _) in enumerate(actions):
            due[place] = due[place] or (place >= done and wanted == line)


def act():
    """Does what is due, in order, up to a host command, which must end first."""
    global done, host, data, released
    while host is None and done < len(actions) and due[done]:
        _, kind, what = actions[done]
        done += 1
        if kind == "--host":
            host = subprocess.Popen(
                ["bash", "-c", what],
                cwd=host_directory,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
            groups.append(host.pid)
        elif ended:
            continue
        elif kind == "--signal":
            os.kill(launcher, getattr(signal, "SIG" + what))
        elif kind == "--type":
            data += what.encode()
        elif kind == "--kill-parent":
            os.kill(first, signal.SIGKILL)
        else:
            released.set()
            starter.join()


def take(number):
    try:
        piece = os.read(number, 65536)
    except BlockingIOError:
        return False
    except OSError:
        piece = b""
    if not piece:
        readers.pop(number, None)
        return False
    # Not without end; all is read all the same.
    if len(kept[readers[number]]) < 8 << 20:
        kept[readers[number]] += piece
    return True


def feed():
    global data, writer
    try:
        data = data[os.write(writer, data) :]
    except BlockingIOError:
        pass
    except OSError:
        data = b""
    if not data and not terminal:
        os.close(writer)
        writer = None


if not data and not terminal:
    os.close(writer)
    writer = None
while True:
    heed()
    act()
    if ended and host is None:
        break
    left = limit - time.monotonic()
    if left <= 0:
        break
    reading = [] if ended else list(readers) + [handle]
    writing = [writer] if data and writer is not None and not ended else []
    if host is not None:
        left = min(left, 0.02)
    ready, free, _ = select.select(reading, writing, [], left)
    if free:
        feed()
    for number in ready:
        if number != handle:
            take(number)
    if handle in ready:
        ended = True
        for number in list(readers):
            while number in readers and take(number):
                pass
    if host is not None and host.poll() is not None:
        host = None

released.set()


spared = [launcher, first]
if not between and ended:
    status = os.waitpid(launcher, 0)[1]
outlive = time.monotonic() + float(grace)
found = descendants(spared) if ended else []
while found and time.monotonic() < outlive:
    time.sleep(0.005)
    found = descendants(spared)
with open(os.path.join(notes, "survivors"), "w") as survivors:
    for pid, group in found:
        if group not in groups:
            with open("/proc/%d/cmdline" % pid, "rb") as line:
                shown = line.read().replace(b"\0", b" ").decode(errors="replace")
            survivors.write("%d %s\n" % (pid, shown))

typed = b""
if terminal:
    # An unended line is there for a reader only out of canonical mode.
    mode = termios.tcgetattr(program)
    mode[3] &= ~(termios.ICANON | termios.ECHO)
    mode[6][termios.VMIN] = 0
    mode[6][termios.VTIME] = 0
    try:
        termios.tcsetattr(program, termios.TCSANOW, mode)
        while True:
            piece = os.read(program, 4096)
            if not piece:
                break
            typed += piece
    except (OSError, termios.error):
        pass
with open(os.path.join(notes, "typed"), "wb") as file:
    file.write(typed)

end_all(spared if ended else [])
if ended and between:
    os.close(hold)
    answer = os.read(report, 4)
    if len(answer) == 4:
        status = struct.unpack("i", answer)[0]
    else:
        # Its parent was killed, so it has come to us.
        status = os.waitpid(launcher, 0)[1]
if ended:
    status = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
else:
    status = 137
for name, text in kept.items():
    with open(os.path.join(notes, name), "wb") as file:
        file.write(text.replace(b"\r\n", b"\n") if terminal else text)
with open(os.path.join(notes, "ending"), "w") as file:
    file.write("status=%d\ntimed_out=%s\n" % (status, "no" if ended else "yes"))
