"""The `e2b` backend: a sandbox of E2B (a small virtual machine, in its cloud or self-hosted) an instance.

    trusted side                                  sandbox, made by E2B
    E2BBackend   -- E2B's API: make, end -->
    E2BInstance  -- lines over stdin, stdout -->  process (inside.piped: locked down, clock and seed as in `local`)
                 -- E2B's file API ---------->    /db, from which state is read without asking that process

Deadlines are ours: a process that overruns its own is killed, alone as it is, and the next call gets a fresh one on
the files that were left. `reset` and `restore` take a new sandbox, so nothing outlives them.
`e2b_instance` says what happens when a sandbox is gone.
"""

import asyncio
import importlib
import os
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent_world.errors import UsageError
from agent_world.settings import E2BRuntime
from agent_world.tools.files import Files
from agent_world.tools.sandbox.e2b_box import MEGABYTE, Box, kill_all
from agent_world.tools.sandbox.e2b_instance import E2BInstance
from agent_world.tools.sandbox.e2b_worker import KEY, Order, SandboxLost
from agent_world.tools.sandbox.exchange import nanoseconds
from agent_world.tools.sandbox.places import Places
from agent_world.tools.sandbox.template import Templates


class E2BBackend:
    """Opens instances. Belongs to the event loop that started it; `tools.sync` is the way from other threads."""

    def __init__(self, config: E2BRuntime) -> None:
        self.config = config
        self._templates = Templates(config.disk_mb * MEGABYTE)
        self._places: Places[E2BInstance] = Places(config.max_instances)
        self._mark = {"agent-world": uuid.uuid4().hex}
        self._late: set[asyncio.Task[None]] = set()
        self._options: dict[str, Any] = {}

    async def start(self) -> None:
        """Raises `UsageError` for a missing key or package, or a wrong clock. E2B is first asked by `open`."""
        nanoseconds(self.config.clock)
        try:
            importlib.import_module("e2b_code_interpreter")
        except ImportError as error:
            raise UsageError("Backend e2b needs its SDK: install it with pip install 'agent-world[e2b]'.") from error
        given = self.config.api_key
        key = given.get_secret_value() if given else os.environ.get(KEY)
        if not key:
            raise UsageError(f"Backend e2b needs an API key: set runtime.api_key or the variable {KEY}.")
        named = {name: getattr(self.config, name) for name in ("domain", "api_url", "sandbox_url")}
        self._options = {"api_key": key, "request_timeout": self.config.start_timeout_s} | {
            name: value for name, value in named.items() if value
        }

    async def stop(self) -> None:
        """End all sandboxes, those too whose making was given up."""
        if not self._options:
            return
        try:
            await asyncio.gather(*(instance.close() for instance in list(self._places.taken)), *self._late)
        finally:
            with suppress(SandboxLost):  # out of reach: their lifetime ends them
                await kill_all(self._options, self._mark)

    async def open(self, environment: Path, *, seed: int = 0, clock: str | None = None) -> E2BInstance:
        order = self.order(seed, clock)
        template = self._templates.load(environment)
        return await self._places.take(lambda: E2BInstance(self, template, order), E2BInstance.reset)

    def forget(self, instance: E2BInstance) -> None:
        self._places.leave(instance)

    async def make_box(self, files: Files) -> Box:
        """A sandbox with these files. Raises `SandboxLost`, `SandboxError`; leaves none behind then."""
        making = asyncio.create_task(Box.make(self.config, self._options, self._mark))
        try:
            box = await asyncio.shield(making)
        except asyncio.CancelledError:
            late = asyncio.create_task(_end_when_made(making))
            self._late.add(late)
            late.add_done_callback(self._late.discard)
            raise
        try:
            await box.fill(files)
        except BaseException:
            await asyncio.shield(box.kill())
            raise
        return box

    def order(self, seed: int, clock: str | None) -> Order:
        config = self.config
        return Order(config.memory_mb, config.disk_mb, nanoseconds(clock or config.clock), str(seed))

    def describe(self) -> tuple[str, ...]:
        """The protections that hold, one line each; what does not hold is said as well."""
        config = self.config
        return (
            "a sandbox of E2B an instance: a virtual machine of its own, without the internet",
            "in it a clean interpreter as an ordinary user: no variables of ours, no site packages, no_new_privs",
            "seccomp refuses sockets and processes",
            "Landlock, where the template's kernel has it, refuses all files but /db and the system's libraries",
            f"limits: {config.memory_mb} MB of memory, {config.disk_mb} MB a file, 64 descriptors",
            f"the sum of an instance's files has the bound of its machine; {config.disk_mb} MB of it are read",
            f"deadlines: {config.call_timeout_s:g} s a call, {config.run_timeout_s:g} s a program, then SIGKILL",
            f"a sandbox ends with its instance, or else {config.lifetime_s} s after its last use",
        )


async def _end_when_made(making: "asyncio.Task[Box]") -> None:
    with suppress(SandboxLost):
        await (await making).kill()
