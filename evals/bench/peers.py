"""What the local runtime is measured against: the same tools by other means, in the same run."""

import asyncio
import json
import sys
import tempfile
import types
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TextIO, cast

from agent_world.evals.bench.world import TOOLS

Call = Callable[[str], Awaitable[Any]]
"""Calls a tool without arguments."""

READ = '''

def read_users():
    """Read 100 KB of JSON."""
    with open("users.json", encoding="utf-8") as file:
        return {"users": len(json.load(file))}
'''
BENCH_TOOLS = TOOLS + READ
"""The standard tools, and one that reads `users.json`."""


def users_json(size: int = 100_000) -> str:
    """A list of users, `size` bytes of JSON to within one user."""
    rows: list[str] = []
    length = 2
    while length < size:
        n = len(rows)
        user = {
            "user_id": f"U{n:05d}",
            "name": f"User {n}",
            "city": "Cambridge",
            "orders": [n, n + 1],
            "vip": n % 2 == 0,
        }
        rows.append(json.dumps(user))
        length += len(rows[-1]) + 2
    return f"[{', '.join(rows)}]"


class InProcess:
    """`exec` of the tools in this process: no isolation at all. Only ever given the tools that ship."""

    def __init__(self, data: Path) -> None:
        source = BENCH_TOOLS.replace('open("users.json"', f"open({str(data / 'users.json')!r}")
        self._module = types.ModuleType("bench_tools")
        exec(compile(source, "tools.py", "exec"), self._module.__dict__)

    async def call(self, tool: str) -> Any:
        """Value and JSON text, as an agent would be given."""
        value = getattr(self._module, tool)()
        return value, json.dumps(value)


async def call_subprocess(tool: str, script: Path, data: Path) -> None:
    """A fresh interpreter a call; the tools are compiled by it each time."""
    program = f"import runpy; print(runpy.run_path({str(script)!r})[{tool!r}]())"
    process = await asyncio.create_subprocess_exec(sys.executable, "-I", "-c", program, cwd=data, stdout=-1)
    await process.communicate()


@asynccontextmanager
async def mcp_server(script: Path, data: Path) -> AsyncIterator[tuple[Call, Callable[[], Awaitable[int]]]]:
    """A FastMCP server over stdio with the official client, initialised: ways to call it, and to ask its process id."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command=sys.executable, args=[str(script)], cwd=str(data))
    with cast(TextIO, tempfile.TemporaryFile("w")) as errors:
        async with stdio_client(server, errlog=errors) as (read, write), ClientSession(read, write) as session:
            await session.initialize()

            async def call(tool: str) -> Any:
                return await session.call_tool(tool, {})

            async def pid() -> int:
                found = await session.call_tool("execute", {"body": "return os.getpid()"})
                return cast(int, json.loads(found.content[0].text)["value"])  # type: ignore[union-attr]

            yield call, pid
