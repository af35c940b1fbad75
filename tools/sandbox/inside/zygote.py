"""The zygote: a clean interpreter with the usual modules loaded, that forks an instance on request.

It runs no tool code and reads none. Instances are forked from a stem, a process that does nothing else and so stays
as it was: that makes them all alike, to the last address. The trusted side orders them of the stem itself: an order, a
JSON object with the instance's end of a channel, over one SEQPACKET socket, then a byte through a pipe. Over that
channel the instance sends descriptors of its folder and of itself, and says when it is locked down.

The zygote is asked over another such socket, one JSON object a message:
- `base` for a folder that instances may share; the answer carries a descriptor of it, for the trusted side to fill;
- `drop` when no instance uses it any more.
End of file on that socket ends the zygote. Where there are namespaces it is process 1 of its own, so every instance
ends with it; where there are none, instances cannot have children, and each dies with its parent.
"""

import _signal  # `signal` makes enumerations of all numbers, which takes each instance 0.1 ms
import array
import contextlib
import fcntl
import gc
import importlib
import json
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from . import filters, frozen, jail, kernel, plain, program, serve

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
_REHEARSALS = 16


def main(control_fd: int, force: str, readable: Sequence[str], own_ids: bool) -> None:
    """Build the best walls that the kernel grants, say which, and serve until the trusted side goes away.

    `force` names the only rung to try; empty, all are tried from the best on. `readable` are paths that instances may
    read beside the system's libraries. `own_ids`: whether each instance gets a uid of its own.
    """
    control = socket.socket(fileno=control_fd)
    for name in PRELOADED:
        importlib.import_module(name)
    frozen.install()
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    if force in ("", *jail.NAMESPACED):
        status = _fork_and_wait(lambda: _in_namespaces(control, proc, force, readable, own_ids))
        if status != _REFUSED:
            return
    if force in ("", "confined", "limits"):
        _without_namespaces(control, proc, force)


def _without_namespaces(control: socket.socket, proc: int, force: str) -> None:
    rung: jail.Rung = "confined"
    if force == "limits" or not filters.landlock_version():
        rung = "limits"
        _send(control, {"refused": "Landlock: not in this kernel" if force != rung else "confined: not asked for"})
    if force not in ("", rung):
        return
    memory = "/dev/shm"
    place = memory if os.access(memory, os.W_OK) else tempfile.gettempdir()
    folders = (
        f"{place}/agent-world-{_true_chance()}"  # `tempfile` would name it alike in every zygote: its chance is ours
    )
    os.mkdir(folders, 0o711)
    os.chmod(folders, 0o711)
    try:
        _Zygote(control, proc, rung).serve(folders)
    finally:
        shutil.rmtree(folders, ignore_errors=True)


def _true_chance() -> str:
    with open("/dev/urandom", "rb") as source:
        return source.read(8).hex()


def _in_namespaces(control: socket.socket, proc: int, force: str, readable: Sequence[str], own_ids: bool) -> int:
    """The outer of two processes; the inner is process 1. Returns an exit status: `_REFUSED`, or 0 after serving."""
    try:
        rung = jail.enter_namespaces(proc, own_ids)
    except OSError as error:
        return _refuse(control, str(error))
    if force not in ("", rung):
        return _refuse(control, f"{force}: the caller's uid gives {rung}")
    return _fork_and_wait(lambda: _as_process_1(control, proc, rung, readable))


def _as_process_1(control: socket.socket, proc: int, rung: jail.Rung, readable: Sequence[str]) -> int:
    try:
        jail.build_root(readable)
    except OSError as error:
        return _refuse(control, str(error))
    _Zygote(control, proc, rung).serve()
    return 0


def _refuse(control: socket.socket, reason: str) -> int:
    _send(control, {"refused": f"namespaces: {reason}"})
    return _REFUSED


def _fork_and_wait(work: Callable[[], int], own: int = -1) -> int:
    pid = _fork(own)
    if pid == 0:
        status = 1
        try:
            status = work()
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


class _Zygote:
    def __init__(self, control: socket.socket, proc: int, rung: jail.Rung) -> None:
        self._control, self._proc, self._rung = control, proc, rung
        self._sharing: bool | None = None if rung in jail.NAMESPACED else False
        self._own = os.open("self/ns/pid", os.O_RDONLY, dir_fd=proc) if rung in jail.NAMESPACED else -1

    def serve(self, folders: str = "") -> None:
        if kernel.has_call_filters():
            for program in (False, True):
                filters.packed_filter(os.uname().machine, self._rung not in jail.NAMESPACED, program)
        gc.collect()
        gc.freeze()
        gc.set_threshold(10_000, 10, 10)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
        gate, orders = _start_stem(self._proc, self._rung, self._own)
        ready = {"rung": self._rung, "folders": folders, "calls_filtered": kernel.has_call_filters()}
        _send(self._control, ready, gate, orders)
        os.close(gate)  # when the trusted side has gone, the stem sees its end
        os.close(orders)
        while message := self._control.recv(_MESSAGE):
            self._answer(json.loads(message))

    def _answer(self, request: dict[str, Any]) -> None:
        work = {"base": self._base, "drop": self._drop}[request["op"]]
        try:
            given = work(request)
        except OSError as error:
            return _send(self._control, {"id": request["id"], "error": str(error)})
        _send(self._control, {"id": request["id"]}, *given)
        for fd in given:
            os.close(fd)

    def _base(self, request: dict[str, Any]) -> list[int]:
        path = f"{jail.BASES}/{request['id']}"
        if self._sharing is not False:
            os.mkdir(path)
        if self._sharing is None:
            self._sharing = self._tried(request["id"])
        if not self._sharing:
            raise OSError("this kernel does not let instances share files")
        return [os.open(path, os.O_RDONLY | os.O_DIRECTORY)]

    def _tried(self, base: int) -> bool:
        """Whether an instance may lay its files over a base."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            return _fork_and_wait(lambda: _try_sharing(base, self._rung, self._proc), self._own) == 0
        finally:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:  # instances that ended meanwhile
                    pass

    def _drop(self, request: dict[str, Any]) -> list[int]:
        shutil.rmtree(f"{jail.BASES}/{request['base']}")
        return []


def _start_stem(proc: int, rung: jail.Rung, own: int) -> tuple[int, int]:
    """The process that instances are forked from. It waits and forks, and no allocation outlives either, so that all
    instances begin with the same bytes at the same addresses. An order is read by the new process itself.

    Returns the ends to order by: of the pipe, and of the socket.
    """
    waiting, gate = os.pipe()
    orders, ordered = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork():
        os.close(waiting)
        ordered.close()
        return gate, orders.detach()
    try:
        kernel.die_with_parent()
        if rung == "own_uid":
            kernel.gain_no_privileges()
        frozen.conceal()
        os.close(gate)
        orders.close()
        _rehearse(own)
        _fork_each(waiting, own, lambda: _live(ordered, proc, rung), lambda error: _refuse_one(ordered, error))
    finally:
        os._exit(0)


def _fork_each(waiting: int, own: int, live: Callable[[], None], refuse: Callable[[OSError], None]) -> None:
    """One for each byte, until the end of the pipe."""
    while os.read(waiting, 1):
        try:
            if _fork(own) == 0:
                live()
        except OSError as error:
            refuse(error)


def _rehearse(own: int) -> None:
    """The interpreter keeps something of the first times that it does a thing, and prepares code that is used often:
    without this, the first instances would begin otherwise than those after them, and all prepare it anew."""
    waiting, gate = os.pipe()
    os.write(gate, b"+" * _REHEARSALS)
    os.close(gate)
    _fork_each(waiting, own, lambda: os._exit(0), lambda error: None)
    os.close(waiting)
    serve.rehearse(_REHEARSALS, frozen.begin, plain.only_defines)
    for _ in range(_REHEARSALS):
        serve.warm()
        _take_an_order()


def _take_an_order() -> None:
    """As an instance does, of ourselves."""
    order = {"uid": 100_000, "memory_mb": 512, "disk_mb": 64, "folder": "", "base": 0}
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        socket.send_fds(ours, [json.dumps(order).encode()], [ours.fileno()])
        message, fds, _, _ = socket.recv_fds(theirs, _MESSAGE, _MOST_FDS)
        jail.Room(**json.loads(message))
        with socket.socket(fileno=fds[0]) as channel:
            channel.sendmsg([b"+"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", (0, 0)))])


def _refuse_one(ordered: socket.socket, error: OSError) -> None:
    _, fds, _, _ = socket.recv_fds(ordered, _MESSAGE, _MOST_FDS)
    with socket.socket(fileno=fds[0]) as channel, contextlib.suppress(OSError):
        channel.sendall(b"-" + str(error).encode())
    for fd in fds[1:]:
        os.close(fd)


def _try_sharing(base: int, rung: jail.Rung, proc: int) -> int:
    try:
        jail.try_sharing(base, rung, proc)
    except OSError:
        return _REFUSED
    return 0


def _fork(own: int) -> int:
    """A child that is process 1 of a namespace of its own, where there are namespaces."""
    if own >= 0:
        kernel.join_namespace(own, kernel.CLONE_NEWPID)
        kernel.unshare(kernel.CLONE_NEWPID)
    return kernel.fork()


def _live(ordered: socket.socket, proc: int, rung: jail.Rung) -> None:
    """The life of an instance's process. Never returns."""
    try:
        message, fds, _, _ = socket.recv_fds(ordered, _MESSAGE, _MOST_FDS)
        _follow(json.loads(message), fds, proc, rung)
    finally:
        os._exit(1)


def _follow(order: dict[str, Any], fds: list[int], proc: int, rung: jail.Rung) -> None:
    end, started = fds[0], order.get("program")
    try:
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
        os.setpgid(0, 0)  # a signal to the own group crosses PID namespaces: it must find this instance alone
        given = {key: order[key] for key in ("uid", "memory_mb", "disk_mb", "folder", "base")}
        room = jail.Room(**given, program=bool(started))
        end, *_, home = _alone([*fds, jail.enter_room(room, rung, proc)])
        channel = socket.socket(fileno=end)
        itself = os.pidfd_open(os.getpid())
        # Before the limits: the kernel holds descriptors on their way against the sender's.
        channel.sendmsg([b"+"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", (home, itself)))])
        os.close(home)
        os.close(itself)
        jail.shut(room, rung)
        channel.sendall(b"+")
    except OSError as error:
        os.write(end, b"-" + str(error).encode())
        os._exit(1)
    try:
        if started:
            program.supervise(channel, started["argv"], started["env"])
        frozen.arrive()
        serve.warm()
        serve.serve(channel, frozen.begin, plain.only_defines)
    finally:
        os._exit(0)


def _alone(fds: Sequence[int]) -> range:
    """Make these all that there is beside 0 to 2; where they are then, the first as descriptor 3."""
    # First to places where none of them is in the way of another.
    kept = [fcntl.fcntl(fd, fcntl.F_DUPFD, _OUT_OF_THE_WAY) for fd in fds]
    places = range(program.CHANNEL, program.CHANNEL + len(kept))
    for place, fd in zip(places, kept, strict=True):
        os.dup2(fd, place)
    os.closerange(places.stop, os.sysconf("SC_OPEN_MAX"))
    return places


def _send(control: socket.socket, message: dict[str, Any], *fds: int) -> None:
    socket.send_fds(control, [json.dumps(message).encode()], list(fds))
