"""A look at a folder that somebody hostile may write to: names, sizes and times, at nearly no cost."""

import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from agent_world.errors import SandboxError
from agent_world.tools.files import LEAST_WEIGHT, MAX_DEPTH, MAX_FILES

_UNKNOWN = 1 << 30


class Mark(NamedTuple):
    """Of one file or folder. Where it may not be looked at, all but its path says so."""

    path: str
    kind: int
    size: int
    content_ns: int
    attributes_ns: int
    inode: int


def marks(folder: int) -> tuple[Mark, ...]:
    """Of all below an open folder, as far as files are read. Raises `SandboxError` where it is closed."""
    if folder < 0:
        raise SandboxError("The instance is closed.")
    found = []
    for mark in _walk(os.dup(folder), "", 0):
        found.append(mark)
        if len(found) > MAX_FILES:
            break
    return tuple(sorted(found))


def weight(folder: int) -> int:
    """As `Files.weight`, of all below an open folder. Raises `SandboxError`."""
    found = marks(folder)
    return _UNKNOWN if len(found) > MAX_FILES else sum(mark.size + LEAST_WEIGHT for mark in found)


def _walk(folder: int, prefix: str, depth: int) -> Iterator[Mark]:
    """Closes `folder`."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                    yield Mark(
                        prefix + entry.name,
                        stat.S_IFMT(status.st_mode),
                        status.st_size,
                        status.st_mtime_ns,
                        status.st_ctime_ns,
                        status.st_ino,
                    )
                    if stat.S_ISDIR(status.st_mode) and depth < MAX_DEPTH:
                        inner = os.open(entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                        yield from _walk(inner, f"{prefix}{entry.name}/", depth + 1)
                except OSError:  # it went, or may not be opened: that is a difference to before, or none to any
                    yield Mark(prefix + entry.name, -1, 0, 0, 0, 0)
    finally:
        os.close(folder)
