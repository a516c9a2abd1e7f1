# operations: mount-tmpfs
@operation
def mount_tmpfs(path):
    check(libc.mount(b"tmpfs", path.encode(), b"tmpfs", ctypes.c_ulong(0), None), "mount")
    say("mounted")


# operations: bind-mount
@operation
def bind_mount(source, target):
    flags = ctypes.c_ulong(4096 | 16384)  # MS_BIND, MS_REC
    check(libc.mount(source.encode(), target.encode(), None, flags, None), "mount")
    say("mounted")


# operations: remount-writable
@operation
def remount_writable(path):
    # This mount's own flag alone, never the file system's.
    flags = ctypes.c_ulong(4096 | 32)  # MS_BIND, MS_REMOUNT
    check(libc.mount(None, path.encode(), None, flags, None), "mount")
    say("remounted")


# operations: unmount
@operation
def unmount(path):
    check(libc.umount2(path.encode(), 2), "umount")  # MNT_DETACH
    say("unmounted")


# operations: new-user-namespace
@operation
def new_user_namespace(*words):
    user, group = os.geteuid(), os.getegid()
    check(libc.unshare(0x10000000 | 0x20000), "unshare")  # CLONE_NEWUSER, CLONE_NEWNS
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", "0 %d 1" % user),
        ("gid_map", "0 %d 1" % group),
    ):
        try:
            with open("/proc/self/" + name, "w") as file:
                file.write(text)
        except OSError:
            pass
    say("created")
    words = list(words[1:] if words[:1] == ("then",) else words)
    if words:
        run(words)


# operations: set-hostname
@operation
def set_hostname(name):
    check(libc.sethostname(name.encode(), ctypes.c_size_t(len(name))), "sethostname")
    say("set")


# operations: exchange
@operation
def exchange(one, other):
    call("renameat2", -100, one.encode(), -100, other.encode(), 2)  # RENAME_EXCHANGE
    say("exchanged")


# operations: exchange-for-ever
@operation
def exchange_for_ever(one, other):
    import time

    end = time.monotonic() + 120
    rename = ctypes.c_long(number_of_call("renameat2"))
    one, other = one.encode(), other.encode()
    swaps = 0
    while time.monotonic() < end:
        libc.syscall(rename, -100, one, -100, other, 2)
        swaps += 1
        # Now and then a state stays, for who refuses what it sees changing.
        time.sleep(0.0001 if swaps % 400 < 397 else 0.012)


# operations: link-descriptor
@operation
def link_descriptor(number, path):
    by_name = b"/proc/self/fd/" + number.encode()
    if libc.linkat(-100, by_name, -100, path.encode(), 0x400) != 0:
        check(libc.linkat(int(number), b"", -100, path.encode(), 0x1000), "linkat")
    say("linked")


# operations: capabilities
@operation
def capabilities():
    header = struct.pack("Ii", 0x20080522, 0)
    data = ctypes.create_string_buffer(24)
    check(libc.capget(header, data), "capget")
    sets = struct.unpack("6I", data.raw)
    for place, name in enumerate(("effective", "permitted", "inheritable")):
        say("%s %016x" % (name, sets[place] | sets[place + 3] << 32))
    bounding = sum(1 << it for it in range(64) if libc.prctl(23, it, 0, 0, 0) == 1)
    say("bounding %016x" % bounding)
    say("no-new-privileges %s" % ("yes" if libc.prctl(39, 0, 0, 0, 0) == 1 else "no"))


# operations: socket
@operation
def socket_(domain, kind, protocol="0"):
    families = {
        "unix": 1, "inet": 2, "inet6": 10, "netlink": 16, "packet": 17, "vsock": 40,
        "alg": 38, "bluetooth": 31, "can": 29, "tipc": 30, "key": 15, "rds": 21,
        "xdp": 44, "llc": 26, "x25": 9, "ax25": 3, "appletalk": 5, "nfc": 39,
        "qipcrtr": 42, "kcm": 41, "smc": 43,
    }
    kinds = {"stream": 1, "datagram": 2, "dgram": 2, "raw": 3, "rdm": 4, "seqpacket": 5}
    protocols = {
        "tcp": 6, "udp": 17, "icmp": 1, "icmpv6": 58, "mptcp": 262, "sctp": 132,
        "raw": 255, "route": 0, "netfilter": 12, "generic": 16, "audit": 9, "xfrm": 6,
        "uevent": 15, "sock-diag": 4, "crypto": 21,
    }
    check(
        libc.socket(
            int(families.get(domain, domain)),
            int(kinds.get(kind, kind)),
            int(protocols.get(protocol, protocol)),
        ),
        "socket",
    )
    say("created")


OPERATIONS["socket"] = socket_


# operations: trace
@operation
def trace(pid):
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    check(libc.ptrace(0x4206, int(pid), None, None), "ptrace")  # PTRACE_SEIZE
    say("attached")


# operations: copy-descriptor
@operation
def copy_descriptor(pid, number):
    handle = call("pidfd_open", int(pid), 0)
    call("pidfd_getfd", handle, int(number), 0)
    say("copied")


# operations: compare-descriptors
@operation
def compare_descriptors(pid, number):
    order = call("kcmp", os.getpid(), int(pid), 0, int(number), int(number))
    say("different" if order else "same")


# operations: read-memory
@operation
def read_memory(pid):
    import re

    with open("/proc/%s/maps" % pid) as maps:
        stack = [line for line in maps if line.rstrip().endswith("[stack]")]
    if not stack:
        raise OSError(errno.ENOENT, "no stack")
    low, high = (int(it, 16) for it in stack[0].split()[0].split("-"))
    length = min(high - low, 128 << 10)
    data = ctypes.create_string_buffer(length)

    class Part(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    here = Part(ctypes.addressof(data), length)
    there = Part(high - length, length)
    one = ctypes.c_ulong(1)
    zero = ctypes.c_ulong(0)
    here, there = ctypes.byref(here), ctypes.byref(there)
    call("process_vm_readv", ctypes.c_long(int(pid)), here, one, there, one, zero)
    for text in re.findall(rb"[ -~]{6,}", data.raw):
        say(text.decode())


# operations: await-name
@operation
def await_name(directory):
    watch = check(libc.inotify_init1(0), "inotify")
    check(libc.inotify_add_watch(watch, directory.encode(), 0x100), "inotify")  # IN_CREATE
    say("watching")
    event = os.read(watch, 4096)
    say(event[16:].split(b"\0")[0].decode(errors="replace"))


# operations: outlive-thread
@operation
def outlive_thread(status):
    import threading

    first = threading.get_native_id()

    def second():
        try:
            while True:
                with open("/proc/self/task/%d/stat" % first) as stat:
                    if ") Z " in stat.read():
                        break
        except OSError:
            pass
        say("outlived")
        os._exit(int(status))

    threading.Thread(target=second).start()
    call("exit", ctypes.c_long(0))


# operations: climb-root
@operation
def climb_root(*words):
    try:
        os.mkdir(".climb")
    except OSError:
        pass
    os.chroot(".climb")
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    say("climbed")
    run(list(words))
