"""From the result of `tools/call` to what an agent sees."""

import base64
import binascii
import hashlib
import json
from typing import TYPE_CHECKING, Any

from agent_world.tools.observation import error_observation, value_observation
from agent_world.tools.runtime import Observation
from agent_world.tools.sandbox.inside.serve import crowded
from agent_world.tools.sandbox.mcp_conversation import MOST
from agent_world.tools.strict_json import finite_float, refuse_constant

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock


def result_observation(result: "CallToolResult", limit: int) -> Observation:
    """Structured content as it is. Else the one block of content, or the list of several: JSON text (an object or a
    list) parsed, other text as it is; images, sound and other bytes by type, size and hash, never themselves."""
    if result.isError:
        said = [block.text for block in result.content if block.type == "text"]
        return error_observation("tool_error", "\n".join(said))
    if result.structuredContent is not None:
        return value_observation(result.structuredContent, limit)
    values = [_value(block) for block in result.content]
    return value_observation(values[0] if len(values) == 1 else values or None, limit)


def _value(block: "ContentBlock") -> Any:
    match block.type:
        case "text":
            return _parsed(block.text)
        case "image" | "audio":
            return {"type": block.type, "mime_type": block.mimeType, **_bytes(block.data)}
        case "resource_link":
            return {"type": "resource_link", "uri": str(block.uri), "name": block.name}
    inner = block.resource
    head = {"type": "resource", "uri": str(inner.uri), "mime_type": inner.mimeType}
    return head | ({"text": inner.text} if hasattr(inner, "text") else _bytes(inner.blob))


def _parsed(text: str) -> Any:
    """`'02138'` and `'true'` stay text: a tool that means a number says so in structured content. So does JSON of more
    values than a message may hold."""
    if text.lstrip()[:1] not in ("{", "[") or crowded(text.encode(errors="replace"), MOST):
        return text
    try:
        return json.loads(text, parse_constant=refuse_constant, parse_float=finite_float)
    except (ValueError, RecursionError):
        return text


def _bytes(encoded: str) -> dict[str, Any]:
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return {"problem": "not base64"}
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
