# operations: kernel-call
@operation
def kernel_call(name):
    # Each with arguments by which it changes nothing but this process: it
    # succeeds, or fails for another reason than the want of a right.
    zeros = ctypes.create_string_buffer(256)
    event = ctypes.create_string_buffer(struct.pack("16Q", 1 | 128 << 32, 0, 0, 0, 0, 96, *[0] * 10))
    handle = ctypes.create_string_buffer(struct.pack("4I", 8, 1, 0, 0))
    root, absent = b"/", b"/perimeter-absent"
    # The numbers on x86_64, and of the table that newer systems share.
    calls = {
        "bpf": (321, 280, 0, zeros, 72),
        "perf-event-open": (298, 241, event, 0, -1, -1, 0),
        "userfaultfd": (323, 282, os.O_CLOEXEC | 1),
        "io-uring-setup": (425, 425, 1, zeros),
        "add-key": (248, 217, b"user", b"perimeter-probe", root, 1, -2),
        "personality": (135, 92, 0x40000),
        "modify-ldt": (154, None, 0, zeros, 256),
        "fanotify-init": (300, 262, 0, os.O_CLOEXEC),
        "open-by-handle": (304, 265, -100, handle, 0),
        "open-tree": (428, 428, -100, root, 1 | os.O_CLOEXEC),
        "fsopen": (430, 430, b"tmpfs", 1),
        "mount-setattr": (442, 442, -100, root, 0, zeros, 32),
        "swapon": (167, 224, absent, 0),
        "acct": (163, 89, absent),
        "reboot": (169, 142, 0, 0, 0, 0),
        "unshare-mounts": (272, 97, 0x20000),
        "unshare-network": (272, 97, 0x40000000),
        "setgroups": (116, 159, 0, 0),
        "chroot": (161, 51, root),
        "set-priority": (141, 140, 0, 0, ctypes.c_long(-5)),
    }
    if name == "securebits":
        result = libc.prctl(28, libc.prctl(27, 0, 0, 0, 0), 0, 0, 0)
    else:
        here, elsewhere, *arguments = calls[name]
        number = here if platform.machine() == "x86_64" else elsewhere
        wide = [ctypes.c_long(it) if isinstance(it, int) else it for it in arguments]
        result = libc.syscall(ctypes.c_long(number), *wide)
    if result == -1 and ctypes.get_errno() in (errno.EPERM, errno.EACCES, errno.ENOSYS):
        check(-1, name)
    say("permitted")
