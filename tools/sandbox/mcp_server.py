"""One live MCP server inside the walls: its process, its pipes, its files, its end."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent_world.errors import SandboxError
from agent_world.tools.files import Files
from agent_world.tools.sandbox.aside import write_aside
from agent_world.tools.sandbox.channel import ChannelClosed
from agent_world.tools.sandbox.launcher import Launcher
from agent_world.tools.sandbox.mcp_command import Command
from agent_world.tools.sandbox.mcp_conversation import Conversation, ServerGone
from agent_world.tools.sandbox.mcp_pipes import Pipes, reader, writer
from agent_world.tools.sandbox.process import Order, Process, Program

if TYPE_CHECKING:
    from mcp.types import CallToolResult, Tool

_KEPT_ERRORS = 4096
_DEATH_S = 2.0
_PACE_S = 0.005
"""Pause between two pieces of standard errors, so that a flood there costs us little."""


class McpServer:
    """Made by `start_server`. `end` must be called; its files stay readable at `process.directory` until `release`."""

    def __init__(self, process: Process, command: Command) -> None:
        self.process = process
        self.tools: tuple[Tool, ...] = ()
        """As it listed them, all pages."""
        self.command = command
        self._conversation: Conversation | None = None
        self._ended = False
        self._listening: asyncio.Task[None] | None = None
        """To its standard errors."""
        self._errors = b""
        self._outputs: list[asyncio.ReadTransport] = []

    @property
    def live(self) -> bool:
        return self.process.pidfd >= 0

    @property
    def heard(self) -> int:
        """Bytes of its largest message since it was asked last."""
        return self._conversation.heard if self._conversation else 0

    async def call(self, tool: str, arguments: dict[str, Any]) -> "CallToolResult":
        """Raises `ServerGone`; `McpError` when the server refuses; pydantic's `ValidationError` for a wrong form."""
        from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest

        if self._conversation is None or not self.live:
            raise ServerGone("it is not running")
        params = CallToolRequestParams(name=tool, arguments=arguments)
        request = ClientRequest(CallToolRequest(method="tools/call", params=params))
        # Not `session.call_tool`: it checks results by schemas of the server's own, and would follow links in them.
        found: CallToolResult = await self._conversation.ask(request, CallToolResult)
        return found

    async def begin(self, files: Files, pipes: Pipes) -> None:
        """Give it its files, start it, and get to know it. Raises `ServerGone`, `OSError` when the files do not fit."""
        conversation = await self._connect(pipes)
        await write_aside(self.process.directory, files, self.process.owner)
        try:
            await self.process.channel.send({"op": "start"})
        except ChannelClosed as error:
            raise ServerGone(str(error)) from error
        self.tools = await conversation.begin()

    async def _connect(self, pipes: Pipes) -> Conversation:
        input = await writer(pipes.take("input"))
        output, first = await reader(pipes.take("output"))
        self._conversation = Conversation(output, input)
        self._outputs.append(first)
        errors, second = await reader(pipes.take("errors"))
        self._outputs.append(second)
        self._listening = asyncio.create_task(self._keep_errors(errors))
        return self._conversation

    async def _keep_errors(self, errors: asyncio.StreamReader) -> None:
        while part := await errors.read(1 << 16):
            self._errors = (self._errors + part)[-_KEPT_ERRORS:]
            await asyncio.sleep(_PACE_S)

    async def end(self) -> None:
        """Kill it and all that it started, and wait until the kernel is done with them."""
        if self._ended:
            return
        self._ended = True
        self.process.kill()
        try:
            await self.process.gone()
        finally:
            await self._hang_up()

    async def _hang_up(self) -> None:
        if self._conversation:
            await self._conversation.end()
        if self._listening:
            await asyncio.wait([self._listening], timeout=_DEATH_S)
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        for output in self._outputs:
            output.close()

    async def release(self) -> None:
        try:
            await self.end()
        finally:
            self.process.release()

    def last_words(self) -> str:
        """The last line that it wrote to its standard errors; the protocol's fault where there is none."""
        lines = [line.strip() for line in self._errors.decode(errors="replace").splitlines() if line.strip()]
        fault = self._conversation.fault if self._conversation else ""
        return (lines[-1][:300] if lines else fault).rstrip(".")


async def start_server(
    launcher: Launcher,
    order: Order,
    command: Command,
    files: Files,
    seconds: float,
    spawned: Callable[[Process], None] = lambda process: None,
) -> McpServer:
    """A server on `files` that has listed its tools. Raises `SandboxError` with the server's last words.

    `spawned` is told of the process before the server runs in it.
    """
    with Pipes() as pipes:
        program = Program(command.argv, command.environment, (pipes.input[0], pipes.output[1], pipes.errors[1]))
        process = await launcher.spawn(order, program=program)
        spawned(process)
        pipes.close_theirs()
        server = McpServer(process, command)
        try:
            async with asyncio.timeout(seconds):
                await server.begin(files, pipes)
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise await _failed(server, f"did not answer within {seconds:g} s") from error
            await server.release()
            raise SandboxError(f"The database does not fit into an instance ({error}): raise disk_mb.") from error
        except ServerGone as error:
            raise await _failed(server, f"did not start ({error})") from error
        except BaseException:
            await server.release()  # cancelled half-way
            raise
    return server


async def _failed(server: McpServer, what: str) -> SandboxError:
    ended = await _exit_status(server.process)
    await server.release()
    words = server.process.outgrew.rstrip(".") or server.last_words()
    how = f" and ended with status {ended}" if ended is not None else ""
    return SandboxError(f"The MCP server `{server.command.shown}` {what}{how}{': ' + words if words else ''}.")


async def _exit_status(process: Process) -> int | None:
    """How it ended, if it has; its parent says so just before it ends as well."""
    try:
        async with asyncio.timeout(0.2):
            status = (await process.channel.receive(0)).get("exit")
    except (TimeoutError, ChannelClosed):
        return None
    return status if isinstance(status, int) else None
