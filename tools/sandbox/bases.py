"""Databases that instances share: written once, and seen by each under its own changes."""

from agent_world.tools.sandbox.aside import write_aside
from agent_world.tools.sandbox.launcher import Launcher
from agent_world.tools.sandbox.once import Once
from agent_world.tools.sandbox.process import Base
from agent_world.tools.sandbox.template import Template

_MEGABYTE = 1024 * 1024
_MAX_KNOWN = 1024


class Bases:
    def __init__(self, launcher: Launcher, from_mb: float) -> None:
        """Databases smaller than `from_mb` are not shared."""
        self._launcher, self._from_bytes = launcher, from_mb * _MEGABYTE
        self._bases: Once[tuple[Template, int], Base | None] = Once(self._make, _MAX_KNOWN)
        self.size = 0
        """Bytes of all of them, those no longer wanted included until their last instance ends."""

    async def of(self, template: Template) -> Base | None:
        """None for a database that is to be copied: it is small, or the kernel refuses.

        With folders inside as well, where an ordinary user starts us: overlayfs could not rename them there.
        """
        folders = bool(template.files.folders) or any("/" in path for path in template.files.contents)
        if template.size < self._from_bytes or (folders and self._launcher.rung == "user_namespace"):
            return None
        await self._launcher.ready()
        return await self._bases.get((template, self._launcher.generation))

    def drop(self, template: Template) -> None:
        """No new instance will use it; it goes with the last one that does."""
        for key in self._bases.known():
            if key[0] is template:
                self._bases.forget(key, self._retire)

    async def stop(self) -> None:
        await self._bases.stop()
        for key in self._bases.known():
            self._bases.forget(key, self._retire)

    def _retire(self, base: Base | None) -> None:
        if base:
            self._launcher.retire(base)

    async def _make(self, key: tuple[Template, int]) -> Base | None:
        template, _ = key
        base = await self._launcher.base()
        if base is None:
            return None
        try:
            await write_aside(base.directory, template.files, None)
        except OSError:  # the machine's memory for files is full; a copy will say so if it does not fit either
            self._launcher.retire(base)
            return None
        except BaseException:
            self._launcher.retire(base)
            raise
        self.size += template.size

        def freed() -> None:
            self.size -= template.size

        base.at_end.append(freed)
        return base
