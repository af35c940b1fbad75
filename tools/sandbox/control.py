"""The zygote's interpreter, and the socket over which it is asked for processes."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_world.errors import SandboxError
from agent_world.settings import Rung
from agent_world.tools.sandbox.addresses import fixed_addresses

_START_S = 30.0
_STOP_S = 2.0


class Control:
    """One zygote, from its start to its end."""

    def __init__(self, force: Rung | None, readable: Sequence[str]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._interpreter = _start_interpreter(theirs.fileno(), force, readable)
        ours.setblocking(False)
        self._socket: socket.socket | None = ours
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
                while first := await asyncio.get_running_loop().sock_recv(self._socket, 4096):
                    answer: dict[str, Any] = json.loads(first)
                    if "refused" not in answer:
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

    def ask(self, request: dict[str, Any], *fds: int) -> "asyncio.Future[list[int]]":
        if not self._socket:
            raise SandboxError("The sandbox is not running.")
        answer: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        self._waiting[request["id"]] = answer
        try:
            socket.send_fds(self._socket, [json.dumps(request).encode()], fds)
        except OSError as error:
            del self._waiting[request["id"]]
            if isinstance(error, ConnectionError):
                self.hang_up()
            raise SandboxError(f"The sandbox takes no more requests: {error.strerror}.") from error
        return answer

    def _on_answer(self) -> None:
        assert self._socket is not None
        try:
            message, fds, _, _ = socket.recv_fds(self._socket, 65_536, 1)
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
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(OSError("the zygote has ended"))
        self._waiting.clear()


def _start_interpreter(control: int, force: Rung | None, readable: Sequence[str]) -> "subprocess.Popen[bytes]":
    """A clean interpreter: no inherited variables or descriptors, no site packages, hashing without chance.

    (`-I` would ignore PYTHONHASHSEED; with an environment of our own, `-P -s -S` shuts out as much.)
    """
    here = str(Path(__file__).resolve().parent)
    program = (
        f"import sys; sys.path.insert(0, {here!r}); from inside.zygote import main; "
        f"sys.path.pop(0); main({control}, {force or ''!r}, {list(readable)})"
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
