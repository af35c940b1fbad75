"""What comes over a descriptor: word that there is something, and other descriptors."""

import array
import asyncio
import socket

_INT = array.array("i").itemsize


def receive(end: socket.socket, size: int, most: int) -> tuple[bytes, list[int]]:
    """A message and the descriptors with it. No program that this process starts inherits them: with
    `socket.recv_fds` all would, whatever flags it is given."""
    message, beside, _, _ = end.recvmsg(size, socket.CMSG_LEN(most * _INT), socket.MSG_CMSG_CLOEXEC)
    found = array.array("i")
    for level, kind, data in beside:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            found.frombytes(data[: len(data) - len(data) % _INT])
    return message, list(found)


async def readable(end: socket.socket | int) -> None:
    """Until there is something to read, or an end to be seen: of a pidfd, that its process is gone."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(end, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(end)
