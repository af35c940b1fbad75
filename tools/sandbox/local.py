"""The `local` backend: a locked-down process an instance, forked from a clean zygote on this machine.

    trusted side                          far side (clean interpreter, own namespaces, no network)
    LocalBackend  -- control socket -->   zygote
    LocalInstance -- channel -------->      `- process (own disk, processes, uid; limits), runs tools.py
                  -- descriptor ----->         its folder, from which state is read without asking it

A process that overruns its deadline or breaks the protocol is killed with all it started; the next call gets a
fresh one on the files that were left.
"""

import asyncio
import itertools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_world.errors import SandboxError
from agent_world.schema import StateDiff
from agent_world.settings import LocalRuntime
from agent_world.tools.files import Files, pack, read_files, unpack, write_files
from agent_world.tools.observation import error_observation, outcome_observation
from agent_world.tools.runtime import Observation, RunResult
from agent_world.tools.sandbox.channel import ChannelClosed
from agent_world.tools.sandbox.exchange import Call, fault, follow, nanoseconds, ready, run_result
from agent_world.tools.sandbox.launcher import Launcher, Order, Process
from agent_world.tools.sandbox.template import Template, Templates
from agent_world.tools.state import State, diff, read_state

_MEGABYTE = 1024 * 1024


class LocalBackend:
    """Opens instances. Belongs to the event loop that started it; `tools.sync` is the way from other threads."""

    def __init__(self, config: LocalRuntime, launcher: Launcher | None = None) -> None:
        self.config = config
        self.launcher = launcher or Launcher()
        self._templates = Templates(config.disk_mb * _MEGABYTE)
        self._room = asyncio.Semaphore(config.max_instances)
        self._live: set[LocalInstance] = set()

    async def start(self) -> None:
        """Raises `SandboxError` where this machine cannot isolate, `UsageError` for a wrong clock."""
        nanoseconds(self.config.clock)
        await self.launcher.start()

    async def stop(self) -> None:
        for instance in list(self._live):
            await instance.close()
        await self.launcher.stop()

    async def open(self, environment: Path, *, seed: int = 0) -> "LocalInstance":
        template = self._templates.load(environment)
        await self._room.acquire()
        instance = LocalInstance(self, template, seed)
        try:
            await instance.reset()
        except BaseException:
            self._room.release()
            raise
        self._live.add(instance)
        return instance

    def forget(self, instance: "LocalInstance") -> None:
        if instance in self._live:
            self._live.remove(instance)
            self._room.release()

    def order(self, seed: int) -> Order:
        config = self.config
        return Order(config.memory_mb, config.disk_mb, nanoseconds(config.clock), str(seed))

    def describe(self) -> tuple[str, ...]:
        """The protections that hold, one line each."""
        config = self.config
        uid = "a uid of its own" if os.getuid() == 0 else "the caller's uid"
        common = (
            "clean interpreter: no variables or descriptors of ours, no site packages",
            f"{uid}, no capability, no_new_privs; seccomp refuses sockets, tracing, mounts, namespaces, keys, io_uring",
            f"limits: {config.memory_mb} MB of memory, {config.disk_mb} MB a file, 64 descriptors",
            f"deadlines: {config.call_timeout_s:g} s a call, {config.run_timeout_s:g} s a program, then SIGKILL",
        )
        if self.launcher.rung == "confined":
            return (
                *common,
                "no namespaces here: Landlock allows system libraries (read) and the own folder (write), nothing else",
                "seccomp refuses processes, programs and signals; the sum of an instance's files has no limit",
            )
        return (
            *common,
            "namespaces: own network (empty), processes (16 at most, all killed together), mounts, IPC, host name",
            "private root: the interpreter and system libraries, read-only; no /proc, /etc, /home, /tmp",
            f"own disk of {config.disk_mb} MB, gone with the instance",
        )


class LocalInstance:
    """One environment on files of its own."""

    def __init__(self, backend: LocalBackend, template: Template, seed: int) -> None:
        self._backend = backend
        self._template = template
        self._seed = seed
        self._ids = itertools.count(1)
        self._process: Process | None = None
        self._closed = False

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        config = self._backend.config
        refused = fault(self._template, tool, arguments)
        if refused:
            return refused
        request = next(self._ids)
        process = await self._alive()
        try:
            async with asyncio.timeout(config.call_timeout_s):
                checked = ready(self._template, tool, arguments)
                await process.channel.send({"id": request, "op": "call", "tool": tool, "arguments": checked})
                outcome = await process.channel.receive(request)
        except TimeoutError:
            process.kill()
            return error_observation("timeout", f"{tool} took more than {config.call_timeout_s:g} s.")
        except ChannelClosed:
            process.kill()
            return error_observation("crashed", f"{tool} ended without a result.")
        except BaseException:
            process.kill()  # cancelled in the middle of an exchange: the channel is out of step
            raise
        return outcome_observation(outcome, config.observation_chars)

    async def run(self, source: str, function: str, arguments: Mapping[str, Any]) -> RunResult:
        config = self._backend.config
        calls: list[Call] = []
        process = await self._for_a_program()
        request = next(self._ids)
        message = {"id": request, "op": "run", "source": source, "function": function, "arguments": dict(arguments)}
        message["here"] = process is not self._process
        try:
            async with asyncio.timeout(config.run_timeout_s):
                await process.channel.send(message)
                answer = await follow(process.channel, self._template, request, calls, config.observation_chars)
        except TimeoutError:
            process.kill()
            return RunResult(ok=False, error="timeout", calls=tuple(calls))
        except ChannelClosed:
            process.kill()
            return RunResult(ok=False, error="crashed", calls=tuple(calls))
        except BaseException:
            process.kill()  # as in `call`
            raise
        finally:
            if process is not self._process:
                process.release()
        return run_result(answer, calls)

    async def _for_a_program(self) -> Process:
        """The instance's process, which forks for it; where that is refused, another in the same folder."""
        process = await self._alive()
        launcher = self._backend.launcher
        if launcher.rung != "confined":
            return process
        other = await launcher.spawn(self._backend.order(self._seed), beside=process)
        await other.channel.send({"id": next(self._ids), "op": "load", "source": self._template.source})
        return other

    async def diff(self) -> StateDiff:
        return diff(self._template.state, await self._state())

    async def state_hash(self) -> str:
        return (await self._state()).hash()

    async def snapshot(self) -> bytes:
        """Raises `SandboxError` when the instance holds files that cannot be kept (links, or too much)."""
        files = self._files()
        if files.refused:
            path, reason = next(iter(files.refused.items()))
            raise SandboxError(f"No snapshot: {path} is {reason}.")
        return pack(files)

    async def restore(self, snapshot: bytes) -> None:
        await self._start(unpack(snapshot))

    async def reset(self) -> None:
        await self._start(self._template.files)

    async def close(self) -> None:
        if self._process:
            self._process.release()
            self._process = None
        self._closed = True
        self._backend.forget(self)

    async def _state(self) -> State:
        return read_state(self._files(), self._template.schema)

    def _files(self) -> Files:
        if self._process is None:
            raise SandboxError("The instance is closed.")
        return read_files(self._process.directory, self._backend.config.disk_mb * _MEGABYTE)

    async def _alive(self) -> Process:
        """The running process; after a kill, a fresh one on the files that the last one left."""
        if self._process is None:
            raise SandboxError("The instance is closed.")
        if self._process.pidfd < 0:
            await self._start(self._files())
        return self._process

    async def _start(self, files: Files) -> None:
        if self._closed:
            raise SandboxError("The instance is closed.")
        process = await self._backend.launcher.spawn(self._backend.order(self._seed))
        try:
            owner = process.uid if os.getuid() == 0 else None
            write_files(process.directory, files.contents, owner)
            await process.channel.send({"id": next(self._ids), "op": "load", "source": self._template.source})
        except (OSError, ChannelClosed) as error:
            process.release()
            raise SandboxError(f"The database does not fit into an instance ({error}): raise disk_mb.") from error
        except BaseException:
            process.release()  # cancelled half-way
            raise
        if self._process:
            self._process.release()
        self._process = process
