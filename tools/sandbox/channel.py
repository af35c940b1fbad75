"""Frames to and from an instance's process. What comes back is hostile until checked.

An exchange is one send, one wake-up and one read: the reader stays registered with the event loop, and what an
instance must be told before its first call travels with that call.
"""

import asyncio
import json
import os
import select
import socket
import struct
from typing import Any

from agent_world.tools.sandbox.aside import with_frame
from agent_world.tools.sandbox.inside.serve import MAX_FRAME, crowded
from agent_world.tools.sandbox.received import receive
from agent_world.tools.strict_json import finite_float, refuse_constant

_HEAD = 4
_FIRST_PART, _PART = 1 << 12, 1 << 18
"""Bytes of one read: most frames are small, and room for a large one takes time to make."""
_MOMENT_MS = 1
_LOCKED_DOWN = b"++"
"""What a process says at its start: once with its descriptors, once when it is locked down."""
_LONGEST_REASON = 400


class ChannelClosed(Exception):
    """The process at the other end is gone, or does not keep to the protocol."""


class Answer(dict[str, Any]):
    """What a frame says."""

    size = 0
    """Bytes or characters of the frame."""


async def answer_to(request: int, frame: bytes | str) -> Answer:
    """What a hostile frame says. Raises `ChannelClosed` when it is no JSON, or no answer to `request`."""
    return await with_frame(len(frame), lambda: _answer(request, frame))


def _answer(request: int, frame: bytes | str) -> Answer:
    try:
        data, text = (frame.encode(), frame) if isinstance(frame, str) else (frame, frame.decode())
        if crowded(data):
            raise ChannelClosed("a frame holds too many values")
        found = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise ChannelClosed("a frame is not JSON") from error
    if not isinstance(found, dict) or found.get("id") != request:
        raise ChannelClosed("a frame answers nothing that was asked")
    answer = Answer(found)
    answer.size = len(frame)
    return answer


class Channel:
    """The trusted end. One exchange at a time, on the event loop that made it."""

    _asking = 0
    """Exchanges under way in this process."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._socket = end
        self._poll = select.poll()
        self._poll.register(end, select.POLLIN)
        self._loop = asyncio.get_running_loop()
        self._held = b""
        self._due = 0
        """Answers to what was held, which come before any other."""
        self._buffer = bytearray()
        self._arrived: list[int] = []
        """Descriptors that nobody has taken yet."""
        self._waiting: asyncio.Future[None] | None = None
        self._late = False
        self.ended = False
        """Nothing more can be exchanged: the process ended, or `close` was called."""

    def hold(self, message: dict[str, Any]) -> None:
        """Keep a message that goes with the next one that is sent. If it has an `id`, an answer comes; nobody reads it.

        Such answers come before that to the next request.
        """
        self._held += _frame(message)
        self._due += "id" in message

    async def settle(self, seconds: float) -> None:
        """Send what is held, and wait until it is answered. Raises `ChannelClosed`, and `TimeoutError` too late."""
        async with asyncio.timeout(seconds):
            await self._push(b"")
            while not self._all_settled():
                await self._more()

    async def send(self, message: dict[str, Any]) -> None:
        await self._push(_frame(message))

    async def ask(self, message: dict[str, Any], seconds: float) -> Answer:
        """Send, and wait for the answer to `message["id"]`. Raises `ChannelClosed`, and `TimeoutError` too late."""
        rest = self._begin(_frame(message))
        if rest:  # a timer cannot interrupt a send that waits for the other side to read
            async with asyncio.timeout(seconds):
                await self._finish(rest)
                return await self.receive(message["id"])
        Channel._asking += 1
        timer = None
        try:
            self._look_briefly()
            if not self._all_settled() or self._size() is None:
                timer = self._loop.call_later(seconds, self._expire)
            return await self.receive(message["id"])
        finally:
            Channel._asking -= 1
            if timer:
                timer.cancel()
            self._late = False

    def _look_briefly(self) -> None:
        """Most tools answer before the event loop would have come round: the only one who asks waits here for a moment.

        Several who ask at once go through the loop, so that their tools run side by side.
        """
        if Channel._asking == 1 and self._poll.poll(_MOMENT_MS):
            self._read()

    async def receive(self, request: int) -> Answer:
        """The next frame, which must be an answer to `request`."""
        while not self._all_settled() or (data := self._next()) is None:
            await self._more()
        return await answer_to(request, data)

    def _all_settled(self) -> bool:
        """Take the answers that are due off the buffer; whether none is missing."""
        while self._due and self._next() is not None:
            self._due -= 1
        return not self._due

    async def receive_start(self) -> tuple[int, int]:
        """The descriptors of a new process's folder and of itself, once it has also said that it is locked down.

        Raises `ChannelClosed` with its reason if it is not.
        """
        self._loop.add_reader(self._socket, self._read_start)
        try:
            while self._starting():
                await self._more()
            if len(self._arrived) == 2 and self._buffer == _LOCKED_DOWN:
                self._buffer.clear()
                self._loop.add_reader(self._socket, self._read)
                directory, process = self._arrived
                self._arrived = []
                return directory, process
        finally:
            for fd in self._arrived:
                os.close(fd)
        reason = self._buffer.partition(b"-")[2].decode(errors="replace")
        raise ChannelClosed(reason or "the process ended at once")

    def _starting(self) -> bool:
        return not self.ended and _LOCKED_DOWN.startswith(self._buffer) and self._buffer != _LOCKED_DOWN

    def _read_start(self) -> None:
        try:
            part, fds = receive(self._socket, _LONGEST_REASON, 2)
        except BlockingIOError:
            return
        except OSError:
            part, fds = b"", []
        self._arrived += fds
        self._buffer += part
        if not part:
            self._end()
        if self._waiting and not self._waiting.done() and not self._starting():
            self._waiting.set_result(None)

    def close(self) -> None:
        """Safe to call twice; who waits for an answer gets `ChannelClosed`."""
        self._end()
        self._socket.close()

    async def _push(self, data: bytes) -> None:
        rest = self._begin(data)
        if rest:
            await self._finish(rest)

    def _begin(self, data: bytes) -> bytes:
        """Send what goes at once, and give what is left."""
        data, self._held = self._held + data, b""
        if self.ended:
            raise ChannelClosed("the process ended")
        try:
            return data[self._socket.send(data) :] if data else b""
        except BlockingIOError:
            return data
        except OSError as error:
            raise ChannelClosed(str(error)) from error

    async def _finish(self, rest: bytes) -> None:
        try:
            await self._loop.sock_sendall(self._socket, rest)
        except OSError as error:
            raise ChannelClosed(str(error)) from error

    async def _more(self) -> None:
        """Until something has come. Raises `ChannelClosed` at the end, `TimeoutError` when `ask` expires."""
        if self._late:
            raise TimeoutError
        if self.ended:
            raise ChannelClosed("the process ended")
        self._waiting = self._loop.create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None

    def _read(self) -> None:
        try:
            part = self._socket.recv(_PART if self._buffer else _FIRST_PART)
        except BlockingIOError:
            return
        except OSError:
            part = b""
        self._buffer += part
        # Nobody asked for so much: whoever sends it would fill our memory.
        if not part or len(self._buffer) > _HEAD + MAX_FRAME + _PART:
            self._end()
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(None)

    def _next(self) -> bytes | None:
        """The next whole frame, taken off the buffer."""
        end = self._size()
        if end is None:
            return None
        found = bytes(self._buffer[_HEAD:end])
        del self._buffer[:end]
        return found

    def _size(self) -> int | None:
        """Bytes of the next frame and its head; None while it is not whole."""
        if len(self._buffer) < _HEAD:
            return None
        (size,) = struct.unpack_from(">I", self._buffer)
        if size > MAX_FRAME:
            raise ChannelClosed("a frame is too large")
        return _HEAD + size if len(self._buffer) >= _HEAD + size else None

    def _end(self) -> None:
        if not self.ended:
            self.ended = True
            if not self._loop.is_closed():
                self._loop.remove_reader(self._socket)
            if self._waiting and not self._waiting.done():
                self._waiting.set_result(None)

    def _expire(self) -> None:
        self._late = True
        if self._waiting and not self._waiting.done():
            self._waiting.set_exception(TimeoutError())


_ENCODER = json.JSONEncoder(allow_nan=False)
_DECODER = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite_float)


def _frame(message: dict[str, Any]) -> bytes:
    data = _ENCODER.encode(message).encode()
    return struct.pack(">I", len(data)) + data
