"""Whether a tool that says it only reads leaves the state of a sandbox as it is.

A listing tells that nothing was written. Only where it differs are two states compared; and where the one before was
not read (after a call that writes, to read it would cost each such pair of calls a download), the listing decides.
"""

from agent_world.schema import DatabaseSchema
from agent_world.tools.files import Files
from agent_world.tools.sandbox.aside import with_files
from agent_world.tools.sandbox.e2b_box import Box, Mark
from agent_world.tools.state import read_state


class Purity:
    """Of one instance. `start` for a fresh process, then `before` and `wrote` around each call that only reads."""

    def __init__(self, schema: DatabaseSchema, max_bytes: int) -> None:
        self._schema, self._max_bytes = schema, max_bytes
        self._files: Files | None = None
        self._marks: frozenset[Mark] | None = None

    def start(self, files: Files | None) -> None:
        """`files` is what is there now, where it is known."""
        self._files, self._marks = files, None

    async def before(self, box: Box) -> None:
        if self._marks is None:
            self._marks = await box.marks()

    async def wrote(self, box: Box) -> bool:
        """Whether the state has changed since `before`."""
        marks = await box.marks()
        if marks == self._marks:
            return False
        before, after = self._files, await box.read(self._max_bytes)
        self._files, self._marks = after, marks
        if before is None:
            return True
        return await with_files(before.weight + after.weight, lambda: self._hash(before) != self._hash(after))

    def _hash(self, files: Files) -> str:
        return read_state(files, self._schema).hash()
