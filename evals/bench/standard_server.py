"""The standard tools as an MCP server in the standard library alone, which starts at once.

`python standard_server.py`, with `standard_tools.py` and the list of them, `tools.json`, beside it: what is certified
for the `mcp` backend. (`mcp_server.py` is the same by the official SDK.)
"""

import json
import sys
from pathlib import Path
from typing import Any

import standard_tools as tools  # type: ignore[import-not-found, unused-ignore]

LISTED = json.loads(Path(__file__).with_name("tools.json").read_text())
_NO_SUCH_METHOD = -32601


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:  # what has none wants no answer
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer(asked)}), flush=True)


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    match asked["method"]:
        case "initialize":
            version = asked["params"]["protocolVersion"]
            server = {"name": "standard", "version": "1"}
            return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}}
        case "tools/list":
            return {"result": LISTED}
        case "tools/call":
            return {"result": call(asked["params"]["name"], asked["params"]["arguments"])}
        case method:
            return {"error": {"code": _NO_SUCH_METHOD, "message": f"There is no method {method!r}."}}


def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    # Broad, at the edge of a tool: whatever it raises is its answer.
    try:
        value = getattr(tools, tool)(**arguments)
        text = json.dumps(value)
    except Exception as error:
        return {"content": [{"type": "text", "text": f"{type(error).__name__}: {error}"}], "isError": True}
    return {"content": [{"type": "text", "text": text}], "structuredContent": value}


if __name__ == "__main__":
    main()
