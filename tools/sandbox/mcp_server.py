"""One live MCP server inside the walls, spoken to by the official client over the server's standard input and output.

The server is hostile until it has shown otherwise: its lines are bounded, they are read only while something is asked
of it, and whatever breaks the protocol ends it.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent_world.errors import SandboxError
from agent_world.tools.files import Files, write_files
from agent_world.tools.sandbox.channel import ChannelClosed
from agent_world.tools.sandbox.inside.serve import MAX_FRAME
from agent_world.tools.sandbox.launcher import Launcher
from agent_world.tools.sandbox.mcp_command import Command
from agent_world.tools.sandbox.process import Order, Process, Program

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.types import CallToolResult, Tool

_KEPT_ERRORS = 4096
_DEATH_S = 2.0
_PACE_S = 0.005
"""Pause between two pieces of standard errors, so that a flood there costs us little."""


class ServerGone(Exception):
    """The server has ended, or does not keep to the protocol; the message says how."""


class McpServer:
    """Made by `start_server`. `end` must be called; its files stay readable at `process.directory` until `release`."""

    def __init__(self, process: Process, command: Command) -> None:
        self.process = process
        self.tools: tuple[Tool, ...] = ()
        """As it listed them, all pages."""
        self.command = command
        self._session: ClientSession | None = None
        self._asked = asyncio.Event()
        self._over = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._errors = b""
        self._fault = ""
        self._input: asyncio.StreamWriter | None = None
        self._outputs: list[asyncio.ReadTransport] = []

    @property
    def live(self) -> bool:
        return self.process.pidfd >= 0

    async def call(self, tool: str, arguments: dict[str, Any]) -> "CallToolResult":
        """Raises `ServerGone`; `McpError` when the server refuses; pydantic's `ValidationError` for a wrong form."""
        from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest

        params = CallToolRequestParams(name=tool, arguments=arguments)
        request = ClientRequest(CallToolRequest(method="tools/call", params=params))
        # Not `session.call_tool`: it checks results by schemas of the server's own, and would follow links in them.
        found: CallToolResult = await self._ask(request, CallToolResult)
        return found

    async def end(self) -> None:
        """Kill it and all that it started, and wait until the kernel is done with them."""
        if self._over.is_set():
            return
        self._over.set()
        watched = os.dup(self.process.pidfd) if self.live else -1  # it may have been ended for its memory
        self.process.kill()
        if watched >= 0:
            await _gone(watched)
        if self._input:
            self._input.close()
        await asyncio.wait(self._tasks, timeout=_DEATH_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for output in self._outputs:
            output.close()

    async def release(self) -> None:
        await self.end()
        self.process.release()

    def last_words(self) -> str:
        """The last line that it wrote to its standard errors; the protocol's fault where there is none."""
        lines = [line.strip() for line in self._errors.decode(errors="replace").splitlines() if line.strip()]
        return (lines[-1][:300] if lines else self._fault).rstrip(".")

    # --- Starting it ---

    async def begin(self, files: Files, pipes: "_Pipes") -> None:
        """Give it its files, start it, and get to know it. Raises `ServerGone`, `OSError` when the files do not fit."""
        owner = self.process.uid if os.getuid() == 0 else None
        await self._connect(pipes)
        write_files(self.process.directory, files, owner)
        try:
            await self.process.channel.send({"op": "start"})
        except ChannelClosed as error:
            raise ServerGone(str(error)) from error
        hello: asyncio.Future[tuple[Tool, ...]] = asyncio.get_running_loop().create_future()
        self._tasks.append(asyncio.create_task(self._converse(hello)))
        self._asked.set()
        try:
            self.tools = await hello
        finally:
            self._asked.clear()

    async def _connect(self, pipes: "_Pipes") -> None:
        loop = asyncio.get_running_loop()
        writing = asyncio.StreamReaderProtocol(asyncio.StreamReader())
        sink, _ = await loop.connect_write_pipe(lambda: writing, os.fdopen(pipes.take("input"), "wb", 0))
        self._input = asyncio.StreamWriter(sink, writing, None, loop)
        self._output = await self._reader(pipes.take("output"))
        errors = await self._reader(pipes.take("errors"))
        self._tasks.append(asyncio.create_task(self._keep_errors(errors)))

    async def _reader(self, fd: int) -> asyncio.StreamReader:
        reader = asyncio.StreamReader(limit=MAX_FRAME)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", 0)
        )
        self._outputs.append(transport)
        return reader

    # --- The conversation, in a task of its own because the client's task group wants to be left where it was entered

    async def _converse(self, hello: "asyncio.Future[tuple[Tool, ...]]") -> None:
        import anyio
        from mcp import ClientSession
        from mcp.shared.message import SessionMessage
        from mcp.types import Implementation

        received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, sent = anyio.create_memory_object_stream[SessionMessage](0)
        readers = asyncio.create_task(self._listen(received)), asyncio.create_task(self._talk(sent))
        ourselves = Implementation(name="agent-world", version="1")
        try:
            async with ClientSession(incoming, outgoing, client_info=ourselves) as session:
                self._session = session
                hello.set_result(await self._introduce(session))
                await self._over.wait()
        # Broad, at the edge to a foreign program: the client raises its own kinds, alone or in groups.
        except Exception as error:
            if not hello.done():
                hello.set_exception(ServerGone(self._fault or _first(error)))
        finally:
            for reader in readers:
                reader.cancel()
            await asyncio.gather(*readers, return_exceptions=True)
            for stream in (received, incoming, outgoing, sent):
                stream.close()

    async def _introduce(self, session: "ClientSession") -> "tuple[Tool, ...]":
        await session.initialize()
        tools: list[Tool] = []
        cursor: str | None = None
        while True:
            page = await session.list_tools(cursor)
            tools += page.tools
            cursor = page.nextCursor
            if not cursor:
                return tuple(tools)

    async def _ask(self, request: Any, kind: Any) -> Any:
        import anyio
        from mcp import McpError
        from mcp.types import CONNECTION_CLOSED

        if self._session is None or not self.live:
            raise ServerGone("it is not running")
        self._asked.set()
        try:
            return await self._session.send_request(request, kind)
        except McpError as error:
            if error.error.code == CONNECTION_CLOSED:
                raise ServerGone(self._fault or "it ended") from error
            raise
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise ServerGone(self._fault or "it ended") from error
        finally:
            self._asked.clear()

    async def _listen(self, received: Any) -> None:
        """Its lines, to the client. A line that is no JSON object is a greeting that belongs elsewhere: passed over."""
        from mcp.shared.message import SessionMessage
        from mcp.types import JSONRPCMessage
        from pydantic import ValidationError

        async with received:
            while True:
                await self._asked.wait()
                try:
                    line = await self._output.readline()
                except ValueError:
                    self._fault = f"it wrote a line of more than {MAX_FRAME} bytes"
                    return
                if not line:
                    return
                if not line.lstrip().startswith(b"{"):
                    continue
                try:
                    message = JSONRPCMessage.model_validate_json(line)
                except ValidationError:
                    self._fault = "it wrote what is no message of the protocol"
                    return
                await received.send(SessionMessage(message))

    async def _talk(self, sent: Any) -> None:
        assert self._input is not None
        async with sent:
            async for message in sent:
                line = message.message.model_dump_json(by_alias=True, exclude_none=True)
                try:
                    self._input.write(line.encode() + b"\n")
                    await self._input.drain()
                except ConnectionError:
                    return

    async def _keep_errors(self, errors: asyncio.StreamReader) -> None:
        while part := await errors.read(1 << 16):
            self._errors = (self._errors + part)[-_KEPT_ERRORS:]
            await asyncio.sleep(_PACE_S)


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
    with _Pipes() as pipes:
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


def _first(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join((str(error) or type(error).__name__).split())[:300].rstrip(".")


async def _gone(pidfd: int) -> None:
    """Until the kernel is done with a killed process; closes `pidfd`."""
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()
    loop.add_reader(pidfd, gone.set)
    try:
        async with asyncio.timeout(_DEATH_S):
            await gone.wait()
    except TimeoutError as error:
        raise SandboxError("A killed MCP server does not end; the machine is out of order.") from error
    finally:
        loop.remove_reader(pidfd)
        os.close(pidfd)


class _Pipes:
    """Three pipes; what has not been taken is closed at the end."""

    def __init__(self) -> None:
        self.input, self.output, self.errors = os.pipe(), os.pipe(), os.pipe()
        self._open = {*self.input, *self.output, *self.errors}

    def __enter__(self) -> "_Pipes":
        return self

    def __exit__(self, *_: object) -> None:
        self._close(*self._open)

    def close_theirs(self) -> None:
        self._close(self.input[0], self.output[1], self.errors[1])

    def take(self, name: str) -> int:
        """Our end, which the taker closes."""
        fd: int = self.input[1] if name == "input" else getattr(self, name)[0]
        self._open.discard(fd)
        return fd

    def _close(self, *fds: int) -> None:
        for fd in fds:
            with contextlib.suppress(OSError):
                os.close(fd)
            self._open.discard(fd)
