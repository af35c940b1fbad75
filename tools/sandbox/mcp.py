"""The `mcp` backend: any MCP server as an environment.

    trusted side                              far side (own namespaces, no network)
    McpBackend  -- control socket ---------->  zygote
    McpInstance -- stdin, stdout, stderr --->    |- parent, and the server under it (own disk, processes, uid; limits)
                -- descriptor -------------->    |  its folder, from which state is read without asking it
                -- channel ----------------->    `- a program (`run`): its tool calls are made by the trusted side

The server works on a copy of the bundle's `database/`. It may hold state in memory too: so `reset` and `restore` give
a fresh server. One that overruns its deadline, dies or breaks the protocol is killed with all it started; the next
call gets a fresh one on the files that were left.
"""

import asyncio
import itertools
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_world.errors import SandboxError
from agent_world.schema import StateDiff, ToolSpec
from agent_world.settings import McpRuntime
from agent_world.tools.arguments import ArgumentChecker
from agent_world.tools.files import Files, pack, read_files, unpack
from agent_world.tools.observation import error_observation
from agent_world.tools.runtime import Observation, RunResult
from agent_world.tools.sandbox.channel import ChannelClosed
from agent_world.tools.sandbox.exchange import MAX_CALLS, Call, nanoseconds, run_result
from agent_world.tools.sandbox.launcher import NAMESPACED, Launcher
from agent_world.tools.sandbox.mcp_command import Command, prepare
from agent_world.tools.sandbox.mcp_content import result_observation
from agent_world.tools.sandbox.mcp_server import McpServer, ServerGone, start_server
from agent_world.tools.sandbox.mcp_specs import bundle_specs, check_same, listed_specs, original_name
from agent_world.tools.sandbox.memory import MemoryWatch
from agent_world.tools.sandbox.places import Places
from agent_world.tools.sandbox.process import Order, Process
from agent_world.tools.sandbox.purity import Purity
from agent_world.tools.sandbox.template import Template, Templates
from agent_world.tools.specs import Intake, Rejected
from agent_world.tools.state import State, diff, read_state

_MEGABYTE = 1024 * 1024


class McpBackend:
    """Opens instances. Belongs to the event loop that started it."""

    def __init__(self, config: McpRuntime) -> None:
        self.config = config
        self.command: Command = prepare(config)
        self.launcher = Launcher(floor=config.floor, readable=self.command.readable)
        self.watch = MemoryWatch(config.total_memory_mb, lambda: True)
        self._programs: Launcher | None = None
        self._starting = asyncio.Lock()
        self._templates = Templates(config.disk_mb * _MEGABYTE)
        self._places: Places[McpInstance] = Places(config.max_instances)

    async def start(self) -> None:
        """Raises `SandboxError` where this machine cannot isolate a foreign program."""
        nanoseconds(self.config.clock)
        await self.launcher.start()
        self.watch.start()
        if self.launcher.rung not in NAMESPACED:
            raise SandboxError(
                f"An MCP server needs namespaces, which this machine refuses ({'; '.join(self.launcher.refused)}): run "
                "as root, or allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0, in a "
                "container a seccomp profile that allows unshare)."
            )

    async def stop(self) -> None:
        for instance in list(self._places.taken):
            await instance.close()
        await self.watch.stop()
        await self.launcher.stop()
        if self._programs:
            await self._programs.stop()

    async def open(self, environment: Path, *, seed: int = 0, clock: str | None = None) -> "McpInstance":
        order = self.order(seed, clock)
        template = self._templates.load(environment)

        async def start(instance: McpInstance) -> None:
            async with self.watch.room_for(template.size):
                await instance.reset()

        return await self._places.take(lambda: McpInstance(self, template, bundle_specs(environment), order), start)

    def forget(self, instance: "McpInstance") -> None:
        self._places.leave(instance)

    def order(self, seed: int, clock: str | None) -> Order:
        config = self.config
        return Order(config.memory_mb, config.disk_mb, nanoseconds(clock or config.clock), str(seed))

    def watch_server(self, process: Process) -> None:
        """Its processes and its disk together: the kernel's limit counts each process alone, and no shared memory."""
        self.watch.add(process, (self.config.memory_mb + self.config.disk_mb) * _MEGABYTE)

    async def programs(self) -> Launcher:
        """Where programs are started: behind walls of their own, from which the server's folders are not seen."""
        async with self._starting:
            if self._programs is None:
                self._programs = Launcher(floor=self.config.floor)
                await self._programs.start()
            return self._programs

    def describe(self) -> tuple[str, ...]:
        """The protections that hold, one line each; what does not hold is said as well."""
        config = self.config
        uid = "a uid of its own" if os.getuid() == 0 else "the caller's uid"
        why = f" (refused: {'; '.join(self.launcher.refused)})" if self.launcher.refused else ""
        return (
            f"isolation: {self.launcher.rung}{why}",
            f"server `{self.command.shown}`: clean environment, {uid}, no capability, no_new_privs, seccomp",
            "namespaces: own network (empty), processes (64 at most, all killed together), mounts, IPC, host name",
            f"private root, read-only: system libraries and {', '.join(self.command.readable)}; no /proc, /etc, /home",
            f"own disks of {config.disk_mb} MB for data and for temporary files, gone with the instance",
            f"limits: {config.memory_mb} MB of memory (counted every 50 ms; data of each process by the kernel), "
            f"{self.watch.limit // _MEGABYTE} MB all together, {config.disk_mb} MB a file, 256 descriptors",
            f"deadlines: {config.start_timeout_s:g} s to start, {config.call_timeout_s:g} s a call, "
            f"{config.run_timeout_s:g} s a program, then SIGKILL",
            "not frozen: the server sees the machine's clock and its own randomness; programs see the set clock",
            "state is what lies in files; what a server holds in memory counts for nothing, and ends at reset",
            "programs (`run`) see the server's tools, not its files",
        )


class McpInstance:
    """One server on files of its own."""

    def __init__(self, backend: McpBackend, template: Template, known: tuple[ToolSpec, ...], order: Order) -> None:
        """`known` are the tools of the bundle's tools.json, where there is one."""
        self._backend = backend
        self._template = template
        self._known = known
        self._order = order
        self._ids = itertools.count(1)
        self._purity = Purity(template, backend.config.disk_mb * _MEGABYTE)
        self._server: McpServer | None = None
        self._specs: dict[str, ToolSpec] = {}
        self._checkers: Mapping[str, ArgumentChecker] = {}
        self._closed = False
        self.rejected: tuple[Rejected, ...] = ()
        """Tools of the server that cannot be used, each with the reason."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The bundle's tools.json; without one, what the server lists."""
        return tuple(self._specs.values())

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        fault = self._fault(tool, arguments)
        if fault:
            return fault
        assert self._server is not None
        if not self._specs[tool].annotations.read_only:
            self._purity.touched()
            return await self._perform(tool, arguments)
        self._purity.before(self._server.process.directory)
        found = await self._perform(tool, arguments)
        return replace(found, impure=True) if self._purity.wrote(self._server.process.directory) else found

    async def _perform(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        from mcp import McpError
        from pydantic import ValidationError

        config = self._backend.config
        try:
            server = await self._alive()
        except SandboxError as error:
            return error_observation("crashed", f"The server does not start on the files that it left: {error}")
        try:
            self._backend.watch.busy(server.process)
            async with asyncio.timeout(config.call_timeout_s):
                result = await server.call(original_name(self._specs[tool]), self._checkers[tool].ready(arguments))
        except TimeoutError:
            await server.end()
            return error_observation("timeout", f"{tool} took more than {config.call_timeout_s:g} s.")
        except ServerGone as error:
            await server.end()
            if server.process.outgrew:
                return error_observation("out_of_memory", server.process.outgrew)
            return error_observation("crashed", f"The server ended during {tool}: {server.last_words() or error}.")
        except McpError as error:
            return error_observation("tool_error", error.error.message)
        except ValidationError:
            return error_observation("invalid_output", "The server's answer has not the form of a tool's result.")
        except BaseException:
            await server.end()  # cancelled in the middle of an exchange
            raise
        finally:
            self._backend.watch.idle(server.process)
        return result_observation(result, config.observation_chars)

    async def run(self, source: str, function: str, arguments: Mapping[str, Any]) -> RunResult:
        """The program has a process and an empty folder of its own; of the instance it sees the tools."""
        if self._closed:
            raise SandboxError("The instance is closed.")
        calls: list[Call] = []
        backend = self._backend
        process = await (await backend.programs()).spawn(self._order)
        backend.watch.add(process)
        backend.watch.busy(process)
        request = next(self._ids)
        message = {"id": request, "op": "run", "source": source, "function": function, "arguments": dict(arguments)}
        try:
            async with asyncio.timeout(backend.config.run_timeout_s):
                await process.channel.send({**message, "here": True})
                answer = await self._follow(process, request, calls)
        except TimeoutError:
            return RunResult(ok=False, error="timeout", calls=tuple(calls))
        except ChannelClosed:
            return RunResult(ok=False, error="out_of_memory" if process.outgrew else "crashed", calls=tuple(calls))
        finally:
            process.release()
        return run_result(answer, calls)

    async def _follow(self, process: Process, request: int, calls: list[Call]) -> dict[str, Any]:
        """Make the calls that a program asks for, until its result comes."""
        while "ask" in (frame := await process.channel.receive(request)):
            tool, arguments = frame["ask"], frame.get("arguments")
            if len(calls) >= MAX_CALLS or not isinstance(tool, str) or not isinstance(arguments, dict):
                raise ChannelClosed("too many or malformed tool calls")
            found = await self.call(tool, arguments)
            calls.append((tool, arguments, found))
            outcome = {"value": found.value} if found.ok else {"error": json.loads(found.text)["error"]}
            await process.channel.send({"id": request, **outcome})
        return frame

    async def diff(self) -> StateDiff:
        return diff(self._template.state, self._state())

    async def state_hash(self) -> str:
        return self._state().hash()

    async def snapshot(self) -> bytes:
        """The files, journals included. Raises `SandboxError` when there are some that cannot be kept."""
        files = self._files()
        return pack(files)

    async def restore(self, snapshot: bytes) -> None:
        await self._start(unpack(snapshot))

    async def reset(self) -> None:
        await self._start(self._template.files)

    async def close(self) -> None:
        self._closed = True
        if self._server:
            await self._server.release()
            self._server = None
        self._backend.forget(self)

    def _fault(self, tool: str, arguments: Any) -> Observation | None:
        """Why the call is not made, if so."""
        if self._server is None:
            raise SandboxError("The instance is closed.")
        if tool not in self._checkers:
            return error_observation("unknown_tool", f"There is no tool {tool!r}.")
        fault = self._checkers[tool].fault(arguments)
        return error_observation("invalid_arguments", fault) if fault else None

    def _state(self) -> State:
        return read_state(self._files(), self._template.schema)

    def _files(self) -> Files:
        if self._server is None:
            raise SandboxError("The instance is closed.")
        return read_files(self._server.process.directory, self._backend.config.disk_mb * _MEGABYTE)

    async def _alive(self) -> McpServer:
        """The running server; after a kill, a fresh one on the files that the last one left."""
        assert self._server is not None
        if not self._server.live:
            await self._start(self._files())
        return self._server

    async def _start(self, files: Files) -> None:
        if self._closed:
            raise SandboxError("The instance is closed.")
        backend = self._backend
        if self._server:
            await self._server.end()  # two at once would need twice the memory
        order, seconds = self._order, backend.config.start_timeout_s
        server = await start_server(backend.launcher, order, backend.command, files, seconds, backend.watch_server)
        try:
            self._learn(listed_specs(server.tools, backend.command.shown))
        except BaseException:
            await server.release()
            raise
        if self._server:
            await self._server.release()
        self._server = server
        self._purity.start(None)

    def _learn(self, listed: Intake) -> None:
        """Raises `SandboxError` when the bundle has a tools.json and the server offers something else."""
        if self._known:
            check_same(self._known, listed.specs)
        self.rejected = listed.rejected
        self._specs = {spec.name: spec for spec in self._known or listed.specs}
        self._checkers = {name: ArgumentChecker(spec) for name, spec in self._specs.items()}
