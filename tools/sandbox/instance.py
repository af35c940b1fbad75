"""One environment on files of its own, in a process of its own.

A process that overruns its deadline, breaks the protocol or outgrows the memory is killed with all it started; the
next call gets a fresh one on the files that were left. So it goes as well when the zygote dies, for the descriptor of
an instance's folder keeps its disk alive; should the folder be lost in spite of that, calls answer `infra` until
`reset` or `restore`.
"""

import asyncio
import dataclasses
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from agent_world.errors import SandboxError
from agent_world.tools.files import Files, unpack
from agent_world.tools.observation import error_observation
from agent_world.tools.runtime import Observation, RunResult
from agent_world.tools.sandbox.aside import read_aside, with_files
from agent_world.tools.sandbox.channel import Answer, ChannelClosed
from agent_world.tools.sandbox.exchange import Call, follow, judged, observed, run_result
from agent_world.tools.sandbox.launcher import NAMESPACED
from agent_world.tools.sandbox.process import Beginning, Process
from agent_world.tools.sandbox.purity import Purity
from agent_world.tools.sandbox.stateful import Stateful
from agent_world.tools.sandbox.template import Template

if TYPE_CHECKING:
    from agent_world.tools.sandbox.local import LocalBackend

T = TypeVar("T")


class _Failed(Exception):
    """A call or program came to no result: `code` for programs to act on, `message` for a model."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class _Around:
    """What is done around each tool call, also of a program: a tool that only reads is held to it."""

    def __init__(self, instance: "LocalInstance", process: Process) -> None:
        self._instance, self._process = instance, process

    async def before(self, tool: str) -> None:
        if tool in self._instance.template.reads:
            await self._instance.purity.before(self._process.directory)
        else:
            self._instance.purity.touched()

    async def seen(self, tool: str, outcome: Answer) -> Observation:
        found = await observed(outcome, self._instance.observation_chars)
        if tool in self._instance.template.reads and await self._instance.purity.wrote(self._process.directory):
            return dataclasses.replace(found, impure=True)
        return found


class LocalInstance(Stateful):
    """Opened by `LocalBackend`."""

    def __init__(self, backend: "LocalBackend", template: Template, begins: Beginning) -> None:
        super().__init__(template, backend.config.disk_mb, backend.launcher.rung in NAMESPACED)
        self._backend = backend
        self._begins = begins
        self.observation_chars = backend.config.observation_chars
        self.purity = Purity(template, self.max_bytes)
        self._ids = itertools.count(1)
        self.process: Process | None = None
        self._closed = False

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        refused, checked = judged(self.template, tool, arguments)
        if refused:
            return refused
        message = {"id": next(self._ids), "op": "call", "tool": tool, "arguments": checked}
        seconds = self._backend.config.call_timeout_s
        try:
            process = await self._alive()
            around = _Around(self, process)
            await around.before(tool)
            with self._at_work(process, tool, seconds):
                outcome = await process.channel.ask(message, seconds)
        except _Failed as failed:
            return error_observation(failed.code, failed.message)
        return await around.seen(tool, outcome)

    async def run(self, source: str, function: str, arguments: Mapping[str, Any]) -> RunResult:
        calls: list[Call] = []
        config = self._backend.config
        request, seconds = next(self._ids), config.run_timeout_s
        message = {"id": request, "op": "run", "source": source, "function": function, "arguments": dict(arguments)}
        process = None
        try:
            process = await self._for_a_program()
            message["here"] = process is not self.process
            self.purity.touched()
            with self._at_work(process, function, seconds):
                async with asyncio.timeout(seconds):
                    await process.channel.send(message)
                    answer = await follow(
                        process.channel, self.template, request, calls, config.observation_chars, _Around(self, process)
                    )
                    if not message["here"]:
                        await _ended(process, request)
        except _Failed as failed:
            return RunResult(ok=False, error=failed.code, calls=tuple(calls))
        finally:
            if process and process is not self.process:
                process.kill()
                try:
                    await process.gone()
                finally:
                    process.release()
        return run_result(answer, calls)

    async def restore(self, snapshot: bytes) -> None:
        await self._start(await with_files(len(snapshot), lambda: unpack(snapshot)))

    async def reset(self) -> None:
        self._refuse_when_closed()
        self._become(await self._backend.pool.take(self.template, self._begins), self.template.files)

    async def close(self) -> None:
        if self.process:
            self.process.release()
            self.process = None
        self._closed = True
        self._backend.forget(self)

    # --- Calls ------------------------------------------------------------------------------------------

    @contextmanager
    def _at_work(self, process: Process, what: str, seconds: float) -> Iterator[None]:
        """Whatever goes wrong ends the process; what it was is raised as `_Failed`."""
        watch = self._backend.watch
        watch.busy(process)
        try:
            yield
        except TimeoutError:
            process.kill()
            raise _Failed("timeout", f"{what} took more than {seconds:g} s.") from None
        except ChannelClosed:
            process.kill()
            _raise_if_outgrown(process)
            raise _Failed("crashed", f"{what} ended without a result.") from None
        except BaseException:
            process.kill()  # cancelled in the middle of an exchange: the channel is out of step
            raise
        finally:
            watch.idle(process)

    async def _for_a_program(self) -> Process:
        """The instance's process, which forks for it; where that is refused, another in the same folder."""
        process = await self._alive()
        if self._backend.launcher.rung in NAMESPACED:
            return process
        return await self._backend.pool.beside(self.template, process, self._begins)

    # --- Files and processes ------------------------------------------------------------------------------

    async def look(self, use: Callable[[Files], T], more: int = 0) -> T:
        self._refuse_when_closed()
        process = self.process
        assert process is not None
        await process.gone()
        if process.directory >= 0 and os.fstat(process.directory).st_nlink == 0:
            raise SandboxError("The instance has lost its files: reset or restore it.")
        return await read_aside(process.directory, self.max_bytes, use, more)

    async def _alive(self) -> Process:
        """The running process; after a kill, a fresh one on the files that the last one left."""
        self._refuse_when_closed()
        assert self.process is not None
        if self.process.pidfd >= 0:
            return self.process
        outgrown = self.process
        if os.fstat(self.process.directory).st_nlink == 0:
            raise _Failed("infra", "The instance has lost its files, by no fault of the tool. Reset it.")
        files = await self.look(lambda files: files)
        if files.refused:
            path, reason = next(iter(files.refused.items()))
            raise _Failed("infra", f"The process ended, and {path} cannot be kept ({reason}). Reset the instance.")
        await self._start(files)
        _raise_if_outgrown(outgrown)
        return self.process

    async def _start(self, files: Files) -> None:
        self._refuse_when_closed()
        self._become(await self._backend.pool.start_on(self.template, files, self._begins), files)

    def _become(self, process: Process, files: Files) -> None:
        if self._closed:  # meanwhile
            process.release()
            self._refuse_when_closed()
        if self.process:
            self.process.release()
        self.process = process
        self.purity.start(files)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise SandboxError("The instance is closed.")


async def _ended(process: Process, request: int) -> None:
    """Until what a program started, and left behind, writes no more."""
    if (await process.channel.receive(request)).get("ended") is not True:
        raise ChannelClosed("a program's end without a report")


def _raise_if_outgrown(process: Process) -> None:
    """Said once: to the call in flight, or to the next one when there was none."""
    if process.outgrew:
        said, process.outgrew = process.outgrew, ""
        raise _Failed("out_of_memory", said)
