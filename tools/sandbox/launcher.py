"""Starting the zygote, and processes out of it."""

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_world.errors import SandboxError
from agent_world.tools.sandbox.addresses import fixed_addresses
from agent_world.tools.sandbox.channel import Channel, ChannelClosed
from agent_world.tools.sandbox.inside.jail import Rung

_START_S = 30.0
_SPAWN_S = 15.0
_STOP_S = 2.0
_MAX_STARTING = 16
"""Processes started at once; the kernel bounds descriptors on their way, and more would not be faster."""
_FIRST_UID = 100_000
_UIDS = 50_000
_REMEDY = (
    "it needs Linux 5.13 or newer, with namespaces (run as root, or allow user namespaces by "
    "sysctl kernel.apparmor_restrict_unprivileged_userns=0) or else with Landlock"
)


@dataclass(slots=True)
class Process:
    """A process that runs hostile code, and the descriptors by which we talk to it, read its files, and kill it."""

    uid: int
    channel: Channel
    directory: int
    pidfd: int
    folder: Path | None = None
    """Where its files lie, if not on a disk that goes with it."""

    def kill(self) -> None:
        """End it and all that it started, now. Its files remain until `release`."""
        if self.pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
            os.close(self.pidfd)
            self.pidfd = -1
            self.channel.close()

    def release(self) -> None:
        self.kill()
        if self.directory >= 0:
            os.close(self.directory)
            self.directory = -1
            if self.folder:
                shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Order:
    """What a process is started with."""

    memory_mb: int
    disk_mb: int
    clock_ns: int
    seed: str


@dataclass(frozen=True, slots=True)
class Program:
    """A foreign program to start in a process's place, once a byte has come over its channel."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    standard: Sequence[int]
    """Descriptors for its standard input, output and errors; the caller closes its own."""


class Launcher:
    """Owns the zygote. Used from one event loop."""

    def __init__(self, namespaces: bool = True, readable: Sequence[str] = ()) -> None:
        """`namespaces` False goes without them even where the kernel grants them; `readable` are paths that
        processes may read beside the system's libraries."""
        self.rung: Rung = "confined"
        self._namespaces = namespaces
        self._readable = list(readable)
        self._folders: Path | None = None
        self._zygote: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._waiting: dict[int, asyncio.Future[int]] = {}
        self._ids = itertools.count(1)
        self._starting = asyncio.Semaphore(_MAX_STARTING)

    async def start(self) -> None:
        """Raises `SandboxError` where the kernel refuses what isolation needs."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._zygote = _start_interpreter(theirs.fileno(), self._namespaces, self._readable)
        ours.setblocking(False)
        self._control = ours
        try:
            async with asyncio.timeout(_START_S):
                first = await asyncio.get_running_loop().sock_recv(ours, 4096)
        except TimeoutError as error:
            raise SandboxError(f"The sandbox did not start within {_START_S:.0f} s.") from error
        answer: dict[str, Any] = json.loads(first) if first else {"error": "its interpreter ended at once"}
        if "error" in answer:
            raise SandboxError(f"The sandbox cannot start ({answer['error']}): {_REMEDY}.")
        self.rung = answer["rung"]
        self._folders = Path(answer["folders"]) if answer["folders"] else None
        asyncio.get_running_loop().add_reader(ours, self._on_answer)

    @property
    def group(self) -> int:
        """Id of the session in which the zygote and all processes are."""
        return self._zygote.pid if self._zygote else 0

    async def stop(self) -> None:
        """End the zygote and with it every process; safe to call twice."""
        if self._control:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None
        if self._zygote:
            try:
                await asyncio.to_thread(self._zygote.wait, _STOP_S)
            except subprocess.TimeoutExpired:
                self._zygote.kill()
                self._zygote.wait()
            self._zygote = None
        if self._folders:  # the zygote removes them itself, unless it was killed
            shutil.rmtree(self._folders, ignore_errors=True)
            self._folders = None
        self._fail_all()

    async def spawn(self, order: Order, beside: Process | None = None, program: Program | None = None) -> Process:
        """A locked-down process with an empty private folder, or in that of `beside` (on the rung `confined`).

        Raises `SandboxError`.
        """
        async with self._starting:
            return await self._spawn(order, beside, program)

    async def _spawn(self, order: Order, beside: Process | None, program: Program | None) -> Process:
        if not self._control:
            raise SandboxError("The sandbox is not running: its zygote has ended.")
        number = next(self._ids)
        uid = beside.uid if beside else _uid(number)
        folder = beside.folder if beside else self._make_folder(number, uid)
        ours, theirs = socket.socketpair()
        channel = Channel(ours)
        try:
            with theirs:
                answer = self._ask(number, uid, folder, order, theirs, program)
            async with asyncio.timeout(_SPAWN_S):
                pidfd = await answer
                process = Process(uid, channel, -1, pidfd, None if beside else folder)
                process.directory = await channel.receive_directory()
        except (TimeoutError, ChannelClosed, OSError) as error:
            channel.close()
            raise SandboxError(f"The sandbox could not start a process: {error or 'no answer in time'}.") from error
        except BaseException:
            channel.close()  # cancelled: the process ends at the end of its channel
            raise
        return process

    def _make_folder(self, number: int, uid: int) -> Path | None:
        if not self._folders:
            return None
        folder = self._folders / str(number)
        folder.mkdir(mode=0o700)
        if os.getuid() == 0:
            os.chown(folder, uid, uid)
        return folder

    def _ask(
        self,
        number: int,
        uid: int,
        folder: Path | None,
        order: Order,
        theirs: socket.socket,
        program: Program | None,
    ) -> "asyncio.Future[int]":
        request: dict[str, Any] = {
            "id": number,
            "uid": uid,
            "folder": str(folder or ""),
            "memory_mb": order.memory_mb,
            "disk_mb": order.disk_mb,
            "clock_ns": order.clock_ns,
            "seed": order.seed,
        }
        if program:
            request["program"] = {"argv": list(program.argv), "env": dict(program.environment)}
        fds = [theirs.fileno(), *(program.standard if program else ())]
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        assert self._control is not None
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], fds)
        except OSError as error:
            del self._waiting[number]
            raise SandboxError(f"The sandbox takes no more requests: {error.strerror}.") from error
        return answer

    def _on_answer(self) -> None:
        assert self._control is not None
        try:
            message, fds, _, _ = socket.recv_fds(self._control, 65_536, 1)
        except BlockingIOError:
            return
        if not message:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None
            return self._fail_all()
        self._settle(json.loads(message), fds)

    def _settle(self, answer: dict[str, Any], fds: list[int]) -> None:
        waiting = self._waiting.pop(answer["id"], None)
        if waiting is None or waiting.done():
            for fd in fds:
                os.close(fd)
        elif "error" in answer:
            waiting.set_exception(OSError(answer["error"]))
        else:
            waiting.set_result(fds[0])

    def _fail_all(self) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(OSError("the zygote has ended"))
        self._waiting.clear()


def _uid(number: int) -> int:
    return _FIRST_UID + number % _UIDS


def _start_interpreter(control: int, namespaces: bool, readable: Sequence[str]) -> "subprocess.Popen[bytes]":
    """A clean interpreter: no inherited variables or descriptors, no site packages, hashing without chance.

    (`-I` would ignore PYTHONHASHSEED; with an environment of our own, `-P -s -S` shuts out as much.)
    """
    here = str(Path(__file__).resolve().parent)
    program = (
        f"import sys; sys.path.insert(0, {here!r}); from inside.zygote import main; "
        f"sys.path.pop(0); main({control}, {namespaces}, {list(readable)})"
    )
    environment = {
        "PYTHONHASHSEED": "0",
        "PATH": "/usr/bin:/bin",
        "HOME": "/db",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "MCP_DB_DIR": "/db",
    }
    with fixed_addresses():
        return subprocess.Popen(
            [sys.executable, "-P", "-s", "-S", "-B", "-c", program],
            env=environment,
            pass_fds=[control],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
