"""Frames to and from an instance's process. What comes back is hostile until checked."""

import asyncio
import json
import os
import socket
import struct
from typing import Any

from agent_world.tools.sandbox.inside.serve import MAX_FRAME


class ChannelClosed(Exception):
    """The process at the other end is gone, or does not keep to the protocol."""


class Channel:
    """The trusted end. One exchange at a time."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._socket = end

    async def send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message, allow_nan=False).encode()
        try:
            await asyncio.get_running_loop().sock_sendall(self._socket, struct.pack(">I", len(data)) + data)
        except OSError as error:
            raise ChannelClosed(str(error)) from error

    async def receive(self, request: int) -> dict[str, Any]:
        """The next frame, which must be an answer to `request`."""
        (size,) = struct.unpack(">I", await self._exactly(4))
        if size > MAX_FRAME:
            raise ChannelClosed("a frame is too large")
        try:
            found = json.loads(await self._exactly(size), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise ChannelClosed("a frame is not JSON") from error
        if not isinstance(found, dict) or found.get("id") != request:
            raise ChannelClosed("a frame answers nothing that was asked")
        return found

    async def receive_directory(self) -> int:
        """The descriptor that a new process sends first, once it has also said that it is locked down.

        Raises `ChannelClosed` with its reason if it is not.
        """
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._socket, _settle, ready)
        try:
            await ready
        finally:
            loop.remove_reader(self._socket)
        message, fds, _, _ = socket.recv_fds(self._socket, 1, 1)
        try:
            locked = bool(fds) and await self._exactly(1) == b"+"
        except ChannelClosed:
            locked = False
        if locked:
            return fds[0]
        for fd in fds:
            os.close(fd)
        reason = await loop.sock_recv(self._socket, 400) if message else b""
        raise ChannelClosed(reason.decode(errors="replace") or "the process ended at once")

    def close(self) -> None:
        self._socket.close()

    async def _exactly(self, size: int) -> bytes:
        loop = asyncio.get_running_loop()
        parts = []
        while size:
            try:
                part = await loop.sock_recv(self._socket, min(size, 1 << 20))
            except OSError as error:
                raise ChannelClosed(str(error)) from error
            if not part:
                raise ChannelClosed("the process ended")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _settle(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
