"""Whether a tool that says it only reads leaves the state as it is.

A look at names, sizes, times and inodes tells at nearly no cost that nothing was written; only where that differs are
two states compared, volatile parts left out.
"""

from dataclasses import replace

from agent_world.tools.files import Files
from agent_world.tools.sandbox.aside import read_aside, with_files
from agent_world.tools.sandbox.marks import Mark, marks
from agent_world.tools.sandbox.template import Template
from agent_world.tools.state import read_state


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

    async def before(self, directory: int) -> None:
        now = marks(directory)
        if self._files is None or self._marks not in (None, now):
            self._files = await self._read(directory)
        self._marks = now

    async def wrote(self, directory: int) -> bool:
        """Whether the state has changed since `before`."""
        now = marks(directory)
        if now == self._marks or self._files is None:
            return False
        before, after = self._files, await self._read(directory)
        self._files, self._marks = after, now
        return await with_files(before.weight + after.weight, lambda: self._hash(before) != self._hash(after))

    def _hash(self, files: Files) -> str:
        return read_state(files, self._template.schema).hash()

    async def _read(self, directory: int) -> Files:
        return await read_aside(directory, self._max_bytes, self._shared)

    def _shared(self, found: Files) -> Files:
        """Content that is still the template's is held once for all instances."""
        known = self._template.files
        contents = {p: known.contents[p] if known.contents.get(p) == c else c for p, c in found.contents.items()}
        digests = {p: known.digest(p) for p, content in contents.items() if known.contents.get(p) is content}
        return replace(found, contents=contents, digests=digests)
