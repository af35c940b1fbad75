"""What is said to an MCP server and by it: the official client, over lines that are hostile until proven sound.

Lines are bounded, they are read only while something is asked, and whatever breaks the protocol ends the conversation.
"""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from agent_world.tools.sandbox.aside import with_frame
from agent_world.tools.sandbox.inside.serve import MAX_FRAME, crowded

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.types import Tool


_END_S = 2.0
MOST = (200_000, 25_000)
"""Values, and lists and objects, of one message: the client makes more of each than we do of our own frames."""


class ServerGone(Exception):
    """The server has ended, or does not keep to the protocol; the message says how."""


class Conversation:
    """`begin` once, then `ask`; `end` in any case."""

    def __init__(self, output: asyncio.StreamReader, input: asyncio.StreamWriter) -> None:
        """The server's."""
        self.fault = ""
        """How it broke the protocol, if it did."""
        self.heard = 0
        """Bytes of the largest message since it was asked last."""
        self._output = output
        self._input = input
        self._session: ClientSession | None = None
        self._asked = asyncio.Event()
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        """The client's task group must be left where it was entered."""

    async def begin(self) -> "tuple[Tool, ...]":
        """The tools that it lists, all pages. Raises `ServerGone`."""
        hello: asyncio.Future[tuple[Tool, ...]] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._converse(hello))
        self._asked.set()
        try:
            return await hello
        finally:
            self._asked.clear()

    async def ask(self, request: Any, kind: Any) -> Any:
        """Raises `ServerGone`; `McpError` when the server refuses; pydantic's `ValidationError` for a wrong form."""
        import anyio
        from mcp import McpError
        from mcp.types import CONNECTION_CLOSED

        if self._session is None:
            raise ServerGone("it is not running")
        self.heard = 0
        self._asked.set()
        try:
            return await self._session.send_request(request, kind)
        except McpError as error:
            if error.error.code == CONNECTION_CLOSED:
                raise ServerGone(self.fault or "it ended") from error
            raise
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise ServerGone(self.fault or "it ended") from error
        finally:
            self._asked.clear()

    async def end(self) -> None:
        """When the server is dead."""
        self._over.set()
        self._input.close()
        if self._task:
            await asyncio.wait([self._task], timeout=_END_S)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

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
                hello.set_result(await _introduce(session))
                await self._over.wait()
        # Broad, at the edge to a foreign program: the client raises its own kinds, alone or in groups.
        except Exception as error:
            if not hello.done():
                hello.set_exception(ServerGone(self.fault or _first(error)))
        finally:
            for reader in readers:
                reader.cancel()
            await asyncio.gather(*readers, return_exceptions=True)
            for stream in (received, incoming, outgoing, sent):
                stream.close()

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
                    self.fault = f"it wrote a line of more than {MAX_FRAME} bytes"
                    return
                if not line:
                    return
                if not line.lstrip().startswith(b"{"):
                    continue
                self.heard = max(self.heard, len(line))
                if crowded(line, MOST):
                    self.fault = "it wrote a message that holds too many values"
                    return
                try:
                    message = await with_frame(len(line), partial(JSONRPCMessage.model_validate_json, line))
                except ValidationError:
                    self.fault = "it wrote what is no message of the protocol"
                    return
                await received.send(SessionMessage(message))

    async def _talk(self, sent: Any) -> None:
        async with sent:
            async for message in sent:
                line = message.message.model_dump_json(by_alias=True, exclude_none=True)
                try:
                    self._input.write(line.encode() + b"\n")
                    await self._input.drain()
                except ConnectionError:
                    return


async def _introduce(session: "ClientSession") -> "tuple[Tool, ...]":
    await session.initialize()
    tools: list[Tool] = []
    cursor: str | None = None
    while True:
        page = await session.list_tools(cursor)
        tools += page.tools
        cursor = page.nextCursor
        if not cursor:
            return tuple(tools)


def _first(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join((str(error) or type(error).__name__).split())[:300].rstrip(".")
