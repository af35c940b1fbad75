"""Processes of an environment, ready before anyone asks: locked down, files in place, tools loaded.

The tools are executed already if their module only defines (`inside/plain.py`). Clock and seed are told ahead as well
once two in a row have asked for the same. A process is told them once, so that all lie in memory alike: who asks for
others than one was told gets another.
"""

import asyncio
import dataclasses
from collections import OrderedDict
from weakref import WeakKeyDictionary, WeakSet

from agent_world.errors import SandboxError
from agent_world.settings import LocalRuntime
from agent_world.tools.files import Files
from agent_world.tools.sandbox.aside import write_aside
from agent_world.tools.sandbox.bases import Bases
from agent_world.tools.sandbox.channel import ChannelClosed
from agent_world.tools.sandbox.compiler import Compiler
from agent_world.tools.sandbox.launcher import Launcher
from agent_world.tools.sandbox.memory import MemoryWatch
from agent_world.tools.sandbox.process import Beginning, Order, Process
from agent_world.tools.sandbox.template import Template

_MAX_ENVIRONMENTS = 8
"""Environments with processes ahead; those of the least recently used are let go."""
_BREATH_S = 0.002
"""The first call of who was just served goes before the next process."""


class Pool:
    """Starts processes, some of them ahead."""

    def __init__(self, launcher: Launcher, config: LocalRuntime, watch: MemoryWatch) -> None:
        self._launcher, self._ahead, self._watch = launcher, config.ahead, watch
        self._seconds = config.call_timeout_s
        self._order = Order(config.memory_mb, config.disk_mb)
        self._compiler = Compiler(launcher, self._order, self._seconds)
        self._bases = Bases(launcher, config.share_from_mb)
        self._spares: OrderedDict[Template, list[Process]] = OrderedDict()
        self._begins: WeakKeyDictionary[Template, Beginning] = WeakKeyDictionary()
        """What was asked for last."""
        self._refills: dict[Template, asyncio.Task[None]] = {}
        self._dropped: WeakSet[Template] = WeakSet()
        self._owed = 0
        """Calls of `take` after which nothing was started ahead yet."""

    @property
    def ready(self) -> int:
        """How many processes are ahead."""
        return len(self.spares())

    @property
    def refilling(self) -> bool:
        """Whether some are being started ahead, or soon will be."""
        return bool(self._refills or self._owed)

    def spares(self) -> list[Process]:
        return [process for spares in self._spares.values() for process in spares]

    @property
    def shared_bytes(self) -> int:
        return self._bases.size

    def waits_for(self, template: Template, begins: Beginning) -> bool:
        """Whether a process is ahead that may be told so."""
        return any(process.may_begin(begins) for process in self._spares.get(template, ()))

    async def take(self, template: Template, begins: Beginning) -> Process:
        """A process on the template's own files. Raises `SandboxError`."""
        process = self._spare(template, begins) or await self._start(template)
        process.begin(begins)
        if self._ahead:  # whatever can wait does: who asked is still waiting
            self._owed += 1
            asyncio.get_running_loop().call_soon(self._served, template, begins)
        return process

    async def start_on(self, template: Template, files: Files, begins: Beginning) -> Process:
        """A process on other files. Raises `SandboxError`."""
        message = await self._compiler.message(template.source)
        process = await self._spawn(self._order)
        await self._write(process, files)
        process.channel.hold(message)
        process.begin(begins)
        return process

    async def beside(self, template: Template, process: Process, begins: Beginning) -> Process:
        """Another process in the folder of `process`. Raises `SandboxError`."""
        message = await self._compiler.message(template.source)
        other = await self._spawn(self._order, process)
        other.channel.hold(message)
        other.begin(begins)
        return other

    def drop(self, template: Template) -> None:
        """No new instance of it will be asked for; those there are may still be reset."""
        self._dropped.add(template)
        self._let_go(template)
        self._bases.drop(template)

    def let_all_go(self) -> bool:
        """Give up what is ahead; whether there was anything."""
        held = any(self._spares.values())
        for template in list(self._spares):
            self._let_go(template)
        return held

    async def stop(self) -> None:
        self._ahead = 0
        refills = list(self._refills.values())
        for task in refills:
            task.cancel()
        await asyncio.gather(*refills, return_exceptions=True)
        self.let_all_go()
        await self._compiler.stop()
        await self._bases.stop()

    async def _start(self, template: Template) -> Process:
        # Side by side: the code of new tools, and the process that will run them.
        message = asyncio.create_task(self._compiler.message(template.source))
        try:
            process = await self._on_own_files(template)
            try:
                process.channel.hold(await message)
            except BaseException:
                process.release()
                raise
        finally:
            message.cancel()
        return process

    async def _on_own_files(self, template: Template) -> Process:
        base = None if template in self._dropped else await self._bases.of(template)
        if base is None or base.retired:  # the bundle may have changed meanwhile
            process = await self._spawn(self._order)
            await self._write(process, template.files)
            return process
        try:
            return await self._spawn(dataclasses.replace(self._order, base=base))
        except SandboxError:
            if base.zygote == self._launcher.generation and not base.retired:
                raise
        return await self._on_own_files(template)  # the base went, with its zygote or its bundle

    async def _spawn(self, order: Order, beside: Process | None = None) -> Process:
        process = await self._launcher.spawn(order, beside)
        self._watch.add(process)
        return process

    async def _write(self, process: Process, files: Files) -> None:
        try:
            await write_aside(process.directory, files, process.owner)
        except OSError as error:
            process.release()
            raise SandboxError(f"The database does not fit into an instance ({error}): raise disk_mb.") from error
        except BaseException:
            process.release()
            raise

    # --- Ahead ------------------------------------------------------------------------------------------

    def _spare(self, template: Template, begins: Beginning) -> Process | None:
        spares = self._spares.get(template, [])
        while spares:
            process = spares.pop(0)
            if not process.ended() and process.may_begin(begins):
                return process
            process.release()
        return None

    def _served(self, template: Template, begins: Beginning) -> None:
        self._owed -= 1
        alike = self._begins.get(template) == begins
        self._begins[template] = begins
        if not self._ahead or template in self._refills or template in self._dropped:
            return
        self._spares.setdefault(template, [])
        self._spares.move_to_end(template)
        while len(self._spares) > _MAX_ENVIRONMENTS:
            self._let_go(next(iter(self._spares)))
        self._refills[template] = asyncio.create_task(self._fill_up(template, begins if alike else None))

    async def _fill_up(self, template: Template, begins: Beginning | None) -> None:
        try:
            await asyncio.sleep(_BREATH_S)
            await self._fill(template, begins)
        finally:
            self._refills.pop(template, None)

    async def _fill(self, template: Template, begins: Beginning | None) -> None:
        while len(self._spares.get(template, ())) < self._ahead and self._watch.has_room(template.size):
            try:
                process = await self._start(template)
            except SandboxError:
                return  # nobody asked for it; whoever asks next will hear why
            if begins:
                process.begin(begins)
            try:
                await process.channel.settle(self._seconds)
            except (ChannelClosed, TimeoutError):
                return process.release()  # it died of what it was sent, or works at it without end
            except BaseException:
                process.release()
                raise
            spares = self._spares.get(template)
            if spares is None or process.ended():  # let go, or killed, meanwhile
                return process.release()
            spares.append(process)

    def _let_go(self, template: Template) -> None:
        for process in self._spares.pop(template, ()):
            process.release()
