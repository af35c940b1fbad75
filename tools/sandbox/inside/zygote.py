"""The zygote: a clean interpreter with the usual modules loaded, that forks an instance on request.

It runs no tool code and reads none. The trusted side asks over a SEQPACKET socket, one JSON object a message, and
passes the instance's end of a channel along; the answer carries a pidfd of the new process. End of file on that
socket ends the zygote. Where there are namespaces it is process 1 of its own, so every instance ends with it; where
there are none, instances cannot have children, and each dies with its parent.
"""

import fcntl
import gc
import importlib
import json
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Sequence
from typing import Any

from . import filters, frozen, jail, kernel, program, serve

PRELOADED = (
    "ast", "base64", "bisect", "calendar", "cmath", "collections", "contextlib", "copy", "csv", "ctypes",
    "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions", "functools", "glob", "hashlib", "heapq",
    "html", "inspect", "io", "itertools", "json", "locale", "logging", "math", "numbers", "operator", "pathlib",
    "pprint", "random", "re", "secrets", "shutil", "socket", "sqlite3", "statistics", "string", "struct", "tempfile",
    "textwrap", "threading", "traceback", "typing", "unicodedata", "urllib.parse", "uuid", "warnings", "weakref",
    "zlib", "zoneinfo", "_strptime", "encodings.idna",
)  # fmt: skip
"""Loaded once, before any fork, so that an instance imports them for nothing."""

_MESSAGE = 65_536
_MOST_FDS = 4
"""An end of a channel; for a program, its standard input, output and errors as well."""
_REFUSED = 3
_OUT_OF_THE_WAY = 32


def main(control_fd: int, namespaces: bool, readable: Sequence[str] = ()) -> None:
    """Build the best walls that the kernel grants, say which, and serve until the trusted side goes away.

    `readable` are paths that instances may read beside the system's libraries.
    """
    control = socket.socket(fileno=control_fd)
    for name in PRELOADED:
        importlib.import_module(name)
    frozen.install()
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    if namespaces and _fork_and_wait(lambda: _in_namespaces(control, proc, readable)) != _REFUSED:
        return
    if not filters.landlock_version():
        _send(control, {"error": "the kernel grants neither namespaces nor Landlock"})
        return
    memory = "/dev/shm"
    folders = tempfile.mkdtemp(prefix="agent-world-", dir=memory if os.access(memory, os.W_OK) else None)
    os.chmod(folders, 0o711)
    try:
        _serve(control, proc, "confined", folders)
    finally:
        shutil.rmtree(folders, ignore_errors=True)


def _in_namespaces(control: socket.socket, proc: int, readable: Sequence[str]) -> int:
    """The outer of two processes; the inner is process 1. Returns an exit status: `_REFUSED`, or 0 after serving."""
    try:
        rung = jail.enter_namespaces(proc)
    except OSError:
        return _REFUSED
    return _fork_and_wait(lambda: _as_process_1(control, proc, rung, readable))


def _as_process_1(control: socket.socket, proc: int, rung: jail.Rung, readable: Sequence[str]) -> int:
    try:
        jail.build_root(readable)
    except OSError:
        return _REFUSED
    _serve(control, proc, rung)
    return 0


def _fork_and_wait(work: Any) -> int:
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = work()
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _serve(control: socket.socket, proc: int, rung: jail.Rung, folders: str = "") -> None:
    own = -1 if rung == "confined" else os.open("self/ns/pid", os.O_RDONLY, dir_fd=proc)
    filters.packed_filter(os.uname().machine, rung == "confined")
    gc.collect()
    gc.freeze()
    _send(control, {"rung": rung, "folders": folders})
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    while True:
        message, fds, _, _ = socket.recv_fds(control, _MESSAGE, _MOST_FDS)
        if not message:
            return
        request = json.loads(message)
        try:
            pid = _fork(own)
        except OSError as error:
            _send(control, {"id": request["id"], "error": str(error)})
        else:
            if pid == 0:
                _live(fds, request, proc, rung)
            _answer(control, request["id"], pid)
        for fd in fds:
            os.close(fd)


def _fork(own: int) -> int:
    """A child that is process 1 of a namespace of its own, where there are namespaces."""
    if own >= 0:
        kernel.join_namespace(own, kernel.CLONE_NEWPID)
        kernel.unshare(kernel.CLONE_NEWPID)
    return os.fork()


def _answer(control: socket.socket, request: int, pid: int) -> None:
    try:
        pidfd = os.pidfd_open(pid)
    except OSError as error:
        return _send(control, {"id": request, "error": f"the process ended at once ({error})"})
    _send(control, {"id": request}, pidfd)
    os.close(pidfd)


def _live(fds: list[int], request: dict[str, Any], proc: int, rung: jail.Rung) -> None:
    """The life of an instance's process. Never returns."""
    channel, started = socket.socket(fileno=fds[0]), request.get("program")
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        room = jail.Room(request["uid"], request["memory_mb"], request["disk_mb"], request["folder"], bool(started))
        home = jail.enter_room(room, rung, proc)
        # Before the limits: the kernel holds descriptors on their way against the sender's.
        socket.send_fds(channel, [b"+"], [home])
        channel = _alone(channel, fds[1:])
        jail.shut(room, rung)
        channel.sendall(b"+")
    except OSError as error:
        channel.sendall(b"-" + str(error).encode())
        os._exit(1)
    try:
        if started:
            program.supervise(channel, started["argv"], started["env"])
        frozen.begin(request["clock_ns"], request["seed"])
        serve.serve(channel)
    finally:
        os._exit(0)


def _alone(channel: socket.socket, standard: list[int]) -> socket.socket:
    """The same channel as descriptor 3, and a program's `standard` ones after it: all that there is beside 0 to 2."""
    # First to places where none of them is in the way of another.
    kept = [fcntl.fcntl(fd, fcntl.F_DUPFD, _OUT_OF_THE_WAY) for fd in (channel.detach(), *standard)]
    for place, fd in enumerate(kept, program.CHANNEL):
        os.dup2(fd, place)
    os.closerange(program.CHANNEL + len(kept), os.sysconf("SC_OPEN_MAX"))
    return socket.socket(fileno=program.CHANNEL)


def _send(control: socket.socket, message: dict[str, Any], *fds: int) -> None:
    socket.send_fds(control, [json.dumps(message).encode()], list(fds))
