import time

import pytest

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
