"""The zygote: a clean interpreter with the usual modules loaded, that forks an instance on request.

It runs no tool code and reads none. The trusted side asks over a SEQPACKET socket, one JSON object a message, and
passes the instance's end of a channel along; the answer carries a pidfd of the new process. End of file on that
socket ends the zygote, which is process 1 of its namespace, and with it every instance.
"""

import gc
import importlib
import json
import os
import signal
import socket
from typing import Any

from . import frozen, jail, kernel, serve

PRELOADED = (
    "base64", "bisect", "calendar", "collections", "contextlib", "copy", "csv", "dataclasses", "datetime", "decimal",
    "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "html", "inspect", "io", "itertools", "json",
    "math", "operator", "pathlib", "random", "re", "secrets", "sqlite3", "statistics", "string", "textwrap",
    "traceback", "typing", "unicodedata", "uuid", "zoneinfo", "_strptime", "encodings.idna",
)  # fmt: skip
"""Loaded once, before any fork, so that an instance imports them for nothing."""

_MESSAGE = 65_536


def main(control_fd: int) -> None:
    """Build the walls, say whether they hold, then serve as process 1 until the trusted side goes away."""
    control = socket.socket(fileno=control_fd)
    try:
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
        in_user_namespace = jail.enter_namespaces(proc)
    except OSError as error:
        _send(control, {"error": str(error)})
        return
    first = os.fork()
    if first:
        control.close()
        os.waitpid(first, 0)
        return
    try:
        own = os.open("self/ns/pid", os.O_RDONLY, dir_fd=proc)
        jail.build_root()
        for name in PRELOADED:
            importlib.import_module(name)
        frozen.install()
    except OSError as error:
        _send(control, {"error": str(error)})
        os._exit(1)
    gc.collect()
    gc.freeze()
    _send(control, {"ready": True, "user_namespace": in_user_namespace})
    _serve(control, proc, own, in_user_namespace)
    os._exit(0)


def _serve(control: socket.socket, proc: int, own: int, in_user_namespace: bool) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    while True:
        message, fds, _, _ = socket.recv_fds(control, _MESSAGE, 1)
        if not message:
            return
        request = json.loads(message)
        try:
            pid = _fork_into_own_processes(own)
        except OSError as error:
            _send(control, {"id": request["id"], "error": str(error)})
        else:
            if pid == 0:
                control.close()
                os.close(own)
                _live(socket.socket(fileno=fds[0]), request, proc, in_user_namespace)
            pidfd = os.pidfd_open(pid)
            _send(control, {"id": request["id"]}, pidfd)
            os.close(pidfd)
        os.close(fds[0])


def _fork_into_own_processes(own: int) -> int:
    kernel.join_namespace(own, kernel.CLONE_NEWPID)
    kernel.unshare(kernel.CLONE_NEWPID)
    return os.fork()


def _live(channel: socket.socket, request: dict[str, Any], proc: int, in_user_namespace: bool) -> None:
    """The life of an instance's process. Never returns."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        room = jail.Room(request["uid"], request["memory_mb"], request["disk_mb"])
        home = jail.enter_room(room, proc, in_user_namespace)
        socket.send_fds(channel, [b"+"], [home])
        channel = _alone(channel)
        jail.shut(room, in_user_namespace)
        kernel.die_with_parent()
    except OSError as error:
        channel.sendall(b"-" + str(error).encode())
        os._exit(1)
    try:
        frozen.begin(request["clock_ns"], request["seed"])
        serve.serve(channel)
    finally:
        os._exit(0)


def _alone(channel: socket.socket) -> socket.socket:
    """The same channel, as the only descriptor of this process beside 0 to 2."""
    os.dup2(channel.detach(), 3)
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    return socket.socket(fileno=3)


def _send(control: socket.socket, message: dict[str, Any], *fds: int) -> None:
    socket.send_fds(control, [json.dumps(message).encode()], list(fds))
