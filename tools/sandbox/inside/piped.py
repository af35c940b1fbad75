"""An instance's process where only streams of text reach it: a frame is one line of JSON on standard input or output.

It is alone on its machine, made for it, and locks itself down as far as the kernel there lets it (rung `confined`, or
`limits`), before anything that arrives is executed. Line 0 on its output says which rung, or why there is none.
"""

import importlib
import json
import os
import struct
from typing import Any

from . import filters, frozen, jail, serve
from .zygote import PRELOADED

_HEAD = 4


class Lines:
    """What `serve` uses of a socket, over two pipes."""

    def __init__(self, source: int, sink: int) -> None:
        self._source, self._sink = source, sink
        self._rest = b""
        self._frames = bytearray()

    def recv_into(self, space: memoryview) -> int:
        while not self._frames:
            part = os.read(self._source, 1 << 18)
            if not part:
                return 0
            *lines, self._rest = (self._rest + part).split(b"\n")
            for line in lines:
                self._frames += struct.pack(">I", len(line)) + line
        size = min(len(space), len(self._frames))
        space[:size] = self._frames[:size]
        del self._frames[:size]
        return size

    def sendall(self, data: bytes) -> None:
        """`data` are whole frames; JSON as `serve` writes it has no line breaks."""
        while data:
            end = _HEAD + struct.unpack(">I", data[:_HEAD])[0]
            line, data = memoryview(data[_HEAD:end] + b"\n"), data[end:]
            while line:
                line = line[os.write(self._sink, line) :]


def main(order: str) -> None:
    """Lock down and serve. `order` is JSON: folder, layout, memory_mb, disk_mb, clock_ns, seed."""
    wanted: dict[str, Any] = json.loads(order)
    channel = _channel()
    try:
        for name in PRELOADED:
            importlib.import_module(name)
        frozen.install()
        if wanted["layout"]:
            _lay_out(wanted["folder"], wanted["layout"])
        rung = _lock_down(os.path.realpath(wanted["folder"]), wanted["memory_mb"], wanted["disk_mb"])
    except OSError as error:
        _say(channel, {"id": 0, "error": str(error)})
        return
    _say(channel, {"id": 0, "rung": rung})
    frozen.conceal()
    frozen.arrive()
    frozen.begin(wanted["clock_ns"], wanted["seed"])
    serve.serve(channel)  # type: ignore[arg-type]  # of a socket it uses `recv_into` and `sendall` alone


def _lay_out(folder: str, layout: str) -> None:
    """Make the empty folders and the permissions that the file `layout` says, before anybody else was here."""
    with open(layout, encoding="utf-8") as file:
        found = json.load(file)
    for path in found["folders"]:
        os.makedirs(os.path.join(folder, path), exist_ok=True)
    for path, mode in sorted(found["modes"].items(), reverse=True):  # what is in a folder before the folder
        os.chmod(os.path.join(folder, path), mode & 0o777)


def _lock_down(folder: str, memory_mb: int, disk_mb: int) -> str:
    """Every wall that needs no namespace. Nothing may be started from here on, so one kill ends all."""
    room = jail.Room(os.stat(folder).st_uid, memory_mb, disk_mb, folder)
    os.close(jail.enter_room(room, "confined", -1))
    rung: jail.Rung = "confined" if filters.landlock_version() else "limits"
    jail.shut(room, rung, with_parent=False)  # its parent is E2B's daemon, of many threads
    return rung


def _channel() -> Lines:
    """The two pipes as descriptors 3 and 4: all that this process has beside 0 to 2, which are nothing."""
    for stream, kept in ((0, 3), (1, 4)):
        os.dup2(stream, kept)
    nothing = os.open("/dev/null", os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.closerange(5, os.sysconf("SC_OPEN_MAX"))
    return Lines(3, 4)


def _say(channel: Lines, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode()
    channel.sendall(struct.pack(">I", len(data)) + data)
