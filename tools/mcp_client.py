"""Asking a live MCP server for its tools: over stdio, streamable HTTP, or the older server-sent events."""

import asyncio
import os
import re
import shlex
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO, cast
from urllib.parse import urlsplit

import httpx

from agent_world.errors import UsageError

if TYPE_CHECKING:
    from mcp import ClientSession

DEADLINE_S = 30.0
ENDPOINT = "give the address of its endpoint, mostly .../mcp (.../sse for server-sent events)"
TOKEN = "give the token that it wants, --header 'Authorization: Bearer ${NAME}' or headers of the source"


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server says of itself and of its tools: `tools` as `tools/list` gave them, all pages."""

    name: str
    version: str
    instructions: str
    tools: tuple[dict[str, Any], ...]


async def list_tools(
    server: Sequence[str] | str, deadline_s: float = DEADLINE_S, headers: Mapping[str, str] | None = None
) -> Listing:
    """Start the server by its command, or reach it at its address, list its tools, end it. `{python}` in the command is
    this interpreter; `${NAME}` in a header is a variable of the environment.

    Raises `UsageError` when the command is missing, ends, or has not answered by the deadline, and when an address
    refuses.
    """
    if not server:
        raise UsageError("The command of an MCP server is empty; give a program and its arguments.")
    remote = isinstance(server, str)
    shown = server if isinstance(server, str) else shlex.join(server)
    sent = {name: _filled(value, f"header {name} of {shown}") for name, value in (headers or {}).items()}
    with cast(TextIO, tempfile.TemporaryFile("w+")) as errors:
        # Broad, at the edge to a foreign program: the client library raises its own kinds, alone or in groups.
        try:
            async with asyncio.timeout(deadline_s), _connected(server, errors, sent) as session:
                return await _ask(session)
        except TimeoutError as error:
            hint = f"; {ENDPOINT}" if remote else ""
            raise UsageError(f"The MCP server `{shown}` did not answer within {deadline_s:g} s{hint}.") from error
        except FileNotFoundError as error:
            raise UsageError(f"The MCP server `{shown}` cannot be started: no program {server[0]!r}.") from error
        except Exception as error:
            reason = _refusal(error) if remote else _reason(error, errors)
            raise UsageError(f"The MCP server `{shown}` did not list its tools: {reason}.") from error


def _filled(text: str, what: str) -> str:
    """With the environment's variables for `${NAME}`."""

    def value(found: "re.Match[str]") -> str:
        if found[1] not in os.environ:
            raise UsageError(f"The {what} needs the variable {found[1]}, which is not set; export {found[1]}=...")
        return os.environ[found[1]]

    return re.sub(r"\$\{(\w+)\}", value, text)


@asynccontextmanager
async def _connected(
    server: Sequence[str] | str, errors: TextIO, headers: dict[str, str]
) -> AsyncIterator["ClientSession"]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.sse import sse_client
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    if not isinstance(server, str):
        program, *arguments = [part.replace("{python}", sys.executable) for part in server]
        command = StdioServerParameters(command=program, args=arguments)
        async with stdio_client(command, errlog=errors) as (read, write), ClientSession(read, write) as session:
            yield session
    elif urlsplit(server).path.rstrip("/").endswith("/sse"):
        async with sse_client(server, headers) as (read, write), ClientSession(read, write) as session:
            yield session
    else:
        async with (
            create_mcp_http_client(headers) as client,
            streamable_http_client(server, http_client=client) as (read, write, _),
            ClientSession(read, write) as session,
        ):
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
    return lines[-1].rstrip(".") if lines else _said(_first(error))


def _refusal(error: BaseException) -> str:
    """What an address answered, and what to do about it."""
    first = _first(error)
    if isinstance(first, httpx.HTTPStatusError):
        status = first.response.status_code
        remedy = TOKEN if status in (401, 403) else ENDPOINT if status in (404, 405, 406) else "try again later"
        return f"it answered {status}; {remedy}"
    if isinstance(first, httpx.TransportError):
        return f"it cannot be reached ({_said(first)}); see that it runs, and that the address is right"
    return f"{_said(first)}; {ENDPOINT}"


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _said(error: BaseException) -> str:
    return (" ".join(str(error).split())[:200] or type(error).__name__).rstrip(".")
