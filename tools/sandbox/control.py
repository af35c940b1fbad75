"""The zygote's interpreter, and what it and its stem are asked over: `inside/zygote.py` says what."""

import asyncio
import contextlib
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from agent_world.errors import SandboxError
from agent_world.settings import Rung
from agent_world.tools.sandbox.addresses import fixed_addresses
from agent_world.tools.sandbox.received import readable, receive

_START_S = 30.0
_STOP_S = 2.0


class Control:
    """One zygote, from its start to its end."""

    def __init__(self, force: Rung | None, readable: Sequence[str], own_ids: bool) -> None:
        """`own_ids`: whether instances have ids of their own."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._interpreter = _start_interpreter(theirs.fileno(), force, readable, own_ids)
        ours.setblocking(False)
        self._socket: socket.socket | None = ours
        self._orders: socket.socket | None = None
        self._gate = -1
        self._waiting: dict[int, asyncio.Future[list[int]]] = {}

    @property
    def group(self) -> int:
        """Id of the session in which the zygote and all processes are."""
        return self._interpreter.pid

    @property
    def gone(self) -> bool:
        return self._socket is None

    async def hear(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        """What it says when it is ready, and what the kernel refused it on the way. Raises `SandboxError`."""
        assert self._socket is not None
        refused: list[str] = []
        try:
            async with asyncio.timeout(_START_S):
                while True:
                    await readable(self._socket)
                    first, fds = receive(self._socket, 4096, 2)
                    if not first:
                        break
                    answer: dict[str, Any] = json.loads(first)
                    if "refused" not in answer:
                        if len(fds) != 2:
                            for fd in fds:
                                os.close(fd)
                            raise SandboxError("The sandbox cannot start: this process may open no more files.")
                        self._gate, orders = fds
                        self._orders = socket.socket(fileno=orders)
                        self._orders.setblocking(False)
                        asyncio.get_running_loop().add_reader(self._socket, self._on_answer)
                        return answer, tuple(refused)
                    refused.append(answer["refused"])
        except TimeoutError as error:
            raise SandboxError(f"The sandbox did not start within {_START_S:.0f} s.") from error
        raise SandboxError(f"The sandbox cannot start ({'; '.join(refused) or 'its interpreter ended at once'}).")

    async def stop(self) -> None:
        """End it, and with it every process."""
        self.hang_up()
        try:
            await asyncio.to_thread(self._interpreter.wait, _STOP_S)
        except subprocess.TimeoutExpired:
            self._interpreter.kill()
            self._interpreter.wait()

    def order(self, order: dict[str, Any], *fds: int) -> None:
        """Have a process started, which answers over the channel of which `fds` begins with an end.

        Raises `SandboxError`; `gone` says whether the sandbox has ended.
        """
        self._send(self._orders, order, fds)
        try:
            os.write(self._gate, b"+")
        except OSError as error:
            self._failed(error)

    def ask(self, request: dict[str, Any]) -> "asyncio.Future[list[int]]":
        """The descriptors that are the answer. Raises `SandboxError`; awaited, `OSError` where it is refused."""
        self._send(self._socket, request)
        answer: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        self._waiting[request["id"]] = answer
        return answer

    def _send(self, to: socket.socket | None, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
        if to is None:
            raise SandboxError("The sandbox is not running.")
        try:
            socket.send_fds(to, [json.dumps(message).encode()], fds)
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> NoReturn:
        if isinstance(error, ConnectionError):
            self.hang_up()
        raise SandboxError(f"The sandbox takes no more requests: {error.strerror}.") from error

    def skip(self) -> None:
        """Start a process for an order that may be left over, because whoever was to read it died first.

        It would be read for the next one, and that for the one after. Where none is left, the process waits for one.
        """
        if self._orders:
            with contextlib.suppress(OSError):
                os.write(self._gate, b"+")

    def look(self) -> None:
        """Take note if the stem has ended: `gone` says so, which else waits for the end of the zygote."""
        if self._orders:
            ends = select.poll()
            ends.register(self._orders, 0)
            if ends.poll(0):
                self.hang_up()

    def _on_answer(self) -> None:
        assert self._socket is not None
        try:
            message, fds = receive(self._socket, 65_536, 1)
        except BlockingIOError:
            return
        except ConnectionError:
            message, fds = b"", []
        if not message:
            return self.hang_up()
        answer = json.loads(message)
        waiting = self._waiting.pop(answer["id"], None)
        if waiting is None or waiting.done():
            for fd in fds:
                os.close(fd)
        elif "error" in answer:
            waiting.set_exception(OSError(answer["error"]))
        else:
            waiting.set_result(fds)

    def hang_up(self) -> None:
        if self._socket:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self._socket = None
        if self._orders:
            self._orders.close()
            os.close(self._gate)
            self._orders = None
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(OSError("the zygote has ended"))
        self._waiting.clear()


def _start_interpreter(
    control: int, force: Rung | None, readable: Sequence[str], own_ids: bool
) -> "subprocess.Popen[bytes]":
    """A clean interpreter: no inherited variables or descriptors, no site packages, hashing without chance.

    (`-I` would ignore PYTHONHASHSEED; with an environment of our own, `-P -s -S` shuts out as much.)
    """
    here = str(Path(__file__).resolve().parent)
    program = (
        f"import sys; sys.path.insert(0, {here!r}); from inside.zygote import main; "
        f"sys.path.pop(0); main({control}, {force or ''!r}, {list(readable)}, {own_ids})"
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
