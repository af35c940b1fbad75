"""What an instance's files tell of it, on any backend."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from agent_world.schema import StateDiff
from agent_world.tools.files import Files, pack
from agent_world.tools.sandbox.template import Template
from agent_world.tools.state import diff, read_state

T = TypeVar("T")

_MEGABYTE = 1024 * 1024


class Stateful(ABC):
    """Read by the trusted side, never by asking the instance. Each raises `SandboxError` when there is none to read."""

    def __init__(self, template: Template, disk_mb: int, own_disk: bool) -> None:
        self.template = template
        self.max_bytes = disk_mb * _MEGABYTE + (0 if own_disk else template.size)
        """Most that is read: where no disk bounds the sum, one file of the largest size fits beside the database."""

    @abstractmethod
    async def look(self, use: Callable[[Files], T], more: int = 0) -> T:
        """What `use` makes of the files of now; it works on others of the weight `more` as well."""

    async def diff(self) -> StateDiff:
        before = self.template
        return await self.look(lambda files: diff(before.state, read_state(files, before.schema)), before.files.weight)

    async def state_hash(self) -> str:
        return await self.look(lambda files: read_state(files, self.template.schema).hash())

    async def snapshot(self) -> bytes:
        """All files, journals included. Raises `SandboxError` where some cannot be kept (links, or too much)."""
        return await self.look(pack)
