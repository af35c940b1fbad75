import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import uvicorn
from mcp.server.fastmcp import FastMCP
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from agent_world.errors import UsageError
from agent_world.tools.mcp_client import list_tools

PAGED = """
import asyncio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import ListToolsRequest, ListToolsResult, Tool, ServerResult

server = Server("paged", version="1")

async def listed(request):
    at = int(request.params.cursor) if request.params and request.params.cursor else 0
    tool = Tool(name=f"tool.{at}", description="", inputSchema={"type": "object"})
    return ServerResult(ListToolsResult(tools=[tool], nextCursor=str(at + 1) if at < 2 else None))

server.request_handlers[ListToolsRequest] = listed

async def main():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

asyncio.run(main())
"""


@pytest.mark.server
async def test_a_live_server_lists_its_tools() -> None:
    listing = await list_tools(["{python}", "-m", "mcp_server_time"])
    assert {tool["name"] for tool in listing.tools} == {"get_current_time", "convert_time"}
    assert all(tool["inputSchema"]["type"] == "object" for tool in listing.tools)


@pytest.mark.server
async def test_all_pages_of_a_listing_are_read() -> None:
    listing = await list_tools(["{python}", "-c", PAGED])
    assert [tool["name"] for tool in listing.tools] == ["tool.0", "tool.1", "tool.2"]


async def test_a_missing_program_is_named() -> None:
    with pytest.raises(UsageError, match="no program 'no-such-server'"):
        await list_tools(["no-such-server"])


async def test_a_server_that_dies_is_quoted() -> None:
    with pytest.raises(UsageError, match="did not list its tools: out of order"):
        await list_tools(["{python}", "-c", "raise SystemExit('out of order')"])


@pytest.mark.server
async def test_a_server_that_never_answers_is_given_up_at_the_deadline() -> None:
    started = time.monotonic()
    with pytest.raises(UsageError, match=r"did not answer within 0\.5 s"):
        await list_tools(["{python}", "-c", "import sys; sys.stdin.read()"], deadline_s=0.5)
    assert time.monotonic() - started < 10


@pytest.fixture
async def remote() -> AsyncIterator[str]:
    """A server on loopback that speaks streamable HTTP at /mcp and server-sent events at /sse, to who has its token."""
    tides = FastMCP("tides", instructions="Tides of harbours.", stateless_http=True)

    @tides.tool()
    def high_water(harbour: str) -> str:
        return harbour

    streams = tides.streamable_http_app()
    app = Starlette(routes=[*streams.routes, *tides.sse_app().routes], lifespan=streams.router.lifespan_context)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        known = scope["type"] != "http" or dict(scope["headers"]).get(b"authorization") == b"Bearer secret"
        await (app if known else Response(status_code=401))(scope, receive, send)

    server = uvicorn.Server(uvicorn.Config(guarded, port=0, log_level="critical", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    await serving


async def test_a_server_at_an_address_lists_its_tools_to_who_has_its_token(
    remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Authorization": "Bearer ${TIDES_TOKEN}"}
    with pytest.raises(UsageError, match=r"needs the variable TIDES_TOKEN, which is not set; export TIDES_TOKEN="):
        await list_tools(f"{remote}/mcp", headers=headers)
    monkeypatch.setenv("TIDES_TOKEN", "secret")
    for place in ("mcp", "sse"):
        listing = await list_tools(f"{remote}/{place}", headers=headers)
        assert (listing.name, listing.instructions) == ("tides", "Tides of harbours.")
        assert [tool["name"] for tool in listing.tools] == ["high_water"]
    with pytest.raises(UsageError, match=r"; give the address of its endpoint, mostly \.\.\./mcp"):
        await list_tools(f"{remote}/elsewhere", headers=headers)
    for place in ("mcp", "sse"):
        with pytest.raises(UsageError, match=r"it answered 401; give the token that it wants, --header"):
            await list_tools(f"{remote}/{place}", deadline_s=5)


@pytest.mark.parametrize("place", ["mcp", "sse"])
async def test_an_address_where_nothing_runs_is_told_with_the_remedy(place: str) -> None:
    with pytest.raises(UsageError, match=r"cannot be reached .*; see that it runs, and that the address is right"):
        await list_tools(f"http://127.0.0.1:9/{place}", deadline_s=5)
