"""The three pipes of a foreign program, and our ends of them on the event loop."""

import asyncio
import contextlib
import os

from agent_world.tools.sandbox.inside.serve import MAX_FRAME


class Pipes:
    """Three pipes; what has not been taken is closed at the end."""

    def __init__(self) -> None:
        self.input, self.output, self.errors = os.pipe(), os.pipe(), os.pipe()
        self._open = {*self.input, *self.output, *self.errors}

    def __enter__(self) -> "Pipes":
        return self

    def __exit__(self, *_: object) -> None:
        self._close(*self._open)

    def close_theirs(self) -> None:
        self._close(self.input[0], self.output[1], self.errors[1])

    def take(self, name: str) -> int:
        """Our end, which the taker closes."""
        fd: int = self.input[1] if name == "input" else getattr(self, name)[0]
        self._open.discard(fd)
        return fd

    def _close(self, *fds: int) -> None:
        for fd in fds:
            with contextlib.suppress(OSError):
                os.close(fd)
            self._open.discard(fd)


async def writer(fd: int) -> asyncio.StreamWriter:
    """For an end that is written to; `fd` is its own from here on."""
    loop = asyncio.get_running_loop()
    protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    sink, _ = await loop.connect_write_pipe(lambda: protocol, os.fdopen(fd, "wb", 0))
    return asyncio.StreamWriter(sink, protocol, None, loop)


async def reader(fd: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    """For an end that is read; `fd` is the transport's from here on. No line may be longer than a frame."""
    found = asyncio.StreamReader(limit=MAX_FRAME)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(found), os.fdopen(fd, "rb", 0)
    )
    return found, transport
