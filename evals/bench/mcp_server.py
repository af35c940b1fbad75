"""The standard tools as an MCP server over stdio: `python mcp_server.py`, with `standard_tools.py` beside it.

The peer against which the runtime is measured; built with the official SDK.
"""

import standard_tools as tools  # type: ignore[import-not-found, unused-ignore]
from mcp.server.fastmcp import FastMCP
from mcp.types import ToolAnnotations

READS = (tools.ping, tools.get_item, tools.list_items, tools.peek, tools.remember, tools.say, tools.wait)
WRITES = (tools.set_count, tools.add_sale, tools.execute, tools.chance, tools.now)


def main() -> None:
    server = FastMCP("standard", log_level="ERROR")
    for function in READS:
        server.add_tool(function, annotations=ToolAnnotations(readOnlyHint=True))
    for function in WRITES:
        server.add_tool(function, annotations=ToolAnnotations(readOnlyHint=False))
    server.run()


if __name__ == "__main__":
    main()
