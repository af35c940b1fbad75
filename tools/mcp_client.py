"""Asking a live MCP server for its tools, over stdio or streamable HTTP."""

import asyncio
import shlex
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO, cast

from agent_world.errors import UsageError

if TYPE_CHECKING:
    from mcp import ClientSession

DEADLINE_S = 30.0


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server says of itself and of its tools: `tools` as `tools/list` gave them, all pages."""

    name: str
    version: str
    instructions: str
    tools: tuple[dict[str, Any], ...]


async def list_tools(server: Sequence[str] | str, deadline_s: float = DEADLINE_S) -> Listing:
    """Start the server by its command, or reach it at its address, list its tools, end it. `{python}` in the command is
    this interpreter.

    Raises `UsageError` when the command is missing, ends, or has not answered by the deadline.
    """
    if not server:
        raise UsageError("The command of an MCP server is empty; give a program and its arguments.")
    shown = server if isinstance(server, str) else shlex.join(server)
    with cast(TextIO, tempfile.TemporaryFile("w+")) as errors:
        # Broad, at the edge to a foreign program: the client library raises its own kinds, alone or in groups.
        try:
            async with asyncio.timeout(deadline_s), _connected(server, errors) as session:
                return await _ask(session)
        except TimeoutError as error:
            raise UsageError(f"The MCP server `{shown}` did not answer within {deadline_s:g} s.") from error
        except FileNotFoundError as error:
            raise UsageError(f"The MCP server `{shown}` cannot be started: no program {server[0]!r}.") from error
        except Exception as error:
            raise UsageError(f"The MCP server `{shown}` did not list its tools: {_reason(error, errors)}.") from error


@asynccontextmanager
async def _connected(server: Sequence[str] | str, errors: TextIO) -> AsyncIterator["ClientSession"]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    if isinstance(server, str):
        async with streamable_http_client(server) as (read, write, _), ClientSession(read, write) as session:
            yield session
    else:
        program, *arguments = [part.replace("{python}", sys.executable) for part in server]
        command = StdioServerParameters(command=program, args=arguments)
        async with stdio_client(command, errlog=errors) as (read, write), ClientSession(read, write) as session:
            yield session


async def _ask(session: "ClientSession") -> Listing:
    hello = await session.initialize()
    tools: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = await session.list_tools(cursor)
        tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
        cursor = page.nextCursor
        if not cursor:
            break
    return Listing(hello.serverInfo.name, hello.serverInfo.version, hello.instructions or "", tuple(tools))


def _reason(error: BaseException, errors: TextIO) -> str:
    """The server's own last line on stderr, else the first cause inside the (nested) exception group."""
    errors.seek(0)
    lines = [line.strip() for line in errors.read()[-2000:].splitlines() if line.strip()]
    if lines:
        return lines[-1].rstrip(".")
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error) or type(error).__name__).rstrip(".")
