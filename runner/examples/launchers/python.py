#!/usr/bin/env python3
"""A launcher that needs code: reads a request (JSON), and becomes bubblewrap.

Whatever goes wrong before that is an exception: it is printed, the exit status
is not zero, and nothing is started.
"""

import json
import os
import shutil
import signal
import sys

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc")


def arguments(request):
    policy = request["policy"]
    host_readable = policy.get("posture") == "host-readable"

    yield from ("--unshare-all", "--die-with-parent", "--new-session")
    if policy.get("network") != "none":
        yield "--share-net"
    for path in ("/",) if host_readable else SYSTEM:
        yield from ("--ro-bind-try", path, path)
    yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")
    yield from ("--bind", request["workspace"], request["workspace"])
    for path in policy.get("read_only", []):
        yield from ("--ro-bind", path, path)
    for path in policy.get("read_write", []):
        yield from ("--bind", path, path)
    for path in policy.get("hidden", []):
        if os.path.isdir(path):
            yield from ("--tmpfs", path)
        else:
            yield from ("--ro-bind", "/dev/null", path)
    yield from ("--chdir", request["cwd"], "--")
    yield from request["command"]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    if request["policy"].get("posture") == "host-readable":
        environment = dict(os.environ)
    else:
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp"}
    # Not by an option: command lines can be read by every process of the host.
    environment.update(request.get("environment") or {})
    # Python has ignored SIGPIPE since it started; what it starts would go on to.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None:
        sys.exit("bwrap is not on PATH")
    os.execve(bubblewrap, ["bwrap", *arguments(request)], environment)


main()
