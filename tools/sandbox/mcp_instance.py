"""One environment whose tools are an MCP server's: calls, programs that make calls, and state as the files tell it."""

import asyncio
import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from agent_world.errors import SandboxError
from agent_world.schema import ToolSpec
from agent_world.tools.files import Files, unpack
from agent_world.tools.observation import error_observation
from agent_world.tools.runtime import Observation, RunResult
from agent_world.tools.sandbox.aside import read_aside, with_files, with_frame
from agent_world.tools.sandbox.channel import ChannelClosed
from agent_world.tools.sandbox.exchange import JUDGED, MAX_CALLS, Call, run_result
from agent_world.tools.sandbox.mcp_content import result_observation
from agent_world.tools.sandbox.mcp_conversation import ServerGone
from agent_world.tools.sandbox.mcp_server import McpServer, start_server
from agent_world.tools.sandbox.mcp_specs import Offer, original_name
from agent_world.tools.sandbox.process import Order, Process
from agent_world.tools.sandbox.purity import Purity
from agent_world.tools.sandbox.stateful import Stateful
from agent_world.tools.sandbox.template import Template
from agent_world.tools.specs import Rejected

if TYPE_CHECKING:
    from agent_world.tools.sandbox.mcp import McpBackend

T = TypeVar("T")


class McpInstance(Stateful):
    """One server on files of its own."""

    def __init__(self, backend: "McpBackend", template: Template, known: tuple[ToolSpec, ...], order: Order) -> None:
        """`known` are the tools of the bundle's tools.json, where there is one."""
        super().__init__(template, backend.config.disk_mb, own_disk=True)
        self._backend = backend
        self._known = known
        self._order = order
        self._ids = itertools.count(1)
        self._purity = Purity(template, self.max_bytes)
        self._server: McpServer | None = None
        self._offer = Offer({}, {}, ())
        self._closed = False

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The bundle's tools.json; without one, what the server lists."""
        return tuple(self._offer.specs.values())

    @property
    def rejected(self) -> tuple[Rejected, ...]:
        """Tools of the server that cannot be used, each with the reason."""
        return self._offer.rejected

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Observation:
        return await self._call(tool, arguments, 0)

    async def _call(self, tool: str, arguments: Mapping[str, Any], size: int) -> Observation:
        """`size` is that of the frame with the arguments, where a program asks."""
        fault, ready = await with_frame(JUDGED * size, lambda: self._judged(tool, arguments))
        if fault:
            return fault
        if not self._offer.specs[tool].annotations.read_only:
            self._purity.touched()
            return await self._perform(tool, ready)
        await self._purity.before(self._running().process.directory)
        found = await self._perform(tool, ready)
        process = self._running().process
        await process.gone()  # where it was killed
        return replace(found, impure=True) if await self._purity.wrote(process.directory) else found

    async def _perform(self, tool: str, ready: dict[str, Any]) -> Observation:
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
                result = await server.call(original_name(self._offer.specs[tool]), ready)
        except TimeoutError:
            server.process.kill()
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
            server.process.kill()  # cancelled in the middle of an exchange
            raise
        finally:
            self._backend.watch.idle(server.process)
        return await with_frame(server.heard, lambda: result_observation(result, config.observation_chars))

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
            found = await self._call(tool, arguments, frame.size)
            calls.append((tool, arguments, found))
            outcome = {"value": found.value} if found.ok else {"error": json.loads(found.text)["error"]}
            await process.channel.send({"id": request, **outcome})
        return frame

    async def restore(self, snapshot: bytes) -> None:
        await self._start(await with_files(len(snapshot), lambda: unpack(snapshot)))

    async def reset(self) -> None:
        await self._start(self.template.files)

    async def close(self) -> None:
        self._closed = True
        server, self._server = self._server, None
        try:
            if server:
                await server.release()
        finally:
            self._backend.forget(self)

    def _judged(self, tool: str, arguments: Any) -> tuple[Observation | None, dict[str, Any]]:
        """Why the call is not made, if so; else the arguments as the tool gets them."""
        self._running()
        if tool not in self._offer.checkers:
            return error_observation("unknown_tool", f"There is no tool {tool!r}."), {}
        fault = self._offer.checkers[tool].fault(arguments)
        if fault:
            return error_observation("invalid_arguments", fault), {}
        return None, self._offer.checkers[tool].ready(arguments)

    def _running(self) -> McpServer:
        if self._server is None:
            raise SandboxError("The instance is closed.")
        return self._server

    async def look(self, use: Callable[[Files], T], more: int = 0) -> T:
        process = self._running().process
        await process.gone()
        return await read_aside(process.directory, self.max_bytes, use, more)

    async def _alive(self) -> McpServer:
        """The running server; after a kill, a fresh one on the files that the last one left."""
        assert self._server is not None
        if not self._server.live:
            await self._start(await self.look(lambda files: files))
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
            self._offer = backend.offers.read(server.tools, self._known)
        except BaseException:
            await server.release()
            raise
        if self._closed:  # meanwhile
            await server.release()
            raise SandboxError("The instance is closed.")
        if self._server:
            await self._server.release()
        self._server = server
        self._purity.start(None)
