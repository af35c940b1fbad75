"""Whether a tool that says it only reads leaves the state as it is.

A look at names, sizes, times and inodes tells at nearly no cost that nothing was written; only where that differs are
two states compared, volatile parts left out.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import replace

from agent_world.tools.files import MAX_DEPTH, MAX_FILES, Files, read_files
from agent_world.tools.sandbox.template import Template
from agent_world.tools.state import read_state

Mark = tuple[str, int, int, int, int, int]
"""Path, kind, size, time of content, time of attributes, inode."""


class Purity:
    """Of one instance. `start` for a fresh process, then `before` and `wrote` around each call that only reads."""

    def __init__(self, template: Template, max_bytes: int) -> None:
        self._template, self._max_bytes = template, max_bytes
        self._files: Files | None = None
        self._marks: tuple[Mark, ...] | None = None

    def start(self, files: Files | None) -> None:
        """`files` is what the folder holds now, where it is known."""
        self._files, self._marks = files, None

    def touched(self) -> None:
        """Something is about to run that may write."""
        if self._marks is None:
            self._files = None

    def before(self, directory: int) -> None:
        marks = _marks(directory)
        if self._files is None or self._marks not in (None, marks):
            self._files = self._read(directory)
        self._marks = marks

    def wrote(self, directory: int) -> bool:
        """Whether the state has changed since `before`."""
        marks = _marks(directory)
        if marks == self._marks or self._files is None:
            return False
        before, self._files = self._files, self._read(directory)
        self._marks = marks
        schema = self._template.schema
        return read_state(before, schema).hash() != read_state(self._files, schema).hash()

    def _read(self, directory: int) -> Files:
        """Content that is still the template's is held once for all instances."""
        found, known = read_files(directory, self._max_bytes), self._template.files
        contents = {p: known.contents[p] if known.contents.get(p) == c else c for p, c in found.contents.items()}
        digests = {p: known.digest(p) for p, content in contents.items() if known.contents.get(p) is content}
        return replace(found, contents=contents, digests=digests)


def _marks(directory: int) -> tuple[Mark, ...]:
    found = []
    for mark in _walk(os.dup(directory), "", 0):
        found.append(mark)
        if len(found) > MAX_FILES:
            break
    return tuple(sorted(found))


def _walk(folder: int, prefix: str, depth: int) -> Iterator[Mark]:
    """Closes `folder`."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                    yield (
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
                    yield prefix + entry.name, -1, 0, 0, 0, 0
    finally:
        os.close(folder)
