"""Asking a live MCP server for its tools, over stdio."""

import asyncio
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO, cast

from agent_world.errors import UsageError

DEADLINE_S = 30.0


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server says of itself and of its tools: `tools` as `tools/list` gave them, all pages."""

    name: str
    version: str
    instructions: str
    tools: tuple[dict[str, Any], ...]


async def list_tools(command: Sequence[str], deadline_s: float = DEADLINE_S) -> Listing:
    """Start the server, list its tools, end it. `{python}` in the command is this interpreter.

    Raises `UsageError` when the command is missing, ends, or has not answered by the deadline.
    """
    if not command:
        raise UsageError("The command of an MCP server is empty; give a program and its arguments.")
    program, *arguments = [part.replace("{python}", sys.executable) for part in command]
    shown = shlex.join(command)
    with cast(TextIO, tempfile.TemporaryFile("w+")) as errors:
        # Broad, at the edge to a foreign program: the client library raises its own kinds, alone or in groups.
        try:
            async with asyncio.timeout(deadline_s):
                return await _ask(program, arguments, errors)
        except TimeoutError as error:
            raise UsageError(f"The MCP server `{shown}` did not answer within {deadline_s:g} s.") from error
        except FileNotFoundError as error:
            raise UsageError(f"The MCP server `{shown}` cannot be started: no program {program!r}.") from error
        except Exception as error:
            raise UsageError(f"The MCP server `{shown}` did not list its tools: {_reason(error, errors)}.") from error


async def _ask(program: str, arguments: list[str], errors: TextIO) -> Listing:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command=program, args=arguments)
    async with stdio_client(server, errlog=errors) as (read, write), ClientSession(read, write) as session:
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
